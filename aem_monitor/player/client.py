"""One request to an agent, and what became of it.

An agent acts: a request that may have arrived is never sent again. Only a connection that was refused, before any byte
of the request, is tried again. Each request has a connection of its own, since one that was kept may end just as a
request is sent, and nobody would know whether it arrived.
"""

import http.client
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from aem_monitor import __version__
from aem_monitor.httpclient import Deadline, connection_to, one_line
from aem_monitor.player.faults import ExchangeError, Outcome

_MOST_OF_AN_ANSWER: Final = 4 * 2**20
"""Bytes; a reply of more is none that a person would read."""
_MOST_SAID: Final = 200
_PAUSES: Final = (0.2, 0.5, 1.0)
"""Seconds before each further attempt to connect: an agent that is just being started again is back by then."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a status from 200 to 299."""

    status: int
    content_type: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Client:
    """How to send. ``timeout``: seconds for a whole exchange, attempts to connect included. ``tls`` for https."""

    timeout: float
    tls: ssl.SSLContext | None = None

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        """POST once and return the answer. Raises ``ExchangeError``; its message does not hold the URL's query, which
        may be secret."""
        return self._send("POST", url, body, headers)

    def get(self, url: str) -> Answer:
        """GET, otherwise as ``post``."""
        return self._send("GET", url, None, {})

    def _send(self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
        parts = urlsplit(url)
        where = f"{parts.scheme}://{parts.netloc}{parts.path}"
        target = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
        until = time.monotonic() + self.timeout
        for pause in (*_PAUSES, None):
            connection, asked = connection_to(parts, target, self.timeout, self.tls)
            done = Deadline(connection, max(0.0, until - time.monotonic()))
            try:
                connection.connect()
            except ConnectionRefusedError as error:
                if pause is None or time.monotonic() + pause > until:
                    message = f"{where} refused the connection; is anything running there?"
                    raise ExchangeError(Outcome.REFUSED, message) from error
            except (OSError, http.client.HTTPException) as error:
                raise _failed(where, error, late=done.late, seconds=self.timeout) from error
            else:
                return self._exchange(connection, where, (method, asked, body, headers), done)
            finally:
                done.over()
                connection.close()
            time.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    def _exchange(
        self,
        connection: http.client.HTTPConnection,
        where: str,
        request: tuple[str, str, bytes | None, Mapping[str, str]],
        done: Deadline,
    ) -> Answer:
        method, target, body, headers = request
        own = {"User-Agent": f"aem-monitor/{__version__}", "Connection": "close", "Accept-Encoding": "identity"}
        try:
            connection.request(method, target, body, {**headers, **own})
            with connection.getresponse() as response:
                answer = response.read(_MOST_OF_AN_ANSWER + 1)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise _failed(where, error, late=done.late, seconds=self.timeout) from error
        if done.late:
            # A body without a length ends where the connection does, also where it was ended here.
            raise _failed(where, TimeoutError(), late=True, seconds=self.timeout)
        return _judged(where, response, answer)


def _judged(where: str, response: http.client.HTTPResponse, answer: bytes) -> Answer:
    status = response.status
    if 300 <= status < 400:
        to = one_line(response.headers.get("Location", "")[:_MOST_SAID]) or "nowhere"
        message = f"{where} answered {status}, which points to {to}; it is not followed: give the final address"
        raise ExchangeError(Outcome.REDIRECT, message, status)
    if not 200 <= status < 300:
        said = one_line(answer[:_MOST_SAID].decode("utf-8", "replace")).strip()
        message = f"{where} answered {status}{f': {said}' if said else ''}"
        raise ExchangeError(Outcome.STATUS, message, status)
    if len(answer) > _MOST_OF_AN_ANSWER:
        message = f"{where} answered with more than {_MOST_OF_AN_ANSWER // 2**20} MiB"
        raise ExchangeError(Outcome.TOO_LARGE, message, status)
    return Answer(status, response.headers.get_content_type(), answer)


def _failed(where: str, error: Exception, *, late: bool, seconds: float) -> ExchangeError:
    if late or isinstance(error, TimeoutError):
        return ExchangeError(Outcome.TIMEOUT, f"{where} did not answer within {seconds:g} seconds")
    why = one_line(str(error)[:_MOST_SAID]) or type(error).__name__
    if isinstance(error, ssl.SSLError):
        return ExchangeError(Outcome.TLS, f"{where}: no secure connection: {why}; check the certificate and cafile")
    return ExchangeError(Outcome.UNREACHABLE, f"{where} does not answer: {why}")
