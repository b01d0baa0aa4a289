"""What an answer means, and what a receiver can do to the one who asks."""

import socket
import time
from pathlib import Path

import pytest

from aem_monitor.alerting.http import Poster, Target
from aem_monitor.errors import ConfigError, NotifyError
from tests.alerting.answering import Answer, Receiving


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def poster(receiving: Receiving, path: str = "/base?token=hunter2", timeout: float = 10.0) -> Poster:
    return Poster(Target(f"{receiving.url}{path}", "alerting.receivers.webhook", {"Authorization": "x"}, timeout))


def failure(receiving: Receiving, timeout: float = 10.0) -> NotifyError:
    with pytest.raises(NotifyError) as caught:
        poster(receiving, timeout=timeout).post(b"{}")
    assert "hunter2" not in str(caught.value)
    return caught.value


def test_what_is_accepted_was_sent_where_it_should_be(receiving: Receiving) -> None:
    poster(receiving).post(b'{"a":1}', "/more", {"X-More": "y"})
    (request,) = receiving.requests
    assert (request.path, request.json) == ("/base/more?token=hunter2", {"a": 1})
    assert (request.headers["Authorization"], request.headers["X-More"]) == ("x", "y")
    assert request.headers["Content-Type"] == "application/json"


@pytest.mark.parametrize(
    ("address", "path"),
    [("", "/"), ("/hook/", "/hook/"), ("/hook", "/hook"), ("?a=b", "/?a=b"), ("/h/?a=b", "/h/?a=b")],
)
def test_an_address_is_asked_for_as_it_is_written(receiving: Receiving, address: str, path: str) -> None:
    poster(receiving, address).post(b"{}")
    assert receiving.requests[0].path == path


@pytest.mark.parametrize(
    ("status", "reason", "final"),
    [
        (400, "rejected", True),
        (413, "rejected", True),
        (401, "unauthorized", False),
        (403, "unauthorized", False),
        (404, "refused", False),
        (408, "overloaded", False),
        (429, "overloaded", False),
        (500, "overloaded", False),
        (503, "overloaded", False),
    ],
)
def test_an_answer_says_whether_to_try_again(receiving: Receiving, status: int, reason: str, final: bool) -> None:
    receiving.answer = lambda request: Answer(status, body=b"no\x00\ngood")
    error = failure(receiving)
    assert (error.reason, error.final) == (reason, final)
    assert len(str(error).splitlines()) == 1


@pytest.mark.parametrize(
    "repeated", ["Bad Request: /base?token=hunter2", '{"routing_key": "0123456789abcdef"}', "who is Bearer-of-secrets?"]
)
def test_an_answer_that_repeats_a_secret_is_not_told(receiving: Receiving, repeated: str) -> None:
    receiving.answer = lambda request: Answer(400, body=repeated.encode())
    target = Target(
        f"{receiving.url}/base?token=hunter2",
        "key",
        {"Authorization": "Token Bearer-of-secrets"},
        secrets=("0123456789abcdef",),
    )
    with pytest.raises(NotifyError) as caught:
        Poster(target).post(b"{}")
    assert str(caught.value).endswith("answered 400: (its answer repeats something secret and is not shown)")


def test_what_is_no_answer_is_told_on_one_line(receiving: Receiving) -> None:
    receiving.raw = lambda connection: connection.sendall(b"\x1b[31mEVIL\x07 x\r\n\r\n")
    assert str(failure(receiving)).isprintable()


def test_a_handshake_that_takes_too_long_is_ended() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        target = Target(f"https://127.0.0.1:{silent.getsockname()[1]}", "key", timeout=0.3)
        with pytest.raises(NotifyError, match=r"too long|timed out"):
            Poster(target).post(b"{}")


@pytest.mark.parametrize(("wish", "seconds"), [("7", 7.0), ("99999", 300.0), ("soon", None), ("-1", None)])
def test_a_receiver_may_say_how_long_to_wait(receiving: Receiving, wish: str, seconds: float | None) -> None:
    receiving.answer = lambda request: Answer(429, {"Retry-After": wish})
    assert failure(receiving).retry_after == seconds


def test_a_redirect_takes_no_secret_with_it(receiving: Receiving) -> None:
    elsewhere = Receiving()
    receiving.answer = lambda request: Answer(307, {"Location": elsewhere.url})
    try:
        assert failure(receiving).reason == "refused"
        assert elsewhere.requests == []
    finally:
        elsewhere.close()


def test_an_answer_that_is_none_is_tried_again(receiving: Receiving) -> None:
    receiving.raw = lambda connection: connection.sendall(b"\x00\xffgarbage\r\n\r\n")
    error = failure(receiving)
    assert (error.reason, error.final) == ("unreachable", False)


def test_a_connection_that_ends_without_an_answer_is_tried_again(receiving: Receiving) -> None:
    receiving.raw = lambda connection: connection.shutdown(socket.SHUT_RDWR)
    assert failure(receiving).reason == "unreachable"


def test_a_receiver_that_sends_an_answer_byte_by_byte_holds_nobody_up(receiving: Receiving) -> None:
    def drip(connection: socket.socket) -> None:
        try:
            for _ in range(600):
                connection.sendall(b"H")
                time.sleep(0.05)
        except OSError:
            return

    receiving.raw = drip
    assert "took too long" in str(failure(receiving, timeout=0.3))


def test_nobody_there_is_tried_again() -> None:
    gone = Receiving()
    gone.close()
    error = failure(gone)
    assert (error.reason, error.final) == ("unreachable", False)


def test_the_proxy_of_the_environment_is_asked(receiving: Receiving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", receiving.url)
    Poster(Target("http://receiver.invalid:8080/hook", "k")).post(b"{}")
    assert [request.path for request in receiving.requests] == ["http://receiver.invalid:8080/hook"]
    monkeypatch.setenv("no_proxy", "receiver.invalid")
    with pytest.raises(NotifyError):
        Poster(Target("http://receiver.invalid:8080/hook", "k")).post(b"{}")


def test_a_receiver_that_does_not_speak_tls_gets_nothing(receiving: Receiving) -> None:
    with pytest.raises(NotifyError, match="does not answer"):
        Poster(Target(receiving.url.replace("http:", "https:"), "k", {}, 2.0)).post(b"secret")
    assert receiving.requests == []


def test_authorities_that_cannot_be_read_are_an_error_of_the_configuration(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"k\.cafile"):
        Poster(Target("https://receiver.invalid", "k", cafile=tmp_path / "none.pem"))
