"""Ports for servers that tests start."""

import socket

import pytest

from tests.services import process
from tests.services.process import free_port


def test_a_port_that_was_given_is_not_given_again_before_its_server_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    first = free_port()
    monkeypatch.setattr(process, "_PORTS", [first, first, first, first + 1, first + 2])
    assert free_port() != first


def test_a_port_that_was_given_bears_a_mark_that_other_processes_run_into() -> None:
    port = free_port()
    with socket.socket(type=socket.SOCK_DGRAM) as other, pytest.raises(OSError, match="in use"):
        other.bind(("127.0.0.1", port))
    with socket.socket() as server:
        server.bind(("127.0.0.1", port))


def test_a_port_that_somebody_listens_on_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as server:
        server.bind(("0.0.0.0", 0))
        server.listen()
        taken = server.getsockname()[1]
        monkeypatch.setattr(process, "_PORTS", [taken, taken, taken, taken + 1, taken + 2])
        assert free_port() != taken
