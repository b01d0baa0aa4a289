"""What a request to an agent can come to, and that it is never sent twice."""

import socket
import ssl
import struct
import threading
import time
from pathlib import Path

import pytest
import trustme
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from aem_monitor.errors import ConfigError
from aem_monitor.httpclient import show_certificate, tls_context
from aem_monitor.player import client as module
from aem_monitor.player.client import Client
from aem_monitor.player.faults import ExchangeError, Outcome
from tests.alerting.answering import Answer, Receiving
from tests.services.process import free_port

CLIENT = Client(timeout=10.0)


def failure(url: str, client: Client = CLIENT) -> ExchangeError:
    with pytest.raises(ExchangeError) as caught:
        client.post(f"{url}/chat?token=hunter2", b"{}", {})
    assert "hunter2" not in str(caught.value)
    assert caught.value.reason == caught.value.outcome.value
    return caught.value


def test_an_answer_is_what_was_answered(receiving: Receiving) -> None:
    receiving.answer = lambda request: Answer(200, {"Content-Type": "application/json; charset=utf-8"}, b'{"a": 1}')
    answer = CLIENT.post(f"{receiving.url}/v1/chat?x=1", b'{"b": 2}', {"X-More": "y"})
    assert (answer.status, answer.content_type, answer.body) == (200, "application/json", b'{"a": 1}')
    (request,) = receiving.requests
    assert (request.path, request.json, request.headers["X-More"]) == ("/v1/chat?x=1", {"b": 2}, "y")


@pytest.mark.parametrize(
    ("answer", "outcome", "said"),
    [
        (Answer(500, {}, b"boom\x1b[2J\nworse"), Outcome.STATUS, "answered 500: boom [2J worse"),
        (Answer(401), Outcome.STATUS, "answered 401"),
        (
            Answer(307, {"Location": "http://elsewhere/\x9b"}),
            Outcome.REDIRECT,
            "points to http://elsewhere/ ; it",
        ),
        (Answer(304), Outcome.REDIRECT, "points to nowhere"),
        (Answer(200, {}, b"x" * (4 * 2**20 + 1)), Outcome.TOO_LARGE, "more than 4 MiB"),
    ],
)
def test_an_answer_that_is_none_is_told_apart_and_nothing_is_sent_again(
    receiving: Receiving, answer: Answer, outcome: Outcome, said: str
) -> None:
    receiving.answer = lambda request: answer
    error = failure(receiving.url)
    assert (error.outcome, error.status) == (outcome, answer.status)
    assert said in str(error)
    assert len(receiving.requests) == 1


def _dribble(connection: socket.socket) -> None:
    for letter in b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n":
        connection.send(bytes([letter]))
        time.sleep(0.05)


def _endless(connection: socket.socket) -> None:
    connection.send(b"HTTP/1.1 200 OK\r\n\r\n")
    time.sleep(1.0)


@pytest.mark.parametrize("slowly", [_dribble, _endless])
def test_the_time_is_that_of_the_whole_exchange(receiving: Receiving, slowly: object) -> None:
    receiving.raw = slowly  # type: ignore[assignment]
    error = failure(receiving.url, Client(timeout=0.3))
    assert (error.outcome, str(error).endswith("did not answer within 0.3 seconds")) == (Outcome.TIMEOUT, True)
    assert len(receiving.requests) == 1


def test_a_body_that_never_ends_is_cut_off(receiving: Receiving) -> None:
    """The answer ends with its connection, as that of HTTP/1.0: the client's own socket is out of its hands by then."""
    cut = threading.Event()

    def drip(connection: socket.socket) -> None:
        try:
            connection.send(b"HTTP/1.0 200 OK\r\nContent-Length: 100000\r\n\r\n")
            for _ in range(600):
                connection.send(b" ")
                time.sleep(0.05)
        except OSError:
            cut.set()

    receiving.raw = drip
    assert failure(receiving.url, Client(timeout=0.3)).outcome is Outcome.TIMEOUT
    assert cut.wait(20)


def _reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def _garbage(connection: socket.socket) -> None:
    connection.send(b"SSH-2.0-OpenSSH\r\n")


@pytest.mark.parametrize("broken", [_reset, _garbage])
def test_a_request_that_may_have_arrived_is_not_sent_again(receiving: Receiving, broken: object) -> None:
    receiving.raw = broken  # type: ignore[assignment]
    assert failure(receiving.url).outcome is Outcome.UNREACHABLE
    assert len(receiving.requests) == 1


def test_a_connection_that_is_refused_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PAUSES", (0.01, 0.01))
    tried = []
    connect = socket.create_connection

    def counting(*arguments: object, **named: object) -> socket.socket:
        tried.append(arguments)
        return connect(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "create_connection", counting)
    error = failure(f"http://127.0.0.1:{free_port()}")
    assert (error.outcome, len(tried)) == (Outcome.REFUSED, 3)


def test_an_agent_that_is_started_meanwhile_is_met(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PAUSES", (0.2, 0.2, 0.2, 0.2, 0.2))
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))

        def serve() -> None:
            time.sleep(0.3)
            listener.listen()
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

        threading.Thread(target=serve, daemon=True).start()
        answer = CLIENT.post(f"http://127.0.0.1:{listener.getsockname()[1]}/", b"{}", {})
    assert answer.body == b"{}"


def test_a_refused_connection_is_not_tried_beyond_the_time() -> None:
    error = failure(f"http://127.0.0.1:{free_port()}", Client(timeout=0.1))
    assert error.outcome is Outcome.REFUSED


def test_a_host_that_is_none_is_unreachable() -> None:
    assert failure("http://no-such-host.invalid").outcome is Outcome.UNREACHABLE


def test_a_server_that_speaks_no_tls_is_no_secure_connection(receiving: Receiving) -> None:
    url = receiving.url.replace("http:", "https:")
    error = failure(url, Client(10.0, ssl.create_default_context()))
    assert error.outcome is Outcome.TLS
    assert "check the certificate and cafile" in str(error)
    assert receiving.requests == []


AUTHORITY = trustme.CA()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``ca.pem`` signs ``client.pem`` with ``client.key``, which ``locked.key`` is under a password."""
    folder = tmp_path_factory.mktemp("tls")
    issued = AUTHORITY.issue_cert("client.test")
    AUTHORITY.cert_pem.write_to_path(folder / "ca.pem")
    issued.cert_chain_pems[0].write_to_path(folder / "client.pem")
    issued.private_key_pem.write_to_path(folder / "client.key")
    key = load_pem_private_key(issued.private_key_pem.bytes(), password=None)
    locked = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"hunter2"))
    (folder / "locked.key").write_bytes(locked)
    return folder


@pytest.fixture
def secure(receiving: Receiving) -> Receiving:
    """The same over TLS, with a certificate of an authority that the system does not know."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    AUTHORITY.issue_cert("localhost").configure_cert(context)
    server = receiving._server
    server.socket = context.wrap_socket(server.socket, server_side=True)
    receiving.url = receiving.url.replace("http://127.0.0.1", "https://localhost")
    return receiving


def test_an_authority_of_ones_own_is_trusted(secure: Receiving, files: Path) -> None:
    client = Client(10.0, tls_context(files / "ca.pem", "agent.cafile"))
    assert client.post(secure.url, b"{}", {}).body == b"{}"


def test_a_certificate_that_nobody_vouches_for_is_refused_before_anything_is_sent(secure: Receiving) -> None:
    error = failure(secure.url, Client(10.0, tls_context(None, "agent.cafile")))
    assert error.outcome is Outcome.TLS
    assert "certificate verify failed" in str(error)
    assert secure.requests == []


def test_a_certificate_of_another_host_is_refused(secure: Receiving, files: Path) -> None:
    url = secure.url.replace("localhost", "127.0.0.1")
    error = failure(url, Client(10.0, tls_context(files / "ca.pem", "agent.cafile")))
    assert error.outcome is Outcome.TLS
    assert secure.requests == []


def test_a_server_that_asks_for_a_certificate_is_shown_one(secure: Receiving, files: Path) -> None:
    context = secure._server.socket.context  # type: ignore[attr-defined]
    context.verify_mode = ssl.CERT_REQUIRED
    AUTHORITY.configure_trust(context)
    known = tls_context(files / "ca.pem", "agent.cafile")
    assert failure(secure.url, Client(10.0, known)).outcome in (Outcome.TLS, Outcome.UNREACHABLE)
    assert secure.requests == []
    show_certificate(known, files / "client.pem", files / "client.key", "agent.certfile")
    assert Client(10.0, known).post(secure.url, b"{}", {}).body == b"{}"


@pytest.mark.parametrize(
    ("name", "said"), [("locked.key", "is locked by a password; give it without"), ("ca.pem", "cannot be used")]
)
def test_a_key_that_cannot_be_used_is_said(files: Path, name: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        show_certificate(ssl.create_default_context(), files / "client.pem", files / name, "agent.certfile")
