"""Microsoft AutoGen's own telemetry (scope ``autogen-core``, ``gen_ai.system`` = ``autogen``).

Only structure: ``create_agent`` in a trace of its own, ``invoke_agent``, ``execute_tool`` with names and call ids,
without any contents or conversation id. Beside OpenInference each tool call is reported by both. Spans of the message
runtime (``autogen process ...``) have a scope and attributes of their own and are left to be plain spans.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from aem_monitor.conventions.attributes import text
from aem_monitor.conventions.genai import kind_of, read_span
from aem_monitor.conventions.reading import SpanReading
from aem_monitor.model.span import LogRecord, Span

_SCOPE: Final = "autogen-core"
_SYSTEM: Final = "autogen"


class AutoGen:
    """Spans of AutoGen's agents and tools."""

    name = "autogen"
    markers: Sequence[str] = (_SCOPE, "gen_ai.")

    def detect(self, span: Span) -> bool:
        """By scope, else by the system's name."""
        return span.scope.name == _SCOPE or text(span.attributes, "gen_ai.system", "gen_ai.provider.name") == _SYSTEM

    def read(self, span: Span, logs: Sequence[LogRecord]) -> SpanReading:
        """What the span says."""
        reading = read_span(self.name, span, logs, kind_of(span.attributes))
        if reading.tool is not None and _passes_control(span, reading.tool.name):
            return replace(reading, tool=replace(reading.tool, handoff=True))
        return reading


def _passes_control(span: Span, tool: str) -> bool:
    """A tool made of a hand-off. Agents of a team are traces of their own, so that the name alone would not do."""
    about = text(span.attributes, "gen_ai.tool.description") or ""
    return tool.startswith("transfer_to_") and about.startswith("Handoff to ")
