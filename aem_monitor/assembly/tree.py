"""The spans of one trace as a forest: deduplicated, read by the conventions, in an order free of arrival."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from aem_monitor.conventions.attributes import text
from aem_monitor.conventions.jsontext import canonical, to_json
from aem_monitor.conventions.reading import SpanKind, SpanReading
from aem_monitor.conventions.registry import Registry
from aem_monitor.model.jsonvalue import JSON, AttributeValue
from aem_monitor.model.span import LogRecord, Span

RESOURCE: Final = "resource:"
"""Before the name of an attribute that is the resource's."""

INVOCATIONS: Final = frozenset({SpanKind.RUN, SpanKind.AGENT})


@dataclass(eq=False, slots=True)
class Node:
    """One span in its tree. ``reading`` is None for a span of no agent. ``start`` is corrected for clock skew.

    ``orphan``: the span names a parent that is not among the spans.
    """

    span: Span
    reading: SpanReading | None
    parent: "Node | None" = None
    children: list["Node"] = field(default_factory=list)
    orphan: bool = False
    depth: int = 0
    start: int = 0
    end: int = 0

    @property
    def kind(self) -> SpanKind | None:
        """The reading's kind; None for a span of no agent."""
        return self.reading.kind if self.reading else None

    @property
    def lost_parent(self) -> bool:
        """Whether the parent was in the same process and never came; a remote one may export nothing here."""
        return self.orphan and self.span.parent_remote is not True

    @property
    def service(self) -> str:
        """The service that wrote the span, empty when unknown."""
        return text(self.span.resource.attributes, "service.name") or ""

    @property
    def order(self) -> tuple[int, int, int, str]:
        """Time order; JavaScript clocks give parent, child and sibling the same millisecond."""
        return self.start, self.end, self.depth, self.span.span_id

    def ancestors(self) -> Iterator["Node"]:
        """The known ancestors, nearest first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def attribute(self, name: str) -> AttributeValue:
        """An attribute of the span, corrected by its convention; ``resource:NAME`` is the resource's."""
        if name.startswith(RESOURCE):
            return self.span.resource.attributes.get(name.removeprefix(RESOURCE))
        if self.reading is not None and name in self.reading.derived:
            return self.reading.derived[name]
        return self.span.attributes.get(name)


def deduplicate(spans: Sequence[Span]) -> list[Span]:
    """One span an id: of two copies the more complete one, whatever came first. Sorted by id."""
    copies: dict[tuple[str, str], list[Span]] = defaultdict(list)
    for span in spans:
        known = copies[span.key]
        if span not in known:
            known.append(span)
    return [_most_complete(copies[key]) for key in sorted(copies)]


def build_forest(spans: Sequence[Span], logs: Sequence[LogRecord], registry: Registry) -> list[Node]:
    """The nodes of one trace in time order, linked to their parents."""
    by_span: dict[str, list[LogRecord]] = defaultdict(list)
    for record in logs:
        by_span[record.span_id].append(record)
    nodes = {
        span.span_id: Node(span, registry.read(span, by_span.get(span.span_id, ()))) for span in deduplicate(spans)
    }
    _link(nodes)
    roots = [node for node in nodes.values() if node.parent is None]
    for node in _below(roots):
        _place(node)
    for node in nodes.values():
        node.children.sort(key=lambda child: child.order)
    return sorted(nodes.values(), key=lambda node: node.order)


def _link(nodes: Mapping[str, Node]) -> None:
    for node in nodes.values():
        parent_id = node.span.parent_span_id
        if parent_id is None or parent_id == node.span.span_id:
            continue
        node.parent = nodes.get(parent_id)
        node.orphan = node.parent is None
    for node in nodes.values():
        if node.parent is not None:
            node.parent.children.append(node)
    reached = {id(node) for node in _below([node for node in nodes.values() if node.parent is None])}
    for node in nodes.values():
        if id(node) not in reached:
            first = _break_circle(node)
            reached.update(id(below) for below in _below([first]))


def _break_circle(node: Node) -> Node:
    """Make the first span (by id) of the circle above ``node`` a root."""
    seen: dict[int, Node] = {}
    current: Node | None = node
    while current is not None and id(current) not in seen:
        seen[id(current)] = current
        current = current.parent
    circle: list[Node] = []
    while current is not None and current not in circle[:1]:
        circle.append(current)
        current = current.parent
    first = min(circle, key=lambda one: one.span.span_id)
    if first.parent is not None:
        first.parent.children.remove(first)
    first.parent, first.orphan = None, True
    return first


def _below(roots: Sequence[Node]) -> Iterator[Node]:
    """The nodes and everything below them, parents before children."""
    stack = list(roots)
    while stack:
        node = stack.pop()
        yield node
        stack.extend(node.children)


def _place(node: Node) -> None:
    """Depth and times. A span whose parent never came is not the outermost one. A child in another
    service cannot begin before the span that called it: its clock is off."""
    start, end = node.span.start_ns, max(node.span.start_ns, node.span.end_ns)
    node.depth = 1 if node.orphan else 0
    if node.parent is not None:
        node.depth = node.parent.depth + 1
        if node.service != node.parent.service and start < node.parent.start:
            start, end = node.parent.start, node.parent.start + (end - start)
    node.start, node.end = start, end


def _most_complete(copies: list[Span]) -> Span:
    if len(copies) == 1:
        return copies[0]
    return max(copies, key=lambda span: (*_weight(span), _text_of(span)))


def _weight(span: Span) -> tuple[bool, int, int, int, int]:
    """Ended before unended, then more attributes and events, fewer dropped, longer contents, a later end."""
    size = sum(len(value) for value in span.attributes.values() if isinstance(value, str))
    size += sum(len(v) for event in span.events for v in event.attributes.values() if isinstance(v, str))
    return span.end_ns > 0, len(span.attributes) + len(span.events), -span.dropped, size, span.end_ns


def _text_of(span: Span) -> str:
    """A text that differs when the spans differ: the last resort that makes the choice free of arrival."""
    events = [[event.name, event.time_ns, to_json(event.attributes)] for event in span.events]
    resource, scope = to_json(span.resource.attributes), [span.scope.name, span.scope.version]
    head: list[JSON] = [span.parent_span_id, span.parent_remote, span.name, span.kind, span.start_ns]
    status: list[JSON] = [int(span.status_code), span.status_message]
    return canonical([*head, *status, to_json(span.attributes), events, resource, scope])
