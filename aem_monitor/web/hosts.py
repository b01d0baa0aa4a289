"""Names under which a listener on loopback answers.

A page of another site whose name was pointed at 127.0.0.1 (DNS rebinding) counts as the same site to a browser: it
could read every run, and reload. What it cannot choose is the header ``Host``, which has that name.
"""

import ipaddress
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from aem_monitor.web.json_response import error_response


class OnlyHosts:
    """Refuses requests for another host than this machine or one of ``names``, before anything looks at them."""

    def __init__(self, app: ASGIApp, names: Collection[str]) -> None:
        self._app = app
        self._names = frozenset(name.lower() for name in names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._is_meant(Request(scope).headers.get("host")):
            await self._app(scope, receive, send)
        else:
            await _refusal()(scope, receive, send)

    def _is_meant(self, host: str | None) -> bool:
        """No browser leaves the header out."""
        if host is None:
            return True
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return name in self._names or name == "localhost" or name.endswith(".localhost") or _is_loopback(name)


def _is_loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _refusal() -> Response:
    message = (
        "this listener is on loopback and answers to localhost and 127.0.0.1 only, or to the host of web.external_url; "
        "name the address there at which people reach it"
    )
    return error_response(403, "forbidden", message)
