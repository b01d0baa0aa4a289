"""The interface of a scorer."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable


@runtime_checkable
class Scorer(Protocol):
    """Says how alike two texts are in meaning.

    ``name`` is bounded: it becomes a metric label and part of the key under which answers are stored. ``score``
    answers a batch of pairs in order, each in [0, 1]; it must be symmetric and deterministic, 1.0 for equal texts. It
    raises ``ScorerError`` when it cannot answer.
    """

    @property
    def name(self) -> str: ...

    def score(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]: ...
