"""The error map of a run as a page shows it: turns in their order, what broke by itself and what hangs from it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from aem_monitor.links import TraceLink
from aem_monitor.model.verdict import Basis, Check, FailureReason, RunResult, TurnVerdict
from aem_monitor.web.pages.text import cut, marked, took, value_text, words

MOST_TURNS: Final = 500
MOST_CHECKS: Final = 50
"""A page has to open on a phone; the API has what is beyond."""

_BASES: Final = {
    Basis.PROVENANCE: "seen in the trace: the wrong value is what that turn really returned",
    Basis.DECLARED: "declared by the dialog's depends_on",
    Basis.ASSUMED: "assumed: the turn uses what that turn should have returned, which the trace does not show",
}


@dataclass(frozen=True, slots=True)
class CheckView:
    """One check: expected against got, each cut into (like the other, differing, like the other)."""

    name: str
    verdict: str
    expected: tuple[str, str, str]
    actual: tuple[str, str, str]
    notes: tuple[str, ...]
    explained_by: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TurnView:
    """One turn. ``state`` is ``pass``, ``root``, ``cascade``, ``fail`` or ``unscored``; ``anchor`` its place on the
    page; ``caused`` the turns that inherited its break."""

    turn: TurnVerdict
    anchor: str
    title: str
    state: str
    word: str
    why: str
    basis: str
    caused: tuple[tuple[str, str], ...]
    blames: tuple[int, ...]
    notes: tuple[str, ...]
    failing: tuple[CheckView, ...]
    others: tuple[CheckView, ...]
    left_out: int
    trace_url: str | None


@dataclass(frozen=True, slots=True)
class ErrorMap:
    """The turns by exchange, counted from 1; ``first_wrong`` is the anchor of the first failing one, ``numbers`` the
    turn numbers that have a place on the page."""

    exchanges: tuple[tuple[int, tuple[TurnView, ...]], ...]
    first_wrong: str | None
    numbers: frozenset[int]
    left_out: int


def error_map(result: RunResult, traces: TraceLink | None) -> ErrorMap:
    """The first ``MOST_TURNS`` turns of a run."""
    turns = result.turns[:MOST_TURNS]
    anchors = _anchors(turns)
    views = [_turn(turn, anchor, turns, anchors, traces) for turn, anchor in zip(turns, anchors, strict=True)]
    wrong = (view.anchor for view in views if view.turn.success is False)
    return ErrorMap(
        tuple((number + 1, tuple(found)) for number, found in groupby(views, key=lambda view: view.turn.exchange)),
        next(wrong, None),
        frozenset(turn.turn_no for turn in turns if turn.turn_no is not None),
        len(result.turns) - len(turns),
    )


def turn_title(turn: TurnVerdict) -> str:
    """What the turn is about: the tool and its action, or that it is a reply."""
    if turn.tool is None:
        return "reply"
    name = turn.tool if turn.action is None else f"{turn.tool}.{turn.action}"
    return turn.called or name if turn.turn_no is None else name


def _anchors(turns: Sequence[TurnVerdict]) -> list[str]:
    """``turn-3``; calls that no turn expects, and a number that comes again, are named by their place."""
    anchors: dict[str, None] = {}
    for place, turn in enumerate(turns, 1):
        name = f"turn-{turn.turn_no}"
        anchors[f"extra-{place}" if turn.turn_no is None or name in anchors else name] = None
    return list(anchors)


def _turn(
    turn: TurnVerdict,
    anchor: str,
    turns: Sequence[TurnVerdict],
    anchors: Sequence[str],
    traces: TraceLink | None,
) -> TurnView:
    state, word = _state(turn)
    failing = [check for check in turn.checks if check.passed is False]
    others = [check for check in turn.checks if check.passed is not False]
    caused = [
        (place, turn_title(other) if other.turn_no is None else f"turn {other.turn_no}")
        for other, place in zip(turns, anchors, strict=True)
        if turn.root_cause and turn.turn_no is not None and turn.turn_no in other.blames
    ]
    return TurnView(
        turn=turn,
        anchor=anchor,
        title=turn_title(turn),
        state=state,
        word=word,
        why=_why(turn),
        basis=_BASES.get(turn.basis, "") if turn.blames else "",
        caused=tuple(caused),
        blames=turn.blames,
        notes=tuple(_notes(turn)),
        failing=tuple(map(_check, failing[:MOST_CHECKS])),
        others=tuple(map(_check, others[:MOST_CHECKS])),
        left_out=max(0, len(failing) - MOST_CHECKS) + max(0, len(others) - MOST_CHECKS),
        trace_url=traces.to(turn.trace_id, turn.span_id) if traces else None,
    )


def _state(turn: TurnVerdict) -> tuple[str, str]:
    if turn.success is True:
        return "pass", "passed"
    if turn.success is None:
        return "unscored", "not scored"
    if turn.root_cause:
        return "root", "root cause"
    if turn.failure_reason is FailureReason.PRIOR_ACTION_FAILED or turn.blames:
        return "cascade", "cascade"
    return "fail", "failed"


def _why(turn: TurnVerdict) -> str:
    if turn.success is None:
        return words(turn.not_scored) if turn.not_scored else ""
    if turn.success or turn.failure_reason is None:
        return ""
    return words(turn.failure_reason) + (f" ({words(turn.detail)})" if turn.detail else "")


def _notes(turn: TurnVerdict) -> list[str]:
    notes = []
    if turn.turn_no is None:
        notes.append("extra call: no turn of the dialog expects it")
    if turn.recovered:
        notes.append("recovered: an earlier attempt failed and was excused")
    if turn.attempts > 1:
        notes.append(f"{turn.attempts} attempts")
    if turn.alternate is not None:
        notes.append(f"alternate {turn.alternate} of the dialog was judged in the turn's place")
    if not turn.required:
        notes.append("optional")
    if any(check.uncertain for check in turn.checks):
        notes.append("uncertain: a score is close to its threshold")
    if turn.latency_seconds is not None:
        notes.append(took(turn.latency_seconds))
    return notes


def _check(check: Check) -> CheckView:
    expected, actual = cut(_side(check.expected)), cut(_side(check.actual))
    if check.passed is False:
        left, right = marked(expected, actual), marked(actual, expected)
    else:
        left, right = (expected, "", ""), (actual, "", "")
    notes = [words(check.submetric)]
    if check.reason is not None:
        notes.append(words(check.reason))
    if check.rule is not None:
        notes.append(f"rule {check.rule}")
    if check.score is not None:
        notes.append(f"score {check.score:.2f}")
    if check.uncertain:
        notes.append("uncertain")
    if check.cause is not None:
        notes.append(words(check.cause))
    verdict = {True: "passed", False: "failed", None: "not scored"}[check.passed]
    name = check.field if check.field is not None else check.subject
    return CheckView(name, verdict, left, right, tuple(notes), check.explained_by)


def _side(value: object) -> str:
    """A null of a check says that there is no such side: a parameter that is missing, a claim that nothing expected."""
    return "nothing" if value is None else value_text(value)  # type: ignore[arg-type]
