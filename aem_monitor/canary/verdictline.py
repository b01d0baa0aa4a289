"""What the gate reads of a verdict line, checked."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from aem_monitor.errors import UsageError

_Kinds = Mapping[str, tuple[type, ...]]
_NULL: Final = type(None)

_NEEDED: Final[_Kinds] = {
    "dialog": (str,),
    "release": (str, _NULL),
    "conversation_id": (str, _NULL),
    "test_pass": (bool, _NULL),
    "root_cause": (str, _NULL),
    "turns": (list,),
}

_MAY_BE: Final[_Kinds] = {
    "run_id": (str,),
    "revision": (int,),
    "agent": (str,),
    "draft": (bool,),
    "partial": (bool,),
    "dialog_version": (int, _NULL),
    "conversation_key": (str, _NULL),
    "final_at": (int, float),
    # A number that JSON lacks is a text.
    "latency_seconds": (int, float, str, _NULL),
}

_OF_A_TURN: Final[_Kinds] = {
    "turn_no": (int, _NULL),
    "kind": (str,),
    "success": (bool, _NULL),
    "root_cause": (bool,),
    "failure_reason": (str, _NULL),
    "tool": (str, _NULL),
    "chain_length": (int, _NULL),
}

_NAMES: Final = {str: "a text", bool: "true or false", int: "a whole number", float: "a number", list: "a list"}


def check_verdict(place: str, line: Mapping[str, Any]) -> None:
    """Raises ``UsageError`` with the place when a line is no verdict as ``replay --verdicts`` or the sink of JSON lines
    writes it. What the gate does not read may be anything."""
    for name, kinds in _NEEDED.items():
        if name not in line:
            raise _no_verdict(place, f"{name} is missing")
        _check(place, name, line[name], kinds)
    for name, kinds in _MAY_BE.items():
        if name in line:
            _check(place, name, line[name], kinds)
    turns: Sequence[Any] = line["turns"]
    for number, turn in enumerate(turns):
        if not isinstance(turn, dict):
            raise _no_verdict(place, f"turns[{number}] is no JSON object")
        for name, kinds in _OF_A_TURN.items():
            if name in turn:
                _check(place, f"turns[{number}].{name}", turn[name], kinds)


def _check(place: str, name: str, value: object, kinds: tuple[type, ...]) -> None:
    # For Python true and false are whole numbers.
    if isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool)):
        return
    told = " or ".join(_NAMES[kind] for kind in kinds if kind is not _NULL)
    raise _no_verdict(place, f"{name} is not {told}{' or null' if _NULL in kinds else ''}")


def _no_verdict(place: str, what: str) -> UsageError:
    return UsageError(f"{place}: no verdict: {what}; give lines of the sink json_lines or of `replay --verdicts`")
