"""What was played, as it is told afterwards."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from aem_monitor.model.jsonvalue import JSON
from aem_monitor.player.faults import Outcome
from aem_monitor.player.script import NotPlayed, Script


@dataclass(frozen=True, slots=True)
class ExchangeRecord:
    """One exchange. ``seconds`` from the request to the end of the answer. ``delivered``: whether the monitor has the
    player's span of it."""

    number: int
    trace_id: str
    outcome: Outcome
    status: int | None
    seconds: float
    delivered: bool


@dataclass(slots=True)
class PlayRecord:
    """One play of a dialog. Grows while it is played, by one thread. ``reset_failed``: nothing of it was played.
    ``run`` is the monitor's verdict, where it was waited for and came."""

    script: Script
    repeat: int
    conversation_id: str
    exchanges: list[ExchangeRecord] = field(default_factory=list)
    reset_failed: bool = False
    run: Mapping[str, JSON] | None = None

    @property
    def complete(self) -> bool:
        """Whether every message was said and answered."""
        said = len(self.exchanges) == len(self.script.messages)
        return said and all(one.outcome is Outcome.ANSWERED for one in self.exchanges)

    @property
    def known(self) -> bool:
        """Whether the monitor can know of it."""
        return any(one.delivered for one in self.exchanges)


class Ended(StrEnum):
    """Why playing ended."""

    PLAYED = "played"
    ERROR_BUDGET = "error_budget"
    DEADLINE = "deadline"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Record:
    """A whole run of the player: the plays that began, of ``planned`` ones. Times in seconds since 1970."""

    plays: Sequence[PlayRecord]
    planned: int
    not_played: Sequence[NotPlayed]
    ended: Ended
    started: float
    finished: float

    def outcomes(self) -> dict[Outcome, int]:
        """How many exchanges ended how; a play that could not be reset counts as one exchange."""
        found = dict.fromkeys(Outcome, 0)
        for play in self.plays:
            if play.reset_failed:
                found[Outcome.RESET_FAILED] += 1
            for one in play.exchanges:
                found[one.outcome] += 1
        return found

    @property
    def undelivered(self) -> int:
        """Exchanges of which the monitor does not have the player's span."""
        return sum(not one.delivered for play in self.plays for one in play.exchanges)
