"""Threads between the engine and an expert, with bounded queues on both sides."""

import logging
import queue
import threading
from collections.abc import Sequence
from typing import Final

from aem_monitor.experts.base import Answered, Expert
from aem_monitor.scoring.oracle import Question

_LOG = logging.getLogger(__name__)

_BATCH: Final = 32
_WAIT: Final = 0.2


class ExpertPool:
    """Takes questions without ever blocking, answers them on one thread, and hands the answers back.

    A question that is waiting or being answered is not taken twice. A question that finds the queue full is answered
    None at once: it would otherwise hold its run for ever.
    """

    def __init__(self, expert: Expert, answered: Answered, capacity: int = 10_000) -> None:
        """``answered`` is called from the pool's thread, or from ``ask``'s when the queue is full."""
        self._expert = expert
        self._answered = answered
        self._queue: queue.Queue[Question] = queue.Queue(capacity)
        self._open: set[str] = set()
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="experts", daemon=True)

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def ask(self, questions: Sequence[Question]) -> None:
        """Take questions in."""
        refused = []
        for question in questions:
            with self._lock:
                if question.key in self._open:
                    continue
                self._open.add(question.key)
            try:
                self._queue.put_nowait(question)
            except queue.Full:
                with self._lock:
                    self._open.discard(question.key)
                refused.append(question.key)
        if refused:
            self._answered(dict.fromkeys(refused))

    @property
    def waiting(self) -> int:
        """Questions that have no answer yet."""
        with self._lock:
            return len(self._open)

    def stop(self, timeout: float) -> None:
        """Answer nothing more. Idempotent."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout)
        self._expert.close()

    def _run(self) -> None:
        while not self._stopping.is_set():
            batch = self._batch()
            if not batch:
                continue
            try:
                scores = self._expert.answer(batch)
            except Exception:  # noqa: BLE001 - an expert is a plug-in: whatever it raises must not end the thread
                _LOG.exception("The expert %s failed; its questions stay open", self._expert.name)
                scores = {}
            answers = {question.key: scores.get(question.key) for question in batch}
            with self._lock:
                self._open.difference_update(answers)
            self._answered(answers)

    def _batch(self) -> list[Question]:
        try:
            batch = [self._queue.get(timeout=_WAIT)]
        except queue.Empty:
            return []
        while len(batch) < _BATCH:
            try:
                batch.append(self._queue.get_nowait())
            except queue.Empty:
                break
        return batch
