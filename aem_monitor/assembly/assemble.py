"""All of assembly in one step."""

from collections import defaultdict
from collections.abc import Sequence

from aem_monitor.assembly.join import join
from aem_monitor.assembly.settings import AssemblySettings
from aem_monitor.assembly.trace import read_trace
from aem_monitor.conventions.registry import Registry
from aem_monitor.model.conversation import Conversation
from aem_monitor.model.span import LogRecord, Span


def assemble(
    spans: Sequence[Span], logs: Sequence[LogRecord], registry: Registry, settings: AssemblySettings
) -> list[Conversation]:
    """The conversations of these spans, in order of their first span. Order, duplicates and batching of the input do
    not matter. Log records of traces without any span are left out."""
    spans_of: dict[str, list[Span]] = defaultdict(list)
    logs_of: dict[str, list[LogRecord]] = defaultdict(list)
    for span in spans:
        spans_of[span.trace_id].append(span)
    for record in logs:
        logs_of[record.trace_id].append(record)
    readings = [
        read_trace(spans_of[trace_id], logs_of.get(trace_id, ()), registry, settings) for trace_id in sorted(spans_of)
    ]
    return join(readings, settings)
