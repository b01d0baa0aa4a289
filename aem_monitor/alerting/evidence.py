"""What no metric can carry: which dialog, turn, tool and field, what was expected and what came, and where to look."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from aem_monitor.alerting.notification import name
from aem_monitor.alerting.observed import SEVERAL, Cause, Kind, Observed, Signature
from aem_monitor.links import TraceLink
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.verdict import UNKNOWN, RunResult, TurnVerdict

MOST_EXAMPLES: Final = 3
_LONGEST_VALUE: Final = 500
_WITHHELD: Final = "withheld: the run was recognised by its words, not by an id"


def observed(result: RunResult, at: float) -> Observed:
    """What the detectors are told of a run; texts as JSON and databases can keep them."""
    causes = frozenset(
        Cause(str(turn.failure_reason), _text(turn.tool or "")) for turn in result.turns if _is_cause(turn)
    )
    return Observed(
        _text(result.agent),
        _text(result.release or UNKNOWN),
        _text(result.model or UNKNOWN),
        _text(result.dialog),
        at,
        result.test_pass,
        causes,
    )


def evidence(
    signature: Signature, results: Sequence[RunResult], traces: TraceLink | None, pages: str | None
) -> dict[str, Any]:
    """Of runs, newest first, those that show the fault. ``pages``: address of the pages over runs, without a slash at
    its end."""
    shown = [(result, turn) for result in results for turn in [_shows(signature, result)] if turn is not None]
    return {
        "runs": len(shown),
        "cascades": sum(result.cascading_count for result, _ in shown),
        "examples": [_example(result, turn, traces, pages) for result, turn in shown[:MOST_EXAMPLES]],
    }


def _shows(signature: Signature, result: RunResult) -> TurnVerdict | None:
    """The turn in which a run shows the fault, if it does."""
    if result.draft or _text(result.agent) != signature.agent:
        return None
    if _text(result.release or UNKNOWN) != signature.release:
        return None
    causes = [turn for turn in result.turns if _is_cause(turn)]
    if signature.kind is not Kind.ROOT_CAUSE_SPIKE:
        return causes[0] if causes and result.test_pass is False else None
    return next(
        (
            turn
            for turn in causes
            if turn.failure_reason == signature.reason and signature.tool in ("", SEVERAL, _text(turn.tool or ""))
        ),
        None,
    )


def _is_cause(turn: TurnVerdict) -> bool:
    return turn.root_cause and turn.failure_reason is not None


def _example(result: RunResult, turn: TurnVerdict, traces: TraceLink | None, pages: str | None) -> dict[str, Any]:
    failed = next((check for check in turn.checks if check.passed is False), None)
    by_id = result.recognised_by == "id"
    expected, got = (turn.expected, turn.actual) if failed is None else (failed.expected, failed.actual)
    anchor = f"#turn-{turn.turn_no}" if turn.turn_no is not None else f"#extra-{result.turns.index(turn) + 1}"
    return {
        "run_id": result.run_id,
        "dialog": name(result.dialog),
        "dialog_version": result.dialog_version,
        "model": name(turn.model or result.model or UNKNOWN),
        "turn": turn.turn_no,
        "reason": str(turn.failure_reason),
        "detail": None if turn.detail is None else str(turn.detail),
        "tool": None if turn.tool is None else name(turn.tool),
        "called": None if turn.called is None else name(turn.called),
        "field": None if failed is None or failed.field is None else name(failed.field),
        "expected": _shown(expected) if by_id else _WITHHELD,
        "got": _shown(got) if by_id else _WITHHELD,
        "cascades": result.cascading_count,
        "trace_id": turn.trace_id,
        "trace_link": None if traces is None else traces.to(turn.trace_id, turn.span_id),
        "run_link": None if pages is None else f"{pages}/runs/{quote(result.run_id, safe='')}{anchor}",
    }


def _shown(value: JSON) -> str:
    """JSON text, cut: it stands in a page, not in a log."""
    text = json.dumps(value, ensure_ascii=False, default=_plain)
    whole = text.encode("utf-8", "replace").decode()
    return whole if len(whole) <= _LONGEST_VALUE else f"{whole[: _LONGEST_VALUE - 1]}…"


def _plain(value: object) -> JSON:
    return dict(value) if isinstance(value, Mapping) else list(value) if isinstance(value, Sequence) else str(value)


def _text(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
