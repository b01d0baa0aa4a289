"""The tool calls of one exchange: each once, however many spans and messages report it.

A call is paired by call id; where there is none by name, arguments and order. The tool span wins, what it lacks is
filled from the model's messages; a call that only messages name has no span.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from aem_monitor.assembly.groups import Group, Member
from aem_monitor.assembly.names import folded, handoff_target, same_tool
from aem_monitor.assembly.settings import AssemblySettings
from aem_monitor.assembly.steps import UNPLACED, ModelStep, Request, Round, model_steps, requests_of
from aem_monitor.assembly.tree import INVOCATIONS, Node
from aem_monitor.conventions.jsontext import canonical
from aem_monitor.conventions.messages import NO_MESSAGES, Messages
from aem_monitor.conventions.reading import SpanKind, ToolReading
from aem_monitor.conventions.results import Unwrapped
from aem_monitor.model.conversation import NOT_CAPTURED, Captured, ToolCall
from aem_monitor.model.jsonvalue import JSON


@dataclass(frozen=True, slots=True)
class _Found:
    """A call on its way to its place in the exchange."""

    call: ToolCall
    frame: int
    round: Round
    place: int

    @property
    def order(self) -> tuple[Round, int, int, int, str]:
        return self.round, self.call.start_ns, self.call.end_ns, self.place, self.call.span_id or ""


@dataclass(frozen=True, slots=True)
class CallContext:
    """What all calls of an exchange share."""

    release: str | None
    agent_name: str | None
    agent_names: frozenset[str]
    settings: AssemblySettings


def calls_of(group: Group, context: CallContext) -> tuple[ToolCall, ...]:
    """The calls of one exchange in order, nested ones marked; those asked for in one step share ``round``."""
    frames: dict[int, list[Member]] = defaultdict(list)
    asked = _frames_of_requests(group.members)
    for member in sorted(group.members, key=lambda one: one.node.order):
        frame = member.frame
        if frame is None and member.node.orphan and member.node.kind is SpanKind.TOOL:
            # A span that lost its parent may belong to an agent inside a tool call: its call id tells.
            frame = next((asked[call_id] for call_id in _call_ids(member) if call_id in asked), None)
        frames[id(frame) if frame is not None else 0].append(
            member if frame is member.frame else replace(member, frame=frame)
        )
    found: list[_Found] = []
    for number, members in enumerate(frames.values()):
        told = group.told.calls if members[0].frame is None else NO_MESSAGES
        found.extend(_frame_calls(members, number, context, told))
    found.sort(key=lambda one: (one.call.start_ns, one.order))
    # Within one frame the rounds order the calls, whatever their clocks say; frames meet by time.
    ordered = _by_rounds(found)
    rounds: dict[tuple[int, Round], int] = {}
    return tuple(replace(one.call, round=rounds.setdefault((one.frame, one.round), len(rounds))) for one in ordered)


def _frames_of_requests(members: Sequence[Member]) -> Mapping[str, Node]:
    """Which frame's model asked for a call, by call id; the calls of the user's own agent are left out."""
    return {
        call.call_id: member.frame
        for member in members
        if member.frame is not None and member.node.kind is SpanKind.MODEL and member.node.reading is not None
        for message in member.node.reading.output.items
        for call in message.calls
        if call.call_id
    }


def _by_rounds(found: Sequence[_Found]) -> list[_Found]:
    in_frame: dict[int, list[_Found]] = defaultdict(list)
    for one in found:
        in_frame[one.frame].append(one)
    queues = {frame: iter(sorted(calls, key=lambda one: one.order)) for frame, calls in in_frame.items()}
    return [next(queues[one.frame]) for one in found]


def _frame_calls(members: Sequence[Member], number: int, context: CallContext, told: Messages) -> list[_Found]:
    blocks = any(member.node.reading is not None and member.node.reading.blocks for member in members)
    steps = model_steps(members)
    requests = requests_of(members, steps, blocks=blocks, told=told)
    tools = [member for member in members if member.node.kind is SpanKind.TOOL]
    nested = members[0].frame is not None
    pairs = _pair(tools, requests)
    found: list[_Found] = []
    for member in tools:
        request = pairs.get(id(member))
        place = request.round if request is not None and request.round[0] < UNPLACED else _round_by_time(member, steps)
        call = _from_span(member, request, steps, nested=nested, context=context)
        found.append(_Found(call, number, place, request.place if request else 0))
    if not steps:
        found = _rounds_by_overlap(found)
    moment = min((member.node.start for member in members), default=0)
    last: Round = (0, 0, 0)
    for request in requests:
        if request.taken:
            continue
        call = _from_request(request, members, _moment(request, steps, moment), nested=nested, context=context)
        last = request.round if request.round[0] < UNPLACED else (UNPLACED, *request.round[1:])
        found.append(_Found(call, number, last, request.place))
    return found


def _moment(request: Request, steps: Sequence[ModelStep], first: int) -> int:
    """When a call without a span was asked for, as far as it is known."""
    if request.step is not None:
        return request.step.node.end
    return steps[request.round[0]].node.start if request.round[0] < len(steps) else first


def _pair(tools: Sequence[Member], requests: Sequence[Request]) -> Mapping[int, Request]:
    """Tool spans with the requests they answer, by id(member)."""
    pairs: dict[int, Request] = {}
    by_id = {call_id: request for request in requests for call_id in request.call_ids}
    for member in tools:
        request = next((by_id[call_id] for call_id in _call_ids(member) if call_id in by_id), None)
        if request is not None and not request.taken:
            request.taken = True
            pairs[id(member)] = request
    for fits in (_equal_arguments, _one_side_silent):
        for member in tools:
            if id(member) in pairs:
                continue
            request = next((one for one in requests if not one.taken and fits(member, one)), None)
            if request is not None:
                request.taken = True
                pairs[id(member)] = request
    return pairs


def _call_ids(member: Member) -> list[str]:
    readings = [node.reading for node in (member.node, *member.twins)]
    return [reading.tool.call_id for reading in readings if reading and reading.tool and reading.tool.call_id]


def _equal_arguments(member: Member, request: Request) -> bool:
    tool = _merged(member)
    if not same_tool(tool.name, request.name) or tool.arguments is None or request.arguments is None:
        return False
    return canonical(dict(tool.arguments)) == canonical(dict(request.arguments))


def _one_side_silent(member: Member, request: Request) -> bool:
    """Same tool, and nothing speaks against it: one side has no arguments, or not the same ids."""
    tool = _merged(member)
    if not same_tool(tool.name, request.name) or (_call_ids(member) and request.call_ids):
        return False
    if tool.bare is not NOT_CAPTURED and request.arguments is not None:
        return tool.bare in request.arguments.values()
    silent = tool.arguments is None or request.arguments is None
    return silent or tool.arguments_truncated or request.truncated or _filled_in(tool.arguments, request.arguments)


def _filled_in(one: Mapping[str, JSON] | None, other: Mapping[str, JSON] | None) -> bool:
    """A framework may add defaults to what the model asked for."""
    if one is None or other is None:
        return True
    shared = one.keys() & other.keys()
    smaller = one if len(one) <= len(other) else other
    return len(shared) == len(smaller) and all(canonical(one[key]) == canonical(other[key]) for key in shared)


def _merged(member: Member) -> ToolReading:
    """The outer span's reading, with what only its twins know."""
    readings = [node.reading.tool for node in (member.node, *member.twins) if node.reading and node.reading.tool]
    merged = readings[0]
    for other in readings[1:]:
        if merged.arguments is None or (merged.arguments_truncated and not other.arguments_truncated):
            merged = replace(
                merged,
                arguments=other.arguments if other.arguments is not None else merged.arguments,
                arguments_truncated=other.arguments_truncated,
            )
        if merged.result is NOT_CAPTURED or (merged.result_truncated and not other.result_truncated):
            merged = replace(
                merged,
                result=other.result if other.result is not NOT_CAPTURED else merged.result,
                result_truncated=other.result_truncated,
            )
        merged = replace(
            merged,
            name=merged.name or other.name,
            call_id=merged.call_id or other.call_id,
            tool=merged.tool or other.tool,
            action=merged.action or (other.action if merged.tool is None else None),
            handoff=merged.handoff or other.handoff,
            failed=merged.failed or other.failed,
        )
    return merged


def _round_by_time(member: Member, steps: Sequence[ModelStep]) -> Round:
    """Without a request: the model call that the tool runs in, else the last one that began before it."""
    above = {id(node) for node in member.node.ancestors()}
    index = next((number for number, step in enumerate(steps) if id(step.node) in above), None)
    if index is None:
        before = [number for number, step in enumerate(steps) if step.node.start <= member.node.start]
        index = before[-1] if before else 0
    return index, 1, 0


def _rounds_by_overlap(found: list[_Found]) -> list[_Found]:
    """No model call was seen: tool spans that run at the same time were asked for together."""
    placed: list[_Found] = []
    current, until = -1, -1
    for one in sorted(found, key=lambda one: (one.call.start_ns, one.call.end_ns, one.call.span_id or "")):
        if one.call.start_ns >= until:
            current += 1
        until = max(until, one.call.end_ns)
        placed.append(replace(one, round=(current, 1, 0)))
    return placed


def _from_span(
    member: Member,
    request: Request | None,
    steps: Sequence[ModelStep],
    *,
    nested: bool,
    context: CallContext,
) -> ToolCall:
    tool = _merged(member)
    node = member.node
    arguments, arguments_cut = tool.arguments, tool.arguments_truncated
    result = Unwrapped(tool.result, tool.result_truncated)
    if request is not None:
        if request.arguments is not None and (arguments is None or (arguments_cut and not request.truncated)):
            arguments, arguments_cut = request.arguments, request.truncated
        lacking = result.value is NOT_CAPTURED or (result.truncated and not request.result.truncated)
        if lacking and request.result.value is not NOT_CAPTURED:
            result = request.result
    error = next(
        (one.reading.error for one in (node, *member.twins) if one.reading and one.reading.error is not None), None
    )
    failed = tool.failed or (request is not None and bool(request.result.failed))
    asked = request.step if request is not None and request.step is not None else None
    if asked is None and steps:
        asked = steps[min(_round_by_time(member, steps)[0], len(steps) - 1)]
    call = _call(tool.name or (request.name if request else ""), tool, nested=nested, context=context)
    return replace(
        call,
        arguments=arguments,
        arguments_truncated=arguments_cut,
        result=result.value,
        result_truncated=result.truncated,
        error=_error(error, result, failed=failed, settings=context.settings),
        start_ns=node.start,
        end_ns=node.end,
        trace_id=node.span.trace_id,
        span_id=node.span.span_id,
        call_id=tool.call_id or (request.call_ids[0] if request and request.call_ids else None),
        agent_name=_agent_name(node) or context.agent_name,
        model=asked.model if asked is not None else _agent_model(node),
        handoff=call.handoff or _hands_over(call.name, arguments, result.value, context),
    )


def _from_request(
    request: Request, members: Sequence[Member], when: int, *, nested: bool, context: CallContext
) -> ToolCall:
    home = request.step.node if request.step is not None else members[0].node
    call = _call(request.name, None, nested=nested, context=context)
    return replace(
        call,
        arguments=request.arguments,
        arguments_truncated=request.truncated,
        result=request.result.value,
        result_truncated=request.result.truncated,
        error=_error(None, request.result, failed=False, settings=context.settings),
        start_ns=when,
        end_ns=when,
        trace_id=home.span.trace_id,
        call_id=request.call_ids[0] if request.call_ids else None,
        agent_name=_agent_name(home) or context.agent_name,
        model=request.step.model if request.step is not None else _agent_model(home),
        handoff=call.handoff or _hands_over(call.name, request.arguments, request.result.value, context),
    )


def _call(name: str, tool: ToolReading | None, *, nested: bool, context: CallContext) -> ToolCall:
    split = context.settings.split_tool(name)
    if tool is not None and tool.tool is not None:
        split = (tool.tool, tool.action)
    target = handoff_target(name)
    return ToolCall(
        name=name,
        tool=split[0],
        action=split[1],
        arguments=None,
        result=NOT_CAPTURED,
        error=None,
        start_ns=0,
        end_ns=0,
        trace_id="",
        span_id=None,
        nested=nested,
        handoff=(tool is not None and tool.handoff) or (target is not None and target in context.agent_names),
        release=context.release,
    )


def _hands_over(name: str, arguments: Mapping[str, JSON] | None, result: Captured, context: CallContext) -> bool:
    """A hand-off by its name and by an agent that arguments (``transfer_to_agent``, ``agent_name``) or result name.

    The OpenAI Agents SDK answers a hand-off with ``{"assistant": "<agent>"}``.
    """
    target = handoff_target(name)
    if target is None:
        return False
    if isinstance(result, Mapping) and result.keys() == {"assistant"}:
        return folded(str(result["assistant"])) == target
    named = [folded(value) for value in (arguments or {}).values() if isinstance(value, str)]
    return target == "agent" and any(value in context.agent_names for value in named)


def _error(said: str | None, result: Unwrapped, *, failed: bool, settings: AssemblySettings) -> str | None:
    text = result.value if isinstance(result.value, str) else None
    if said is not None:
        return said or text or ""
    if failed or result.failed:
        return text or ""
    if text is not None and text.lstrip().startswith(settings.error_prefixes):
        return text.strip()
    return None


def _agent_name(node: Node) -> str | None:
    for one in (node, *node.ancestors()):
        if one.reading is not None and one.reading.agent_name and one.kind in INVOCATIONS:
            return one.reading.agent_name
    return node.reading.agent_name if node.reading else None


def _agent_model(node: Node) -> str | None:
    for one in (node, *node.ancestors()):
        reading = one.reading
        if reading is not None and (reading.response_model or reading.request_model):
            return reading.response_model or reading.request_model
    return None
