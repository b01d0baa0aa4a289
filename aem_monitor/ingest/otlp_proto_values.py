"""Single values of OTLP protobuf messages, within the limits."""

from collections import Counter
from collections.abc import Iterable
from sys import intern
from typing import Any

from aem_monitor.ingest.causes import Altered
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.prefilter import Prefilter
from aem_monitor.model.jsonvalue import AttributeValue
from aem_monitor.model.span import Resource, Scope


class ProtoReader:
    """Reads attribute values, resources and scopes within the limits; ``altered`` counts what was cut."""

    def __init__(self, limits: Limits, keep: Prefilter, altered: Counter[str]) -> None:
        self.keep = keep
        self.altered = altered
        self._max_chars = limits.max_attribute_chars
        self._max_depth = limits.max_depth
        self._max_entries = limits.max_attributes
        self.max_events = limits.max_events

    def text(self, text: str) -> str:
        """A string within the length limit."""
        if len(text) <= self._max_chars:
            return text
        self.altered[Altered.STRING_CUT] += 1
        return text[: self._max_chars]

    def attributes(self, pairs: Any, depth: int = 1) -> dict[str, AttributeValue]:
        """The attributes of a repeated KeyValue; the last of equal keys wins. Equal keys of spans are one object."""
        decoded: dict[str, AttributeValue] = {}
        longest = self._max_chars
        for pair in self.bounded(pairs, self._max_entries):
            key = intern(pair.key)
            value = pair.value
            if len(key) > longest:
                key = self.text(key)
            # The common case in line, a text that is not empty: this loop is where decoding spends its time.
            if text := value.string_value:
                decoded[key] = text if len(text) <= longest else self.text(text)
            else:
                decoded[key] = self.value(value, depth)
        return decoded

    def value(self, value: Any, depth: int = 1) -> AttributeValue:
        """An AnyValue; None when unset."""
        match value.WhichOneof("value"):
            case "string_value":
                return self.text(value.string_value)
            case "int_value":
                return int(value.int_value)
            case "bool_value":
                return bool(value.bool_value)
            case "double_value":
                return float(value.double_value)
            case "bytes_value":
                return self._bytes(value.bytes_value)
            case "array_value" | "kvlist_value" if depth > self._max_depth:
                self.altered[Altered.TOO_DEEP] += 1
                return None
            case "array_value":
                return [
                    self.value(item, depth + 1) for item in self.bounded(value.array_value.values, self._max_entries)
                ]
            case "kvlist_value":
                return self.attributes(value.kvlist_value.values, depth + 1)
            case _:
                # Unset, or an index into a string table that only profiles have.
                return None

    def resource(self, block: Any) -> Resource:
        """The resource of a ResourceSpans or ResourceLogs."""
        return Resource(self.attributes(block.resource.attributes))

    def scope(self, scoped: Any) -> Scope:
        """The scope of a ScopeSpans or ScopeLogs."""
        scope = scoped.scope
        return Scope(self.text(scope.name), self.text(scope.version))

    def any_named(self, pairs: Iterable[Any]) -> bool:
        """Whether a key of these attributes contains a marker."""
        in_name = self.keep.in_name
        return any(in_name(pair.key) for pair in pairs)

    def _bytes(self, data: bytes) -> bytes:
        if len(data) <= self._max_chars:
            return data
        self.altered[Altered.STRING_CUT] += 1
        return data[: self._max_chars]

    def bounded(self, items: Any, limit: int) -> Any:
        """The items within the limit."""
        if len(items) <= limit:
            return items
        self.altered[Altered.TOO_MANY] += 1
        return items[:limit]
