"""From which share of right claims a reply passes a sub-metric."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from aem_monitor.model.verdict import Check

TOLERATED: Final = "within the threshold"
"""The rule of a check that names what is wrong in a reply which is right enough."""


@dataclass(frozen=True, slots=True)
class ReplyThresholds:
    """Least shares in [0, 1]; 1: everything has to be right.

    ``completeness``: of what the reference text says, how much the reply says. ``truthfulness``: of the statements of
    the reply, how many are borne out. What must (not) be mentioned is not weighed: it decides alone.
    """

    completeness: float = 1.0
    truthfulness: float = 1.0

    def with_own(self, own: Mapping[str, float]) -> "ReplyThresholds":
        """These, save what a turn says itself, by the names of the sub-metrics."""
        return ReplyThresholds(own.get("completeness", self.completeness), own.get("truthfulness", self.truthfulness))


def weigh(checks: Sequence[Check], share: float, threshold: float) -> list[Check]:
    """Claims that are wrong, with the share of right ones as their score; passed where that is enough."""
    score = min(max(share, 0.0), 1.0)
    weighed = [replace(check, score=score) if check.passed is False else check for check in checks]
    if score < threshold:
        return weighed
    return [
        replace(check, passed=True, reason=None, rule=TOLERATED) if check.passed is False else check
        for check in weighed
    ]
