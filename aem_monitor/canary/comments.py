"""What is said beside the state: which runs were not compared, and what holds a pass back."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from aem_monitor.canary.gate import More, Result, Short
from aem_monitor.canary.meeting import Alone

_MOST: Final = 5
"""Names in a row."""

_MORE_UNDECIDED: Final = "more runs are undecided than before"

_WHY: Final = {
    Alone.DIALOG: "of dialogs that the other release did not play",
    Alone.VERSION: "of versions of a dialog that the other release did not play",
    Alone.RUN: "of which the other release has fewer",
    Alone.CONVERSATION: "whose conversations met others",
}


def listed(told: Sequence[str]) -> str:
    """The first few, and how many more there are."""
    more = len(told) - _MOST
    return "; ".join(told[:_MOST]) + (f"; and {more} more" if more > 0 else "")


def total(alone: Mapping[Alone, Mapping[str, int]]) -> int:
    """How many runs met none."""
    return sum(sum(dialogs.values()) for dialogs in alone.values())


def rows(result: Result) -> Iterator[tuple[str, str]]:
    """Runs that were not compared, name and value."""
    for role, alone in (("baseline", result.baseline_alone), ("candidate", result.candidate_alone)):
        told = [
            f"{sum(alone[why].values())} {text} ({_dialogs(alone[why])})" for why, text in _WHY.items() if alone[why]
        ]
        yield f"{role} without a partner", ", ".join(told) or "0"


def _dialogs(runs: Mapping[str, int]) -> str:
    return listed(sorted(runs, key=lambda dialog: (-runs[dialog], dialog)))


def of_pass(result: Result) -> Iterator[str]:
    """A pass says nothing of what one release did not play or what is not known of its runs."""
    if _more_undecided(result):
        yield _MORE_UNDECIDED
    for role, alone in (("baseline", result.baseline_alone), ("candidate", result.candidate_alone)):
        for why, text in ((Alone.DIALOG, "dialogs"), (Alone.VERSION, "dialogs in a version")):
            # Known by their names: a dialog of two versions is one.
            if alone[why]:
                yield f"{len(alone[why])} {text} that only the {role} played: {_dialogs(alone[why])}"


def _more_undecided(result: Result) -> bool:
    return any(one.area == "undecided" and one.worse for one in result.changes)


def of_doubt(result: Result) -> str:
    """Why there is no verdict, and what would bring one."""
    if not result.pairs:
        return "; ".join((_without_pairs(result), *_of_critical(result.short)))
    told = list(_of_critical(result.short))
    held = min(one.log_pass for one in result.found.values()) >= result.log_threshold
    if held and result.undecided.log_pass < result.log_threshold:
        told.append(_MORE_UNDECIDED if _more_undecided(result) else "it would pass if no run were undecided")
    if result.one_look:
        told.append("it was the one look that there is")
    else:
        told.append(_of_more(result.more))
    before, now = (sum(alone[Alone.RUN].values()) for alone in (result.baseline_alone, result.candidate_alone))
    if before and not now:
        told.append(f"{before} runs of the baseline wait for the candidate")
    elif now and not before:
        told.append(f"{now} runs of the candidate wait for the baseline")
    return "; ".join(told)


def _of_more(more: More | None) -> str:
    if more is None:
        return "too few pairs to say how many more are needed"
    if more.least is None:
        return "runs like those seen lead to no verdict, however many"
    if more.most is None:
        return f"about {more.least:,} or more further independent pairs, if they are like those seen"
    if more.least == more.most:
        return f"about {more.least:,} more independent pairs, if they are like those seen"
    return f"about {more.least:,} to {more.most:,} more independent pairs, if they are like those seen"


def _without_pairs(result: Result) -> str:
    if result.undecided.difference.mean is not None:
        return "of each two runs that met, one is undecided or both are"
    if result.baseline_alone[Alone.VERSION]:
        return "no version of a dialog ran on both releases"
    return "no dialog ran on both releases"


def _of_critical(short: Sequence[Short]) -> Iterator[str]:
    few = [f"{one.dialog} ({one.independent} of {one.needed})" for one in short if one.ran]
    if few:
        yield f"too few pairs of critical dialogs: {listed(few)}"
    unknown = [one.dialog for one in short if not one.ran]
    if unknown:
        yield f"critical dialogs of which neither release has a run: {listed(unknown)}"
