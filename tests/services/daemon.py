"""The daemon as a user runs it: its own process, its own configuration file, only its ports chosen here."""

import json
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.services.cache import ServiceUnavailableError
from tests.services.process import ServerProcess, free_port


class Daemon:
    """``aem-monitor run`` in ``folder``, which keeps its configuration and its database over restarts.

    ``configuration`` is merged over fast settings for tests: short graces and commit intervals, loopback ports, a
    SQLite file.
    """

    def __init__(self, folder: Path, golden: Path, configuration: Mapping[str, Any]) -> None:
        self.metrics_address = f"127.0.0.1:{free_port()}"
        self.admin_address = f"127.0.0.1:{free_port()}"
        self._folder = folder
        self._config = folder / "aem-monitor.yaml"
        document: dict[str, Any] = {
            "golden": {"paths": [str(golden)]},
            "assembly": {"grace": "1s", "idle": "5s", "wall_idle": "1s"},
            "store": {"url": f"sqlite:///{folder / 'verdicts.db'}", "replica": "tests"},
            "metrics": {"listen": self.metrics_address},
            "admin": {"listen": self.admin_address},
            **configuration,
        }
        self._config.write_text(json.dumps(document))
        self._process: ServerProcess | None = None

    def start(self, *program: str) -> None:
        """Start it and wait until its metrics are served; ``AssertionError`` with its last lines if they never are.

        ``program`` is the module to run in place of ``aem_monitor``, with arguments that come before the daemon's own.
        """
        command = [sys.executable, "-m", *(program or ["aem_monitor"]), "run", "--config", str(self._config)]
        self._process = ServerProcess("aem-monitor", command, self._folder / "daemon.log")
        try:
            self._process.wait_until(lambda: self.get("/-/healthy") == 200, 60.0)
        except ServiceUnavailableError as error:
            raise AssertionError(str(error)) from error

    @property
    def config(self) -> Path:
        """Its configuration file, in JSON."""
        return self._config

    def problems(self) -> str:
        """What it says when it is asked whether it is ready."""
        try:
            with urllib.request.urlopen(f"http://{self.metrics_address}/-/ready", timeout=5) as answer:
                return str(answer.read().decode())
        except urllib.error.HTTPError as error:
            return error.read().decode()

    def get(self, path: str) -> int:
        """Status of a path of the metrics listener; 0 when nobody listens."""
        try:
            with urllib.request.urlopen(f"http://{self.metrics_address}{path}", timeout=5) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def scrape(self) -> str:
        """What Prometheus would read, in its text format."""
        with urllib.request.urlopen(f"http://{self.metrics_address}/metrics", timeout=30) as answer:
            text: str = answer.read().decode()
            return text

    @property
    def running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._process is not None and self._process.returncode is None

    @property
    def log(self) -> str:
        """All that it has written."""
        return (self._folder / "daemon.log").read_text(errors="replace")

    @property
    def pid(self) -> int:
        """Its process."""
        assert self._process is not None
        return self._process.pid

    def stop(self) -> int:
        """SIGTERM; its exit code."""
        assert self._process is not None
        code = self._process.stop()
        self._process = None
        return code

    def signal(self, number: int) -> None:
        """Send it a signal."""
        assert self._process is not None
        self._process.signal(number)

    def kill(self) -> None:
        """SIGKILL."""
        assert self._process is not None
        self._process.kill()
        self._process = None

    def close(self) -> None:
        """End it if it still runs."""
        if self._process is not None:
            self.kill()
