"""What is known of an evaluated turn while later turns are evaluated."""

from collections.abc import Mapping
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
    def cut(self) -> bool:
        """Whether only a part of the result was captured."""
        return self.call is not None and self.call.result_truncated

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
        """The values that the real result has at ``paths``; paths that lead nowhere have none.

        Results that list things by their ids (``{"items": {"I-1": {"id": "I-1"}}}``) lead to an id through itself; in
        them any other key of the same object is followed as well.
        """
        result = self.result
        if result is NOT_CAPTURED:
            return []
        found: list[JSON] = []
        for path in paths:
            value = step_into(result, path)
            found += [value] if value is not NOT_CAPTURED else self._by_other_keys(result, path)
        return found

    def _by_other_keys(self, result: JSON, path: JSONPath) -> list[JSON]:
        golden = step_into(self.golden_result, path) if self.golden_result is not NOT_CAPTURED else NOT_CAPTURED
        if not isinstance(golden, str) or golden not in path:
            return []
        at = path.index(golden)
        listed = step_into(result, path[:at])
        if not isinstance(listed, Mapping):
            return []
        values = (step_into(item, path[at + 1 :]) for item in listed.values())
        return [value for value in values if value is not NOT_CAPTURED]
