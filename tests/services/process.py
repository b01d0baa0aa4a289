"""A child process that serves on loopback: started, awaited, stopped, and never left behind."""

import contextlib
import ctypes
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.services.cache import ServiceUnavailableError

_PR_SET_PDEATHSIG: Final = 1
_PORTS: Final = range(15_000, 32_000)
_marks: Final[deque[int]] = deque(maxlen=100)


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on, and that nobody else gets until the server that it is for has it.

    It lies below those that systems give to outgoing connections. Other test processes do not get it because this one
    keeps the UDP port of the same number, which nobody needs, for its next hundred calls.
    """
    while True:
        port = secrets.choice(_PORTS)
        with socket.socket() as probe, socket.socket(type=socket.SOCK_DGRAM) as mark:
            try:
                mark.bind(("127.0.0.1", port))
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            if len(_marks) == _marks.maxlen:
                os.close(_marks.popleft())
            _marks.append(mark.detach())
            return port


def _die_with_parent() -> None:
    # A test run that is killed must not leave a Java process of half a gigabyte behind.
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class ServerProcess:
    """One run of a server, as ``user`` where it is given; its output goes to ``log``."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        log: Path,
        env: Mapping[str, str] | None = None,
        user: str | None = None,
    ) -> None:
        self.name = name
        self.log = log
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=None if env is None else dict(env),
                user=user,
                preexec_fn=_die_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509
            )

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """Its exit code, None while it runs."""
        return self._process.poll()

    def wait_until(self, ready: Callable[[], bool], timeout: float) -> None:
        """Wait until ``ready()``; raises with the end of the log when the process ends or the time is over."""
        deadline = time.monotonic() + timeout
        while not ready():
            if self.returncode is not None:
                raise ServiceUnavailableError(f"{self.name} ended with code {self.returncode}: {self.tail()}")
            if time.monotonic() > deadline:
                self.kill()
                raise ServiceUnavailableError(f"{self.name} did not answer within {timeout:.0f} s: {self.tail()}")
            time.sleep(0.1)

    def stop(self, timeout: float = 30.0) -> int:
        """Ask it to end (SIGTERM), insist after ``timeout`` seconds, return its exit code."""
        self._process.terminate()
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return self.kill()

    def kill(self) -> int:
        """End it at once (SIGKILL)."""
        self._process.kill()
        return self._process.wait()

    def signal(self, number: int) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    def wait(self, timeout: float) -> int:
        """Its exit code; raises ``subprocess.TimeoutExpired`` when it does not end by itself."""
        return self._process.wait(timeout)

    def tail(self, lines: int = 20) -> str:
        """The last lines of its output."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])
