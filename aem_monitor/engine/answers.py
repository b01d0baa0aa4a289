"""Answers of an expert scorer as the engine sees them: asked once, stored before use, waited for within bounds."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from aem_monitor.errors import StoreError
from aem_monitor.metrics.registry import Metrics
from aem_monitor.scoring.oracle import Question
from aem_monitor.store.store import Store

_REMEMBERED: Final = 50_000
_FAILURE_SECONDS: Final = 600.0
"""How long a failed question is not asked again: a run that needs it is ``scorer_error`` meanwhile."""


class Asker(Protocol):
    """Takes questions without blocking; answers come to ``ExpertAnswers.answered``."""

    def ask(self, questions: Sequence[Question]) -> None:
        """Take questions in."""


class ExpertAnswers:
    """What is known of an expert's answers. ``name`` is the expert's; ``deadline`` bounds how long a run waits."""

    def __init__(
        self,
        name: str,
        store: Store,
        metrics: Metrics,
        deadline: float = 120.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.name = name
        self.deadline = deadline
        self._store = store
        self._metrics = metrics
        self._clock = clock
        self._asker: Asker | None = None
        self._known: OrderedDict[str, tuple[float | None, float]] = OrderedDict()
        self._lock = threading.Lock()

    def use(self, asker: Asker) -> None:
        """Ask this one from now on."""
        self._asker = asker

    def answered(self, scores: Mapping[str, float | None]) -> None:
        """Take answers in; called from the expert's threads. An answer that cannot be stored is not used."""
        found = dict(scores)
        good = {key: score for key, score in found.items() if score is not None}
        failed = [key for key, score in found.items() if score is None]
        try:
            if good:
                self._store.store_answers(self.name, good, self._clock())
        except StoreError as error:
            self._metrics.counter("aem_monitor_store_errors_total", reason=error.reason).inc()
            failed, good = list(found), {}
        if failed:
            self._metrics.counter("aem_monitor_scorer_errors_total", scorer=self.name.partition(":")[0]).inc(
                len(failed)
            )
        now = self._clock()
        with self._lock:
            for key, score in (*good.items(), *((key, None) for key in failed)):
                self._known[key] = (score, now)
                self._known.move_to_end(key)
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)

    def look_up(self, questions: Sequence[Question]) -> dict[str, float | None]:
        """The answers that are there; what is missing is asked. Raises ``StoreError``."""
        found: dict[str, float | None] = {}
        now = self._clock()
        with self._lock:
            for question in questions:
                known = self._known.get(question.key)
                if known is not None and (known[0] is not None or now - known[1] < _FAILURE_SECONDS):
                    found[question.key] = known[0]
        missing = [question for question in questions if question.key not in found]
        if missing:
            found.update(self._store.answers([question.key for question in missing], self.name))
        left = [question for question in missing if question.key not in found]
        if left and self._asker is not None:
            self._asker.ask(left)
        return found
