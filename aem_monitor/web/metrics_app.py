"""The metrics listener: metrics for Prometheus, health for an orchestrator."""

import gzip
import logging
from collections.abc import Callable, Sequence
from typing import Final

from prometheus_client import CollectorRegistry
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from aem_monitor import __version__
from aem_monitor.metrics.exposition import expose

_log = logging.getLogger(__name__)

Ready = Callable[[], Sequence[str]]
"""Tells what stands in the way of working, one sentence each; nothing when ready."""

_LANDING: Final = f"""\
<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>aem-monitor</title></head>
<body>
<h1>aem-monitor {__version__}</h1>
<ul>
<li><a href="/metrics">Metrics</a></li>
<li><a href="/-/healthy">Healthy</a>: the process answers</li>
<li><a href="/-/ready">Ready</a>: engine and store are up</li>
</ul>
</body>
</html>
"""


def metrics_app(registry: CollectorRegistry, ready: Ready) -> Starlette:
    """Serves ``/``, ``/metrics``, ``/-/healthy`` and ``/-/ready``; other methods than GET and HEAD are answered 405.

    Handlers are plain functions: they run in worker threads, so that a probe is answered while a scrape is rendered.
    """

    def metrics(request: Request) -> Response:
        body, content_type = expose(registry, request.headers.get("accept"))
        headers = {"Content-Type": content_type, "Vary": "Accept, Accept-Encoding"}
        if accepts_gzip(request.headers.get("accept-encoding", "")):
            headers["Content-Encoding"] = "gzip"
            body = gzip.compress(body, compresslevel=5, mtime=0)
        return Response(body, headers=headers)

    def readiness(_: Request) -> Response:
        problems = problems_of(ready)
        if problems:
            return PlainTextResponse("not ready\n" + "".join(f"{one}\n" for one in problems), status_code=503)
        return PlainTextResponse("ready\n")

    return Starlette(
        routes=[
            Route("/", _landing),
            Route("/metrics", metrics),
            Route("/-/healthy", _healthy),
            Route("/-/ready", readiness),
        ]
    )


def problems_of(ready: Ready) -> Sequence[str]:
    """What ``ready`` tells; that it could not tell is a problem too."""
    try:
        return ready()
    except Exception as error:  # noqa: BLE001  a probe must get an answer
        _log.exception("readiness could not be determined")
        return [f"readiness could not be determined: {type(error).__name__}"]


def accepts_gzip(accept_encoding: str) -> bool:
    """Whether an Accept-Encoding header allows gzip (RFC 9110, 12.5.3; a quality of 0 forbids it)."""
    for entry in accept_encoding.lower().split(","):
        coding, _, parameters = entry.partition(";")
        if coding.strip() == "gzip":
            return parameters.replace(" ", "") not in {"q=0", "q=0.0", "q=0.00", "q=0.000"}
    return False


def _landing(_: Request) -> Response:
    return HTMLResponse(_LANDING)


def _healthy(_: Request) -> Response:
    return PlainTextResponse("healthy\n")
