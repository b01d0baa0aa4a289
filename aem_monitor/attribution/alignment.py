"""What a call may send to be the one that answers an expected turn, while it is looked for.

No call of the exchange has a verdict yet. Where what a turn takes from another came out of a call that fits and
succeeded, this run's own value tells which of several calls is meant: runs invent ids, and two look-ups of two ids
differ in nothing else. Everywhere else a value that may be the run's own neither helps nor harms.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from aem_monitor.attribution import entry
from aem_monitor.attribution.graph import TurnLinks
from aem_monitor.attribution.lifting import GoldenOrOwn, LiftedExpectation, Lifting
from aem_monitor.attribution.outcome import Outcome
from aem_monitor.golden.dialog import Dialog, ToolTurn
from aem_monitor.golden.play import PlayedExchange
from aem_monitor.golden.reference import JSONPath, references_of
from aem_monitor.model.conversation import NOT_CAPTURED, ToolCall
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.verdict import NotScored
from aem_monitor.scoring.exchange import same_call
from aem_monitor.scoring.oracle import Oracle

MOST_PASSES: Final = 8
"""An exchange is aligned again with what the calls found so far returned: once for each link of the longest chain, and
real chains have two or three."""


@dataclass(frozen=True, slots=True)
class OwnIfKnown:
    """``scoring.arguments.Expectation``: the run's own values where they are known, else ``GoldenOrOwn``."""

    dialog: Dialog
    links: TurnLinks
    outcomes: Mapping[int, Outcome]
    oracle: Oracle

    def alternatives(self, path: JSONPath, golden: JSON) -> tuple[JSON, ...]:
        """The run's own value, else the golden one."""
        return self._expectation(path, golden).alternatives(path, golden)

    def cause(self, path: JSONPath, golden: JSON) -> NotScored | None:
        """A value that may still turn out to be another one says nothing yet."""
        return self._expectation(path, golden).cause(path, golden)

    def _expectation(self, path: JSONPath, golden: JSON) -> LiftedExpectation | GoldenOrOwn:
        turns = [self.outcomes.get(number) for number in self._rests_on(path, golden)]
        known = [one for one in turns if one is not None and one.passed and one.result is not NOT_CAPTURED]
        if turns and len(known) == len(turns):
            return LiftedExpectation(Lifting(self.dialog, self.outcomes, self.oracle), self.links)
        return GoldenOrOwn(self.dialog, self.links)

    def _rests_on(self, path: JSONPath, golden: JSON) -> Iterator[int]:
        template = self.links.templates.get(path)
        yield from (lift.turn_no for hole in (template.holes if template else ()) for lift in hole.lifts)
        yield from (lift.turn_no for lift in self.links.lifts.get(path, ()))
        yield from (reference.turn_no for _, reference in references_of(golden))


def provisional(turn: ToolTurn, played: PlayedExchange, call: ToolCall, *, clean: bool) -> Outcome:
    """What would be known of a turn if ``call`` answered it. ``clean``: nothing in the call contradicts the turn."""
    return Outcome(turn, replace(entry.action(turn, played, 0, call), success=clean and call.error is None), call)


def is_open(played: PlayedExchange, links: Mapping[int, TurnLinks]) -> bool:
    """Whether what calls of the exchange return may tell which other one is meant: several could answer a turn that
    rests on another turn of the exchange, or one could be no answer at all."""
    inside = {turn.turn_no for turn in played.golden.tools}
    return any(
        not inside.isdisjoint(links[turn.turn_no].depends_on)
        and (turn.presence == "optional" or sum(same_call(turn, call) for call in played.calls) > 1)
        for turn in played.golden.tools
    )
