"""What is remembered of the runs of a release, and what of it counts as its past."""

from collections import deque
from collections.abc import Iterable
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from aem_monitor.alerting.observed import Cause, Observed
from aem_monitor.sequential.baseline import Tally

LAG: Final = 200
"""Runs that are not past yet: a change must have been found before it is taken for what was always so."""

FAILING: Final = ""
"""The name under which runs that fail are counted, beside those of root causes."""

_REMEMBERED: Final = 10_000
"""Runs of the past from which on all count half: what is remembered follows what is slow."""

_FADED: Final = 0.01


class Memory(BaseModel):
    """How often a thing failed, and of how many runs, for each dialog."""

    model_config = ConfigDict(extra="forbid")

    failed: dict[str, float] = {}
    runs: dict[str, float] = {}

    def add(self, dialog: str, failed: bool) -> None:
        """Take one run."""
        self.runs[dialog] = self.runs.get(dialog, 0.0) + 1.0
        if failed:
            self.failed[dialog] = self.failed.get(dialog, 0.0) + 1.0

    def fade(self) -> None:
        """Let all count half."""
        self.failed = {name: count / 2 for name, count in self.failed.items()}
        self.runs = {name: count / 2 for name, count in self.runs.items()}

    def total(self) -> float:
        """How many runs there were."""
        return sum(self.runs.values())

    def tallies(self) -> dict[str, Tally]:
        """By dialog: failed and not."""
        return {
            name: (self.failed.get(name, 0.0), count - self.failed.get(name, 0.0)) for name, count in self.runs.items()
        }


class Seen(BaseModel):
    """One run as it is remembered until it is past."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    dialog: str
    passed: bool | None
    names: tuple[str, ...]

    def failed(self, name: str) -> bool | None:
        """Whether it has the root cause; of ``FAILING``, whether it failed, None where that is undecided."""
        if name == FAILING:
            return None if self.passed is None else not self.passed
        return name in self.names


class Past(BaseModel):
    """The past of one release. A root cause counts under its reason alone (tool empty) and under its tool."""

    model_config = ConfigDict(extra="forbid")

    waiting: deque[Seen] = Field(default_factory=deque)
    failing: Memory = Field(default_factory=Memory)
    runs: dict[str, float] = {}
    causes: dict[str, dict[str, float]] = {}

    def settle(self, trusted: bool) -> None:
        """Let what came ``LAG`` runs before become past, or be forgotten where it cannot be trusted."""
        while len(self.waiting) > LAG:
            seen = self.waiting.popleft()
            if trusted:
                self._age(seen)

    def distrust(self) -> None:
        """What is not past yet never will be: something was wrong while it was seen."""
        self.waiting.clear()

    def total(self) -> float:
        """How many runs are past."""
        return sum(self.runs.values())

    def names(self) -> set[str]:
        """The root causes that were seen."""
        return {*self.causes, *(name for seen in self.waiting for name in seen.names)}

    def of(self, name: str, *, all_of_it: bool = False) -> dict[str, Tally]:
        """By dialog: runs that failed or had the root cause, and others; those not past yet too if ``all_of_it``."""
        if name == FAILING:
            failed, runs = dict(self.failing.failed), dict(self.failing.runs)
        else:
            failed, runs = dict(self.causes.get(name, {})), dict(self.runs)
        for seen in self.waiting if all_of_it else ():
            if (bad := seen.failed(name)) is not None:
                runs[seen.dialog] = runs.get(seen.dialog, 0.0) + 1.0
                failed[seen.dialog] = failed.get(seen.dialog, 0.0) + bad
        return {dialog: (failed.get(dialog, 0.0), count - failed.get(dialog, 0.0)) for dialog, count in runs.items()}

    def _age(self, seen: Seen) -> None:
        if seen.passed is not None:
            self.failing.add(seen.dialog, not seen.passed)
        self.runs[seen.dialog] = self.runs.get(seen.dialog, 0.0) + 1.0
        for name in seen.names:
            counts = self.causes.setdefault(name, {})
            counts[seen.dialog] = counts.get(seen.dialog, 0.0) + 1.0
        if self.total() > _REMEMBERED:
            self._fade()

    def _fade(self) -> None:
        self.failing.fade()
        self.runs = {name: count / 2 for name, count in self.runs.items()}
        halved = {name: {one: count / 2 for one, count in counts.items()} for name, counts in self.causes.items()}
        # What has faded to nothing makes place for other names.
        self.causes = {name: counts for name, counts in halved.items() if sum(counts.values()) >= _FADED}


def seen_of(run: Observed) -> Seen:
    """A run as it is remembered."""
    return Seen(dialog=run.dialog, passed=run.passed, names=tuple(sorted(watched(run.causes))))


def name_of(cause: Cause) -> str:
    """A cause as a key of JSON. Neither reasons nor tools of golden dialogs hold a tab."""
    return f"{cause.reason}\t{cause.tool}"


def cause_of(name: str) -> Cause:
    """The cause that a key stands for."""
    reason, _, tool = name.partition("\t")
    return Cause(reason, tool)


def watched(causes: Iterable[Cause]) -> set[str]:
    """The names under which a run's root causes are counted: each reason, and each reason with its tool."""
    return {name_of(one) for cause in causes for one in (cause, Cause(cause.reason, ""))}


def together(parts: Iterable[dict[str, Tally]]) -> dict[str, Tally]:
    """The sum of several, by dialog."""
    found: dict[str, Tally] = {}
    for part in parts:
        for dialog, (failed, other) in part.items():
            before = found.get(dialog, (0.0, 0.0))
            found[dialog] = (before[0] + failed, before[1] + other)
    return found
