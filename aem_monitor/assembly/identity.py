"""Who an exchange belongs to: conversation ids, agent, release, golden dialog, attributes for recognition."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from aem_monitor.assembly.groups import Group
from aem_monitor.assembly.settings import AssemblySettings
from aem_monitor.assembly.tracereading import IdCandidate
from aem_monitor.assembly.tree import RESOURCE, Node
from aem_monitor.model.jsonvalue import AttributeValue

_MAX_ATTRIBUTE_CHARS: Final = 256
_CONTENT_PREFIXES: Final = ("gen_ai.tool.", "gen_ai.usage.", "gen_ai.request.", "gen_ai.response.", "gen_ai.event.")
_UNSET_SERVICE: Final = "unknown_service"


def text_of(value: AttributeValue) -> str | None:
    """An id, release or name as text; None for what cannot be one."""
    if isinstance(value, str):
        return value.strip() or None
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, Sequence) and not isinstance(value, bytes) and value:
        return text_of(value[0])
    return None


def id_of(node: Node, settings: AssemblySettings) -> IdCandidate | None:
    """The best conversation id on one span."""
    return next((IdCandidate(rank, value) for rank, value in _ids_on(node, settings)), None)


def ids_on(node: Node, settings: AssemblySettings) -> tuple[IdCandidate, ...]:
    """Every conversation id on one span, best first."""
    return tuple(IdCandidate(rank, value) for rank, value in _ids_on(node, settings))


def nearest_id(node: Node, settings: AssemblySettings) -> str | None:
    """The conversation id on a span or the nearest one above it."""
    for one in (node, *node.ancestors()):
        found = id_of(one, settings)
        if found is not None:
            return found.value
    return None


def own_id(group: Group, settings: AssemblySettings) -> str | None:
    """The best id on the group's own spans, those inside tool calls left out."""
    found = _ids(_own_nodes(group), settings)
    return found[0].value if found else None


def ids_of(group: Group, everything: Sequence[Node], settings: AssemblySettings) -> tuple[IdCandidate, ...]:
    """The ids of an exchange, best first, one an attribute name.

    Looked for on the group's spans and those above it, of each name the outermost and earliest; only if they carry
    none, on the whole trace.
    """
    nearby = [*_own_nodes(group), *_above(group, everything)]
    return _ids(nearby, settings) or _ids(everything, settings)


def _own_nodes(group: Group) -> list[Node]:
    visible = [member for member in group.members if member.frame is None]
    return [node for member in visible or group.members for node in (member.node, *member.twins)]


def _above(group: Group, everything: Sequence[Node] = ()) -> list[Node]:
    """The spans above the exchange, nearest first.

    Plain spans between an agent and what called it may not have come (a request without any mark of an agent is skipped
    whole). Where the chain is broken, the trace's root and the plain spans around the exchange in time stand for it.
    """
    tops = group.roots or [member.node for member in group.members]
    known = list(dict.fromkeys(above for top in tops for above in top.ancestors()))
    if not any(node.orphan for node in (*tops, *known)):
        return known
    around = [
        node
        for node in everything
        if node.reading is None
        and node not in known
        and (node.span.parent_span_id is None or node.start <= group.start <= group.end <= node.end)
    ]
    return [*known, *sorted(around, key=lambda node: (-node.depth, -node.start, node.span.span_id))]


def _ids(nodes: Iterable[Node], settings: AssemblySettings) -> tuple[IdCandidate, ...]:
    best: dict[int, tuple[tuple[int, int, str], str]] = {}
    for node in nodes:
        place = (node.depth, node.start, node.span.span_id)
        for rank, value in _ids_on(node, settings):
            if rank not in best or place < best[rank][0]:
                best[rank] = (place, value)
    found = dict.fromkeys(IdCandidate(rank, best[rank][1]) for rank in sorted(best))
    unique: dict[str, IdCandidate] = {}
    for candidate in found:
        unique.setdefault(candidate.value, candidate)
    return tuple(unique.values())


def _ids_on(node: Node, settings: AssemblySettings) -> Iterator[tuple[int, str]]:
    """(rank, id) of every configured attribute that the span carries, best first."""
    ranks, on_resource = _ranks(settings.conversation_id)
    # Of some dozen configured names a span carries one or two: only those are looked at.
    carried = ranks.keys() & node.span.attributes.keys()
    if on_resource:
        carried |= on_resource
    if node.reading is not None and node.reading.derived:
        carried |= ranks.keys() & node.reading.derived.keys()
    for name in sorted(carried, key=ranks.__getitem__):
        value = text_of(node.attribute(name))
        if value is not None and not value.lower().startswith(settings.rejected_id_prefixes):
            yield ranks[name], value


@lru_cache(maxsize=16)
def _ranks(names: tuple[str, ...]) -> tuple[Mapping[str, int], frozenset[str]]:
    """The place of each name, and which of them are a resource's."""
    ranks = {name: rank for rank, name in reversed(tuple(enumerate(names)))}
    return ranks, frozenset(name for name in names if name.startswith(RESOURCE))


def first_of(nodes: Iterable[Node], names: Sequence[str]) -> str | None:
    """The first attribute of ``names`` that any of the nodes carries; the order of names goes before that of nodes."""
    listed = list(nodes)
    for name in names:
        for node in listed:
            value = text_of(node.attribute(name))
            if value is not None:
                return value
    return None


def all_of(nodes: Iterable[Node], names: Sequence[str]) -> tuple[str, ...]:
    """All distinct values of these attributes, by order of names, then of nodes. Resources count too."""
    listed = list(nodes)
    found = (
        text_of(value)
        for name in names
        for node in listed
        for value in (node.attribute(name), node.span.resource.attributes.get(name))
    )
    return tuple(dict.fromkeys(value for value in found if value is not None))


def scope_of(group: Group, everything: Sequence[Node]) -> list[Node]:
    """The spans whose attributes describe the exchange: the agent's own first, then those above, nearest first."""
    own = sorted(_own_nodes(group), key=lambda node: (node not in group.roots, node.order))
    return [*own, *_above(group, everything)]


def agent_of(node: Node, settings: AssemblySettings) -> str:
    """The agent: service name of the agent's resource, else what the settings name next, else ``unknown``.

    SDKs call a service without a name ``unknown_service:python``; that is no name.
    """
    for name in settings.agent:
        value = text_of(node.attribute(name))
        if value is not None and not value.startswith(_UNSET_SERVICE):
            return value
    return "unknown"


def release_of(group: Group, settings: AssemblySettings) -> str | None:
    """The release of the agent's own resource or spans. Spans above it count if they are of the same service: the
    release of a driver that calls the agent is another thing's."""
    own = sorted(_own_nodes(group), key=lambda node: (node not in group.roots, node.order))
    home = own[0].service
    same = [node for node in (*own, *_above(group)) if node.service == home]
    return first_of(same, settings.release)


def attributes_of(scope: Sequence[Node]) -> Mapping[str, AttributeValue]:
    """Short attributes of resource and spans that recognition may restrict by; the agent's own win."""
    merged: dict[str, AttributeValue] = {}
    resource: Mapping[str, AttributeValue] = {}
    for node in scope:
        for key, value in node.span.attributes.items():
            if key not in merged and not key.startswith(_CONTENT_PREFIXES) and _short(value):
                merged[key] = value
        if node.span.resource.attributes is resource:
            continue
        resource = node.span.resource.attributes
        for key, value in resource.items():
            if key not in merged and _short(value):
                merged[key] = value
    return {key: merged[key] for key in sorted(merged)}


def _short(value: AttributeValue) -> bool:
    return isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= _MAX_ATTRIBUTE_CHARS)
