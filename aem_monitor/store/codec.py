"""Run results as JSON text, without loss.

The standard library's JSON is used on purpose: it keeps integers of any size, lone surrogates and non-finite floats
that tools do return, all as plain ASCII text that every database stores. Tuples inside of captured values come back
as lists, which JSON cannot tell apart.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Final

from aem_monitor.errors import StoreError
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.verdict import (
    Basis,
    Check,
    FailureReason,
    MismatchDetail,
    NotScored,
    RunResult,
    TurnKind,
    TurnVerdict,
)

_CHECK_FIELDS: Final = tuple(field.name for field in fields(Check))
_TURN_FIELDS: Final = tuple(field.name for field in fields(TurnVerdict) if field.name != "checks")
_RUN_FIELDS: Final = tuple(field.name for field in fields(RunResult) if field.name != "turns")


def dump_json(value: object) -> str:
    """ASCII text of a JSON value, compact."""
    return json.dumps(value, separators=(",", ":"), default=_plain)


def encode_run(result: RunResult) -> str:
    """Everything about the run but its turns."""
    return dump_json({name: getattr(result, name) for name in _RUN_FIELDS})


def encode_turn(turn: TurnVerdict) -> str:
    """One turn verdict with all its checks."""
    body: dict[str, object] = {name: getattr(turn, name) for name in _TURN_FIELDS}
    body["checks"] = [{name: getattr(check, name) for name in _CHECK_FIELDS} for check in turn.checks]
    return dump_json(body)


def same_result(one: RunResult, other: RunResult) -> bool:
    """Whether both are stored alike. Values themselves do not tell: what was a tuple comes back as a list, and a number
    that is none equals nothing."""
    return encode_run(one) == encode_run(other) and encode_turns(one.turns) == encode_turns(other.turns)


def encode_turns(turns: Sequence[TurnVerdict]) -> list[str]:
    """Each as ``encode_turn`` writes it."""
    return [encode_turn(turn) for turn in turns]


def decode_result(run: str, turns: Sequence[str]) -> RunResult:
    """The inverse of ``encode_run`` and ``encode_turn``.

    Keys that this version does not know (written by a later one) are ignored; missing ones take their default.

    Raises:
        StoreError: the text is not such a result (reason ``corrupt``).
    """
    try:
        body = _known(json.loads(run), _RUN_FIELDS)
        body["trace_ids"] = tuple(body.get("trace_ids", ()))
        body["root_cause"] = _optional(FailureReason, body.get("root_cause"))
        return RunResult(turns=tuple(_turn(json.loads(turn)) for turn in turns), **body)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        message = f"a stored result cannot be read: {error}; restore the database from a backup or remove the run"
        raise StoreError(message, reason="corrupt") from error


def _turn(stored: Mapping[str, Any]) -> TurnVerdict:
    body = _known(stored, _TURN_FIELDS)
    body["kind"] = TurnKind(body["kind"])
    body["failure_reason"] = _optional(FailureReason, body.get("failure_reason"))
    body["detail"] = _optional(MismatchDetail, body.get("detail"))
    body["not_scored"] = _optional(NotScored, body.get("not_scored"))
    body["basis"] = Basis(body.get("basis", Basis.NONE))
    body["blames"] = tuple(body.get("blames", ()))
    body["fields"] = tuple(body.get("fields", ()))
    return TurnVerdict(checks=tuple(_check(check) for check in stored.get("checks", ())), **body)


def _check(stored: Mapping[str, Any]) -> Check:
    body = _known(stored, _CHECK_FIELDS)
    body["reason"] = _optional(FailureReason, body.get("reason"))
    body["cause"] = _optional(NotScored, body.get("cause"))
    body["explained_by"] = tuple(body.get("explained_by", ()))
    body["basis"] = Basis(body.get("basis", Basis.NONE))
    return Check(**body)


def _known(stored: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: stored[name] for name in names if name in stored}


def _optional(kind: type[Any], value: object) -> Any:
    return None if value is None else kind(value)


def _plain(value: object) -> JSON:
    """Read-only mappings and sequences that are not dict, list or tuple."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"{type(value).__name__} is not JSON")
