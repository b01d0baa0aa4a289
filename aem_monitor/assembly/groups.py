"""Which spans of a trace belong to one exchange, and which of them run inside a tool call.

A group is one outermost agent or runner invocation with all below it: nested invocations of one agent are one, several
invocations under a plain parent are several exchanges. Without any invocation (only a model client is instrumented)
the model and tool calls are cut into exchanges where a reply has been given.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from aem_monitor.assembly.names import folded, handoff_target, same_tool
from aem_monitor.assembly.sessions import exchanges_below
from aem_monitor.assembly.speech import asks_for_calls, reply_of, user_turns
from aem_monitor.assembly.told import NOTHING_TOLD, PartKind, Told
from aem_monitor.assembly.tree import INVOCATIONS, Node
from aem_monitor.conventions.reading import SpanKind

_TURN_KINDS: Final = frozenset({SpanKind.MODEL, SpanKind.TOOL, SpanKind.STEP}) | INVOCATIONS
OwnId = Callable[[Node], str | None]


@dataclass(eq=False, slots=True)
class Member:
    """A node of a group. ``frame`` is the tool span in which it runs, None when the user's own agent acts.

    ``twins`` are further spans of the same call or model call: a protocol's client and server, a second
    instrumentation.
    """

    node: Node
    frame: Node | None
    twins: list[Node] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Group:
    """The spans of one exchange. ``roots`` are its outermost invocations: none where only model and tool calls were
    seen, several where one hands over to the next. ``missing``: a parent within the group never came. ``told`` is what
    operations on a server's conversation tell of it, ``part`` says that there is nothing else: its members are such
    operations."""

    roots: list[Node] = field(default_factory=list)
    members: list[Member] = field(default_factory=list)
    missing: bool = False
    told: Told = NOTHING_TOLD
    part: PartKind | None = None

    @property
    def nodes(self) -> list[Node]:
        """All spans of the group."""
        return [node for member in self.members for node in (member.node, *member.twins)]

    @property
    def start(self) -> int:
        """The earliest start."""
        return min(member.node.start for member in self.members)

    @property
    def end(self) -> int:
        """The latest end."""
        return max(member.node.end for member in self.members)

    def of_kind(self, *kinds: SpanKind) -> list[Member]:
        """The members of these kinds, in time order."""
        return sorted((one for one in self.members if one.node.kind in kinds), key=lambda one: one.node.order)


@dataclass(slots=True)
class _Place:
    """Where the walk stands: the group, the frame, the nearest tool and model call above (None beyond an agent)."""

    group: Group | None = None
    frame: Node | None = None
    tool: Member | None = None
    model: Member | None = None


def find_groups(nodes: Sequence[Node], own_id: OwnId) -> list[Group]:
    """The groups of one trace, in time order. ``own_id`` gives the conversation id nearest to a span."""
    rooted: list[Group] = []
    loose: list[Member] = []
    for tree in nodes:
        if tree.parent is None:
            _walk(tree, rooted, loose)
    for group in rooted:
        _nest_by_time(group)
    rooted = [part for group in rooted for part in _split_runner(group)]
    rooted.sort(key=lambda group: (group.start, group.roots[0].order))
    rooted = _take_in_orphans(rooted, own_id)
    if rooted:
        _attach(loose, rooted)
        groups = _join_handoffs(rooted)
    else:
        groups = _cut_loose(loose, own_id)
    return sorted(groups, key=lambda group: (group.start, group.members[0].node.order))


def _walk(tree: Node, rooted: list[Group], loose: list[Member]) -> None:
    stack = [(tree, _Place())]
    while stack:
        node, place = stack.pop()
        below = _enter(node, place, rooted, loose)
        stack.extend((child, below) for child in reversed(node.children))


def _enter(node: Node, place: _Place, rooted: list[Group], loose: list[Member]) -> _Place:
    reading = node.reading
    if reading is None or reading.kind not in _TURN_KINDS:
        return place
    if reading.kind in INVOCATIONS and place.group is None and place.frame is None:
        group = Group([node], [Member(node, None)])
        rooted.append(group)
        return _Place(group)
    twin = _twin_of(node, place)
    if twin is not None:
        twin.twins.append(node)
        return place
    member = Member(node, place.frame)
    (place.group.members if place.group else loose).append(member)
    if reading.kind is SpanKind.TOOL:
        passes_control = reading.tool is not None and reading.tool.handoff
        return _Place(place.group, place.frame if passes_control else node, member, None)
    if reading.kind is SpanKind.MODEL:
        return _Place(place.group, place.frame, place.tool, member)
    if reading.kind in INVOCATIONS:
        return _Place(place.group, place.frame)
    return place


def _twin_of(node: Node, place: _Place) -> Member | None:
    """The member above that stands for the same call: a tool span of the same tool, an MCP span under any tool span, a
    model call inside a model call. An agent in between makes it a call of its own."""
    reading = node.reading
    if reading is None:
        return None
    if reading.kind is SpanKind.MODEL:
        return place.model
    if reading.kind is not SpanKind.TOOL or place.tool is None or reading.tool is None:
        return None
    above = place.tool.node.reading
    if above is None or above.tool is None:
        return None
    if reading.tool.transport or not reading.tool.name or same_tool(above.tool.name, reading.tool.name):
        return place.tool
    return None


def _nest_by_time(group: Group) -> None:
    """An agent used as a tool may be reported beside the agent that calls it, under their common runner: its whole
    invocation lies within the time of the other agent's tool span."""
    tools = [one for one in group.of_kind(SpanKind.TOOL) if one.frame is None]
    for member in group.of_kind(*INVOCATIONS):
        node = member.node
        if member.frame is not None or node in group.roots:
            continue
        around = [tool.node for tool in tools if _runs_within(node, tool.node)]
        if not around:
            continue
        tool_span = min(around, key=lambda one: (one.end - one.start, one.order))
        for other in group.members:
            if other.frame is None and (other.node is node or node in other.node.ancestors()):
                other.frame = tool_span


def _runs_within(agent: Node, tool: Node) -> bool:
    """Whether an agent beside the agent of a tool span runs while that tool does."""
    above = list(tool.ancestors())
    owner = next((one for one in above if one.kind in INVOCATIONS), None)
    if owner is None or agent in above or agent.parent not in above or agent.service != tool.service:
        return False
    if owner is agent.parent or owner.reading is None or agent.reading is None:
        return False
    return tool.start <= agent.start <= agent.end <= tool.end and owner.reading.agent_name != agent.reading.agent_name


def _split_runner(group: Group) -> list[Group]:
    """A runner span around a whole session holds one group for each exchange."""
    acting = [member.node for member in group.members if member.frame is None]
    parts = [Group(list(tops)) for tops in exchanges_below(group.roots[0], acting)]
    if not parts:
        return [group]
    for member in group.members:
        at = member.node if member.frame is None else member.frame
        above = {at, *at.ancestors()}
        owner = next((part for part in parts if not above.isdisjoint(part.roots)), None)
        if owner is None and at.kind is SpanKind.TOOL:
            owner = next((part for part in reversed(parts) if part.roots[0].start <= at.start), parts[0])
        if owner is not None:
            owner.members.append(member)
    return parts


def _take_in_orphans(groups: list[Group], own_id: OwnId) -> list[Group]:
    """An agent span whose parent never came, inside the time of another agent's invocation, is a part of that one.

    The parent of an outermost agent is often not exported (another service, a plain span that was filtered), so
    that a missing parent alone says nothing.
    """
    kept: list[Group] = []
    for group in groups:
        root = group.roots[0]
        host = next((other for other in reversed(kept) if _hosts(other, root, own_id)), None)
        if host is None or not root.orphan:
            kept.append(group)
            continue
        same = root.reading and host.roots[0].reading and root.reading.agent_name == host.roots[0].reading.agent_name
        for member in group.members:
            if member.frame is None and not same:
                member.frame = root
            host.members.append(member)
        host.missing = host.missing or root.lost_parent
    return kept


def _hosts(other: Group, root: Node, own_id: OwnId) -> bool:
    host = other.roots[0]
    if host.reading is None or root.reading is None or host.service != root.service:
        return False
    if host.span.parent_span_id == root.span.parent_span_id or not host.start <= root.start <= root.end <= host.end:
        return False
    if root.reading.nested is True:
        return True
    one, two = own_id(host), own_id(root)
    return (one is None or two is None or one == two) and host.reading.agent_name != root.reading.agent_name


def _attach(loose: Iterable[Member], groups: Sequence[Group]) -> None:
    """Model and tool calls outside all invocations: lost children of one, or calls of something else.

    A model call with a known parent outside of the agents makes titles or guards; it is dropped where the agents have
    model calls of their own.
    """
    for member in sorted(loose, key=lambda one: one.node.order):
        node = member.node
        top = node
        for above in node.ancestors():
            top = above
        lost = top.orphan and top.reading is not None
        inside = [one for one in groups if one.roots[0].start <= node.start <= one.roots[-1].end]
        if node.kind is SpanKind.MODEL and not lost and any(one.of_kind(SpanKind.MODEL) for one in inside or groups):
            continue
        before = [one for one in groups if one.start <= node.start]
        owner = (inside or before or list(groups[:1]))[-1]
        owner.members.append(member)
        owner.missing = owner.missing or (lost and top.lost_parent)


def _join_handoffs(groups: Sequence[Group]) -> list[Group]:
    """Sibling invocations of which one hands over to the next are one exchange; the last one answers."""
    joined: list[Group] = []
    for group in groups:
        before = joined[-1] if joined else None
        if before is not None and _hands_over(before, group):
            before.roots.extend(group.roots)
            before.members.extend(group.members)
            before.missing = before.missing or group.missing
        else:
            joined.append(group)
    return joined


def _hands_over(before: Group, group: Group) -> bool:
    """Whether the last agent of a group hands over to the next group's, both in one tree: message runtimes put spans of
    their own between an agent and what called it. Who has taken over stays in charge in later turns."""
    last, root = before.roots[-1], group.roots[0]
    if root.reading is None or root.reading.agent_name is None or _in_two_trees(last, root):
        return False
    wanted = folded(root.reading.agent_name)
    for member in before.members:
        reading = member.node.reading
        if reading is None or member.frame is not None or not _acts_within(member.node, last, before.roots):
            continue
        names = [call.name for message in reading.output.items for call in message.calls]
        if reading.tool is not None:
            names.append(reading.tool.name)
        if any(handoff_target(name) == wanted for name in names):
            return True
    return False


def _in_two_trees(one: Node, other: Node) -> bool:
    """Whether two spans are known to have no span above them in common. Where one was lost on the way up, that is not
    known."""
    tops = [_outermost(one), _outermost(other)]
    if tops[0] is tops[1]:
        return False
    return not any((top or node).orphan for top, node in zip(tops, (one, other), strict=True))


def _outermost(node: Node) -> Node | None:
    """The span at the top of a node's tree; None for a span without parent, whose siblings have none either."""
    top = None
    for above in node.ancestors():
        top = above
    return top


def _acts_within(node: Node, last: Node, roots: Sequence[Node]) -> bool:
    above = (node, *node.ancestors())
    owner = next((one for one in above if one in roots), None)
    return owner is last or (owner is None and node.start >= last.start)


def _cut_loose(loose: Sequence[Member], own_id: OwnId) -> list[Group]:
    """Exchanges of a trace without any agent span: apart by conversation id, then cut after each reply."""
    frames = {id(member.node): member.frame for member in loose}
    by_id: dict[str | None, list[Member]] = {}
    for member in sorted(loose, key=lambda one: one.node.order):
        # What runs inside a tool call goes where the call goes, whatever ids it has of its own.
        top = member.node
        while (frame := frames.get(id(top))) is not None:
            top = frame
        by_id.setdefault(own_id(top), []).append(member)
    groups: list[Group] = []
    for members in by_id.values():
        groups.extend(_cut(members))
    return [group for group in groups if any(_is_agents(member.node) for member in group.members)]


def _is_agents(node: Node) -> bool:
    """A model call, or a tool call that is not a protocol's alone: a tool server's own trace is no conversation."""
    if node.reading is None or node.kind is SpanKind.STEP:
        return False
    return node.reading.tool is None or not node.reading.tool.transport


def _cut(members: Sequence[Member]) -> list[Group]:
    groups: list[Group] = []
    asked: Node | None = None
    for member in members:
        node = member.node
        starts = not groups or (
            node.kind is SpanKind.MODEL and member.frame is None and asked is not None and _new_exchange(asked, node)
        )
        if starts:
            groups.append(Group())
        groups[-1].members.append(member)
        if node.kind is SpanKind.MODEL and member.frame is None:
            asked = node
    for group in groups:
        group.missing = _lost_parents(group)
    return groups


def _new_exchange(asked: Node, node: Node) -> bool:
    """Whether a model call begins a new exchange: the one before was answered, and the user has spoken since."""
    before, now = asked.reading, node.reading
    if before is None or now is None or asks_for_calls(before):
        return False
    if not now.input or not before.input:
        return reply_of(before.output) is not None or bool(before.finish_reasons)
    return user_turns(now.input) != user_turns(before.input)


def _lost_parents(group: Group) -> bool:
    """Whether spans may be missing. One common parent that never came may be a service that exports nothing: then the
    last model call decides, since its input repeats everything that was called before its reply."""
    orphans = [node for node in group.nodes if node.lost_parent]
    if not orphans:
        return False
    models = [one.node for one in group.of_kind(SpanKind.MODEL) if one.frame is None]
    if len({node.span.parent_span_id for node in orphans}) > 1 or not models:
        return True
    last = models[-1].reading
    return last is None or not last.input or last.input.truncated or reply_of(last.output) is None
