"""What was played, as a table's rows and as a JSON object."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

from aem_monitor.player.faults import Outcome
from aem_monitor.player.record import ExchangeRecord, PlayRecord, Record


def rows(record: Record) -> list[tuple[object, ...]]:
    """A row a dialog: plays, complete ones, exchanges, those without an answer, median and 95th percentile of the
    seconds of the others. Then a row for all."""
    by_dialog: dict[str, list[PlayRecord]] = {}
    for play in record.plays:
        by_dialog.setdefault(play.script.dialog, []).append(play)
    found = [_row(dialog, plays) for dialog, plays in by_dialog.items()]
    return found if len(found) < 2 else [*found, _row("all", record.plays)]


COLUMNS = ("dialog", "plays", "complete", "exchanges", "failed", "seconds, half", "95 %")


def _row(name: str, plays: Sequence[PlayRecord]) -> tuple[object, ...]:
    exchanges = [one for play in plays for one in play.exchanges]
    failed = sum(one.outcome is not Outcome.ANSWERED for one in exchanges) + sum(play.reset_failed for play in plays)
    complete = sum(play.complete for play in plays)
    seconds = _answered(exchanges)
    return name, len(plays), complete, len(exchanges), failed, _quantile(seconds, 0.5), _quantile(seconds, 0.95)


def result_object(record: Record) -> dict[str, Any]:
    """The whole, as ``deploy/schemas/canary-run-result.schema.json`` has it."""
    exchanges = [one for play in record.plays for one in play.exchanges]
    seconds = _answered(exchanges)
    return {
        "ended": record.ended.value,
        "started_at": record.started,
        "finished_at": record.finished,
        "plays_planned": record.planned,
        "plays": [_play(play) for play in record.plays],
        "plays_complete": sum(play.complete for play in record.plays),
        "exchanges": len(exchanges),
        "outcomes": {outcome.value: count for outcome, count in record.outcomes().items()},
        "spans_undelivered": record.undelivered,
        "latency_seconds": {
            "count": len(seconds),
            "median": _quantile(seconds, 0.5),
            "p95": _quantile(seconds, 0.95),
            "max": seconds[-1] if seconds else None,
        },
        "not_played": [{"dialog": one.dialog, "why": one.why} for one in record.not_played],
    }


def _play(play: PlayRecord) -> Mapping[str, Any]:
    return {
        "dialog": play.script.dialog,
        "version": play.script.version,
        "repeat": play.repeat,
        "conversation_id": play.conversation_id,
        "complete": play.complete,
        "reset_failed": play.reset_failed,
        "run": play.run,
        "exchanges": [
            {
                "exchange": one.number,
                "trace_id": one.trace_id,
                "outcome": one.outcome.value,
                "status": one.status,
                "seconds": one.seconds,
                "span_delivered": one.delivered,
            }
            for one in play.exchanges
        ],
    }


VERDICT_COLUMNS = ("dialog", "release", "result", "correct", "first failure", "root cause", "run")


def verdict_rows(record: Record) -> list[tuple[object, ...]]:
    """A row a play that the monitor can know of: what it says of it."""
    return [_verdict(play) for play in record.plays if play.known]


def _verdict(play: PlayRecord) -> tuple[object, ...]:
    if play.run is None:
        return play.script.dialog, None, "no run", None, None, None, None
    run = play.run
    result = "undecided" if run["test_pass"] is None else "pass" if run["test_pass"] else "fail"
    turn = run["first_failure_turn"]
    return (
        *(play.script.dialog, run["release"], result, run["success_rate"], None if turn is None else f"turn {turn}"),
        *(run["root_cause"], run["run_id"]),
    )


def _answered(exchanges: Sequence[ExchangeRecord]) -> list[float]:
    return sorted(one.seconds for one in exchanges if one.outcome is Outcome.ANSWERED)


def _quantile(rising: Sequence[float], share: float) -> float | None:
    """The nearest rank; None of nothing."""
    return rising[max(0, ceil(share * len(rising)) - 1)] if rising else None
