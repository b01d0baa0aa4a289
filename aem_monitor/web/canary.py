"""The canary gate in the API."""

import threading

from starlette.requests import Request
from starlette.responses import Response

from aem_monitor.canary.compare import check_names, compare
from aem_monitor.canary.gate import Rules
from aem_monitor.canary.render import result_object
from aem_monitor.errors import UsageError
from aem_monitor.store import Store
from aem_monitor.web.json_response import StrictJSONResponse, error_response
from aem_monitor.web.query import QueryError, each_once

_PARAMETERS = frozenset({"agent", "baseline", "candidate"})


class CanaryEndpoint:
    """What ``canary check`` says of two releases, by its default rules."""

    def __init__(self, store: Store) -> None:
        self._store = store
        # A release's runs are held in memory: clients that poll must not multiply them.
        self._one_at_a_time = threading.Lock()

    def answer(self, request: Request) -> Response:
        """The result object, or 404 when a release has no run: an answer without its runs would let a misspelt name
        wait for ever.

        Raises:
            QueryError: a parameter is missing, unknown or repeated, or leaves open which agent is meant.
        """
        parameters = request.query_params
        each_once(parameters, _PARAMETERS)
        for name in ("baseline", "candidate"):
            if not parameters.get(name):
                raise QueryError(f"{name} is missing: give the name of a release")
        names = (parameters["baseline"], parameters["candidate"])
        agent = parameters.get("agent")
        try:
            check_names(names)
            with self._one_at_a_time:
                releases = (self._store.played(agent, names[0]), self._store.played(agent, names[1]))
                for role, name, release in zip(("baseline", "candidate"), names, releases, strict=True):
                    if not release.agents:
                        return _no_release(role, name)
                found = compare(names, releases, Rules())
        except UsageError as error:
            raise QueryError(str(error)) from error
        return StrictJSONResponse(result_object(found.names, found.releases, found.result, found.rules))


def _no_release(role: str, name: str) -> Response:
    message = (
        f"the {role}: no final run of a reviewed dialog belongs to release {name[:100]!r} (yet). "
        "GET /api/v1/runs lists what there is"
    )
    return error_response(404, "not_found", message)
