"""The administration listener: reload, the API over stored runs in JSON, and the pages."""

import logging
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from aem_monitor.errors import AemMonitorError, StoreError
from aem_monitor.model.render import evidence_object, result_object
from aem_monitor.model.verdict import RunResult
from aem_monitor.store import Store, StoredRun
from aem_monitor.store.records import MAX_PAGE
from aem_monitor.web.canary import CanaryEndpoint
from aem_monitor.web.hosts import OnlyHosts
from aem_monitor.web.json_response import StrictJSONResponse, error_response
from aem_monitor.web.pages.routes import BesideStore, Pages, error_page, wants_page
from aem_monitor.web.query import QueryError, cursor_text, matches, run_filter, wants_provisional

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ReloadResult:
    """What became of a reload. ``message`` says what was loaded, or what was wrong and that the old stays."""

    ok: bool
    message: str


Reload = Callable[[], ReloadResult]


def admin_app(
    store: Store, reload: Reload, beside: BesideStore | None = None, hosts: Collection[str] | None = None
) -> Starlette:
    """Serves ``POST /-/reload``, ``GET /api/v1/runs``, ``GET /api/v1/runs/{run_id}`` and its ``/revisions``,
    ``GET /api/v1/canary``, and the pages of ``web.pages``.

    Only the store is read, so that the engine is never disturbed. Errors are
    ``{"error": {"reason": .., "message": ..}}`` with a bounded reason, or a page for browsers outside of the API.
    ``beside`` is what pages tell that the store does not know. ``hosts`` are names of this machine beside its loopback
    addresses; requests for another one are refused. None: all are answered.
    """
    one_at_a_time = threading.Lock()

    def do_reload(request: Request) -> Response:
        _refuse_other_sites(request)
        with one_at_a_time:
            try:
                result = reload()
            except AemMonitorError as error:
                return error_response(500, error.reason, str(error))
        if not result.ok:
            return error_response(500, "reload", result.message)
        return StrictJSONResponse({"status": "reloaded", "message": result.message})

    def runs(request: Request) -> Response:
        wanted = run_filter(request.query_params)
        if wants_provisional(request.query_params):
            open_runs = [one for one in store.provisional_runs(MAX_PAGE) if matches(one[0], wanted)]
            return StrictJSONResponse({"runs": [_provisional(*one) for one in open_runs[: wanted.limit]], "next": None})
        found = store.runs(replace(wanted, limit=wanted.limit + 1))
        page = found[: wanted.limit]
        more = len(found) > len(page)
        return StrictJSONResponse(
            {
                "runs": [{**_listed(one.result), **_stored(one)} for one in page],
                "next": cursor_text(page[-1].cursor) if more else None,
            }
        )

    def run(request: Request) -> Response:
        run_id = request.path_params["run_id"]
        found = store.run(run_id)
        if found is not None:
            return StrictJSONResponse({**evidence_object(found.result), **_stored(found)})
        provisional = store.provisional_run(run_id)
        if provisional is not None:
            result, made_at = provisional
            return StrictJSONResponse({**evidence_object(result), "provisional": True, "stored_at": made_at})
        return _no_run()

    def revisions(request: Request) -> Response:
        history = store.history(request.path_params["run_id"])
        if not history:
            return _no_run()
        return StrictJSONResponse({"revisions": [{**_listed(one.result), **_stored(one)} for one in history]})

    return Starlette(
        routes=[
            Route("/-/reload", do_reload, methods=["POST"]),
            Route("/api/v1/runs", runs, methods=["GET"]),
            Route("/api/v1/runs/{run_id}", run, methods=["GET"]),
            Route("/api/v1/runs/{run_id}/revisions", revisions, methods=["GET"]),
            Route("/api/v1/canary", CanaryEndpoint(store).answer, methods=["GET"]),
            *Pages(store, beside or BesideStore()).routes(),
        ],
        middleware=[] if hosts is None else [Middleware(OnlyHosts, names=hosts)],
        exception_handlers={
            HTTPException: _http_error,
            QueryError: _query_error,
            StoreError: _store_error,
            Exception: _unexpected,
        },
    )


def _no_run() -> Response:
    message = "there is no such run; it may have passed its retention. GET /api/v1/runs lists what there is"
    return error_response(404, "not_found", message)


def _listed(result: RunResult) -> dict[str, object]:
    return {
        "run_id": result.run_id,
        **result_object(result),
        "agent": result.agent,
        "model": result.model,
        "dialog_version": result.dialog_version,
        "revision": result.revision,
        "draft": result.draft,
        "started_ns": result.started_ns,
        "ended_ns": result.ended_ns,
    }


def _provisional(result: RunResult, made_at: float) -> dict[str, object]:
    return {**_listed(result), "provisional": True, "stored_at": made_at}


def _stored(stored: StoredRun) -> dict[str, object]:
    return {"final_at": stored.final_at, "stored_at": stored.stored_at, "cause": stored.cause}


def _refuse_other_sites(request: Request) -> None:
    """A page of another site that is open in an administrator's browser must not be able to trigger anything."""
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        raise HTTPException(403, "this request comes from another site; send it without an Origin header")


def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    reasons = {403: "forbidden", 404: "not_found", 405: "wrong_method"}
    message = {
        404: f"there is nothing at {request.url.path}",
        405: f"{request.method} is not allowed at {request.url.path}",
    }.get(error.status_code, error.detail)
    headers = dict(error.headers) if error.headers else None
    return _failed(request, error.status_code, reasons.get(error.status_code, "request"), message, headers)


def _query_error(request: Request, error: Exception) -> Response:
    return _failed(request, 400, "query", str(error))


def _store_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, StoreError)
    _log.error("the store could not answer a request: %s", error)
    return _failed(request, 503, f"store_{error.reason}", str(error))


def _unexpected(request: Request, error: Exception) -> Response:
    _log.error("a request failed", exc_info=error)
    return _failed(request, 500, "internal", "the request failed; the log of the daemon says why")


def _failed(
    request: Request, status: int, reason: str, message: str, headers: dict[str, str] | None = None
) -> Response:
    if wants_page(request):
        return error_page(status, message, headers)
    return error_response(status, reason, message, headers)
