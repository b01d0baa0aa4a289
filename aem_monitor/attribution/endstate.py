"""Whether a run reached the end state that its dialog names, by whatever path."""

from collections.abc import Mapping, Sequence

from aem_monitor.golden.dialog import EndState
from aem_monitor.golden.play import Run
from aem_monitor.model.conversation import NOT_CAPTURED, ToolCall
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.scoring.exchange import same_call
from aem_monitor.scoring.oracle import Oracle, UnansweredError


def reached(run: Run, oracle: Oracle, partial: bool) -> bool | None:
    """None where the dialog names no end state, or where what was captured does not tell."""
    states = run.dialog.outcome
    whole = not partial and all(played.present and played.on_script and played.complete for played in run.exchanges)
    calls = [call for played in run.exchanges for call in played.calls if call.error is None]
    found = [_holds(state, calls, oracle, whole) for state in states]
    if not found:
        return None
    return False if False in found else None if None in found else True


def _holds(state: EndState, calls: Sequence[ToolCall], oracle: Oracle, whole: bool) -> bool | None:
    named = [call for call in calls if same_call(state, call)]
    unknown = any(call.arguments is None or call.arguments_truncated for call in named) and bool(state.args)
    try:
        meant = [call for call in named if not state.args or _contains(call.arguments, state.args, oracle)]
        if not meant:
            return None if unknown or not whole else False
        if not state.has_result:
            return True
        last = meant[-1]
        if last.result is NOT_CAPTURED or last.result_truncated:
            return None
        return _contains(last.result, state.result, oracle)
    except UnansweredError:
        return None


def _contains(actual: JSON, expected: JSON, oracle: Oracle) -> bool:
    """Objects by the expected keys, lists entry by entry, leaves by meaning."""
    if isinstance(expected, Mapping):
        return isinstance(actual, Mapping) and all(
            name in actual and _contains(actual[name], value, oracle) for name, value in expected.items()
        )
    if isinstance(expected, Sequence) and not isinstance(expected, str):
        return (
            isinstance(actual, Sequence)
            and not isinstance(actual, str)
            and len(actual) == len(expected)
            and all(_contains(one, other, oracle) for one, other in zip(actual, expected, strict=True))
        )
    return not isinstance(actual, Mapping) and oracle.same(actual, expected).equivalent
