"""From batches to open traces: what is new, what is late, what was seen before."""

from collections.abc import Mapping, Sequence

from aem_monitor.engine.held import Decided, Held
from aem_monitor.engine.recorder import Recorder
from aem_monitor.engine.traces import Added, TraceState
from aem_monitor.engine.watermark import Watermark
from aem_monitor.ingest.batch import Batch, Position
from aem_monitor.ingest.causes import Skipped
from aem_monitor.metrics.registry import Metrics
from aem_monitor.model.span import LogRecord, Span


class Intake:
    """Puts spans and log records to their traces, and holds the offsets of those that are unfinished."""

    def __init__(self, held: Held, watermark: Watermark, recorder: Recorder, metrics: Metrics) -> None:
        self._held = held
        self._watermark = watermark
        self._recorder = recorder
        self._metrics = metrics
        self._late = metrics.counter("aem_monitor_late_spans_total")
        self._duplicates = metrics.counter("aem_monitor_duplicate_spans_total")
        self._not_a_run = metrics.counter("aem_monitor_skipped_spans_total", cause=Skipped.NOT_A_RUN.value)

    def take(self, batch: Batch, now: float) -> None:
        """Take in a batch. Raises ``StoreError``; then nothing was taken in."""
        decoded = batch.decoded
        spans = [(span, self._decision(span.trace_id, span.start_ns)) for span in decoded.spans]
        logs = [(record, self._decision(record.trace_id, record.time_ns)) for record in decoded.logs]
        wanted = {span.trace_id for span, decision in spans if decision is None}
        wanted |= {record.trace_id for record, decision in logs if decision is None}
        earlier = self._recorder.plays_of_traces([trace for trace in wanted if trace not in self._held.traces])
        for trace_id in wanted:
            state = self._held.traces.open(trace_id, now, tuple(earlier.get(trace_id, ())))
            state.last_arrival = now
        self._count(batch)
        self._watermark.observe(batch.sender, decoded.max_end_ns, now)
        for span, decision in spans:
            if decision is None:
                self._add(span)
            else:
                self._count_latecomer(decision)
        for record, decision in logs:
            if decision is None:
                self._add_log(record)
            else:
                self._count_latecomer(decision)
        if batch.position is not None:
            self._hold(wanted, batch.position)

    def _decision(self, trace_id: str, starts_ns: int) -> Decided | None:
        """Why the item comes too late; None when it is wanted."""
        if trace_id in self._held.traces:
            return None
        decided = self._held.decided.get(trace_id)
        return decided if decided is not None and starts_ns <= decided.until_ns else None

    def _add(self, span: Span) -> None:
        state = self._held.traces[span.trace_id]
        added = self._held.traces.add(state, span)
        if added is Added.DUPLICATE:
            self._duplicates.inc()
            return
        self._held.dirty.add(span.trace_id)
        if added is Added.ANOTHER_COPY:
            self._duplicates.inc()
        elif _is_late(state, span.start_ns):
            self._late.inc()
            state.reported += 1

    def _add_log(self, record: LogRecord) -> None:
        state = self._held.traces[record.trace_id]
        if self._held.traces.add_log(state, record):
            self._held.dirty.add(record.trace_id)

    def _hold(self, trace_ids: set[str], position: Position) -> None:
        self._held.offsets.received(position)
        for trace_id in trace_ids:
            # A repetition for a trace that is settled needs nothing; anything else is judged first.
            if trace_id in self._held.dirty or self._held.traces[trace_id].settled_ns is None:
                self._held.offsets.hold(trace_id, position)

    def _count(self, batch: Batch) -> None:
        decoded, source, count = batch.decoded, batch.source, self._metrics.counter
        count("aem_monitor_received_batches_total", source=source).inc()
        count("aem_monitor_received_bytes_total", source=source).inc(decoded.size)
        count("aem_monitor_received_spans_total", source=source).inc(decoded.seen_spans)
        count("aem_monitor_received_logs_total", source=source).inc(decoded.seen_logs)
        for skipped in (decoded.skipped, decoded.skipped_logs):
            for cause, amount in skipped.items():
                count("aem_monitor_skipped_spans_total", cause=cause).inc(amount)
        for cause, amount in decoded.altered.items():
            count("aem_monitor_altered_values_total", cause=cause).inc(amount)

    def _count_latecomer(self, decided: Decided) -> None:
        (self._late if decided.word == "final" else self._not_a_run).inc()

    def count_unread_tools(self, state: TraceState, unread: Mapping[str, int]) -> None:
        """Count the spans of a trace whose definitions of tools cannot be read, each once however often it is read."""
        for cause, amount in unread.items():
            more = amount - state.unread_tools.get(cause, 0)
            if more > 0:
                self._metrics.counter("aem_monitor_unread_tool_definitions_total", cause=cause).inc(more)
        state.unread_tools = {**state.unread_tools, **unread}

    def report_known(self, trace_ids: Sequence[str], *, late: bool = False) -> None:
        """Count spans, once each, that belong to runs stored before this process knew their traces.

        Of a trace that is stored with the run they were seen before; other traces (``late``) came after it.
        """
        for trace_id in trace_ids:
            state = self._held.traces[trace_id]
            if not (state.earlier or late):
                continue
            (self._duplicates if state.earlier else self._late).inc(max(0, len(state.spans) - state.reported))
            state.reported = len(state.spans)


def _is_late(state: TraceState, starts_ns: int) -> bool:
    return state.settled_ns is not None and starts_ns <= state.settled_ns
