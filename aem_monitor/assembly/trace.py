"""One trace: from its spans to the exchanges it tells of."""

from collections.abc import Sequence
from dataclasses import replace

from aem_monitor.assembly.exchanges import agent_names_of, read_exchange
from aem_monitor.assembly.groups import find_groups
from aem_monitor.assembly.identity import nearest_id
from aem_monitor.assembly.reports import with_reports
from aem_monitor.assembly.settings import AssemblySettings
from aem_monitor.assembly.toolschemas import schemas_of, unread_of
from aem_monitor.assembly.tracereading import TraceReading
from aem_monitor.assembly.tree import Node, build_forest
from aem_monitor.conventions.registry import Registry
from aem_monitor.model.span import LogRecord, Span


def read_trace(
    spans: Sequence[Span], logs: Sequence[LogRecord], registry: Registry, settings: AssemblySettings
) -> TraceReading:
    """What the spans and log records of one trace say. Pure; order and duplicates do not matter.

    ``spans`` must all have one trace id, at least one of them is needed. Spans of no agent are welcome: they link
    agents to what called them and may carry ids.
    """

    def own_id(node: Node) -> str | None:
        return nearest_id(node, settings)

    nodes = build_forest(spans, logs, registry)
    names = agent_names_of(nodes)
    groups = with_reports(nodes, find_groups(nodes, own_id), own_id)
    schemas = schemas_of(nodes)
    exchanges = [replace(read_exchange(group, nodes, names, settings), tool_schemas=schemas) for group in groups]
    agents = [node for node in nodes if node.reading is not None] or nodes
    return TraceReading(
        trace_id=nodes[0].span.trace_id,
        exchanges=tuple(exchanges),
        first_ns=min(node.start for node in agents),
        last_ns=max(node.end for node in agents),
        spans=len(nodes),
        agent_spans=sum(node.reading is not None for node in nodes),
        unread_tools=unread_of(nodes),
    )
