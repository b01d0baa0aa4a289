"""Two releases side by side, over the dialogs that both ran."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from aem_monitor.interval import difference, wilson
from aem_monitor.store.records import StoredRun
from aem_monitor.store.summaries import DialogOfRelease, Tally

FEW: Final = 30
"""Decided runs below which a rate tells little: at 30 of 30 its 95 % interval still begins at 89 %."""

NEWEST: Final = 200
"""Runs of each release that are read for the rates by chain length, which the database does not count."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A share with its 95 % Wilson interval; without runs the share is None."""

    passed: int
    total: int

    @property
    def share(self) -> float | None:
        return self.passed / self.total if self.total else None

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.passed, self.total)

    @classmethod
    def of(cls, tally: Tally) -> "Rate":
        """Undecided runs are neither passed nor failed, and left out."""
        return cls(tally.passed, tally.decided)


@dataclass(frozen=True, slots=True)
class Pair:
    """The same thing under both releases, and what may be said of the change."""

    name: str
    old: Rate
    new: Rate

    @property
    def change(self) -> float | None:
        return None if self.old.share is None or self.new.share is None else self.new.share - self.old.share

    @property
    def interval(self) -> tuple[float, float]:
        return difference((self.old.passed, self.old.total), (self.new.passed, self.new.total))

    @property
    def verdict(self) -> str:
        """``better`` or ``worse`` where the interval of the change leaves out zero, else ``open``."""
        low, high = self.interval
        if self.change is None or low <= 0 <= high:
            return "open"
        return "better" if low > 0 else "worse"


@dataclass(frozen=True, slots=True)
class Comparison:
    """``whole`` counts the runs of ``dialogs`` alone, which both releases ran. ``reasons`` are (reason, of the old
    release's failed runs, of the new one's). ``only_old`` and ``only_new`` are dialogs of one release."""

    whole: Pair
    dialogs: tuple[Pair, ...]
    reasons: tuple[tuple[str, int, int], ...]
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]

    @property
    def few(self) -> bool:
        """Whether there are too few runs for more than a hint."""
        return min(self.whole.old.total, self.whole.new.total) < FEW


def compare(old: Sequence[DialogOfRelease], new: Sequence[DialogOfRelease]) -> Comparison:
    """Dialogs differ in how hard they are: a release that merely ran more of the hard ones is not a worse one."""
    before, after = {one.dialog: one for one in old}, {one.dialog: one for one in new}
    shared = sorted(before.keys() & after.keys())
    pairs = [Pair(name, Rate.of(before[name].tally), Rate.of(after[name].tally)) for name in shared]
    order = {"worse": 0, "open": 1, "better": 2}
    return Comparison(
        Pair("all", _total(pair.old for pair in pairs), _total(pair.new for pair in pairs)),
        tuple(sorted(pairs, key=lambda pair: (order[pair.verdict], pair.change or 0.0, pair.name))),
        _reasons([before[name] for name in shared], [after[name] for name in shared]),
        tuple(sorted(before.keys() - after.keys())),
        tuple(sorted(after.keys() - before.keys())),
    )


def by_chain_length(old: Iterable[StoredRun], new: Iterable[StoredRun]) -> tuple[Pair, ...]:
    """Turn success by the number of actions that the exchange demands."""
    before, after = _turns(old), _turns(new)
    none = Rate(0, 0)
    return tuple(
        Pair(str(length), before.get(length, none), after.get(length, none))
        for length in sorted(before.keys() | after.keys())
    )


def _turns(runs: Iterable[StoredRun]) -> Mapping[int, Rate]:
    rates: dict[int, Rate] = {}
    for run in runs:
        for turn in run.result.turns:
            if turn.success is not None:
                rate = rates.get(turn.chain_length, Rate(0, 0))
                rates[turn.chain_length] = Rate(rate.passed + turn.success, rate.total + 1)
    return rates


def _total(rates: Iterable[Rate]) -> Rate:
    listed = list(rates)
    return Rate(sum(rate.passed for rate in listed), sum(rate.total for rate in listed))


def _reasons(old: Sequence[DialogOfRelease], new: Sequence[DialogOfRelease]) -> tuple[tuple[str, int, int], ...]:
    counts: dict[str, list[int]] = {}
    for side, dialogs in enumerate((old, new)):
        for dialog in dialogs:
            for reason, count in dialog.reasons:
                counts.setdefault(reason, [0, 0])[side] += count
    ordered = sorted(counts.items(), key=lambda item: (-sum(item[1]), item[0]))
    return tuple((reason, before, after) for reason, (before, after) in ordered)
