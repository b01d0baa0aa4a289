"""Model Context Protocol spans (``mcp.method.name``), of clients and servers.

``tools/call`` is a protocol's view of a tool call: beneath an agent's own tool span it is that call once more. All
other methods are no part of a turn. ``mcp.session.id`` is a transport's session, never the conversation.
"""

from collections.abc import Sequence
from dataclasses import replace

from aem_monitor.conventions.genai import read_span
from aem_monitor.conventions.reading import SpanKind, SpanReading
from aem_monitor.model.span import LogRecord, Span


class MCP:
    """Spans of MCP clients and servers."""

    name = "mcp"
    markers: Sequence[str] = ("mcp.method.name",)

    def detect(self, span: Span) -> bool:
        """By the protocol's method."""
        return isinstance(span.attributes.get("mcp.method.name"), str)

    def read(self, span: Span, logs: Sequence[LogRecord]) -> SpanReading:
        """What the span says."""
        if span.attributes["mcp.method.name"] != "tools/call":
            return SpanReading(self.name, SpanKind.OTHER)
        reading = read_span(self.name, span, logs, SpanKind.TOOL)
        if reading.tool is not None and not reading.tool.name:
            # Client SDKs name only the span: "tools/call lookup_order", "MCP send tools/call lookup_order".
            named = span.name.partition("tools/call")[2].strip()
            return replace(reading, tool=replace(reading.tool, name=named))
        return reading
