"""How far the letters of a partition were replayed, cause by cause."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from aem_monitor.deadletters.causes import CAUSES


@dataclass(frozen=True, slots=True)
class Replayed:
    """The offset before which everything was replayed, and what is further by cause.

    Committed to Kafka as an offset with metadata, so that replaying one cause passes over no letter of another, and
    the usual tools show and set how far it is: an offset without metadata holds for all causes.
    """

    offset: int = 0
    by_cause: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, offset: int, metadata: str | None) -> "Replayed":
        """From what is committed; metadata that is not ours counts for nothing."""
        try:
            told = json.loads(metadata or "{}")
        except ValueError:
            return cls(offset)
        if not isinstance(told, dict):
            return cls(offset)
        further = {
            cause: number
            for cause, number in told.items()
            if cause in CAUSES and isinstance(number, int) and number > offset
        }
        return cls(offset, further)

    def written(self) -> str:
        """The metadata of the committed offset."""
        return json.dumps(self.by_cause, separators=(",", ":"), sort_keys=True) if self.by_cause else ""

    def of(self, cause: str) -> int:
        """The offset before which the letters of a cause were replayed."""
        return self.by_cause.get(cause, self.offset)

    def begin(self, causes: Iterable[str]) -> int:
        """The first offset that has to be looked at for these causes."""
        return min(self.of(cause) for cause in causes)

    def advanced(self, causes: Iterable[str], offset: int) -> "Replayed":
        """After everything of these causes before ``offset`` was replayed."""
        positions = {cause: self.of(cause) for cause in CAUSES}
        positions |= {cause: max(positions[cause], offset) for cause in causes}
        lowest = min(positions.values())
        return Replayed(lowest, {cause: number for cause, number in positions.items() if number > lowest})
