"""A verdict as OpenTelemetry events: ``gen_ai.evaluation.result``, one for each thing that was evaluated.

Source: OpenTelemetry semantic conventions for generative AI, "Event: gen_ai.evaluation.result" (development status):
a log record with that event name, in the context of the span that was evaluated. Attributes that the conventions do not
have begin with ``aem.``. What was said, expected and found is in none of them.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import SEVERITY_NUMBER_INFO, LogRecord, ResourceLogs, ScopeLogs
from opentelemetry.proto.resource.v1.resource_pb2 import Resource

from aem_monitor import __version__
from aem_monitor.metrics.increments import run_outcome, submetric_results, turn_result
from aem_monitor.model.verdict import Check, NotScored, RunResult, TurnKind, TurnVerdict
from aem_monitor.store.records import StoredRun

EVENT: Final = "gen_ai.evaluation.result"

RUN: Final = "aem.run"
TURN: Final = "aem.turn"
"""Names of evaluations, beside those of the sub-metrics (``aem.structural``, ...)."""

_VALUES: Final[Mapping[str, float]] = {"pass": 1.0, "fail": 0.0, "root": 0.0, "cascade": 0.0, "inherited": 0.0}

_LONGEST: Final = 1000
"""Characters of a text. Agents make up names of tools and arguments, of any length."""

_Attributes: TypeAlias = Mapping[str, str | bool | int | float | None]


def request_of(stored: StoredRun) -> ExportLogsServiceRequest:
    """The OTLP request with all events of a verdict: of each turn, of each of its sub-metrics, and of the run."""
    emitter = InstrumentationScope(name="aem_monitor", version=__version__)
    scope = ScopeLogs(scope=emitter, log_records=list(_Events(stored).all()))
    # The resource is what emits the events, not the agent: that is in their attributes.
    about = _key_values({"service.name": "aem-monitor", "service.version": __version__})
    return ExportLogsServiceRequest(
        resource_logs=[ResourceLogs(resource=Resource(attributes=about), scope_logs=[scope])]
    )


class _Events:
    """The events of one verdict."""

    def __init__(self, stored: StoredRun) -> None:
        self._stored = stored
        result = stored.result
        self._of_run: _Attributes = {
            "gen_ai.conversation.id": result.conversation_id,
            "gen_ai.agent.name": result.agent,
            "aem.dialog.id": result.dialog,
            "aem.dialog.version": result.dialog_version,
            "aem.run.id": result.run_id,
            "aem.revision": result.revision,
            "aem.draft": result.draft,
            "aem.partial": result.partial,
        }

    def all(self) -> Iterator[LogRecord]:
        """Turns in their order, each before its sub-metrics; the run at last."""
        result = self._stored.result
        for place, turn in enumerate(result.turns):
            yield from self._turn(place, turn)
        # No span is the whole run's. Its trace is, where there is only one.
        trace_id = result.trace_ids[0] if len(result.trace_ids) == 1 else None
        about = {"aem.release": result.release, "aem.model": result.model}
        yield self._event("run", RUN, run_outcome(result), result.success_rate, _of_run(result), about, trace_id)

    def _turn(self, place: int, turn: TurnVerdict) -> Iterator[LogRecord]:
        about: _Attributes = {
            "gen_ai.tool.name": (turn.called or turn.tool) if turn.kind is TurnKind.TOOL else None,
            "aem.turn": turn.turn_no,
            "aem.release": turn.release,
            "aem.model": turn.model,
            # The scorer itself failed: to the conventions an error of the evaluation.
            "error.type": turn.not_scored.value if turn.not_scored is NotScored.SCORER_ERROR else None,
        }
        where = turn.trace_id, turn.span_id
        label = turn_result(turn)
        yield self._event(f"{place}", TURN, label, _VALUES.get(label), _of_turn(turn), about, *where)
        for submetric, label in submetric_results(turn).items():
            checks = [check for check in turn.checks if check.submetric == submetric]
            why = _of_checks(checks)
            yield self._event(
                f"{place}/{submetric}", f"aem.{submetric}", label, _score(label, checks), why, about, *where
            )

    def _event(
        self,
        what: str,
        name: str,
        label: str,
        value: float | None,
        explanation: str,
        about: _Attributes,
        trace_id: str | None = None,
        span_id: str | None = None,
    ) -> LogRecord:
        result, at = self._stored.result, int(self._stored.stored_at * 1e9)
        attributes: _Attributes = {
            "gen_ai.evaluation.name": name,
            "gen_ai.evaluation.score.value": None if value is None else float(value),
            "gen_ai.evaluation.score.label": label,
            "gen_ai.evaluation.explanation": explanation or None,
            **self._of_run,
            **about,
            # The same in a repeat: whoever goes by it takes an event once ("log.record.uid", general log attributes).
            "log.record.uid": _uid(result.run_id, result.dialog_version, result.revision, what),
        }
        trace = _id(trace_id, 16)
        return LogRecord(
            event_name=EVENT,
            time_unix_nano=at,
            observed_time_unix_nano=at,
            severity_number=SEVERITY_NUMBER_INFO,
            attributes=_key_values(attributes),
            trace_id=trace,
            # A span without its trace names nothing.
            span_id=_id(span_id, 8) if trace else b"",
        )


def _of_run(result: RunResult) -> str:
    if result.root_cause is None:
        return ""
    first = "an extra call" if result.first_failure_extra else f"turn {result.first_failure_turn}"
    return (
        f"{result.root_cause.value}, first in {first}; root causes: {result.root_cause_count}, "
        f"cascading: {result.cascading_count}"
    )


def _of_turn(turn: TurnVerdict) -> str:
    if turn.success is None:
        return turn.not_scored.value if turn.not_scored else ""
    if turn.success or turn.failure_reason is None:
        return ""
    detail = f" ({turn.detail.value})" if turn.detail else ""
    fields = f" in {', '.join(turn.fields)}" if turn.fields else ""
    blamed = f" after turn {', '.join(map(str, turn.blames))}" if turn.blames else ""
    return f"{turn.failure_reason.value}{detail}{fields}{blamed}"


def _of_checks(checks: list[Check]) -> str:
    words: dict[str, None] = {}
    for check in checks:
        word = check.reason if check.passed is False else check.cause if check.passed is None else None
        if word is not None:
            words[f"{word.value} in {check.field}" if check.field else word.value] = None
    return "; ".join(words)


def _score(label: str, checks: list[Check]) -> float | None:
    """The lowest score of the checks where they have some, else 1 or 0."""
    value = _VALUES.get(label)
    if value is None:
        return None
    return min((check.score for check in checks if check.score is not None), default=value)


def _uid(*parts: str | int) -> str:
    return hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _id(text: str | None, size: int) -> bytes:
    """The bytes of an id, empty where it is none: 2 ``size`` hexadecimal digits, not all zero."""
    if text is None or not re.fullmatch(rf"[0-9a-fA-F]{{{2 * size}}}", text) or not text.strip("0"):
        return b""
    return bytes.fromhex(text)


def _key_values(attributes: _Attributes) -> list[KeyValue]:
    return [KeyValue(key=key, value=_any(value)) for key, value in attributes.items() if value is not None]


def _any(value: str | bool | float) -> AnyValue:
    match value:
        case bool():
            return AnyValue(bool_value=value)
        case int():
            return AnyValue(int_value=value)
        case float():
            return AnyValue(double_value=value)
        case str():
            # What is no Unicode text cannot be sent: a lone surrogate of a broken span.
            return AnyValue(string_value=value[:_LONGEST].encode("utf-8", "replace").decode("utf-8"))
