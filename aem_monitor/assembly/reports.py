"""Operations on conversations that a server keeps: which exchange is each of them about?

A run of an agent on a server is one span or a few, while what the user said, which tools were called and what was
answered is told by other operations before and after it: its siblings, or traces of their own. They belong to the run
whose id they name. What the user put in names no run: it belongs to the next one of its thread.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from aem_monitor.assembly.groups import Group, Member
from aem_monitor.assembly.told import NOTHING_TOLD, PartKind, Told
from aem_monitor.assembly.tree import Node
from aem_monitor.conventions.messages import Message, Messages, Role
from aem_monitor.conventions.parts import CallPart, TextPart
from aem_monitor.conventions.reading import Report, SpanKind
from aem_monitor.model.conversation import UserMessage

OwnId = Callable[[Node], str | None]


@dataclass(slots=True)
class _Run:
    """What this trace tells of one run."""

    group: Group | None = None
    nodes: list[Node] = field(default_factory=list)
    user: UserMessage | None = None
    reply: TextPart | None = None


def with_reports(nodes: Sequence[Node], groups: Sequence[Group], own_id: OwnId) -> list[Group]:
    """The groups with what operations tell of them, and a group for each part of an exchange whose run is not here.

    ``nodes`` are all spans of the trace in time order; ``own_id`` gives the conversation id nearest to a span.
    """
    operations = [node for node in nodes if node.kind is SpanKind.REPORT and node.reading is not None]
    if not operations:
        return list(groups)
    runs: dict[str, _Run] = defaultdict(_Run)
    for group in groups:
        for run in runs_of(group) or ():
            runs[run].group = runs[run].group or group
    for node in operations:
        if node.reading is not None and node.reading.run:
            runs[node.reading.run].nodes.append(node)
    _read_listings(nodes, runs)
    alone = _hand_out_messages(operations, groups, runs, own_id)
    return sorted([*groups, *_parts(runs), *alone], key=lambda group: (group.start, group.members[0].node.order))


def runs_of(group: Group) -> frozenset[str] | None:
    """The ids of the runs on a server that a group's own agent is; None when it runs on none."""
    found = [
        member.node.reading.run
        for member in group.members
        if member.frame is None and member.node.reading is not None and member.node.reading.run is not None
    ]
    return frozenset(run for run in found if run) if found else None


def _hand_out_messages(
    operations: Sequence[Node], groups: Sequence[Group], runs: Mapping[str, _Run], own_id: OwnId
) -> list[Group]:
    """Give each message of the user to the next run of its thread; those before no run are parts of their own."""
    served = sorted((group for group in groups if runs_of(group) is not None), key=lambda group: group.start)
    told: dict[int, Told] = {id(run.group): _told(run) for run in runs.values() if run.group is not None}
    by_id = {id(run.group): run for run in runs.values() if run.group is not None}
    alone: list[Group] = []
    for node in operations:
        said = _put_in(node)
        if said is None:
            continue
        thread = own_id(node)
        following = [group for group in served if group.start >= node.start and own_id(group.roots[0]) == thread]
        if not following:
            alone.append(Group(members=[Member(node, None)], told=Told(user=said), part=PartKind.ASKED))
            continue
        group = following[0]
        told[id(group)] = replace(told.get(id(group), NOTHING_TOLD), user=said)
    for group in served:
        run = by_id.get(id(group))
        found = told.get(id(group), NOTHING_TOLD)
        if found.user is None and run is not None and run.user is not None:
            found = replace(found, user=replace(run.user, time_ns=group.start))
        group.told = found
    return alone


def _put_in(node: Node) -> UserMessage | None:
    """What the user said by this operation; the last message of several."""
    reports = node.reading.reports if node.reading is not None else ()
    said = [report.message for report in reports if report.message.role is Role.USER and not report.listed]
    return _user(said[-1].text, node) if said else None


def _user(part: TextPart | None, node: Node) -> UserMessage:
    text, cut = (part.text, part.truncated) if part is not None else (None, False)
    return UserMessage(text, node.start, node.span.span_id, node.span.trace_id, cut)


def _parts(runs: Mapping[str, _Run]) -> Iterator[Group]:
    """What is told of runs that are not in this trace."""
    for run in runs.values():
        if run.group is None and run.nodes:
            polled = any(not _is_listing(node) for node in run.nodes)
            members = [Member(node, None) for node in run.nodes]
            told = replace(_told(run), user=run.user)
            yield Group(members=members, told=told, part=PartKind.DURING if polled else PartKind.READ)


def _told(run: _Run) -> Told:
    during = [node for node in run.nodes if not _is_listing(node)]
    errors = [node.reading.error for node in during if node.reading is not None and node.reading.error is not None]
    return Told(
        calls=Messages(tuple(_calls(run.nodes))),
        reply=run.reply,
        error=errors[-1] if errors else None,
        end_ns=max((node.end for node in during), default=0),
    )


def _is_listing(node: Node) -> bool:
    return node.reading is not None and any(report.listed for report in node.reading.reports)


def _calls(nodes: Sequence[Node]) -> list[Message]:
    """Calls and results in the order of the run's steps.

    By the server's time, which has seconds; steps of the same second in the order in which their results were
    submitted, else against the order of the listing, which begins with the newest.
    """
    reports = [(place, report) for place, node in enumerate(nodes) if node.reading for report in node.reading.reports]
    results = [report.message for _, report in reports if report.message.results]
    submitted = {part.call_id: at for at, part in enumerate(part for message in results for part in message.results)}
    steps = [(place, report) for place, report in reports if report.message.calls]

    def order(step: tuple[int, Report]) -> tuple[str, int, int]:
        place, report = step
        known = [submitted[call.call_id] for call in report.message.calls if call.call_id in submitted]
        return report.at or "", min(known, default=len(submitted)), -place

    made = [report.message for _, report in sorted(steps, key=order)]
    named = {call.call_id for message in made for call in message.calls}
    # A result without its call: the tool was called, its name is not told (by this trace).
    unnamed = [
        Message(
            Role.ASSISTANT, tuple(CallPart("", part.call_id) for part in message.results if part.call_id not in named)
        )
        for message in results
    ]
    return [*(message for message in unnamed if message.parts), *made, *results]


def _read_listings(nodes: Sequence[Node], runs: Mapping[str, _Run]) -> None:
    """Replies, and user texts for runs before which none was put in, from listed messages.

    A listing goes back from the newest message unless it begins with the user's and ends with a reply.
    """
    for listing in _listings(nodes):
        first, last = listing[0][1].message, listing[-1][1].message
        forward = first.role is Role.USER and last.role is Role.ASSISTANT
        asked: UserMessage | None = None
        for node, report in listing if forward else reversed(listing):
            if report.message.role is Role.USER:
                asked = _user(report.message.text, node)
                continue
            run = runs[report.run] if report.run else None
            if run is None:
                continue
            run.user = run.user or asked
            part = report.message.text
            run.reply = part if part is not None and part.text is not None else run.reply


def _listings(nodes: Sequence[Node]) -> Iterator[list[tuple[Node, Report]]]:
    """The listed messages of each listing in its order; a message that comes again begins the next one."""
    current: list[tuple[Node, Report]] = []
    seen: set[str | None] = set()
    for node in nodes:
        if node.reading is None or not node.reading.reports:
            continue
        for report in node.reading.reports:
            listed = report.listed and not report.message.calls
            if current and (not listed or report.message_id in seen):
                yield current
                current, seen = [], set()
            if listed:
                current.append((node, report))
                seen.add(report.message_id)
    if current:
        yield current
