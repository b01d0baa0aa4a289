"""A listener binds, serves and lets go."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from aem_monitor.errors import ConfigError
from aem_monitor.web.listener import HttpListener


def hello(_: Request) -> Response:
    return PlainTextResponse("hello")


APP = Starlette(routes=[Route("/", hello)])


@contextmanager
def listening(app: Starlette = APP, host: str = "127.0.0.1", port: int = 0, **bounds: Any) -> Iterator[HttpListener]:
    listener = HttpListener(app, host, port, "metrics.listen", **bounds)
    listener.start()
    try:
        yield listener
    finally:
        listener.stop(5)


def test_port_zero_takes_a_free_port_and_tells_it() -> None:
    with listening() as listener:
        assert listener.port > 0
        assert httpx.get(listener.url).text == "hello"


def test_a_port_in_use_is_an_error_that_names_the_key() -> None:
    with listening() as first:
        second = HttpListener(APP, "127.0.0.1", first.port, "admin.listen")
        with pytest.raises(ConfigError, match=rf"admin\.listen: cannot listen on 127\.0\.0\.1:{first.port}.*another"):
            second.start()
        second.stop(1)
        assert httpx.get(first.url).text == "hello"


@pytest.mark.parametrize("host", ["no.such.host.invalid", "203.0.113.77"])
def test_an_address_that_is_not_ours_is_an_error_that_names_the_key(host: str) -> None:
    with pytest.raises(ConfigError, match=r"metrics\.listen"):
        HttpListener(APP, host, 0, "metrics.listen").start()


def test_a_stopped_listener_frees_its_port_and_stops_once() -> None:
    with listening() as listener:
        httpx.get(listener.url)
        port = listener.port
        listener.stop(5)
        listener.stop(5)
        with pytest.raises(httpx.ConnectError):
            httpx.get(listener.url)
    with listening(port=port) as again:
        assert httpx.get(again.url).text == "hello"


def test_a_listener_that_never_started_can_be_stopped() -> None:
    HttpListener(APP, "127.0.0.1", 0, "metrics.listen").stop(1)


def test_stop_lets_a_running_request_finish() -> None:
    entered = threading.Event()

    def slow(_: Request) -> Response:
        entered.set()
        time.sleep(0.3)
        return PlainTextResponse("done")

    with listening(Starlette(routes=[Route("/", slow)])) as listener:
        answers: list[str] = []
        client = threading.Thread(target=lambda: answers.append(httpx.get(listener.url).text))
        client.start()
        entered.wait(5)
        listener.stop(5)
        client.join()
        assert answers == ["done"]


def test_ipv6_is_served_and_written_with_brackets() -> None:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        pytest.skip("this machine has no IPv6")
    with listening(host="::1") as listener:
        assert listener.url.startswith("http://[::1]:")
        assert httpx.get(listener.url).text == "hello"


def test_what_is_no_http_does_not_stop_the_listener() -> None:
    with listening() as listener:
        for rubbish in (
            b"\x16\x03\x01\x02\x00\x01\x00",
            b"GET\r\n\r\n",
            b"\x00" * 5000,
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        ):
            with socket.create_connection(("127.0.0.1", listener.port), timeout=5) as client:
                client.sendall(rubbish)
                client.shutdown(socket.SHUT_WR)
                while client.recv(4096):
                    pass
        assert httpx.get(listener.url).text == "hello"


@pytest.mark.parametrize(
    ("earlier", "sent"),
    [
        (b"", b""),
        (b"", b"GET /metrics HTTP/1.1\r\nHo"),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"GET /metrics HTTP/1.1\r\nHo"),
    ],
    ids=["nothing", "half a header", "half a header after a request"],
)
def test_half_open_connections_are_closed_and_others_are_answered(earlier: bytes, sent: bytes) -> None:
    with listening(connections=9, header_seconds=0.2) as listener, ExitStack() as opened:
        clients = [
            opened.enter_context(socket.create_connection(("127.0.0.1", listener.port), timeout=20)) for _ in range(8)
        ]
        for client in clients:
            client.sendall(earlier)
            if earlier:
                assert client.recv(4096).startswith(b"HTTP/1.1 200 ")
            client.sendall(sent)
        for client in clients:
            while client.recv(4096):
                pass
        assert httpx.get(listener.url).text == "hello"


def test_connections_that_never_read_their_answer_are_closed() -> None:
    def large(_: Request) -> Response:
        return PlainTextResponse("x" * 20_000_000)

    app = Starlette(routes=[Route("/", hello), Route("/large", large)])
    with listening(app, connections=3, write_seconds=0.3) as listener, ExitStack() as opened:
        for _ in range(3):
            client = opened.enter_context(socket.create_connection(("127.0.0.1", listener.port), timeout=20))
            client.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
            assert client.recv(1) == b"H"
        end = time.monotonic() + 20
        while httpx.get(listener.url).status_code != 200:
            assert time.monotonic() < end, "still busy"
            time.sleep(0.05)


def test_a_large_answer_is_read_whole() -> None:
    def large(_: Request) -> Response:
        return PlainTextResponse("x" * 5_000_000)

    with listening(Starlette(routes=[Route("/", large)])) as listener:
        assert len(httpx.get(listener.url).text) == 5_000_000
