"""What became of every span of a trace, in words: for whoever wonders why a turn is missing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from aem_monitor.assembly.settings import AssemblySettings
from aem_monitor.assembly.tree import INVOCATIONS, Node, build_forest
from aem_monitor.conventions.messages import Messages
from aem_monitor.conventions.reading import SpanKind, SpanReading
from aem_monitor.conventions.registry import Registry
from aem_monitor.model.conversation import NOT_CAPTURED, Conversation
from aem_monitor.model.span import LogRecord, Span

_SHOWN = 60
_Roles: TypeAlias = Mapping[tuple[str, str], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class SpanNote:
    """One span: where it stands in its tree, what it was taken for, what it says, and which turns rest on it."""

    span: Span
    depth: int
    convention: str | None
    kind: str
    says: tuple[str, ...]
    became: tuple[str, ...]


def explain_trace(
    spans: Sequence[Span],
    logs: Sequence[LogRecord],
    registry: Registry,
    settings: AssemblySettings,
    conversations: Sequence[Conversation],
) -> list[SpanNote]:
    """A note for every span of one trace, parents before children. ``conversations`` are those of the whole input."""
    roles = dict(_roles(conversations))
    nodes = build_forest(spans, logs, registry)
    told = any(span.trace_id in one.trace_ids for span in spans[:1] for one in conversations)
    tops = () if told else tuple(node for node in nodes if node.parent is None)[:1]
    return [
        SpanNote(
            span=node.span,
            depth=node.depth,
            convention=node.reading.convention if node.reading else None,
            kind=node.reading.kind.value if node.reading else "none",
            says=tuple(_says(node, settings)),
            became=(
                *(roles.get(node.span.key) or (_why_nothing(node, roles),)),
                *(("nothing of this trace became a turn of a conversation",) if node in tops else ()),
            ),
        )
        for root in nodes
        if root.parent is None
        for node in _down(root)
    ]


def _down(node: Node) -> Iterator[Node]:
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(current.children))


def _roles(conversations: Sequence[Conversation]) -> Iterator[tuple[tuple[str, str], tuple[str, ...]]]:
    """The turns that rest on a span, by (trace id, span id)."""
    found: dict[tuple[str, str], list[str]] = {}
    for conversation in conversations:
        name = conversation.conversation_id or f"without id ({conversation.key[:8]})"
        for number, exchange in enumerate(conversation.exchanges, start=1):
            where = f"of exchange {number} in conversation {name}"
            if exchange.user.trace_id and exchange.user.span_id:
                found.setdefault((exchange.user.trace_id, exchange.user.span_id), []).append(f"user message {where}")
            for call in exchange.calls:
                if call.span_id:
                    word = "hand-off" if call.handoff else "nested call" if call.nested else "call"
                    found.setdefault((call.trace_id, call.span_id), []).append(f"{word} of {call.name} {where}")
            if exchange.response is not None and exchange.response.span_id:
                key = (exchange.response.trace_id, exchange.response.span_id)
                found.setdefault(key, []).append(f"reply {where}")
    for key, words in found.items():
        yield key, tuple(words)


def _says(node: Node, settings: AssemblySettings) -> Iterator[str]:
    reading = node.reading
    if node.orphan:
        yield f"its parent {node.span.parent_span_id} is not in the input"
    for rank, name in enumerate(settings.conversation_id):
        value = node.attribute(name)
        if isinstance(value, str):
            yield f"conversation id {value!r} from {name} (precedence {rank + 1})"
    if reading is None:
        return
    if reading.agent_name:
        yield f"agent {reading.agent_name}"
    if reading.response_model or reading.request_model:
        yield f"model {reading.response_model or reading.request_model}"
    yield from _tool(reading)
    if reading.run:
        yield f"run {reading.run} of the server"
    yield from _messages("report", Messages(tuple(report.message for report in reading.reports)))
    yield from _messages("input", reading.input)
    yield from _messages("output", reading.output)
    if reading.error is not None:
        yield f"failed: {_short(reading.error) or 'no text'}"


def _tool(reading: SpanReading) -> Iterator[str]:
    tool = reading.tool
    if tool is None:
        return
    yield f"tool {tool.name!r}" + (f", call id {tool.call_id}" if tool.call_id else ", no call id")
    if tool.arguments is None and tool.bare is NOT_CAPTURED:
        yield "no arguments on this span: taken from the model's messages if they have the call"
    elif tool.arguments_truncated:
        yield "arguments were cut"
    if tool.result is NOT_CAPTURED and not reading.error:
        yield "no result on this span"
    elif tool.result_truncated:
        yield "the result was cut"


def _messages(side: str, messages: Messages) -> Iterator[str]:
    if not messages:
        return
    last = messages.items[-1]
    said = last.text
    if said is not None and said.text is not None:
        what = repr(_short(said.text))
    elif last.calls:
        what = f"calls of {', '.join(call.name for call in last.calls)}"
    elif last.results:
        what = "tool results"
    else:
        what = "no captured text"
    cut = ", cut" if messages.truncated else ""
    yield f"{side} of {len(messages.items)} messages{cut}, the last by {last.role.value}: {what}"


def _why_nothing(node: Node, roles: _Roles) -> str:
    reading = node.reading
    if reading is None:
        if not node.span.attributes and not node.span.events:
            return "no turn: nothing of an agent on it; kept as a link between spans"
        return "no turn: no convention knows it; its ids still count"
    match reading.kind:
        case SpanKind.STEP:
            return "no turn of its own: a step between an agent and its calls, evidence for them"
        case SpanKind.REPORT:
            return (
                "no turn of its own: an operation on a server's conversation; what it tells fills in the turns of a run"
            )
        case SpanKind.OTHER:
            return "no turn: agent telemetry without a part in a conversation"
        case SpanKind.MODEL:
            return "no turn of its own: a model call; its messages fill in what other spans do not carry"
        case SpanKind.TOOL:
            return "no turn of its own: the same call is reported by another span, or belongs to an agent below a tool"
        case SpanKind.AGENT | SpanKind.RUN:
            return _why_no_exchange(node, roles)


def _why_no_exchange(node: Node, roles: _Roles) -> str:
    for above in node.ancestors():
        if above.reading is not None and above.reading.tool is not None and not above.reading.tool.handoff:
            return f"no turn of its own: it works within the call of {above.reading.tool.name}"
        if above.kind in INVOCATIONS and above.span.key in roles:
            return f"no turn of its own: it is a part of the exchange of span {above.span.span_id} above it"
    if any(one.kind in INVOCATIONS and one.span.key in roles for one in _down(node)):
        return "no turn of its own: a runner around the exchanges below it"
    return "no turn of its own: it belongs to the exchange of an agent beside it, or it is a side agent's"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _SHOWN else f"{flat[: _SHOWN - 1]}…"
