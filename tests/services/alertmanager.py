"""Alertmanager for the tests: Debian's binaries, installed or unpacked from their package into the cache."""

import json
import shutil
import subprocess
import tempfile
import urllib.request
from functools import partial
from pathlib import Path
from typing import Any

from tests.services.cache import ServiceUnavailableError, cached
from tests.services.debian import unpack_package
from tests.services.process import ServerProcess, free_port


def alertmanager_binary(name: str = "prometheus-alertmanager") -> Path:
    """Path of ``prometheus-alertmanager`` or ``amtool``. Raises ``ServiceUnavailableError`` when there is none."""
    installed = shutil.which(name)
    if installed is not None:
        return Path(installed)
    package = "prometheus-alertmanager"
    return cached("alertmanager-debian", partial(unpack_package, package)) / "usr" / "bin" / name


def amtool() -> Path:
    """Path of Alertmanager's checker for configuration and routes."""
    return alertmanager_binary("amtool")


def _command() -> list[str]:
    """How to run the server. Debian's binary reads its templates from /usr/share; unpacked into the cache it needs a
    mount namespace of its own in which they are there."""
    binary = alertmanager_binary()
    shared = binary.parents[1] / "share"
    if binary.is_relative_to("/usr"):
        return [str(binary)]
    if subprocess.run(["unshare", "--map-root-user", "--mount", "true"], capture_output=True).returncode:
        raise ServiceUnavailableError("Alertmanager needs namespaces, or apt-get install prometheus-alertmanager")
    prepare = 'mount -t tmpfs none /usr/share && ln -s "$0/prometheus" /usr/share/prometheus && exec "$@"'
    return ["unshare", "--map-root-user", "--mount", "sh", "-c", prepare, str(shared), str(binary)]


class AlertmanagerServer:
    """An Alertmanager on a random loopback port, with a configuration file, alone and with an empty store."""

    def __init__(self, configuration: Path) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="aem-alertmanager-"))
        self.port = free_port()
        self._process = ServerProcess(
            "Alertmanager",
            [
                *_command(),
                f"--config.file={configuration}",
                f"--storage.path={self._folder / 'data'}",
                f"--web.listen-address=127.0.0.1:{self.port}",
                "--cluster.listen-address=",
                "--log.level=warn",
            ],
            self._folder / "alertmanager.log",
        )
        self._process.wait_until(self._answers, 60.0)

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/-/ready", timeout=2) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def api(self, path: str, body: object = None) -> Any:
        """GET, or POST where there is a body; the answer's JSON, None for an empty one."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/api/v2/{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.loads(answer.read() or b"null")

    def close(self) -> None:
        """Stop it and remove its data."""
        self._process.stop()
        shutil.rmtree(self._folder, ignore_errors=True)
