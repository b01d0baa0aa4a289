"""What one final run adds to the counters. Pure: the same list goes to the store and to the registry."""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from aem_monitor.metrics.catalogue import CATALOGUE, INCOMPLETE_CAUSES, OTHER, ROOT_REASONS, RUN_RESULTS
from aem_monitor.model.increment import Increment
from aem_monitor.model.verdict import (
    SUBMETRIC_OF_REASON,
    UNKNOWN,
    Check,
    FailureReason,
    MismatchDetail,
    NotScored,
    RunResult,
    SubMetric,
    TurnKind,
    TurnVerdict,
)

ExchangeLatency: TypeAlias = tuple[float, str | None]
"""Seconds, and the id of a trace in which they passed."""

_EXTRA: Final = (MismatchDetail.UNEXPECTED_CALL, MismatchDetail.FORBIDDEN_CALL)

_MISSED: Final = (MismatchDetail.WRONG_TOOL, MismatchDetail.NOT_CALLED)

_RESPONSE_REASONS: Final = (FailureReason.INCONSISTENT_RESPONSE, FailureReason.INCOMPLETE_RESPONSE)

_SUBMETRICS_OF_KIND: Final = {
    TurnKind.TOOL: (SubMetric.STRUCTURAL, SubMetric.COMPLETENESS, SubMetric.TRUTHFULNESS),
    TurnKind.RESPONSE: (SubMetric.COMPLETENESS, SubMetric.TRUTHFULNESS),
}


def increments(
    result: RunResult, golden_tools: Collection[str], exchanges: Sequence[ExchangeLatency] = ()
) -> list[Increment]:
    """All that a final run adds.

    Args:
        result: the run, final.
        golden_tools: every tool id that a loaded golden dialog names; an unexpected call of another tool is counted
            under ``other``, because an agent may invent tool names without end.
        exchanges: latency in seconds of each exchange of the run, with a trace of it.

    A draft adds to ``aem_draft_runs_total`` and nothing else. Turns are counted under their own release and model,
    runs under the run's (``mixed`` where turns differ); what the spans do not carry is ``unknown``.
    """
    if result.draft:
        return [_counter("aem_draft_runs_total", dialog=result.dialog, result=run_outcome(result))]
    turns = (one for turn in result.turns for one in _turn(result, turn, golden_tools))
    per_release = {"agent": result.agent, "release": result.release or UNKNOWN}
    latencies = (
        _observed("aem_exchange_latency_seconds", latency, trace_id, **per_release) for latency, trace_id in exchanges
    )
    return [*_run(result), *turns, *(one for one in latencies if one is not None)]


def zeros(agent: str, release: str | None, model: str | None, dialog: str, tools: Collection[str]) -> list[Increment]:
    """The series that a run of ``dialog`` under this release may add to, as increments of zero.

    A series that first appears with the value 1 is no increase to Prometheus (prometheus/prometheus#1673), and a zero
    helps only under the very labels that the increment will have. So every reason is paired with the golden tools of
    the dialog, and with ``other`` for unexpected calls. To be applied when a run is opened, which is at least the
    grace before its verdict is final: time enough for a scrape.
    """
    subject = {"agent": agent, "release": release or UNKNOWN, "model": model or UNKNOWN}
    series: list[Increment] = []
    for name, closed in (
        ("aem_turns_total", ("chain_length", "kind", "result")),
        ("aem_runs_total", ("result",)),
    ):
        labels = {label.name: label.values for label in CATALOGUE[name].labels}
        combinations: list[dict[str, str]] = [{}]
        for label in closed:
            combinations = [{**one, label: value} for one in combinations for value in labels[label]]
        own = {**subject, "dialog": dialog} if "dialog" in labels else subject
        series += [_zero(name, **own, **one) for one in combinations]
    for submetric in SubMetric:
        for value in ("pass", "fail", "inherited", "not_scored"):
            series.append(_zero("aem_submetric_results_total", **subject, submetric=submetric.value, result=value))
    series += [_zero("aem_root_causes_total", **subject, **one) for one in _root_labels(tools)]
    series += [_zero("aem_not_scored_total", agent=agent, cause=cause.value) for cause in NotScored]
    series += [_zero("aem_tool_errors_total", tool=tool) for tool in sorted(tools)]
    per_release = {"agent": agent, "release": subject["release"]}
    series.append(_zero("aem_another_path_runs_total", **per_release, dialog=dialog))
    series += [_zero("aem_recovered_turns_total", **per_release, tool=tool) for tool in sorted(tools)]
    series += [_zero("aem_incomplete_runs_total", **per_release, cause=cause) for cause in INCOMPLETE_CAUSES]
    series += [_zero(name, **per_release) for name in _moments(0.0, 0.0)]
    # Without a bucket it is no observation, only the series.
    series.append(_zero("aem_exchange_latency_seconds", **per_release))
    series += [_zero("aem_turn_latency_seconds", **per_release, kind=kind.value) for kind in TurnKind]
    series += [_zero("aem_run_latency_seconds", **per_release, result=value) for value in RUN_RESULTS]
    return series


def draft_zeros(dialog: str) -> list[Increment]:
    """The same for a run of a draft."""
    return [_zero("aem_draft_runs_total", dialog=dialog, result=value) for value in RUN_RESULTS]


def revision_increments(cause: str) -> list[Increment]:
    """What a changed verdict adds."""
    return [_counter("aem_verdict_revisions_total", cause=cause)]


def run_outcome(result: RunResult) -> str:
    """``pass``, ``fail`` or ``undecided``."""
    if result.test_pass is None:
        return "undecided"
    return "pass" if result.test_pass else "fail"


def _run(result: RunResult) -> Iterator[Increment]:
    outcome = run_outcome(result)
    agent, release, model = result.agent, result.release or UNKNOWN, result.model or UNKNOWN
    yield _counter("aem_runs_total", agent=agent, release=release, model=model, dialog=result.dialog, result=outcome)
    if result.another_path:
        yield _counter("aem_another_path_runs_total", agent=agent, release=release, dialog=result.dialog)
    if result.partial or not result.complete:
        cause = "partial" if result.partial else "unfinished"
        yield _counter("aem_incomplete_runs_total", agent=agent, release=release, cause=cause)
    observed = _observed(
        "aem_run_latency_seconds",
        result.latency_seconds,
        _first_trace(result),
        agent=agent,
        release=release,
        result=outcome,
    )
    if observed is None:
        return
    yield observed
    if result.success_rate is None:
        return
    for name, amount in _moments(observed.value, result.success_rate).items():
        yield replace(_counter(name, agent=agent, release=release), value=amount)


def _moments(x: float, y: float) -> dict[str, float]:
    """One pair's share of n, Σx, Σy, Σx², Σy² and Σxy, from which Pearson's r follows over any window."""
    return {
        "aem_latency_correctness_count_total": 1.0,
        "aem_latency_correctness_latency_sum_total": x,
        "aem_latency_correctness_success_sum_total": y,
        "aem_latency_correctness_latency_square_sum_total": x * x,
        "aem_latency_correctness_success_square_sum_total": y * y,
        "aem_latency_correctness_product_sum_total": x * y,
    }


def _turn(result: RunResult, turn: TurnVerdict, golden_tools: Collection[str]) -> Iterator[Increment]:
    subject = {
        "agent": result.agent,
        "release": turn.release or result.release or UNKNOWN,
        "model": turn.model or result.model or UNKNOWN,
    }
    yield _counter(
        "aem_turns_total",
        **subject,
        chain_length=str(turn.chain_length) if turn.chain_length < 3 else "3+",
        kind=turn.kind.value,
        result=turn_result(turn),
    )
    for submetric, value in submetric_results(turn).items():
        yield _counter("aem_submetric_results_total", **subject, submetric=submetric, result=value)
    per_release = {"agent": result.agent, "release": subject["release"]}
    trace_id = turn.trace_id or next(iter(result.trace_ids), None)
    observed = _observed(
        "aem_turn_latency_seconds", turn.latency_seconds, trace_id, **per_release, kind=turn.kind.value
    )
    if observed is not None:
        yield observed
    if turn.recovered:
        yield _counter("aem_recovered_turns_total", **per_release, tool=turn.tool or OTHER)
    if turn.success is None:
        cause = turn.not_scored or NotScored.UNDETERMINED
        yield _counter("aem_not_scored_total", agent=result.agent, cause=cause.value)
        if cause is NotScored.TOOL_ERROR:
            yield _counter("aem_tool_errors_total", tool=turn.tool or OTHER)
    if turn.success is False and turn.root_cause:
        metric = CATALOGUE["aem_root_causes_total"]
        labels = metric.label_set(
            **subject,
            reason=turn.failure_reason.value if turn.failure_reason else OTHER,
            detail=turn.detail.value if turn.detail else "",
            tool=_tool(turn, golden_tools),
        )
        yield Increment(metric.name, labels, trace_id=trace_id)


def turn_result(turn: TurnVerdict) -> str:
    """``pass``, ``root``, ``cascade`` or ``not_scored``."""
    if turn.success is None:
        return "not_scored"
    if turn.success:
        return "pass"
    return "root" if turn.root_cause else "cascade"


def submetric_results(turn: TurnVerdict) -> dict[str, str]:
    """The result of each sub-metric that was asked about a turn.

    A failing check counts against the agent unless an earlier failed turn explains it; in a cascade all of them are
    explained, by definition. An unscored check makes its sub-metric ``not_scored`` unless another check failed it. A
    turn that was not scored at all is ``not_scored`` in every sub-metric of its kind.
    """
    if not turn.checks:
        if turn.success is None:
            return {submetric.value: "not_scored" for submetric in _SUBMETRICS_OF_KIND[turn.kind]}
        reason = turn.failure_reason
        if turn.success is False and reason is not None and reason in SUBMETRIC_OF_REASON:
            return {SUBMETRIC_OF_REASON[reason].value: "fail"}
        return {}
    grouped: dict[str, list[Check]] = {}
    for check in turn.checks:
        grouped.setdefault(check.submetric, []).append(check)
    cascade = turn.success is False and not turn.root_cause
    return {submetric: _checks_result(checks, cascade) for submetric, checks in grouped.items()}


def _checks_result(checks: Collection[Check], cascade: bool) -> str:
    failed = [check for check in checks if check.passed is False]
    if failed:
        return "inherited" if cascade or all(check.explained_by for check in failed) else "fail"
    return "not_scored" if any(check.passed is None for check in checks) else "pass"


def _tool(turn: TurnVerdict, golden_tools: Collection[str]) -> str:
    if turn.kind is TurnKind.RESPONSE:
        return ""
    if turn.turn_no is None or turn.detail in _EXTRA:
        return next((name for name in (turn.tool, turn.called) if name and name in golden_tools), OTHER)
    return turn.tool or OTHER


def _root_labels(tools: Collection[str]) -> Iterator[dict[str, str]]:
    for reason in _RESPONSE_REASONS:
        yield {"reason": reason.value, "detail": "", "tool": ""}
    for detail in _EXTRA:
        yield {"reason": FailureReason.TOOL_MISMATCH.value, "detail": detail.value, "tool": OTHER}
    action_reasons = [
        reason
        for reason in ROOT_REASONS
        if reason not in _RESPONSE_REASONS and reason != FailureReason.TOOL_MISMATCH.value
    ]
    for tool in sorted(tools):
        for detail in (*_MISSED, *_EXTRA):
            yield {"reason": FailureReason.TOOL_MISMATCH.value, "detail": detail.value, "tool": tool}
        for name in action_reasons:
            yield {"reason": name, "detail": "", "tool": tool}


def _first_trace(result: RunResult) -> str | None:
    """The trace that is worth opening: that of the first root cause, else the run's first."""
    roots = (turn.trace_id for turn in result.turns if turn.root_cause and turn.trace_id)
    return next(roots, None) or next(iter(result.trace_ids), None)


def _counter(name: str, /, **labels: str) -> Increment:
    return Increment(name, CATALOGUE[name].label_set(**labels))


def _observed(name: str, latency: float | None, trace_id: str | None, /, **labels: str) -> Increment | None:
    """One latency in its bucket; None for one that a broken clock or a missing span made no latency."""
    if latency is None or not math.isfinite(latency) or latency < 0:
        return None
    histogram = CATALOGUE[name]
    return Increment(name, histogram.label_set(**labels), latency, histogram.bucket(latency), trace_id)


def _zero(name: str, /, **labels: str) -> Increment:
    return replace(_counter(name, **labels), value=0.0)
