"""From the checks of a turn to its verdict: pass, root cause, cascade, or not scored."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from aem_monitor.attribution.outcome import Outcome
from aem_monitor.model.verdict import Basis, Check, FailureReason, MismatchDetail, NotScored, TurnVerdict

_CAUSES = (
    NotScored.SCORER_ERROR,
    NotScored.OFF_SCRIPT,
    NotScored.UPSTREAM_ERROR,
    NotScored.TOOL_ERROR,
    NotScored.INCOMPLETE_TRACE,
    NotScored.PARTIAL,
    NotScored.CONTENT_TRUNCATED,
    NotScored.CONTENT_MISSING,
    NotScored.UNDETERMINED,
    NotScored.NOT_REACHED,
)
"""Which of several causes a turn is given: the one that says most about what to mend first."""


def settle(
    base: TurnVerdict,
    checks: Sequence[Check],
    outcomes: Mapping[int, Outcome],
    cause: NotScored | None,
    detail: MismatchDetail | None = None,
) -> TurnVerdict:
    """Decide a turn.

    A failing turn is a cascade exactly if each of its failing checks is explained by failed turns that it depends on;
    otherwise it is a root cause, and its reason is its first failing check that is not explained. ``cause`` leaves the
    whole turn unscored whatever the checks say. A turn of which no check was asked and none failed passes.
    """
    if cause is not None:
        return replace(base, checks=tuple(checks), success=None, not_scored=cause)
    failing = [check for check in checks if check.passed is False]
    if failing:
        return _failed(base, checks, failing, outcomes, detail)
    unscored = [check.cause for check in checks if check.passed is None and check.cause is not None]
    if unscored:
        return replace(base, checks=tuple(checks), success=None, not_scored=min(unscored, key=_CAUSES.index))
    return replace(base, checks=tuple(checks), success=True)


def _failed(
    base: TurnVerdict,
    checks: Sequence[Check],
    failing: Sequence[Check],
    outcomes: Mapping[int, Outcome],
    detail: MismatchDetail | None,
) -> TurnVerdict:
    own = [check for check in failing if not check.explained_by]
    inherited = [check for check in failing if check.explained_by]
    root = bool(own)
    reason = own[0].reason if root else FailureReason.PRIOR_ACTION_FAILED
    bases = {check.basis for check in inherited}
    basis = next((word for word in (Basis.PROVENANCE, Basis.DECLARED, Basis.ASSUMED) if word in bases), Basis.NONE)
    shown = own if root else inherited
    return replace(
        base,
        checks=tuple(checks),
        success=False,
        failure_reason=reason,
        detail=detail if root and reason is FailureReason.TOOL_MISMATCH else None,
        root_cause=root,
        basis=basis,
        blames=blamed_roots((number for check in inherited for number in check.explained_by), outcomes),
        fields=tuple(dict.fromkeys(check.field for check in shown if check.field is not None)),
    )


def blamed_roots(numbers: Iterable[int], outcomes: Mapping[int, Outcome]) -> tuple[int, ...]:
    """The root causes that failed turns reach, rising: a root itself, of a cascade those that it blames."""
    roots: set[int] = set()
    for number in numbers:
        outcome = outcomes.get(number)
        if outcome is None or not outcome.failed:
            continue
        roots.update((number,) if outcome.verdict.root_cause else outcome.verdict.blames)
    return tuple(sorted(roots))
