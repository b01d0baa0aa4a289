"""The table of conventions: who reads which span. Order matters, the generic convention comes last.

Third-party conventions are entry points of the group ``aem_monitor.conventions``, each an object (or a class or
function without arguments that gives one) with the interface of ``Convention``; they are asked before the
built-in ones.
"""

from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import entry_points
from typing import Final, Protocol

from aem_monitor.conventions.adk import ADK
from aem_monitor.conventions.agentframework import AgentFramework
from aem_monitor.conventions.autogen import AutoGen
from aem_monitor.conventions.azureagents import AzureAgents
from aem_monitor.conventions.foundry import Foundry
from aem_monitor.conventions.genai import GenAI
from aem_monitor.conventions.logfire import Logfire
from aem_monitor.conventions.mcp import MCP
from aem_monitor.conventions.observed import LANGFUSE, LANGSMITH, MLFLOW
from aem_monitor.conventions.openinference import OpenInference
from aem_monitor.conventions.pydanticai import PydanticAI
from aem_monitor.conventions.reading import SpanKind, SpanReading
from aem_monitor.conventions.semantickernel import SemanticKernel
from aem_monitor.conventions.strands import Strands
from aem_monitor.conventions.tooldefinitions import tools_in_attributes
from aem_monitor.conventions.traceloop import Traceloop
from aem_monitor.conventions.vercel import Vercel
from aem_monitor.errors import ConfigError
from aem_monitor.model.span import LogRecord, Span

ENTRY_POINT_GROUP: Final = "aem_monitor.conventions"


class Convention(Protocol):
    """How one instrumentation writes spans.

    ``markers`` are texts of which at least one occurs in the bytes of any span (or its scope) that ``detect`` accepts:
    the prefilter skips requests without any. ``read`` must not raise, whatever the contents.
    """

    @property
    def name(self) -> str:
        """The convention's name, bounded: it may become a metric label."""

    @property
    def markers(self) -> Sequence[str]:
        """Parts of attribute keys, event or scope names."""

    def detect(self, span: Span) -> bool:
        """Whether the span is of this convention."""

    def read(self, span: Span, logs: Sequence[LogRecord]) -> SpanReading:
        """What the span says; ``logs`` are the log records of this span."""


class Registry:
    """An ordered table of conventions. Immutable."""

    def __init__(self, conventions: Sequence[Convention]) -> None:
        self.conventions: Final = tuple(conventions)
        self.markers: Final = tuple(dict.fromkeys(marker for one in self.conventions for marker in one.markers))

    def read(self, span: Span, logs: Sequence[LogRecord] = ()) -> SpanReading | None:
        """What the first convention that knows the span reads from it; None for a span of no agent.

        A pending span, by which Logfire announces a span of any instrumentation when it begins, repeats the beginning
        of that span under an id of its own: it has no part in a turn.
        """
        for convention in self.conventions:
            if convention.detect(span):
                if span.attributes.get("logfire.span_type") == "pending_span":
                    return SpanReading(convention.name, SpanKind.OTHER)
                return _with_tools(convention.read(span, logs), span)
        return None

    def with_entry_points(self) -> "Registry":
        """This table with the installed third-party conventions before it, in order of their names.

        Raises ``ConfigError`` for one that cannot be loaded or lacks the interface.
        """
        found: list[Convention] = []
        for point in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda point: point.name):
            try:
                loaded = point.load()
                convention = loaded() if callable(loaded) else loaded
            except Exception as error:
                raise ConfigError(f"convention {point.name!r} ({point.value}) cannot be loaded: {error}") from error
            if not all(hasattr(convention, name) for name in ("name", "markers", "detect", "read")):
                raise ConfigError(f"convention {point.name!r} ({point.value}) needs name, markers, detect and read")
            found.append(convention)
        return Registry((*found, *self.conventions))


def _with_tools(reading: SpanReading, span: Span) -> SpanReading:
    """The reading with the definitions of tools that stand in attributes of their own."""
    if reading.tools:
        return reading
    tools = tools_in_attributes(span.attributes)
    return replace(reading, tools=tools) if tools else reading


def registry() -> Registry:
    """The built-in conventions, the most specific first."""
    return Registry(
        (
            OpenInference(),
            Strands(),
            Traceloop(),
            Vercel(),
            LANGSMITH,
            LANGFUSE,
            ADK(),
            MLFLOW,
            PydanticAI(),
            Logfire(),
            MCP(),
            AzureAgents(),
            Foundry(),
            SemanticKernel(),
            AgentFramework(),
            AutoGen(),
            GenAI(),
        )
    )
