"""The canary gate in the API."""

import math
import threading
import time
from collections.abc import Callable, Hashable
from functools import partial
from typing import Final, TypeAlias

from starlette.requests import Request
from starlette.responses import Response

from aem_monitor.canary.compare import compare
from aem_monitor.canary.render import result_object
from aem_monitor.errors import UsageError
from aem_monitor.store import Store
from aem_monitor.web.canaryquestion import Question, question
from aem_monitor.web.json_response import StrictJSONResponse, error_response
from aem_monitor.web.query import QueryError

AT_ONCE: Final = 4
"""Requests that are worked on: each holds a thread, of which the pages need some as well."""

WAITING: Final = 2
"""Of these, for an answer to be computed, the one that is computed among them; the others are for answers that are
known."""

LONGEST_WAIT: Final = 5.0
"""Seconds; clients such as Argo Rollouts give up after 10."""

_REST: Final = 3.0
"""How many times as long as the last answer took to compute no other is computed: the engine's thread shares one
processor with this one."""

_KEPT: Final = 16
"""Answers."""

_Answer: TypeAlias = Callable[[], Response]
"""Makes a response of an answer that is known."""


class CanaryEndpoint:
    """What ``canary check`` says of two releases.

    An answer takes a second or more where a release has 100,000 runs. It is computed once for all who ask the same
    until there are other runs, one at a time, and with rests: clients that poll must stall nothing.
    """

    def __init__(
        self,
        store: Store,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        cost: Callable[[], float] = time.thread_time,
    ) -> None:
        """``cost`` is how much of the processor the calling thread had so far, in seconds."""
        self._store = store
        self._clock, self._sleep, self._cost = clock, sleep, cost
        self._at_once = threading.BoundedSemaphore(AT_ONCE)
        self._waiting = threading.BoundedSemaphore(WAITING)
        self._one_at_a_time = threading.Lock()
        self._answers: dict[Hashable, _Answer] = {}
        self._rest_until = -math.inf

    def answer(self, request: Request) -> Response:
        """The result object, also of releases without runs: not enough evidence. A rollout begins with that, and those
        who look so many times and then ask a person (Argo Rollouts) do not count errors as looks. 503 when others who
        ask keep it busy.

        Raises:
            QueryError: a parameter cannot be used, or it is left open which agent is meant.
        """
        asked = question(request.query_params)
        # Before anything is read: who is sent away costs next to nothing.
        if not self._at_once.acquire(blocking=False):
            return _busy(1.0)
        try:
            marks = tuple(self._store.mark(asked.agent, name) for name in asked.names)
            key = (marks, tuple(sorted(request.query_params.multi_items())))
            known = self._answers.get(key)
            if known is not None:
                return known()
            if not self._waiting.acquire(blocking=False):
                return _busy(LONGEST_WAIT)
            try:
                return self._in_turn(asked, key)
            finally:
                self._waiting.release()
        finally:
            self._at_once.release()

    def _in_turn(self, asked: Question, key: Hashable) -> Response:
        end = self._clock() + LONGEST_WAIT
        if not self._one_at_a_time.acquire(timeout=LONGEST_WAIT):
            return _busy(LONGEST_WAIT)
        try:
            known = self._answers.get(key)
            if known is not None:
                return known()
            rest = self._rest_until - self._clock()
            if self._rest_until > end:
                return _busy(rest)
            if rest > 0:
                self._sleep(rest)
            before = self._cost()
            try:
                found = self._computed(asked)
            finally:
                self._rest_until = self._clock() + _REST * (self._cost() - before)
            self._answers[key] = found
            if len(self._answers) > _KEPT:
                del self._answers[next(iter(self._answers))]
            return found()
        finally:
            self._one_at_a_time.release()

    def _computed(self, asked: Question) -> _Answer:
        names = asked.names
        before, now = (self._store.played(asked.agent, name, asked.since) for name in names)
        try:
            found = compare(names, (before, now), asked.rules)
        except UsageError as error:
            raise QueryError(str(error)) from error
        return partial(StrictJSONResponse, result_object(found.names, found.releases, found.result, found.rules))


def _busy(seconds: float) -> Response:
    message = "other answers of the canary gate are being computed; ask again later, and once a minute is enough"
    return error_response(503, "busy", message, {"Retry-After": str(math.ceil(seconds))})
