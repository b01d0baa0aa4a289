"""What stands in for PagerDuty in the demo: it takes events on this machine, and keeps them to be shown."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from aem_monitor.errors import AemMonitorError
from aem_monitor.web.listener import HttpListener

_T = TypeVar("_T")

_POLL_SECONDS: Final = 0.1


@dataclass(frozen=True, slots=True)
class Told:
    """An event of the Events API v2 as it came, and when (``time.monotonic``)."""

    at: float
    event: Mapping[str, Any]

    @property
    def action(self) -> str:
        """``trigger`` or ``resolve`` of an incident; ``change`` for a change event, which pages nobody."""
        return str(self.event.get("event_action", "change"))

    @property
    def incident(self) -> str | None:
        """The key by which its incident is known; None of a change event."""
        return self.event.get("dedup_key")

    @property
    def release(self) -> str | None:
        """The release that it is about; None where it does not say so."""
        details: Mapping[str, Any] = self.event.get("payload", {}).get("custom_details", {})
        return details.get("release")


class Pager:
    """The events that came, in order."""

    def __init__(self) -> None:
        self._told: list[Told] = []
        self._lock = threading.Lock()
        self.url = ""

    @property
    def told(self) -> tuple[Told, ...]:
        """All so far."""
        with self._lock:
            return tuple(self._told)

    @property
    def page(self) -> Told | None:
        """The first event that pages somebody; None so far."""
        return next((one for one in self.told if one.action == "trigger"), None)

    @property
    def all_over(self) -> bool:
        """Whether every incident that was opened is resolved."""
        state = {one.incident: one.action for one in self.told if one.incident is not None}
        return "trigger" not in state.values()

    def wait(self, what: str, come: Callable[[], _T | None], seconds: float, check: Callable[[], None]) -> _T:
        """What ``come`` gives as soon as it gives something; ``check`` is called meanwhile, to raise what makes waiting
        useless.

        Raises ``AemMonitorError`` that names ``what`` when that has not come about after ``seconds``.
        """
        deadline = time.monotonic() + seconds
        while not (found := come()):
            check()
            if time.monotonic() > deadline:
                raise AemMonitorError(
                    f"after {seconds:g} seconds PagerDuty's stand-in was not told {what}; if this machine is busy, try "
                    f"again with --wait {seconds * 4:g}"
                )
            time.sleep(_POLL_SECONDS)
        return found

    async def take(self, request: Request) -> Response:
        """Answer one request as the API does."""
        event = orjson.loads(await request.body())
        with self._lock:
            self._told.append(Told(time.monotonic(), event))
        return JSONResponse({"status": "success", "message": "Event processed"}, status_code=202)


@contextmanager
def running_pager() -> Iterator[Pager]:
    """One that listens on loopback while the block runs."""
    pager = Pager()
    routes = [Route(path, pager.take, methods=["POST"]) for path in ("/v2/enqueue", "/v2/change/enqueue")]
    listener = HttpListener(Starlette(routes=routes), "127.0.0.1", 0, "the demo's pager")
    listener.start()
    pager.url = listener.url
    try:
        yield pager
    finally:
        listener.stop(1.0)
