"""Where one trace holds a whole conversation: the exchanges below a runner that was left open all the time."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from aem_monitor.assembly.speech import before_last_user, last_user, reply_of, squeezed, user_turns
from aem_monitor.assembly.tree import INVOCATIONS, Node
from aem_monitor.conventions.messages import NO_MESSAGES, Messages, Role
from aem_monitor.conventions.reading import SpanKind


@dataclass(frozen=True, slots=True)
class _Top:
    """An outermost invocation below the runner: what the user had said when it began, and what it answered."""

    node: Node
    user: str | None
    replies: tuple[str, ...]
    reply: str | None

    @property
    def nested(self) -> bool | None:
        return self.node.reading.nested if self.node.reading else None

    @property
    def name(self) -> str | None:
        return self.node.reading.agent_name if self.node.reading else None


def exchanges_below(root: Node, nodes: Sequence[Node]) -> list[list[Node]]:
    """The outermost invocations below a runner, those of one exchange together; empty where it is no runner around a
    session. ``nodes`` are the spans of its group that run in no tool call.

    An invocation that says itself that it is in no other one begins an exchange, else one for which the user has spoken
    behind the reply of the invocation before: the place in the history tells, for words may come again. Who takes over
    or edits what another wrote finds no new message of the user.
    """
    tops = _tops(root, nodes)
    while len(tops) == 1 and _silent(root):
        root = tops[0]
        tops = _tops(root, nodes)
    if len(tops) < 2 or not _silent(root):
        return []
    models: dict[Node, list[Node]] = {top: [] for top in tops}
    for node in sorted((one for one in nodes if one.kind is SpanKind.MODEL), key=lambda one: one.order):
        owner = next((above for above in node.ancestors() if above in models), None)
        if owner is not None:
            models[owner].append(node)
        elif root.kind is SpanKind.AGENT:
            return []
    read = [_read(top, models[top]) for top in tops]
    marked = any(top.nested is False for top in read)
    plain = _is_plain(root) and len({top.name for top in read}) == 1
    found = [[read[0]]]
    for before, top in pairwise(read):
        apart = all(one.node.end <= top.node.start for one in found[-1])
        new = top.nested is False if marked else _spoken_since(found[-1][0], before, top, plain=plain)
        if apart and new:
            found.append([top])
        else:
            found[-1].append(top)
    return [[top.node for top in part] for part in found] if len(found) > 1 else []


def _tops(root: Node, nodes: Sequence[Node]) -> list[Node]:
    """The outermost invocations below a span, in time order."""
    inner = {one for one in nodes if one.kind in INVOCATIONS and root in one.ancestors()}
    tops = [one for one in inner if inner.isdisjoint(one.ancestors())]
    return sorted(tops, key=lambda one: one.order)


def _silent(root: Node) -> bool:
    """Whether an invocation has no text of the user of its own, an agent no reply either."""
    reading = root.reading
    if reading is None or user_turns(reading.input):
        return False
    return reading.kind is SpanKind.RUN or reply_of(reading.output) is None


def _is_plain(root: Node) -> bool:
    """Whether a runner is no agent that could give work to those below it."""
    return root.kind is SpanKind.RUN or (root.reading is not None and root.reading.agent_name is None)


def _read(top: Node, models: Sequence[Node]) -> _Top:
    inputs = [one.reading.input for one in (top, *models[:1]) if one.reading]
    heard = max(inputs, key=_heard, default=NO_MESSAGES)
    said = last_user(heard)
    spoken = () if said is None else before_last_user(heard)
    outputs = [one.reading.output for one in (top, *models[-1:]) if one.reading]
    reply = next((part for output in outputs if (part := reply_of(output)) is not None), None)
    return _Top(
        top,
        squeezed(said.text) if said is not None and said.text else None,
        tuple(text for role, text in spoken if role == Role.ASSISTANT.value),
        squeezed(reply.text) if reply is not None and reply.text else None,
    )


def _heard(messages: Messages) -> int:
    """How much of the conversation an input holds: agents often get the new message alone, their first model all."""
    return 0 if messages.truncated else len(user_turns(messages))


def _spoken_since(first: _Top, before: _Top, top: _Top, *, plain: bool) -> bool:
    """Whether the user has spoken since the exchange that ``first`` began, of which ``before`` is the latest.

    Without a history in common another text is a new one, where the same agent runs again and again under a plain
    runner.
    """
    if top.user is None:
        return False
    if not top.replies:
        return plain and first.user is not None and top.user != first.user
    longer = len(top.replies) > len(first.replies)
    if before.reply is None:
        return longer
    return top.replies[-1] == before.reply and (longer or top.user != first.user)
