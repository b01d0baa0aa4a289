"""What is asked of the gate, in the words of a command line or of an address."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Final

from aem_monitor.canary.gate import Rules
from aem_monitor.errors import UsageError
from aem_monitor.model.verdict import FailureReason

NUMBERS: Final = {
    "margin": "worse is a loss of more than this",
    "tolerance": "good is a loss of less than this",
    "alpha": "probability of a wrong answer",
    "latency": "a run is slower than its partner if it takes longer by this share, named and no part of the state",
}
"""The rules that are numbers, and what they mean."""

_REASONS: Final = tuple(one.value for one in FailureReason if one is not FailureReason.PRIOR_ACTION_FAILED)

_DEFAULTS: Final = {one.name: one.default for one in fields(Rules)}


def default(name: str) -> float:
    """The rule where nothing is said about it."""
    value = _DEFAULTS[name]
    assert isinstance(value, float)
    return value


def rules_of(numbers: Mapping[str, float], costs: Iterable[str], critical: Iterable[str]) -> Rules:
    """The rules of a question.

    Args:
        numbers: some of ``NUMBERS``.
        costs: each ``REASON=COST``.
        critical: names of dialogs.

    Raises:
        UsageError: a rule cannot be used. A misspelt reason or a second cost of one would else be without effect.
    """
    found: dict[str, float] = {}
    for text in costs:
        reason, cost = _cost(text)
        if reason in found:
            raise UsageError(f"cost: {reason} is given more than once")
        found[reason] = cost
    dialogs = frozenset(critical)
    if "" in dialogs:
        raise UsageError("critical: give the name of a dialog")
    return Rules(**numbers, costs=found, critical=dialogs)


def _cost(text: str) -> tuple[str, float]:
    reason, _, cost = text.partition("=")
    if reason not in _REASONS:
        raise UsageError(f"cost: {reason[:50]!r} is no reason of a root cause; these are {', '.join(_REASONS)}")
    try:
        return reason, float(cost)
    except ValueError:
        raise UsageError(f"cost: {text[:80]!r} is not REASON=COST, for example {reason}=0.3") from None
