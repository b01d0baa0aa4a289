"""One exchange from one group of spans: what the user said, what was called, what the agent answered."""

from collections.abc import Sequence
from dataclasses import dataclass

from aem_monitor.assembly import identity
from aem_monitor.assembly.answers import answer_text, without_answers
from aem_monitor.assembly.calls import CallContext, calls_of
from aem_monitor.assembly.groups import Group
from aem_monitor.assembly.names import folded
from aem_monitor.assembly.reports import runs_of
from aem_monitor.assembly.settings import AssemblySettings
from aem_monitor.assembly.speech import (
    asks_for_calls,
    before_last_user,
    last_user,
    reply_of,
    squeezed,
    tail,
    user_turns,
)
from aem_monitor.assembly.steps import ModelStep, model_steps
from aem_monitor.assembly.tracereading import ExchangeReading
from aem_monitor.assembly.tree import INVOCATIONS, Node
from aem_monitor.conventions.genai import attribute_messages
from aem_monitor.conventions.messages import Messages, Role
from aem_monitor.conventions.parts import TextPart
from aem_monitor.conventions.reading import SpanKind
from aem_monitor.model.conversation import Response, UserMessage


@dataclass(frozen=True, slots=True)
class _Outline:
    """The user's own agents of a group and their model calls; what runs inside a tool call is left out."""

    group: Group
    invocations: tuple[Node, ...]
    steps: tuple[ModelStep, ...]

    @property
    def first(self) -> Node:
        """The span that stands for the exchange: the outermost invocation, else the first model or tool call."""
        if self.group.roots:
            return self.group.roots[0]
        return min((member.node for member in self.group.members), key=lambda node: node.order)


def read_exchange(
    group: Group, everything: Sequence[Node], agent_names: frozenset[str], settings: AssemblySettings
) -> ExchangeReading:
    """What one group of spans says about its exchange; ``everything`` are all spans of the trace."""
    visible = [member for member in group.members if member.frame is None]
    outline = _Outline(
        group,
        tuple(sorted((one.node for one in visible if one.node.kind in INVOCATIONS), key=lambda node: node.order)),
        tuple(model_steps(visible)),
    )
    first = outline.first
    release = identity.release_of(group, settings)
    agent_name = next((node.reading.agent_name for node in outline.invocations if node.reading), None)
    context = CallContext(release, agent_name, agent_names, settings)
    spoken = _spoken(outline)
    calls, answer = without_answers(calls_of(group, context), _beyond_models(outline, spoken[1]), settings)
    user, uncertain = _user(outline)
    response = _response(outline, spoken, answer_text(answer, settings), release, agent_name)
    start = min(group.start, user.time_ns)
    end = max(group.end, response.time_ns if response else 0)
    scope = identity.scope_of(group, everything)
    return ExchangeReading(
        trace_id=first.span.trace_id,
        span_id=first.span.span_id,
        parent=first.span.parent_span_id,
        agent=identity.agent_of(first, settings),
        agent_name=agent_name,
        instance=identity.text_of(first.span.resource.attributes.get("service.instance.id")) or "",
        release=release,
        model=_model(outline),
        user=user,
        calls=calls,
        response=response,
        start_ns=start,
        end_ns=end,
        root_seen=bool(group.roots),
        missing_parents=group.missing or _lost_within(group),
        agentless=not group.roots,
        ids=identity.ids_of(group, everything, settings),
        own_id=identity.own_id(group, settings),
        history=_history(outline),
        user_uncertain=uncertain,
        answers=_answered(outline),
        response_ids=frozenset(step.response_id for step in outline.steps if step.response_id),
        previous_response_ids=frozenset(
            step.previous_response_id for step in outline.steps if step.previous_response_id
        ),
        dialog_ids=identity.all_of(scope, settings.dialog_id),
        run_ids=identity.all_of(scope, settings.run_id),
        ended=_ended(scope, settings),
        runs=runs_of(group),
        part=group.part,
        asked=_asked(scope, settings),
        attributes=identity.attributes_of(scope),
    )


def agent_names_of(nodes: Sequence[Node]) -> frozenset[str]:
    """The names of all agents of a trace, folded: a call ``transfer_to_X`` hands over only if X is one of them."""
    return frozenset(
        folded(node.reading.agent_name)
        for node in nodes
        if node.reading is not None and node.reading.agent_name and node.kind in INVOCATIONS
    )


def _user(outline: _Outline) -> tuple[UserMessage, bool]:
    """The user's text: of the outermost invocation that has one, else of the first model call; and whether it may be an
    older one, because it comes from a history that was cut."""
    first = outline.first
    inputs = [node.reading.input for node in outline.invocations if node.reading]
    inputs += [step.input for step in outline.steps if step.input][:1]
    for messages in inputs:
        part = last_user(messages)
        if part is not None:
            return _message(part, messages, first), messages.truncated
    if outline.group.told.user is not None:
        return outline.group.told.user, False
    return UserMessage(None, first.start, first.span.span_id, first.span.trace_id, _any_cut(inputs)), False


def _asked(scope: Sequence[Node], settings: AssemblySettings) -> str | None:
    """What a driver of canaries says that it said: the input of a plain span above the agent that names the dialog.

    Agents capture no content, or show their model more than the user said, and where an exchange lost its agent's span
    nothing else tells which one it was.
    """
    for node in scope:
        if node.reading is None and identity.first_of([node], settings.dialog_id) is not None:
            part = last_user(attribute_messages(node.attribute("gen_ai.input.messages"), Role.USER))
            if part is not None and not part.truncated:
                return part.text
    return None


def _message(part: TextPart, messages: Messages, first: Node) -> UserMessage:
    cut = part.truncated or (messages.truncated and messages.items[-1].text == part)
    return UserMessage(part.text, first.start, first.span.span_id, first.span.trace_id, cut)


def _any_cut(lists: Sequence[Messages]) -> bool:
    return any(messages.truncated for messages in lists)


def _response(
    outline: _Outline,
    spoken: tuple[Node | None, TextPart | None],
    answered: tuple[str | None, bool],
    release: str | None,
    agent_name: str | None,
) -> Response | None:
    """The reply: what was ``spoken``, else what a call by which the framework answers says."""
    node, part = spoken
    step = next((step for step in reversed(outline.steps) if node is step.node), None)
    last = outline.steps[-1] if outline.steps else None
    roots = outline.group.roots
    error = _reply_error(outline, replied=part is not None)
    told = outline.group.told
    part = part or told.reply
    text, cut = (part.text, part.truncated) if part is not None else answered
    if not roots and text is None and error is None and not _finished(outline):
        return None
    if node is None or roots:
        node = roots[-1] if roots else (last.node if last is not None else outline.first)
    final = step or last
    reading = node.reading
    return Response(
        text=text,
        time_ns=max(node.end, told.end_ns),
        trace_id=node.span.trace_id,
        span_id=node.span.span_id,
        error=error,
        truncated=cut,
        agent_name=(reading.agent_name if reading else None) or agent_name,
        release=release,
        model=(final.model if final is not None else None) or _model(outline),
    )


def _spoken(outline: _Outline) -> tuple[Node | None, TextPart | None]:
    """The reply: of the outermost invocation, else of what within it ended last, an invocation or a model call.

    Of several outermost ones the last answers: what those before it said was for the next. An invocation that failed
    has no reply but its own output: an earlier model text is not the answer to the user, and neither is one before a
    model call whose own text was cut away.
    """
    roots = outline.group.roots
    begun = roots[-1].start if roots else 0
    inner = (node for node in outline.invocations if node not in roots)
    outputs = [(node, node.reading.output) for node in inner if node.reading is not None]
    failed = any(node.reading and node.reading.error is not None for node in roots)
    if not failed:
        outputs += [(step.node, step.output) for step in outline.steps]
    # An invocation goes before its own model calls: it ends with them or after them.
    latest = sorted((one for one in reversed(outputs) if one[0].start >= begun), key=lambda one: -one[0].end)
    own = [(node, node.reading.output) for node in roots[-1:] if node.reading is not None]
    for node, output in (*own, *latest):
        part = reply_of(output)
        if part is not None:
            return node, _unjoined(part, outline.steps)
        if node.kind is SpanKind.MODEL and output.truncated and not any(message.calls for message in output.items):
            return node, None
    return None, None


def _unjoined(part: TextPart, steps: Sequence[ModelStep]) -> TextPart:
    """The last model call's text, where an agent's output is all its model calls' texts run together."""
    said = [message.text for step in steps for message in step.output.items]
    texts = [text.text for text in said if text is not None and text.text]
    last = reply_of(steps[-1].output) if steps else None
    if last is None or len(texts) < 2 or part.text is None or squeezed(part.text) != squeezed("".join(texts)):
        return part
    return last


def _beyond_models(outline: _Outline, part: TextPart | None) -> str | None:
    """The reply where no model wrote it: the last one asked for calls, so that the framework made it of these."""
    last = outline.steps[-1].output.items if outline.steps else ()
    return part.text if part is not None and any(message.calls for message in last) else None


def _reply_error(outline: _Outline, *, replied: bool) -> str | None:
    """The failure of the agent, else, where nothing was answered, of the last model call or an inner invocation."""
    for node in reversed(outline.group.roots):
        if node.reading is not None and node.reading.error is not None:
            return node.reading.error
    if replied:
        return None
    if outline.group.told.error is not None:
        return outline.group.told.error
    if outline.steps and outline.steps[-1].error is not None:
        return outline.steps[-1].error
    failed = [node.reading.error for node in outline.invocations if node.reading and node.reading.error is not None]
    return failed[-1] if failed else None


def _finished(outline: _Outline) -> bool:
    """Without an agent span and without a text: whether the last model call was the reply, by what it asked for."""
    if not outline.steps:
        return False
    last = outline.steps[-1]
    reading = last.node.reading
    if reading is None or any(message.calls for message in last.output.items) or asks_for_calls(reading):
        return False
    tools = [member.node for member in outline.group.members if member.node.kind is SpanKind.TOOL]
    return bool(last.finish_reasons) or not any(tool.start >= last.node.end for tool in tools)


def _history(outline: _Outline) -> tuple[tuple[str, str], ...] | None:
    """The longest history that an input repeats: agents often get the new message alone, their first model all."""
    inputs = [node.reading.input for node in outline.invocations if node.reading and node.reading.input]
    inputs += [step.input for step in outline.steps if step.input][:1]
    usable = [messages for messages in inputs if not messages.truncated]
    if not usable:
        return None
    return before_last_user(max(usable, key=lambda messages: len(user_turns(messages))))


def _answered(outline: _Outline) -> frozenset[str]:
    if not outline.steps:
        return frozenset()
    behind = tail(outline.steps[0].input)
    return frozenset(part.call_id for message in behind for part in message.results if part.call_id)


def _model(outline: _Outline) -> str | None:
    models = [step.model for step in reversed(outline.steps)]
    for node in outline.invocations:
        if node.reading is not None:
            models += [node.reading.response_model, node.reading.request_model]
    return next((model for model in models if model), None)


def _lost_within(group: Group) -> bool:
    """Whether a span below the outermost agent names a parent that never came."""
    return bool(group.roots) and any(node.lost_parent for node in group.nodes if node not in group.roots)


def _ended(scope: Sequence[Node], settings: AssemblySettings) -> bool:
    values = [node.attribute(name) for name in settings.end_marker for node in scope]
    return any(value is not None and value is not False and value != "false" for value in values)
