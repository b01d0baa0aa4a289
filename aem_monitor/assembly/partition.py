"""Which exchanges are one conversation: by ids, else by the message history that grows from turn to turn."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import pairwise
from typing import Final

from aem_monitor.assembly.speech import squeezed
from aem_monitor.assembly.tracereading import ExchangeReading

_SHORTEST_QUOTE: Final = 8
"""Characters from which a user text inside another one is a quotation and not a common word."""


def partition(exchanges: Sequence[ExchangeReading]) -> list[list[ExchangeReading]]:
    """The exchanges of each conversation, in time order. Invocations of side agents are left out."""
    ordered = _without_side_agents(sorted(exchanges, key=order_of))
    conversations: list[list[ExchangeReading]] = []
    for component in _components([one for one in ordered if one.ids]):
        conversations.extend(_by_best_id(component))
    rest = [one for one in ordered if not one.ids]
    if rest:
        _by_history(rest, conversations)
    return [sorted(one, key=order_of) for one in conversations if one]


def order_of(exchange: ExchangeReading) -> tuple[int, int, str, str]:
    """Time order of exchanges."""
    return exchange.start_ns, exchange.end_ns, exchange.trace_id, exchange.span_id


def _components(exchanges: Sequence[ExchangeReading]) -> list[list[ExchangeReading]]:
    """Exchanges that share any id, directly or through others."""
    parent: dict[str, str] = {}

    def find(value: str) -> str:
        while parent.setdefault(value, value) != value:
            parent[value] = parent[parent[value]]
            value = parent[value]
        return value

    for exchange in exchanges:
        first = find(exchange.ids[0].value)
        for candidate in exchange.ids[1:]:
            parent[find(candidate.value)] = first
            first = find(first)
    found: dict[str, list[ExchangeReading]] = defaultdict(list)
    for exchange in exchanges:
        found[find(exchange.ids[0].value)].append(exchange)
    return list(found.values())


def _by_best_id(exchanges: Sequence[ExchangeReading]) -> list[list[ExchangeReading]]:
    """Apart by the ids of highest precedence, unless those are made anew for each run.

    Ids of which none comes twice, of one agent, one after the other under a common second id: a framework made one a
    run, the common id is the conversation's.
    """
    if not exchanges:
        return []
    best = min(one.ids[0].rank for one in exchanges)
    parts: dict[str, list[ExchangeReading]] = defaultdict(list)
    without: list[ExchangeReading] = []
    for exchange in exchanges:
        if exchange.ids[0].rank == best:
            parts[exchange.ids[0].value].append(exchange)
        else:
            without.append(exchange)
    if len(parts) == 1 or _made_anew(list(parts.values())):
        return [list(exchanges)]
    groups = list(parts.values())
    for exchange in without:
        before = [group for group in groups if group[0].start_ns <= exchange.start_ns and _share_id(group, exchange)]
        sharing = before[-1:] or [group for group in groups if _share_id(group, exchange)][:1]
        if sharing:
            sharing[0].append(exchange)
        else:
            groups.append([exchange])
    return groups


def _made_anew(parts: Sequence[Sequence[ExchangeReading]]) -> bool:
    if any(len(part) > 1 for part in parts):
        return False
    ordered = sorted((part[0] for part in parts), key=order_of)
    if len({one.agent_name for one in ordered}) > 1 or not _common_ids(ordered):
        return False
    return all(one.end_ns <= two.start_ns for one, two in pairwise(ordered))


def _common_ids(exchanges: Iterable[ExchangeReading]) -> set[str]:
    sets = [{candidate.value for candidate in one.ids} for one in exchanges]
    return set.intersection(*sets) if sets else set()


def _share_id(group: Sequence[ExchangeReading], exchange: ExchangeReading) -> bool:
    values = {candidate.value for candidate in exchange.ids}
    return any(candidate.value in values for one in group for candidate in one.ids)


def _without_side_agents(exchanges: Sequence[ExchangeReading]) -> list[ExchangeReading]:
    """Without agents that work beside the one that answers the user: title makers, summarisers.

    One is known by standing beside another agent under the same parent, with a conversation id of its own that comes in
    fewer traces than the other's, or, without calls, with an input that quotes the other's whole user text (a title
    maker) or is the same and answered sooner (a guardrail). Where the input is the same and only one of the two agents
    ever calls a tool, an agent that calls none and comes in fewer traces is beside the other whenever it answered. What
    one's history repeats of the other was a turn.
    """
    agents: dict[str | None, set[str]] = defaultdict(set)
    traces: dict[str | None, set[str]] = defaultdict(set)
    siblings: dict[tuple[str, str], list[ExchangeReading]] = defaultdict(list)
    for exchange in exchanges:
        traces[exchange.own_id].add(exchange.trace_id)
        agents[exchange.agent_name].add(exchange.trace_id)
        if exchange.parent is not None:
            siblings[exchange.trace_id, exchange.parent].append(exchange)
    working = {exchange.agent_name for exchange in exchanges if exchange.calls}

    def assists(one: ExchangeReading, other: ExchangeReading) -> bool:
        rarer = len(agents[one.agent_name]) < len(agents[other.agent_name])
        return rarer and one.agent_name not in working and other.agent_name in working

    side = {
        id(one)
        for group in siblings.values()
        for one in group
        for other in group
        if one.agent_name != other.agent_name and _is_side(one, other, traces, assists)
    }
    return [exchange for exchange in exchanges if id(exchange) not in side]


def _is_side(
    one: ExchangeReading,
    other: ExchangeReading,
    traces: dict[str | None, set[str]],
    assists: Callable[[ExchangeReading, ExchangeReading], bool],
) -> bool:
    """``assists``: whether the first exchange's agent is, over all traces, an assistant of the second one's."""
    apart = one.own_id is not None and other.own_id is not None and one.own_id != other.own_id
    if apart and len(traces[one.own_id]) < len(traces[other.own_id]):
        return True
    said, asked = squeezed(one.user.text or ""), squeezed(other.user.text or "")
    if not asked or one.calls or ("user", said) in (other.history or ()) or ("user", asked) in (one.history or ()):
        return False
    if said == asked:
        return assists(one, other) or (one.end_ns < other.end_ns and not assists(other, one))
    return len(asked) >= _SHORTEST_QUOTE and asked in said


def _by_history(rest: Sequence[ExchangeReading], conversations: list[list[ExchangeReading]]) -> None:
    """Each exchange without an id joins the conversation that its history repeats, else begins one of its own.

    ``rest`` is in time order.
    """
    trails = _Trails(conversations)
    for exchange in rest:
        found = [at for at in trails.candidates(exchange) if _continues(conversations[at], exchange)]
        if not found:
            conversations.append([exchange])
            trails.begin(len(conversations) - 1, exchange)
            continue
        # Of two equal conversations (two canaries of one dialog) the same process is the likelier one, then the later.
        ends = {at: conversations[at][-1] for at in found}
        best = max(found, key=lambda at: (ends[at].instance == exchange.instance, *order_of(ends[at])[:2]))
        conversations[best].append(exchange)
        trails.go_on(best, exchange)


class _Trails:
    """What conversations leave behind in the exchange that continues them: call ids, response ids, the user's words.

    Asking every conversation about every exchange would take hours for a day's traces. ``candidates`` may name more
    than those that are continued, never less.
    """

    def __init__(self, conversations: Sequence[Sequence[ExchangeReading]]) -> None:
        self._left_by: dict[Hashable, dict[int, None]] = defaultdict(dict)
        self._said_last: dict[int, Hashable] = {}
        for at, exchanges in enumerate(conversations):
            for exchange in exchanges:
                self._leave(at, _ids_left_by(exchange))
                self._leave(at, [_words_left_by(exchange)])

    def begin(self, at: int, exchange: ExchangeReading) -> None:
        """A conversation of this exchange alone."""
        self._said_last[at] = _words_left_by(exchange)
        self._leave(at, [*_ids_left_by(exchange), self._said_last[at]])

    def go_on(self, at: int, exchange: ExchangeReading) -> None:
        """A conversation has a new last exchange. Where it was begun here only that one can be continued by words: one
        with an id may have exchanges later than this one."""
        words = _words_left_by(exchange)
        if at in self._said_last:
            self._left_by[self._said_last[at]].pop(at, None)
            self._said_last[at] = words
        self._leave(at, [*_ids_left_by(exchange), words])

    def candidates(self, exchange: ExchangeReading) -> list[int]:
        """The conversations that the exchange may continue, in their order."""
        wanted: list[Hashable] = [("call", call_id) for call_id in exchange.answers | exchange.call_ids]
        wanted += [("response", response_id) for response_id in exchange.previous_response_ids]
        users = _user_texts(exchange.history)
        if users:
            wanted += [(exchange.agent, users[:-1], said) for said in (users[-1], None)]
        return sorted({at for key in wanted for at in self._left_by.get(key, ())})

    def _leave(self, at: int, keys: Iterable[Hashable]) -> None:
        for key in keys:
            self._left_by[key][at] = None


def _ids_left_by(exchange: ExchangeReading) -> list[Hashable]:
    calls: list[Hashable] = [("call", call_id) for call_id in exchange.call_ids]
    return calls + [("response", response_id) for response_id in exchange.response_ids]


def _words_left_by(exchange: ExchangeReading) -> Hashable:
    return exchange.agent, _user_texts(exchange.history), _said(exchange)


def _user_texts(history: Sequence[tuple[str, str]] | None) -> tuple[str, ...]:
    return tuple(text for role, text in history or () if role == "user")


def _said(exchange: ExchangeReading) -> str | None:
    """The user's text as histories repeat it; None when it is not known as a whole."""
    text = exchange.user.text
    return squeezed(text) if text is not None and not exchange.user.truncated else None


def _continues(group: Sequence[ExchangeReading], exchange: ExchangeReading) -> bool:
    if any(is_twin(one, exchange) and one.call_ids & exchange.call_ids for one in group):
        return True
    # A conversation with an id is there as a whole, its later exchanges included.
    before = [one for one in group if order_of(one) < order_of(exchange)]
    if not before:
        return False
    last = max(before, key=order_of)
    if last.agent != exchange.agent:
        return False
    if any(exchange.previous_response_ids & one.response_ids for one in before):
        return True
    if exchange.answers & last.call_ids:
        return True
    answered = last.response.time_ns if last.response is not None else last.end_ns
    if answered > exchange.start_ns or not exchange.history:
        return False
    return _history_of(last, exchange.history)


def _history_of(last: ExchangeReading, history: Sequence[tuple[str, str]]) -> bool:
    """Whether a history is that of ``last`` plus its user message and its reply."""
    users = _user_texts(history)
    # A history without a word of the user is a greeting: nothing came before.
    if not users or users[:-1] != _user_texts(last.history):
        return False
    reply = last.response.text if last.response is not None and not last.response.truncated else None
    said = _said(last)
    if said is not None and said != users[-1]:
        return False
    if reply is not None:
        return squeezed(reply) in [text for role, text in history if role == "assistant"][-1:]
    return said is not None


def _overlap(one: ExchangeReading, other: ExchangeReading) -> bool:
    shared = min(one.end_ns, other.end_ns) - max(one.start_ns, other.start_ns)
    shorter = min(one.end_ns - one.start_ns, other.end_ns - other.start_ns)
    return shared > 0 and 2 * shared >= shorter


def is_twin(one: ExchangeReading, other: ExchangeReading) -> bool:
    """Whether two exchanges are the same one, seen by two instrumentations: at the same time, the same user text, and
    the same calls as far as ids tell."""
    if one.agent != other.agent or one.user is other.user or not _overlap(one, other):
        return False
    texts = [exchange.user.text for exchange in (one, other) if exchange.user.text is not None]
    if len(texts) == 2 and squeezed(texts[0]) != squeezed(texts[1]):
        return False
    if one.call_ids and other.call_ids:
        return bool(one.call_ids & other.call_ids)
    named = [sorted(call.name for call in exchange.calls if not call.nested) for exchange in (one, other)]
    replies = [squeezed(x.response.text) for x in (one, other) if x.response is not None and x.response.text]
    if len(replies) == 2 and replies[0] != replies[1]:
        return False
    return named[0] == named[1] and len(texts) == 2
