"""The pages and their addresses, which alerts, panels and runbooks link to."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from aem_monitor.golden.dialog import Dialog
from aem_monitor.links import TraceLink
from aem_monitor.model.verdict import RunResult
from aem_monitor.store import RunFilter, Store
from aem_monitor.store.records import MAX_PAGE, ReleaseSeen
from aem_monitor.web.pages.compare import NEWEST, Rate, by_chain_length, compare
from aem_monitor.web.pages.errormap import error_map
from aem_monitor.web.pages.render import HEADERS, STYLE, STYLE_PATH, page
from aem_monitor.web.pages.strip import strips
from aem_monitor.web.query import QueryError, cursor_text, matches, run_filter, wants_provisional

DAYS: Final = 30
"""How far back the overview and the list of dialogs count."""

_RESOLVED_FOR: Final = 86400.0
"""For how long an incident that is over stays on the overview, in seconds."""

_MOST_INCIDENTS: Final = 50
_STRIP_RUNS: Final = 300
_MOST_RELEASES: Final = 100
_MOST_EXCHANGES: Final = 100
_FIELDS: Final = ("agent", "release", "model", "dialog", "conversation_id", "result", "draft", "state")


@dataclass(frozen=True, slots=True)
class BesideStore:
    """What pages tell that the store does not know.

    ``traces`` makes links of trace ids, ``alerting`` says whether built-in alerting is on, ``dialogs`` gives the golden
    dialogs that are loaded at the moment, ``clock`` the time (seconds since the epoch) from which ages count.
    """

    traces: TraceLink | None = None
    alerting: bool = False
    dialogs: Callable[[], Iterable[Dialog]] = tuple
    clock: Callable[[], float] = time.time


class Pages:
    """The pages over one store."""

    def __init__(self, store: Store, beside: BesideStore) -> None:
        self._store = store
        self._beside = beside
        self._traces = beside.traces
        self._clock = beside.clock

    def routes(self) -> list[Route]:
        """All of GET, and with it HEAD."""
        return [
            Route("/", self._overview),
            Route("/runs", self._runs),
            Route("/runs/{run_id}", self._run),
            Route("/releases", self._releases),
            Route("/dialogs", self._dialogs),
            # Names of dialogs may hold slashes, which servers decode before they route.
            Route("/dialogs/{dialog:path}", self._dialog),
            Route(STYLE_PATH, _style),
        ]

    def _overview(self, request: Request) -> Response:
        _known(request.query_params, ())
        now = self._clock()
        tallies = self._store.release_tallies(now - DAYS * 86400.0)
        agents: dict[str, list[object]] = {}
        for one in tallies[:_MOST_RELEASES]:
            agents.setdefault(one.agent, []).append((one, Rate.of(one.tally)))
        failed = self._store.runs(RunFilter(outcome="fail", draft=False, limit=10))
        return page(
            "overview.html",
            {
                "now": now,
                "days": DAYS,
                "agents": agents,
                "left_out": max(0, len(tallies) - _MOST_RELEASES),
                "failed": failed,
                "last": max((one.last_at for one in tallies), default=None),
                "incidents": self._incidents(now) if self._beside.alerting else None,
            },
        )

    def _incidents(self, now: float) -> dict[str, object]:
        """Those of built-in alerting that are open, and those that were over lately."""
        still_open = self._store.open_incidents()
        over = self._store.resolved_incidents(now - _RESOLVED_FOR, _MOST_INCIDENTS)
        left_out = max(0, len(still_open) - _MOST_INCIDENTS)
        return {"open": still_open[:_MOST_INCIDENTS], "over": over, "left_out": left_out}

    def _runs(self, request: Request) -> Response:
        given = _filled(request.query_params)
        wanted = run_filter(given)
        following = None
        if wants_provisional(given):
            listed = [(result, at) for result, at in self._store.provisional_runs(MAX_PAGE) if matches(result, wanted)]
            listed = listed[: wanted.limit]
        else:
            found = self._store.runs(replace(wanted, limit=wanted.limit + 1))
            shown = found[: wanted.limit]
            listed = [(one.result, one.final_at) for one in shown]
            if len(found) > len(shown):
                following = {**given, "cursor": cursor_text(shown[-1].cursor)}
        seen = self._store.releases()
        return page(
            "runs.html",
            {
                "now": self._clock(),
                "runs": listed,
                "given": {name: given.get(name, "") for name in _FIELDS},
                "kept": {name: given[name] for name in ("since", "until", "limit") if name in given},
                "following": following,
                "first": {name: value for name, value in given.items() if name != "cursor"}
                if "cursor" in given
                else None,
                "suggestions": _suggestions(seen),
            },
        )

    def _run(self, request: Request) -> Response:
        _known(request.query_params, ())
        run_id = request.path_params["run_id"]
        stored = self._store.run(run_id)
        if stored is not None:
            history = self._store.history(run_id)
            kept = self._store.conversations([run_id]).get(run_id)
            return self._map(stored.result, at=stored.final_at, cause=stored.cause, history=history, kept=kept)
        provisional = self._store.provisional_run(run_id)
        if provisional is None:
            message = "There is no such run. It may have passed its retention."
            return page("error.html", {"title": "No such run", "message": message}, 404)
        result, made_at = provisional
        return self._map(result, at=made_at, cause="provisional", history=(), kept=None)

    def _map(self, result: RunResult, **values: object) -> Response:
        links = [(one, self._traces.to(one) if self._traces else None) for one in result.trace_ids[:_MOST_EXCHANGES]]
        return page(
            "run.html",
            {
                "now": self._clock(),
                "result": result,
                "map": error_map(result, self._traces),
                "traces": links,
                "most_exchanges": _MOST_EXCHANGES,
                **values,
            },
        )

    def _releases(self, request: Request) -> Response:
        given = _filled(request.query_params)
        _known(given, ("agent", "baseline", "candidate"))
        seen = self._store.releases()
        agent, baseline, candidate = given.get("agent"), given.get("baseline"), given.get("candidate")
        starts = self._store.release_starts(agent)
        names = _newest_first([one for one in seen if agent is None or one.agent == agent], starts)
        if candidate is None:
            candidate = next((name for name in names if name != baseline), None)
        if baseline is None and candidate is not None:
            older = names[names.index(candidate) + 1 :] if candidate in names else names
            baseline = next(iter(older), None)
        values: dict[str, object] = {"compared": None, "chains": ()}
        if baseline is not None and candidate is not None:
            old, new = (self._store.dialogs_of_release(agent, release) for release in (baseline, candidate))
            newest = [
                self._store.runs(RunFilter(agent=agent, release=release, draft=False, limit=NEWEST))
                for release in (baseline, candidate)
            ]
            values = {"compared": compare(old, new), "chains": by_chain_length(*newest)}
        return page(
            "releases.html",
            {
                "agent": agent,
                "baseline": baseline,
                "candidate": candidate,
                "names": names[:_MOST_RELEASES],
                "agents": sorted({one.agent for one in seen}),
                "newest": NEWEST,
                **values,
            },
        )

    def _dialogs(self, request: Request) -> Response:
        _known(request.query_params, ())
        now = self._clock()
        tallies = self._store.dialog_tallies(now - DAYS * 86400.0)
        ran = {one.dialog for one in tallies}
        idle = sorted((one for one in self._beside.dialogs() if one.name not in ran), key=lambda one: one.name)
        last = self._store.last_runs() if idle else {}
        return page(
            "dialogs.html",
            {
                "now": now,
                "days": DAYS,
                "dialogs": [(one, Rate.of(one.tally)) for one in tallies],
                "idle": [(one, last.get(one.name)) for one in idle],
            },
        )

    def _dialog(self, request: Request) -> Response:
        _known(request.query_params, ())
        dialog = request.path_params["dialog"]
        plays = self._store.plays_of_dialog(dialog, _STRIP_RUNS)
        if not plays:
            message = "No run of this dialog is stored: it never ran, or its runs have passed their retention."
            return page("error.html", {"title": "No such dialog", "message": message}, 404)
        return page(
            "dialog.html",
            {
                "now": self._clock(),
                "dialog": dialog,
                "strips": strips(plays),
                "latest": plays[0],
                "most": _STRIP_RUNS,
            },
        )


def error_page(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    """An error for a browser."""
    titles = {400: "That cannot be asked", 404: "Nothing here", 503: "The store does not answer"}
    return page("error.html", {"title": titles.get(status, "Error"), "message": message}, status, headers)


def wants_page(request: Request) -> bool:
    """Whether the client is a browser that asks for a page: the API answers everyone in JSON."""
    path = request.url.path
    return "text/html" in request.headers.get("accept", "") and not path.startswith(("/api/", "/-/"))


def _style(_: Request) -> Response:
    kept = {"Cache-Control": "public, max-age=31536000, immutable"}
    return Response(STYLE, headers={**HEADERS, **kept}, media_type="text/css")


def _filled(parameters: QueryParams) -> QueryParams:
    """Without fields of a form that were left empty."""
    return QueryParams([(name, value) for name, value in parameters.multi_items() if value])


def _known(parameters: QueryParams, names: tuple[str, ...]) -> None:
    for name in parameters:
        if name not in names:
            known = f"known are {', '.join(names)}" if names else "this page has none"
            raise QueryError(f"unknown parameter {name[:50]!r}; {known}")


def _suggestions(seen: list[ReleaseSeen]) -> dict[str, list[str]]:
    newest = seen[-_MOST_RELEASES:]
    return {
        "agent": sorted({one.agent for one in newest}),
        "release": sorted({one.release for one in newest}),
        "model": sorted({one.model for one in newest}),
    }


def _newest_first(seen: list[ReleaseSeen], starts: Mapping[str, float]) -> list[str]:
    """Names of releases, the one that began last first; ``starts`` is when the earliest stored run of each began.

    A release is seen when a run of it is recognised. Of spans that waited, as after a restart, the runs of two releases
    are recognised at once, in any order; their own times tell them apart. The earliest of these is forgotten with its
    run, and what was seen is not.
    """
    first: dict[str, float] = {}
    for one in seen:
        first[one.release] = min(first.get(one.release, one.first_seen), one.first_seen)
    began = {name: (min(at, starts.get(name, at)), at) for name, at in first.items()}
    return sorted(began, key=lambda name: began[name], reverse=True)
