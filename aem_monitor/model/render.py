"""Results as plain JSON objects: the documented output format of the command line, the API and the sinks.

Key order is part of the format's readability and is kept; keys that say nothing about an entry are left out.
"""

from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.verdict import Check, RunResult, TurnVerdict


def result_object(result: RunResult) -> dict[str, JSON]:
    """The result object of one run.

    ``conversation_id`` and ``release`` are null where the spans carry none. An entry of ``turns`` has ``span_id`` only
    when a span was judged, and the keys that explain a failure only when it failed.
    """
    return {
        "conversation_id": result.conversation_id,
        "dialog": result.dialog,
        "release": result.release,
        **_summary(result),
        "turns": [turn_object(turn) for turn in result.turns],
    }


def score_object(result: RunResult) -> dict[str, JSON]:
    """The result object of an annotated dialog that was never a conversation: no id, release or spans."""
    turns: list[JSON] = []
    for turn in result.turns:
        entry = turn_object(turn)
        entry.pop("span_id", None)
        turns.append(entry)
    return {"dialog": result.dialog, **_summary(result), "turns": turns}


def turn_object(turn: TurnVerdict) -> dict[str, JSON]:
    """One entry of ``turns``."""
    entry: dict[str, JSON] = {"turn_no": turn.turn_no, "kind": turn.kind.value, "success": turn.success}
    if turn.success is None:
        entry["not_scored"] = turn.not_scored.value if turn.not_scored else None
    if turn.success is False:
        entry["failure_reason"] = turn.failure_reason.value if turn.failure_reason else None
        if turn.detail is not None:
            entry["detail"] = turn.detail.value
        entry["root_cause"] = turn.root_cause
        if turn.fields:
            entry["fields"] = list(turn.fields)
        entry["basis"] = turn.basis.value
        entry["blames"] = list(turn.blames)
    if turn.alternate is not None:
        entry["alternate"] = turn.alternate
    if turn.span_id is not None:
        entry["span_id"] = turn.span_id
    return entry


def evidence_object(result: RunResult) -> dict[str, JSON]:
    """The result object with everything that a person needs to understand it: identity, checks, expected and actual."""
    rendered = result_object(result)
    turns: list[JSON] = [{**turn_object(turn), **_turn_evidence(turn)} for turn in result.turns]
    return {
        "run_id": result.run_id,
        **rendered,
        "turns": turns,
        "agent": result.agent,
        "model": result.model,
        "dialog_version": result.dialog_version,
        "revision": result.revision,
        "play": result.play,
        "draft": result.draft,
        "complete": result.complete,
        "partial": result.partial,
        "recognised_by": result.recognised_by,
        "variant": result.variant,
        "outcome": result.outcome,
        "another_path": result.another_path,
        "score": result.score,
        "conversation_key": result.conversation_key,
        "trace_ids": list(result.trace_ids),
        "started_ns": result.started_ns,
        "ended_ns": result.ended_ns,
        "latency_seconds": result.latency_seconds,
    }


def _summary(result: RunResult) -> dict[str, JSON]:
    summary: dict[str, JSON] = {
        "success_rate": result.success_rate,
        "test_pass": result.test_pass,
        "first_failure_turn": result.first_failure_turn,
    }
    if result.first_failure_extra:
        summary["first_failure_extra"] = True
    summary["root_cause"] = result.root_cause.value if result.root_cause else None
    summary["root_cause_count"] = result.root_cause_count
    summary["cascading_count"] = result.cascading_count
    if result.variant is not None:
        summary["variant"] = result.variant
    if result.another_path:
        summary["another_path"] = True
    return summary


def _turn_evidence(turn: TurnVerdict) -> dict[str, JSON]:
    return {
        "exchange": turn.exchange,
        "chain_length": turn.chain_length,
        "required": turn.required,
        "tool": turn.tool,
        "action": turn.action,
        "called": turn.called,
        "expected": turn.expected,
        "actual": turn.actual,
        "attempts": turn.attempts,
        "recovered": turn.recovered,
        "release": turn.release,
        "model": turn.model,
        "trace_id": turn.trace_id,
        "latency_seconds": turn.latency_seconds,
        "checks": [_check_object(check) for check in turn.checks],
    }


def _check_object(check: Check) -> JSON:
    return {
        "submetric": check.submetric,
        "subject": check.subject,
        "passed": check.passed,
        "field": check.field,
        "reason": check.reason.value if check.reason else None,
        "cause": check.cause.value if check.cause else None,
        "expected": check.expected,
        "actual": check.actual,
        "score": check.score,
        "uncertain": check.uncertain,
        "rule": check.rule,
        "explained_by": list(check.explained_by),
        "basis": check.basis.value,
    }
