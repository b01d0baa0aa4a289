"""Model steps of one frame, and the calls that their messages speak of.

A frame is the agent that the user talks to, or what runs inside one tool call. Its calls are named up to four times:
in a model's output, in every later model input, in the agent's output, in a loop step. ``requests_of`` makes one
request of all of these.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from aem_monitor.assembly.groups import Member
from aem_monitor.assembly.names import folded
from aem_monitor.assembly.speech import tail
from aem_monitor.assembly.tree import INVOCATIONS, Node
from aem_monitor.conventions.jsontext import canonical
from aem_monitor.conventions.messages import NO_MESSAGES, Message, Messages, Role
from aem_monitor.conventions.parts import CallPart, ResultPart
from aem_monitor.conventions.reading import SpanKind
from aem_monitor.conventions.results import Unwrapped, unwrap
from aem_monitor.model.conversation import NOT_CAPTURED
from aem_monitor.model.jsonvalue import JSON

Round: TypeAlias = tuple[int, int, int]
"""Sorts the steps of a frame: (model step, 0 before it or 1 its own output, message)."""

UNPLACED: Final = 1_000_000_000


@dataclass(eq=False, slots=True)
class ModelStep:
    """One model call, with the contents of its twins where its own are missing."""

    node: Node
    input: Messages
    output: Messages
    finish_reasons: tuple[str, ...]
    model: str | None
    error: str | None
    response_id: str | None
    previous_response_id: str | None


@dataclass(eq=False, slots=True)
class Request:
    """A call that messages speak of. ``step`` is the model call that asked for it, None when not seen."""

    name: str
    call_ids: list[str]
    arguments: Mapping[str, JSON] | None
    truncated: bool
    round: Round
    place: int
    step: ModelStep | None
    result: Unwrapped = field(default_factory=lambda: Unwrapped(NOT_CAPTURED))
    taken: bool = False


def model_steps(members: Sequence[Member]) -> list[ModelStep]:
    """The model calls among the members of one frame, in time order."""
    ordered = sorted(members, key=lambda one: one.node.order)
    return [_step(member) for member in ordered if member.node.kind is SpanKind.MODEL]


def _step(member: Member) -> ModelStep:
    readings = [node.reading for node in (member.node, *member.twins) if node.reading is not None]
    inputs = [reading.input for reading in readings if reading.input]
    outputs = [reading.output for reading in readings if reading.output]
    reasons = [reading.finish_reasons for reading in readings if reading.finish_reasons]
    models = [reading.response_model for reading in readings] + [reading.request_model for reading in readings]
    return ModelStep(
        node=member.node,
        input=_whole(inputs),
        output=_whole(outputs),
        finish_reasons=reasons[0] if reasons else (),
        model=next((model for model in models if model), None),
        error=next((reading.error for reading in readings if reading.error is not None), None),
        response_id=next((reading.response_id for reading in readings if reading.response_id), None),
        previous_response_id=next(
            (reading.previous_response_id for reading in readings if reading.previous_response_id), None
        ),
    )


def _whole(lists: Sequence[Messages]) -> Messages:
    """The first list that was not cut, else the first."""
    return next((one for one in lists if not one.truncated), lists[0] if lists else Messages())


@dataclass(slots=True)
class _Source:
    """Call parts of one place in order. ``cumulative``: it repeats all calls of the exchange up to there."""

    calls: list[tuple[CallPart, Round, ModelStep | None]]
    cumulative: bool


def requests_of(
    members: Sequence[Member], steps: Sequence[ModelStep], *, blocks: bool, told: Messages = NO_MESSAGES
) -> list[Request]:
    """The calls that the messages of one frame ask for, each once, with the results that messages report. ``told`` are
    further messages, from operations beside the spans."""
    requests: list[Request] = []
    by_id: dict[str, Request] = {}
    by_content: dict[tuple[str, str], list[Request]] = defaultdict(list)
    beside = _Source(list(_numbered((*_answered_alone(steps), *told.items), UNPLACED)), cumulative=False)
    for source in (*_sources(members, steps), beside):
        _merge(source, requests, by_id, by_content)
    _fill_results(requests, by_id, (*_reports(members, steps), told.items), blocks=blocks)
    return requests


def _sources(members: Sequence[Member], steps: Sequence[ModelStep]) -> Iterator[_Source]:
    outputs: list[tuple[CallPart, Round, ModelStep | None]] = []
    for index, step in enumerate(steps):
        outputs.extend((call, (index, 1, 0), step) for message in step.output.items for call in message.calls)
    yield _Source(outputs, cumulative=False)
    for index, step in enumerate(steps):
        if not step.input.truncated:
            yield _Source(list(_numbered(tail(step.input), index)), cumulative=True)
    for member in sorted(members, key=lambda one: one.node.order):
        reading = member.node.reading
        if reading is None:
            continue
        if reading.kind in INVOCATIONS:
            yield _Source(list(_numbered(tail(reading.output), UNPLACED)), cumulative=False)
        elif reading.kind is SpanKind.STEP and not reading.evidence.truncated:
            yield _Source(list(_numbered(tail(reading.evidence), UNPLACED)), cumulative=False)


def _answered_alone(steps: Sequence[ModelStep]) -> Iterator[Message]:
    """Calls of which a first model input holds nothing but the results: the server keeps the rest of the conversation,
    and another trace has the calls. They have no names here."""
    items = steps[0].input.items if steps else ()
    if all(message.results and not message.calls for message in items):
        for message in items:
            yield Message(Role.ASSISTANT, tuple(CallPart("", part.call_id) for part in message.results if part.call_id))


def _numbered(items: Sequence[Message], index: int) -> Iterator[tuple[CallPart, Round, ModelStep | None]]:
    for number, message in enumerate(items):
        for call in message.calls:
            yield call, (index, 0, number), None


def _merge(
    source: _Source,
    requests: list[Request],
    by_id: dict[str, Request],
    by_content: dict[tuple[str, str], list[Request]],
) -> None:
    own_ids = {call.call_id for call, _, _ in source.calls if call.call_id}
    counted: dict[tuple[str, str], int] = defaultdict(int)
    for call, place, step in source.calls:
        content = (folded(call.name), canonical(dict(call.arguments)) if call.arguments is not None else "")
        number = counted[content]
        counted[content] += 1
        known = by_id.get(call.call_id) if call.call_id else None
        same = by_content[content]
        # What a model asks for is not in its own input: an equal call there is an earlier one.
        earlier = [one for one in same if one.round < place] if source.cumulative else same
        if known is None and number < len(earlier):
            candidate = earlier[number]
            # The same call under another id: an input history may say fc_.. where the output said call_..
            renamed = source.cumulative and not own_ids.intersection(candidate.call_ids)
            if not call.call_id or not candidate.call_ids or renamed:
                known = candidate
        if known is None:
            known = Request(call.name, [], call.arguments, call.truncated, place, len(requests), step)
            requests.append(known)
            same.append(known)
            same.sort(key=lambda one: one.round)
        elif known.arguments is None or (known.truncated and not call.truncated):
            if call.arguments is not None:
                known.arguments = call.arguments
            known.truncated = call.truncated
            known.name = known.name or call.name
        if call.call_id and call.call_id not in by_id:
            known.call_ids.append(call.call_id)
            by_id[call.call_id] = known


def _fill_results(
    requests: Sequence[Request],
    by_id: Mapping[str, Request],
    reports: Iterable[Sequence[Message]],
    *,
    blocks: bool,
) -> None:
    """Results by call id, wherever they are reported; without ids in the order of the calls they follow.

    A history may have lost the ids that the model's output had: its results go by the tool's name and order then.
    """
    for messages in reports:
        parts = [part for message in messages for part in message.results]
        named = {part.call_id for part in parts if part.call_id}
        unnamed = [request for request in requests if named.isdisjoint(request.call_ids)]
        for part in parts:
            target = by_id.get(part.call_id) if part.call_id else _next_unnamed(unnamed, part)
            if target is not None:
                _report(target, part, blocks=blocks)


def _next_unnamed(unnamed: list[Request], part: ResultPart) -> Request | None:
    for index, request in enumerate(unnamed):
        same = part.name is not None and folded(part.name) == folded(request.name)
        if same or (part.name is None and not request.call_ids):
            return unnamed.pop(index)
    return None


def _reports(members: Sequence[Member], steps: Sequence[ModelStep]) -> Iterator[Sequence[Message]]:
    for step in steps:
        yield tail(step.input) if not step.input.truncated else step.input.items
        yield step.output.items
    for member in sorted(members, key=lambda one: one.node.order):
        reading = member.node.reading
        if reading is not None:
            yield tail(reading.output) if reading.kind in INVOCATIONS else reading.evidence.items


def _report(request: Request, part: ResultPart, *, blocks: bool) -> None:
    found = unwrap(part.result, blocks=blocks, cut=part.truncated)
    cut = found.truncated or part.truncated
    if request.result.value is not NOT_CAPTURED and not request.result.truncated:
        return
    if found.value is NOT_CAPTURED or (request.result.value is not NOT_CAPTURED and cut):
        return
    failed = part.failed if part.failed is not None else found.failed
    request.result = Unwrapped(found.value, cut, failed)
