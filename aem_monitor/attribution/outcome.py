"""What is known of an evaluated turn while later turns are evaluated."""

from dataclasses import dataclass

from aem_monitor.golden.dialog import ScoredTurn, ToolTurn
from aem_monitor.golden.reference import JSONPath
from aem_monitor.model.conversation import NOT_CAPTURED, Captured, ToolCall
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.verdict import NotScored, TurnVerdict
from aem_monitor.scoring.jsontree import step_into


@dataclass(frozen=True, slots=True)
class Outcome:
    """An evaluated turn: what was expected, what was done, what was said of it."""

    turn: ScoredTurn
    verdict: TurnVerdict
    call: ToolCall | None = None

    @property
    def failed(self) -> bool:
        """A root cause or a cascade."""
        return self.verdict.success is False

    @property
    def passed(self) -> bool:
        """Everything was as expected."""
        return self.verdict.success is True

    @property
    def golden_result(self) -> Captured:
        """The result of the golden run, if the dialog has it."""
        return self.turn.result if isinstance(self.turn, ToolTurn) and self.turn.has_result else NOT_CAPTURED

    @property
    def result(self) -> Captured:
        """What the tool really returned."""
        return NOT_CAPTURED if self.call is None or self.call.error is not None else self.call.result

    @property
    def captured(self) -> bool:
        """Whether anything is known of what this turn really did: its result or its arguments."""
        return self.call is not None and (self.call.result is not NOT_CAPTURED or self.call.arguments is not None)

    @property
    def blocked(self) -> NotScored | None:
        """The cause that a turn which consumes this one inherits as a whole, if any."""
        match self.verdict.not_scored:
            case NotScored.TOOL_ERROR | NotScored.UPSTREAM_ERROR:
                return NotScored.UPSTREAM_ERROR
            case NotScored.OFF_SCRIPT:
                return NotScored.OFF_SCRIPT
            case _:
                return None

    def real(self, paths: tuple[JSONPath, ...]) -> list[JSON]:
        """The values that the real result has at ``paths``; paths that lead nowhere have none."""
        result = self.result
        if result is NOT_CAPTURED:
            return []
        found = (step_into(result, path) for path in paths)
        return [value for value in found if value is not NOT_CAPTURED]
