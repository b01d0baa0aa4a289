"""The interface of an expert scorer."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeAlias

from aem_monitor.scoring.oracle import Question

Scores: TypeAlias = Mapping[str, float | None]
"""A score in [0, 1] by question key; None where the expert failed on the question."""

Answered: TypeAlias = Callable[[Scores], None]


class Expert(Protocol):
    """Something that can settle questions. ``name`` is part of every answer's hash: another prompt is another name."""

    name: str

    def answer(self, questions: Sequence[Question]) -> Scores:
        """Answer each question. Called from worker threads; may block. Raises nothing: a failure is None."""

    def close(self) -> None:
        """Free connections. Idempotent."""
