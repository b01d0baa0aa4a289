"""Where the services' own files are kept from one run to the next, and how a missing service is reported."""

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

PROJECT: Final = Path(__file__).resolve().parents[2]


class ServiceUnavailableError(Exception):
    """A service cannot be had here; the message says what is missing and how to install it."""


def cache_dir() -> Path:
    """``$XDG_CACHE_HOME/aem-monitor`` where that is set, else ``.cache`` in the project (not under version control)."""
    configured = os.environ.get("XDG_CACHE_HOME")
    return Path(configured) / "aem-monitor" if configured else PROJECT / ".cache"


def cached(name: str, build: Callable[[Path], None]) -> Path:
    """The cached directory ``name``, built once by ``build(empty directory)``.

    It is built beside its place and then renamed, so that an interrupted build never looks like a finished one and two
    test runs at the same time do not disturb each other.
    """
    target = cache_dir() / name
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=target.parent))
    try:
        build(building)
        building.chmod(0o755)
        try:
            building.rename(target)
        except OSError:
            if not target.is_dir():
                raise
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return target
