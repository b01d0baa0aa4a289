"""Entries of a run's result: one verdict an expected turn or extra call, with its evidence."""

from dataclasses import replace
from typing import Final, TypedDict

from aem_monitor.attribution.action import actual_call, call_name, expected_call
from aem_monitor.golden.dialog import AgentTurn, ScoredTurn, ToolTurn
from aem_monitor.golden.play import PlayedExchange
from aem_monitor.model.conversation import Response, ToolCall
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.verdict import (
    Check,
    FailureReason,
    MismatchDetail,
    NotScored,
    SubMetric,
    TurnKind,
    TurnVerdict,
)
from aem_monitor.scoring.exchange import Extra

_NS: Final = 1e-9


def action(turn: ToolTurn, played: PlayedExchange, chain: int, call: ToolCall | None) -> TurnVerdict:
    """An expected call beside the one that answers it, before its checks."""
    return TurnVerdict(
        turn_no=turn.turn_no,
        kind=TurnKind.TOOL,
        exchange=played.index,
        chain_length=chain,
        success=None,
        required=turn.presence == "required",
        tool=turn.tool_id,
        action=turn.action,
        called=None if call is None else call_name(call.tool, call.action),
        expected=expected_call(turn),
        attempts=0 if call is None else 1,
        **_of_call(call),
    )


def reply(turn: AgentTurn, played: PlayedExchange, chain: int) -> TurnVerdict:
    """An expected reply beside the real one, before its checks. In an open dialog all replies stand together."""
    last = played.replies[-1] if played.replies else None
    text = "\n".join(item.text or "" for item in played.replies) if last is not None else None
    return TurnVerdict(
        turn_no=turn.turn_no,
        kind=TurnKind.RESPONSE,
        exchange=played.index,
        chain_length=chain,
        success=None,
        expected=turn.response if turn.response is not None else list(turn.must_mention),
        actual=text,
        span_id=None if last is None else last.span_id,
        trace_id=None if last is None else last.trace_id,
        release=None if last is None else last.release,
        model=None if last is None else last.model,
        latency_seconds=_latency(played, last),
    )


def at_reply(verdict: TurnVerdict, reply: Response) -> TurnVerdict:
    """The verdict of a response turn, seen at one of several replies."""
    return replace(
        verdict,
        actual=reply.text,
        span_id=reply.span_id,
        trace_id=reply.trace_id,
        release=reply.release,
        model=reply.model,
    )


class _CallFields(TypedDict, total=False):
    actual: JSON
    span_id: str | None
    trace_id: str
    release: str | None
    model: str | None
    latency_seconds: float


def _of_call(call: ToolCall | None) -> _CallFields:
    if call is None:
        return {}
    return {
        "actual": actual_call(call),
        "span_id": call.span_id,
        "trace_id": call.trace_id,
        "release": call.release,
        "model": call.model,
        "latency_seconds": max(0, call.end_ns - call.start_ns) * _NS,
    }


def _latency(played: PlayedExchange, reply: Response | None) -> float | None:
    if reply is None or len(played.replies) > 1:
        return None
    return max(0, reply.time_ns - played.start_ns) * _NS


def unscored(turn: ScoredTurn, exchange: int, chain: int, cause: NotScored) -> TurnVerdict:
    """A turn that nothing can be said of."""
    return TurnVerdict(
        turn_no=turn.turn_no,
        kind=TurnKind.TOOL if isinstance(turn, ToolTurn) else TurnKind.RESPONSE,
        exchange=exchange,
        chain_length=chain,
        success=None,
        not_scored=cause,
        required=not isinstance(turn, ToolTurn) or turn.presence == "required",
        tool=turn.tool_id if isinstance(turn, ToolTurn) else None,
        action=turn.action if isinstance(turn, ToolTurn) else None,
        attempts=0,
    )


def forbidden(turn: ToolTurn, call: ToolCall | None, exchange: int, chain: int) -> TurnVerdict:
    """A turn that must not happen: it passes when it did not."""
    failed = call is not None
    check = Check(
        SubMetric.STRUCTURAL,
        "tool",
        passed=not failed,
        reason=FailureReason.TOOL_MISMATCH if failed else None,
        actual=None if call is None else actual_call(call),
        score=float(not failed),
        rule="forbidden",
    )
    return TurnVerdict(
        turn_no=turn.turn_no,
        kind=TurnKind.TOOL,
        exchange=exchange,
        chain_length=chain,
        success=not failed,
        checks=(check,),
        failure_reason=FailureReason.TOOL_MISMATCH if failed else None,
        detail=MismatchDetail.FORBIDDEN_CALL if failed else None,
        root_cause=failed,
        tool=turn.tool_id,
        action=turn.action,
        called=None if call is None else call_name(call.tool, call.action),
        attempts=int(failed),
        **_of_call(call),
    )


def extra_call(extra: Extra, exchange: int, chain: int) -> TurnVerdict:
    """A call that no expected turn accounts for: a root cause of its own, without a number."""
    name = call_name(extra.call.tool, extra.call.action)
    check = Check(
        SubMetric.STRUCTURAL, "tool", passed=False, reason=FailureReason.TOOL_MISMATCH, actual=name, score=0.0
    )
    return TurnVerdict(
        turn_no=None,
        kind=TurnKind.TOOL,
        exchange=exchange,
        chain_length=chain,
        success=False,
        checks=(check,),
        failure_reason=FailureReason.TOOL_MISMATCH,
        detail=extra.detail,
        root_cause=True,
        tool=extra.call.tool,
        action=extra.call.action,
        called=name,
        **_of_call(extra.call),
    )
