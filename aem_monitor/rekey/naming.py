"""Which conversation a trace belongs to: what the pipeline finds out about it, and no more than is needed for that."""

from collections.abc import Sequence
from dataclasses import dataclass

from aem_monitor.assembly import AssemblySettings, join, read_trace
from aem_monitor.assembly.groups import find_groups
from aem_monitor.assembly.identity import ids_on, nearest_id
from aem_monitor.assembly.reports import with_reports
from aem_monitor.assembly.tree import Node, build_forest
from aem_monitor.conventions.registry import Registry
from aem_monitor.model.span import LogRecord, Span


@dataclass(frozen=True, slots=True)
class Naming:
    """What a trace says of its conversation.

    ``ids`` are its conversation ids, the one that is the conversation's key in front; ``agent`` is that of its first
    conversation, where there are no ids. ``has_turns``: it holds any part of a conversation; ``of_agent``: any span of
    an agent.
    """

    ids: tuple[str, ...] = ()
    agent: str | None = None
    has_turns: bool = False
    of_agent: bool = False


def naming_of(
    spans: Sequence[Span], logs: Sequence[LogRecord], registry: Registry, settings: AssemblySettings
) -> Naming:
    """The conversation of a trace, as assembly finds it; at least one span is needed.

    Where all spans that carry ids carry the same ones, as most do, what the exchanges say cannot change it: reading
    them would cost a quarter of the whole.
    """

    def own_id(node: Node) -> str | None:
        return nearest_id(node, settings)

    nodes = build_forest(spans, logs, registry)
    found = {ids for node in nodes if (ids := ids_on(node, settings))}
    if len(found) == 1 and with_reports(nodes, find_groups(nodes, own_id), own_id):
        (ids,) = found
        return Naming(tuple(dict.fromkeys(one.value for one in ids)), has_turns=True, of_agent=True)
    reading = read_trace(spans, logs, registry, settings)
    conversations = join([reading], settings)
    # Exchanges of agents that work beside the one that answers, a title maker's, are in no conversation: their ids name
    # one only where there is no other.
    named = [value for one in conversations if one.conversation_id for value in (one.conversation_id, *one.aliases)]
    named += [candidate.value for exchange in reading.exchanges for candidate in exchange.ids]
    agents = [one.agent for one in conversations] + [one.agent for one in reading.exchanges]
    return Naming(
        ids=tuple(dict.fromkeys(named)),
        agent=next(iter(agents), None),
        has_turns=reading.has_turns,
        of_agent=reading.has_turns or reading.agent_spans > 0,
    )
