"""LangSmith, Langfuse and MLflow: tracing SDKs whose spans are observations with a type, an input and an output.

LangSmith (scope ``langsmith``): ``langsmith.span.kind``, contents in ``gen_ai.prompt`` / ``gen_ai.completion``.
Langfuse: ``langfuse.observation.type`` / ``.input`` / ``.output``. MLflow: ``mlflow.spanType`` / ``spanInputs`` /
``spanOutputs``, where every value is JSON text, a plain string in quotes too. A chain or plain span is the turn's
runner where it is the root of its trace or marked as the SDK's own root, a step elsewhere. Langfuse takes a graph's
node for an agent when it is called so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from aem_monitor.conventions.attributes import failure, metadata, text, texts
from aem_monitor.conventions.callinput import read_call
from aem_monitor.conventions.messages import NO_MESSAGES, Messages, Role
from aem_monitor.conventions.observations import opened, spoken
from aem_monitor.conventions.reading import SpanKind, SpanReading, ToolReading
from aem_monitor.conventions.results import unwrap
from aem_monitor.conventions.tooldefinitions import NO_TOOLS, tools_in_request
from aem_monitor.model.conversation import NOT_CAPTURED, Captured
from aem_monitor.model.jsonvalue import JSON, Attributes
from aem_monitor.model.span import LogRecord, Span

_KINDS: Final[Mapping[str, SpanKind]] = {
    "agent": SpanKind.AGENT,
    "llm": SpanKind.MODEL,
    "chat_model": SpanKind.MODEL,
    "generation": SpanKind.MODEL,
    "tool": SpanKind.TOOL,
    "chain": SpanKind.STEP,
    "span": SpanKind.STEP,
    "unknown": SpanKind.STEP,
    "workflow": SpanKind.STEP,
    "task": SpanKind.STEP,
}
_OF_METADATA: Final = ("thread_id", "session_id", "conversation_id", "release")
_SPEAKING: Final = frozenset({SpanKind.RUN, SpanKind.AGENT, SpanKind.MODEL})


@dataclass(frozen=True, slots=True)
class Observed:
    """One of the three SDKs, by its attribute names.

    ``input_names`` and ``output_names`` in order, the later ones where the earlier say nothing. ``outer`` marks the
    root of a turn below a span of something else, ``inner`` a node of a graph, which is a step whatever its type.
    ``metadata_prefixes`` begin attributes that hold the application's metadata, JSON text each. ``level`` names the
    level's attribute, its failing value and the message's attribute.
    """

    name: str
    markers: Sequence[str]
    type_name: str
    input_names: Sequence[str]
    output_names: Sequence[str]
    models: Sequence[str]
    agent_names: Sequence[str] = ()
    outer: Sequence[str] = ()
    inner: Sequence[str] = ()
    metadata_prefixes: Sequence[str] = ()
    level: tuple[str, str, str] | None = None

    def detect(self, span: Span) -> bool:
        """By the attribute that names the type of the observation."""
        return isinstance(span.attributes.get(self.type_name), str)

    def read(self, span: Span, logs: Sequence[LogRecord]) -> SpanReading:  # noqa: ARG002
        """What the span says."""
        attributes = span.attributes
        kind = self._kind(span)
        speaks = kind in _SPEAKING
        model = self._text(span, *self.models)
        outgoing = _spoken(attributes, self.output_names, Role.ASSISTANT) if speaks else NO_MESSAGES
        reasons = tuple(message.finish_reason for message in outgoing.items if message.finish_reason)
        return SpanReading(
            convention=self.name,
            kind=kind,
            input=_spoken(attributes, self.input_names, Role.USER) if speaks else NO_MESSAGES,
            output=outgoing,
            tool=self._tool(span) if kind is SpanKind.TOOL else None,
            agent_name=self._text(span, *self.agent_names) or (span.name if kind is SpanKind.AGENT else None),
            response_model=model,
            finish_reasons=texts(attributes.get("gen_ai.response.finish_reasons")) or reasons,
            error=self._error(span),
            derived=self._derived(span),
            tools=tools_in_request(attributes.get(self.input_names[0])) if kind is SpanKind.MODEL else NO_TOOLS,
        )

    def _kind(self, span: Span) -> SpanKind:
        kind = _KINDS.get((self._text(span, self.type_name) or "").lower(), SpanKind.OTHER)
        if kind not in (SpanKind.STEP, SpanKind.AGENT):
            return kind
        turn = SpanKind.AGENT if kind is SpanKind.AGENT else SpanKind.RUN
        if span.parent_span_id is None or span.name == self._text(span, *self.agent_names):
            return turn
        if any(name in span.attributes for name in self.inner):
            return SpanKind.STEP
        return turn if any(span.attributes.get(name) for name in self.outer) else kind

    def _derived(self, span: Span) -> Mapping[str, str | None]:
        """Ids and release out of metadata; ``session.id`` without the quotes of JSON text."""
        found = dict(metadata(span.attributes))
        for name in _OF_METADATA:
            value = self._text(span, *(prefix + name for prefix in self.metadata_prefixes))
            if value is not None:
                found[f"metadata.{name}"] = value
        session = self._text(span, "session.id")
        if session is not None and session != span.attributes.get("session.id"):
            found["session.id"] = session
        return found

    def _text(self, span: Span, *names: str) -> str | None:
        for name in names:
            value, _ = opened(span.attributes.get(name))
            if isinstance(value, str) and value:
                return value
        return None

    def _tool(self, span: Span) -> ToolReading:
        attributes = span.attributes
        given, cut = opened(attributes.get(self.input_names[0]))
        output, output_cut = opened(attributes.get(self.output_names[0]))
        unwrapped = unwrap(_returned(output, cut=output_cut), cut=output_cut)
        call = read_call(_argument_object(given), cut=cut)
        return ToolReading(
            name=text(attributes, "gen_ai.tool.name") or span.name,
            call_id=text(attributes, "gen_ai.tool.call.id") or _message_call_id(output),
            arguments=call.arguments,
            arguments_truncated=cut,
            bare=call.bare,
            result=unwrapped.value,
            result_truncated=unwrapped.truncated or output_cut,
            failed=bool(unwrapped.failed),
        )

    def _error(self, span: Span) -> str | None:
        said = failure(span)
        if said is not None or self.level is None:
            return said
        name, failing, message = self.level
        return (text(span.attributes, message) or "") if span.attributes.get(name) == failing else None


def _spoken(attributes: Attributes, names: Sequence[str], role: Role) -> Messages:
    return next((found for name in names if (found := spoken(attributes.get(name), role))), NO_MESSAGES)


def _argument_object(given: JSON) -> JSON:
    """LangSmith's ``{"input": text}`` around a tool's arguments or its only one."""
    if isinstance(given, Mapping) and given.keys() == {"input"} and isinstance(given["input"], str):
        return given["input"]
    return given


def _returned(output: JSON, *, cut: bool) -> Captured:
    """LangSmith wraps a tool's message: ``{"output": {"content": ..}}``; its type may be cut away."""
    if output is None:
        return NOT_CAPTURED
    if isinstance(output, Mapping) and output.keys() == {"output"}:
        inner = output["output"]
        kind = inner.get("type", "tool" if cut else None) if isinstance(inner, Mapping) else None
        if isinstance(inner, Mapping) and kind == "tool" and "content" in inner:
            return {**inner, "role": "tool"}
        return inner
    return output


def _message_call_id(output: JSON) -> str | None:
    inner = output.get("output", output) if isinstance(output, Mapping) else None
    found = inner.get("tool_call_id") if isinstance(inner, Mapping) else None
    return found if isinstance(found, str) and found else None


LANGSMITH: Final = Observed(
    name="langsmith",
    markers=("langsmith.",),
    type_name="langsmith.span.kind",
    input_names=("gen_ai.prompt",),
    output_names=("gen_ai.completion",),
    models=("gen_ai.response.model", "gen_ai.request.model"),
    agent_names=("langsmith.metadata.lc_agent_name",),
    outer=("langsmith.metadata.ls_integration", "langsmith.metadata.ls_agent_type"),
    inner=("langsmith.metadata.langgraph_node",),
)
LANGFUSE: Final = Observed(
    name="langfuse",
    markers=("langfuse.",),
    type_name="langfuse.observation.type",
    input_names=("langfuse.observation.input", "langfuse.trace.input"),
    output_names=("langfuse.observation.output", "langfuse.trace.output"),
    models=("langfuse.observation.model.name",),
    outer=(
        "langfuse.internal.is_app_root",
        "langfuse.internal.as_root",
        "langfuse.observation.metadata.is_langchain_root",
    ),
    inner=("langfuse.observation.metadata.langgraph_node",),
    metadata_prefixes=("langfuse.observation.metadata.", "langfuse.trace.metadata."),
    level=("langfuse.observation.level", "ERROR", "langfuse.observation.status_message"),
)
MLFLOW: Final = Observed(
    name="mlflow",
    markers=("mlflow.",),
    type_name="mlflow.spanType",
    input_names=("mlflow.spanInputs",),
    output_names=("mlflow.spanOutputs",),
    models=("mlflow.llm.model", "model"),
)
