"""Rows of the tables, made from values and read back into them."""

import re
from typing import Any, Final, overload

from aem_monitor.model.verdict import MIXED, UNKNOWN, RunResult
from aem_monitor.store.codec import encode_run, encode_turn

# NUL ends a text of PostgreSQL, a lone surrogate is not UTF-8. The JSON columns keep both, escaped.
_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")

_INT64: Final = 2**63 - 1


@overload
def text_column(value: str) -> str: ...
@overload
def text_column(value: str | None) -> str | None: ...
def text_column(value: str | None) -> str | None:
    """``value`` as every database can store and compare it."""
    return None if value is None else _UNSTORABLE.sub("�", value)


def outcome(result: RunResult) -> str:
    """``pass``, ``fail`` or ``undecided``."""
    if result.test_pass is None:
        return "undecided"
    return "pass" if result.test_pass else "fail"


def releases_of(result: RunResult) -> list[tuple[str, str]]:
    """The releases and models that the turns of a run were judged for, as the metrics name them; none for a draft,
    which is in no quality metric."""
    if result.draft:
        return []
    pairs = {
        (turn.release or result.release or UNKNOWN, turn.model or result.model or UNKNOWN) for turn in result.turns
    }
    return sorted(pair for pair in pairs if MIXED not in pair)


def run_row(result: RunResult) -> dict[str, Any]:
    """The columns of ``runs`` that follow from the result alone."""
    return {
        "run_id": result.run_id,
        "dialog_version": result.dialog_version,
        "revision": result.revision,
        "dialog": text_column(result.dialog),
        "agent": text_column(result.agent),
        "release": text_column(result.release),
        "model": text_column(result.model),
        "conversation_key": text_column(result.conversation_key),
        "conversation_id": text_column(result.conversation_id),
        "play": result.play,
        "draft": result.draft,
        "outcome": outcome(result),
        "success_rate": result.success_rate,
        "root_cause": result.root_cause.value if result.root_cause else None,
        # OTLP times are unsigned: a broken clock must not make the run unstorable.
        "started_ns": min(result.started_ns, _INT64),
        "ended_ns": min(result.ended_ns, _INT64),
        "result": encode_run(result),
    }


def turn_rows(result: RunResult) -> list[dict[str, Any]]:
    """The rows of ``turns``; ``position`` keeps their order, which turn numbers do not (extra calls have none)."""
    return [
        {
            "run_id": result.run_id,
            "dialog_version": result.dialog_version,
            "revision": result.revision,
            "position": position,
            "turn_no": turn.turn_no,
            "kind": turn.kind.value,
            "success": turn.success,
            "root_cause": turn.root_cause,
            "failure_reason": turn.failure_reason.value if turn.failure_reason else None,
            "detail": turn.detail.value if turn.detail else None,
            "not_scored": turn.not_scored.value if turn.not_scored else None,
            "tool": text_column(turn.tool),
            "action": text_column(turn.action),
            "release": text_column(turn.release),
            "model": text_column(turn.model),
            "span_id": turn.span_id,
            "trace_id": turn.trace_id,
            "verdict": encode_turn(turn),
        }
        for position, turn in enumerate(result.turns)
    ]
