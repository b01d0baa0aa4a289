"""Azure AI Agents (``gen_ai.system`` = ``az.ai.agents``): operations of an API on threads that the service keeps.

There are no agent, model or tool spans. ``create_message`` brings the user's message, ``start_thread_run`` is a run
(the outer one of two waits for its end) and so is ``process_thread_run``, which streams: all its events stand on it.
``submit_tool_outputs`` brings results, ``list_run_steps`` the calls they answer, ``list_messages`` the reply; both list
one item a span, and old messages again after each run. Contents are JSON in ``gen_ai.event.content`` of events. The
conversation is ``gen_ai.thread.id``; version 1.1.0 swaps it with the run's id on ``list_run_steps``, whose events have
both right. What belongs together is told by ``gen_ai.thread.run.id``, since each operation may be a trace of its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from aem_monitor.conventions.attributes import failure, text
from aem_monitor.conventions.genai import kind_of, read_span
from aem_monitor.conventions.jsontext import parse_nested
from aem_monitor.conventions.messages import Message, Messages, Role, mark_cut, without_cut_end
from aem_monitor.conventions.parts import CallPart, Part, ResultPart, TextPart, parts_of, read_arguments, text_or_none
from aem_monitor.conventions.reading import Report, SpanKind, SpanReading
from aem_monitor.model.conversation import NOT_CAPTURED
from aem_monitor.model.jsonvalue import JSON, Attributes
from aem_monitor.model.span import LogRecord, Span, SpanEvent

SYSTEM: Final = "az.ai.agents"
_SYSTEMS: Final = frozenset({SYSTEM, "azure.ai.agents"})
_SCOPE: Final = "azure.core.tracing.ext.opentelemetry_span"
_THREAD: Final = "gen_ai.thread.id"
_RUN: Final = "gen_ai.thread.run.id"
_CONTENT: Final = "gen_ai.event.content"
_STEP_CALLS: Final = "gen_ai.run_step.tool_calls"
_LISTINGS: Final = frozenset({"list_messages", "list_run_steps"})
_RUNS: Final = frozenset({"start_thread_run", "process_thread_run"})
_REPORTS: Final = _LISTINGS | {"create_message", "create_thread", "get_thread_run", "submit_tool_outputs"}
_NOT_ANSWERED: Final = frozenset({"failed", "expired", "cancelled"})
_ROLES: Final[Mapping[str, Role]] = {
    "gen_ai.user.message": Role.USER,
    "gen_ai.assistant.message": Role.ASSISTANT,
    "gen_ai.tool.message": Role.TOOL,
    _STEP_CALLS: Role.ASSISTANT,
}


class AzureAgents:
    """Spans of the Azure AI Agents client."""

    name = "azure-ai-agents"
    markers: Sequence[str] = ("gen_ai.",)

    def detect(self, span: Span) -> bool:
        """By system; a tool that the client runs itself has only the operation, in the client's scope."""
        attributes = span.attributes
        if text(attributes, "gen_ai.system", "gen_ai.provider.name") in _SYSTEMS:
            return True
        return span.scope.name == _SCOPE and "gen_ai.operation.name" in attributes

    def read(self, span: Span, logs: Sequence[LogRecord]) -> SpanReading:
        """What the span says."""
        operation = text(span.attributes, "gen_ai.operation.name") or ""
        if operation in _RUNS:
            return _run(self.name, span)
        if operation in _REPORTS:
            return _report(self.name, span, listed=operation in _LISTINGS)
        return read_span(self.name, span, logs, kind_of(span.attributes))


def _run(convention: str, span: Span) -> SpanReading:
    """A run: what the application added to it goes in, what a streamed run tells comes out."""
    found = [message for event in span.events if (message := _message(event)) is not None]
    said = [message for message in found if message.role is Role.USER]
    return SpanReading(
        convention,
        SpanKind.AGENT,
        input=Messages(tuple(said)),
        output=Messages(tuple(message for message in found if message.role is not Role.USER)),
        agent_name=text(span.attributes, "gen_ai.agent.name"),
        request_model=text(span.attributes, "gen_ai.request.model"),
        response_model=text(span.attributes, "gen_ai.response.model"),
        error=_error(span),
        run=text(span.attributes, _RUN),
    )


def _report(convention: str, span: Span, *, listed: bool) -> SpanReading:
    thread, run = _ids(span)
    reports = tuple(
        Report(
            message=message,
            run=None if message.role is Role.USER else run,
            message_id=text(event.attributes, "gen_ai.message.id") or text(span.attributes, "gen_ai.message.id"),
            at=text(event.attributes, "gen_ai.run_step.start.timestamp"),
            listed=listed,
        )
        for event in span.events
        if (message := _message(event)) is not None and (run is not None or message.role is Role.USER)
    )
    return SpanReading(
        convention,
        SpanKind.REPORT,
        # A poll or a submission that failed is tried again; what counts is how the run ended.
        error=_error(span) if text(span.attributes, "gen_ai.thread.run.status") in _NOT_ANSWERED else None,
        run=run,
        reports=reports,
        derived={_THREAD: thread},
    )


def _ids(span: Span) -> tuple[str | None, str | None]:
    """Thread and run; where events name them too, the events are right."""
    for event in span.events:
        thread = text(event.attributes, _THREAD)
        if thread is not None and span.attributes.get("gen_ai.operation.name") in _LISTINGS:
            return thread, text(event.attributes, _RUN)
    thread, run = text(span.attributes, _THREAD), text(span.attributes, _RUN)
    if run is not None and run.startswith("thread_") and thread is not None and thread.startswith("run_"):
        return run, thread
    return thread, run


def _error(span: Span) -> str | None:
    said = failure(span)
    status = text(span.attributes, "gen_ai.thread.run.status")
    return f"run {status}" if said is None and status in _NOT_ANSWERED else said


def _message(event: SpanEvent) -> Message | None:
    """The message of an event; None for instructions and for what no convention is known of."""
    role = _ROLES.get(event.name)
    if role is None:
        return None
    body, cut = _body(event.attributes)
    parts: list[Part] = []
    calls = body.get("tool_calls")
    if role is Role.TOOL:
        # Without content recording the result is an empty text.
        parts.append(ResultPart(text_or_none(body.get("id")), body.get("content") or NOT_CAPTURED))
    elif isinstance(calls, Sequence) and not isinstance(calls, str):
        for call in calls:
            parts.extend(_call(call))
    else:
        parts.extend(tuple(parts_of(body.get("content"))) or (TextPart(None),))
    message = Message(role, tuple(parts))
    return mark_cut(message) if cut else message


def _body(attributes: Attributes) -> tuple[Mapping[str, JSON], bool]:
    content = attributes.get(_CONTENT)
    parsed = parse_nested(content if isinstance(content, str) else None)
    value = without_cut_end(parsed.value) if parsed.truncated else parsed.value
    return (value, parsed.truncated) if isinstance(value, Mapping) else ({}, parsed.truncated)


def _call(call: JSON) -> Iterator[Part]:
    """A call of a step. Without content recording a function has no name: a call of which only the id is known.

    Tools that the service runs itself (``code_interpreter``, ``file_search``, ``mcp``) are told with what they gave.
    """
    if not isinstance(call, Mapping):
        return
    call_id, kind = text_or_none(call.get("id")), text_or_none(call.get("type")) or ""
    function = call.get("function")
    if kind == "function" or isinstance(function, Mapping):
        named: Mapping[str, JSON] = function if isinstance(function, Mapping) else {}
        arguments, cut = read_arguments(named.get("arguments"))
        yield CallPart(text_or_none(named.get("name")) or "", call_id, arguments, cut)
        return
    inner = call.get(kind)
    details: Mapping[str, JSON] = inner if isinstance(inner, Mapping) else call
    arguments, cut = read_arguments(details.get("arguments"))
    if arguments is None and details.get("input") is not None:
        arguments = {"input": details["input"]}
    yield CallPart(text_or_none(details.get("name")) or kind, call_id, arguments, cut)
    given = details.get("output", details.get("outputs"))
    if given is not None:
        yield ResultPart(call_id, given)
