"""An environment with real agent frameworks, which the project itself does without."""

import hashlib
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.services.cache import ServiceUnavailableError, cached

PACKAGES: Final = (
    "strands-agents[otel,openai]==1.62.0",
    "openai==2.54.0",
    "openai-agents==0.20.0",
    "openinference-instrumentation-openai-agents==2.6.0",
    "openinference-instrumentation==0.1.72",
    "opentelemetry-sdk==1.45.1",
    "opentelemetry-exporter-otlp-proto-http==1.45.1",
)
_MINUTES: Final = 10


def agents_python() -> Path:
    """The interpreter of that environment, made on first use (170 MB, then cached).

    Raises ``ServiceUnavailableError`` where the packages cannot be fetched.
    """
    named = hashlib.sha256(" ".join((sys.version, *PACKAGES)).encode()).hexdigest()[:12]
    return cached(f"agents-{named}", _install) / "bin" / "python"


def _install(directory: Path) -> None:
    for command in (
        [sys.executable, "-m", "venv", str(directory)],
        [str(directory / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", *PACKAGES],
    ):
        done = subprocess.run(command, capture_output=True, text=True, timeout=60 * _MINUTES, check=False)
        if done.returncode:
            raise ServiceUnavailableError(f"frameworks of agents could not be installed: {done.stderr[-2000:]}")
