"""What the detectors are told, and what they tell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

SEVERAL: Final = "several"
"""Tool of a signature where no single tool stands out."""


class Cause(NamedTuple):
    """What a root cause is told by: the reason, and the golden tool (empty for a reply)."""

    reason: str
    tool: str


@dataclass(frozen=True, slots=True)
class Observed:
    """One final run of a reviewed dialog. ``at``: when it became final, in seconds since 1970.

    ``passed`` is None when the run is undecided. ``causes`` are its root causes, each once.
    """

    agent: str
    release: str
    model: str
    dialog: str
    at: float
    passed: bool | None
    causes: frozenset[Cause] = frozenset()


class Kind(StrEnum):
    """What an incident is about."""

    ROOT_CAUSE_SPIKE = "root_cause_spike"
    """A root cause has become more frequent than it was."""
    RELEASE_REGRESSION = "release_regression"
    """A new release passes fewer dialogs than those before it."""
    DRIFT = "drift"
    """A release passes fewer dialogs than it did; as long as it is new, than those before it."""


class Signature(NamedTuple):
    """What makes two findings the same incident. ``reason`` and ``tool`` are empty unless the kind is a spike."""

    kind: Kind
    agent: str
    release: str
    reason: str = ""
    tool: str = ""


class Why(StrEnum):
    """Why an incident is over."""

    RECOVERED = "recovered"
    SUPERSEDED = "superseded"


@dataclass(frozen=True, slots=True)
class Finding:
    """What an incident rests on.

    ``expected_rate`` and ``seen_rate`` are shares of runs that failed (of a spike: that had the root cause), before and
    among the last ``runs``, of which ``failed`` did. ``log_evidence`` is the natural logarithm of the statistic that
    crossed its threshold ``log_threshold``. ``tools`` are the tools of the root causes among those runs, with counts.
    """

    expected_rate: float
    seen_rate: float
    failed: int
    runs: int
    log_evidence: float
    log_threshold: float
    tools: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Opened:
    """Something is wrong: page."""

    signature: Signature
    at: float
    finding: Finding


@dataclass(frozen=True, slots=True)
class Explained:
    """An open incident has something to add: what else was found that is the same fault. Do not page again."""

    signature: Signature
    at: float
    cause: Cause | None
    also: Kind
    finding: Finding


@dataclass(frozen=True, slots=True)
class Resolved:
    """An incident is over by itself."""

    signature: Signature
    at: float
    why: Why


Event = Opened | Explained | Resolved
Events = Sequence[Event]
