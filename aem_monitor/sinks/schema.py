"""The JSON Schema of a line, for those who read them. ``python -m aem_monitor.sinks.schema`` prints it."""

import json
import sys
from enum import StrEnum
from typing import Any, Final, TypeAlias

from aem_monitor.metrics.catalogue import ROOT_REASONS
from aem_monitor.model.verdict import Basis, FailureReason, MismatchDetail, NotScored, SubMetric, TurnKind

_Schema: TypeAlias = dict[str, Any]

_TEXT: Final = {"type": "string"}
_TEXT_OR_NULL: Final = {"type": ["string", "null"]}
_BOOLEAN: Final = {"type": "boolean"}
_BOOLEAN_OR_NULL: Final = {"type": ["boolean", "null"]}
_COUNT: Final = {"type": "integer", "minimum": 0}
_SHARE: Final = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
_SECONDS: Final = {"type": ["number", "string", "null"]}
_TURNS: Final = {"type": "array", "items": {"type": "integer"}}


def _about(schema: _Schema, text: str) -> _Schema:
    return {**schema, "description": text}


def _one_of(kind: type[StrEnum]) -> _Schema:
    return {"enum": [member.value for member in kind]}


def _or_null(kind: type[StrEnum]) -> _Schema:
    return {"enum": [*(member.value for member in kind), None]}


_CHECK: Final = {
    "submetric": _about(_TEXT, f"{', '.join(member.value for member in SubMetric)}, or one of an installed scorer."),
    "subject": _about(_TEXT, "What was looked at: tool, action, arguments, value, mention, claim, reply, ..."),
    "passed": _about(_BOOLEAN_OR_NULL, "Null: not scored; then `cause` says why."),
    "field": _about(_TEXT_OR_NULL, "Dotted path of the argument."),
    "reason": _or_null(FailureReason),
    "cause": _or_null(NotScored),
    "expected": _about({}, "Any value, as far as it was captured, redacted by rule."),
    "actual": _about({}, "Any value, as far as it was captured, redacted by rule."),
    "score": _SHARE,
    "uncertain": _about(_BOOLEAN, "The score is within the band around its threshold."),
    "rule": _about(_TEXT_OR_NULL, "Which rule decided."),
    "explained_by": _about(_TURNS, "Failed turns whose real output the wrong value is."),
    "basis": _one_of(Basis),
}

_TURN: Final = {
    "turn_no": _about({"type": ["integer", "null"]}, "The golden dialog's number; null for an extra call."),
    "kind": _one_of(TurnKind),
    "success": _about(_BOOLEAN_OR_NULL, "Null: not scored; then `not_scored` says why."),
    "not_scored": _about(_or_null(NotScored), "Only where `success` is null."),
    "failure_reason": _about(_or_null(FailureReason), "Only where `success` is false."),
    "detail": _about(_one_of(MismatchDetail), "The second word of `tool_mismatch`."),
    "root_cause": _about(_BOOLEAN, "Only where `success` is false: true a root cause, false a cascade."),
    "fields": _about({"type": "array", "items": _TEXT}, "Arguments that are wrong."),
    "basis": _about(_one_of(Basis), "Only where `success` is false: how it is tied to the turns that it depends on."),
    "blames": _about(_TURNS, "Only where `success` is false: the failed roots reached."),
    "alternate": _about({"type": "integer", "minimum": 1}, "Which alternate was judged in the turn's place."),
    "span_id": _about(_TEXT, "The judged span, hexadecimal; missing where there is none."),
    "exchange": _about(_COUNT, "Number of the exchange, from 0."),
    "chain_length": _about(_COUNT, "Golden action turns of the exchange."),
    "required": _BOOLEAN,
    "tool": _about(_TEXT_OR_NULL, "The golden tool; of an extra call the called one."),
    "action": _TEXT_OR_NULL,
    "called": _about(_TEXT_OR_NULL, "What was called, where it is another tool."),
    "expected": _about({}, "Any value, redacted by rule."),
    "actual": _about({}, "Any value, as far as it was captured, redacted by rule."),
    "attempts": _about(_COUNT, "Calls that answered this turn, failed ones included."),
    "recovered": _about(_BOOLEAN, "An earlier attempt ended in an error."),
    "release": _TEXT_OR_NULL,
    "model": _TEXT_OR_NULL,
    "trace_id": _TEXT_OR_NULL,
    "latency_seconds": _SECONDS,
    "checks": {"type": "array", "items": {"$ref": "#/$defs/check"}},
}

_SOMETIMES: Final = frozenset(
    ("not_scored", "failure_reason", "detail", "root_cause", "fields", "basis", "blames", "alternate", "span_id")
)
"""Keys of a turn that are there only where they say something."""

_RUN: Final = {
    "run_id": _about(_TEXT, "One play of one golden dialog in one conversation. With `revision` it names the line."),
    "conversation_id": _about(_TEXT_OR_NULL, "Null where the spans carry none."),
    "dialog": _about(_TEXT, "Name of the golden dialog."),
    "release": _TEXT_OR_NULL,
    "success_rate": _about(_SHARE, "Turns that pass of those that pass or fail."),
    "test_pass": _about(_BOOLEAN_OR_NULL, "Null: undecided."),
    "first_failure_turn": {"type": ["integer", "null"]},
    "first_failure_extra": _about({"const": True}, "The first root is an extra call, after `first_failure_turn`."),
    "root_cause": _about({"enum": [*ROOT_REASONS, None]}, "Reason of the first root in golden order."),
    "root_cause_count": _COUNT,
    "cascading_count": _COUNT,
    "turns": {"type": "array", "items": {"$ref": "#/$defs/turn"}},
    "agent": _TEXT,
    "model": _TEXT_OR_NULL,
    "dialog_version": {"type": "integer"},
    "revision": _about(_COUNT, "0 at first; a later one takes the place of those before it."),
    "play": _about(_COUNT, "Which play of the dialog in the conversation."),
    "draft": _about(_BOOLEAN, "The dialog is not reviewed: in no quality metric."),
    "complete": _BOOLEAN,
    "partial": _about(_BOOLEAN, "Judged at a shutdown before its end."),
    "recognised_by": _about(_TEXT, "`id` where the spans name the dialog, `text` where the user's words tell."),
    "variant": _about(_TEXT_OR_NULL, "The path that was judged; null for the listed one."),
    "outcome": _about(_BOOLEAN_OR_NULL, "Whether the end state was reached."),
    "another_path": _about(_BOOLEAN, "It was, on a path that the dialog does not list."),
    "score": _SHARE,
    "conversation_key": _TEXT,
    "trace_ids": {"type": "array", "items": _TEXT},
    "started_ns": _about(_COUNT, "Event time, nanoseconds since 1970."),
    "ended_ns": _about(_COUNT, "Event time, nanoseconds since 1970."),
    "latency_seconds": _about(_SECONDS, "Over the exchanges, without the user's time."),
    "final_at": _about({"type": "number"}, "When the run became final, seconds since 1970."),
    "stored_at": _about({"type": "number"}, "When this revision was stored, seconds since 1970."),
    "cause": _about({"enum": ["final", "late_span", "rescore"]}, "Why there is this revision."),
}


def line_schema() -> _Schema:
    """The JSON Schema (draft 2020-12) of one line. Keys may be added in later releases; none goes."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "aem-monitor verdict",
        "description": "One line of the sink json_lines: a final verdict or a revision. Numbers that JSON lacks are "
        'the texts "nan", "inf" and "-inf".',
        **_object(_RUN, frozenset(("first_failure_extra",))),
        "$defs": {"turn": _object(_TURN, _SOMETIMES), "check": _object(_CHECK, frozenset())},
    }


def _object(properties: _Schema, sometimes: frozenset[str]) -> _Schema:
    required = [key for key in properties if key not in sometimes]
    return {"type": "object", "required": required, "properties": properties}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(line_schema(), indent=2) + "\n")
