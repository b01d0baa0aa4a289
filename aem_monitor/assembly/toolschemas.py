"""The schemas of the tools that a conversation calls, from whatever spans state them.

Which span carried a schema, and in what order spans came, must not matter: all that is stated is gathered, and only the
name decides what belongs to a call. Where definitions of one name differ (two agents, two instrumentations), all are
kept for scoring to make one of.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeVar

from aem_monitor.assembly.names import folded
from aem_monitor.assembly.tracereading import ExchangeReading
from aem_monitor.assembly.tree import Node
from aem_monitor.model.conversation import ToolCall, ToolSchema

T = TypeVar("T")

_MOST: Final = 1_000
"""Schemas of one trace; the first by name are kept."""

_MOST_OF_A_TOOL: Final = 16
"""Schemas of one called tool: a schema that is made anew for each request says nothing that holds."""


def schemas_of(nodes: Iterable[Node]) -> tuple[ToolSchema, ...]:
    """The distinct schemas that the spans of a trace state, sorted."""
    stated = _distinct(node.reading.tools for node in nodes if node.reading is not None and node.reading.tools)
    found = {ToolSchema(tool.name, tool.schema) for one in stated for tool in one.tools if tool.schema}
    return tuple(sorted(found, key=_order)[:_MOST])


def unread_of(nodes: Iterable[Node]) -> Mapping[str, int]:
    """How many spans have definitions that could not be read, by cause."""
    return Counter(
        cause.value for node in nodes if node.reading is not None for cause in sorted(node.reading.tools.unread)
    )


def called_schemas(readings: Sequence[ExchangeReading], calls: Iterable[ToolCall]) -> tuple[ToolSchema, ...]:
    """The schemas of called tools, under the names that the calls give them; sorted."""
    stated: dict[str, set[str]] = defaultdict(set)
    for schemas in _distinct(reading.tool_schemas for reading in readings if reading.tool_schemas):
        for one in schemas:
            stated[one.name].add(one.schema)
    if not stated:
        return ()
    forms = {name: folded(name) for name in stated}
    found: list[ToolSchema] = []
    for called in sorted({call.name for call in calls if call.name}):
        texts = sorted(text for name in _named(called, forms) for text in stated[name])
        found += [ToolSchema(called, text) for text in texts if len(texts) <= _MOST_OF_A_TOOL]
    return tuple(found)


def _named(called: str, forms: Mapping[str, str]) -> list[str]:
    """The stated names that mean a called tool, by the closest likeness that any has: the same, the same but for case
    and separators, or one a prefix before the other (``functions.lookup_order``)."""
    if called in forms:
        return [called]
    form = folded(called)
    if not form:
        return []
    same = [name for name, other in forms.items() if other == form]
    behind = [
        name
        for name, other in forms.items()
        if other and (f"_{other}".endswith(f"_{form}") or f"_{form}".endswith(f"_{other}"))
    ]
    return same or behind


def _distinct(values: Iterable[T]) -> Iterable[T]:
    """One of each object: what was read of one text is shared, and to compare it anew would cost more than to read."""
    return {id(value): value for value in values}.values()


def _order(schema: ToolSchema) -> tuple[str, str]:
    return schema.name, schema.schema
