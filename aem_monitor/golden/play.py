"""Plays: which exchanges of a conversation are one run of a dialog, and which golden exchange each of them answers."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final, Protocol

from aem_monitor.golden.dialog import Dialog, GoldenExchange
from aem_monitor.golden.messages import tells_enough
from aem_monitor.model.conversation import Conversation, Exchange, Response, ToolCall, UserMessage


class SameMessage(Protocol):
    """Whether a live user message, or what an exporter has left of it, says what the golden one says."""

    def __call__(self, golden: str, live: str, /, *, truncated: bool = False) -> bool: ...


_SAME: Final = 100
_UNKNOWN: Final = 60
"""A message that was not captured, or cut too short to tell, pairs by position, but never against one that is known to
be the same."""
_DEPARTED: Final = 1


@dataclass(frozen=True, slots=True)
class PlayedExchange:
    """One golden exchange beside what was played of it.

    ``present`` is False when no live exchange answers it. ``on_script`` is False when the live user message departs
    from the golden one. ``ranks`` gives each call's place in time; calls of one model round share it. An open dialog
    has one exchange with all calls and replies of the conversation.
    """

    golden: GoldenExchange
    index: int
    present: bool
    on_script: bool
    calls: tuple[ToolCall, ...] = ()
    ranks: tuple[int, ...] = ()
    replies: tuple[Response, ...] = ()
    user_texts: tuple[str, ...] = ()
    complete: bool = False
    reply_failed: bool = False
    start_ns: int = 0
    end_ns: int = 0


@dataclass(frozen=True, slots=True)
class Run:
    """One play of one golden dialog in one conversation. ``play`` counts from 1.

    ``all_present`` says that every golden exchange was answered and the last one has its reply: nothing more is
    expected. ``latency_ns`` sums the exchanges, the user's time left out. ``live`` are the exchanges of the
    conversation that are this play.
    """

    dialog: Dialog
    conversation: Conversation
    play: int
    exchanges: tuple[PlayedExchange, ...]
    first_ns: int
    last_ns: int
    latency_ns: int
    trace_ids: tuple[str, ...]
    all_present: bool
    live: tuple[Exchange, ...] = ()

    @property
    def own_conversation(self) -> Conversation:
        """The conversation as if this play were all of it."""
        return replace(self.conversation, exchanges=self.live)

    @property
    def exchange_latencies(self) -> tuple[tuple[float, str | None], ...]:
        """Of each exchange the seconds from the agent's first span to the end of its reply, and its first trace."""
        return tuple(
            (max(0, item.end_ns - item.start_ns) / 1e9, next(iter(item.trace_ids), None)) for item in self.live
        )

    def on(self, path: Dialog) -> "Run":
        """The same play, beside another path of the dialog: its user turns are the same, so the exchanges are too."""
        exchanges = tuple(replace(played, golden=path.exchanges[played.index]) for played in self.exchanges)
        return replace(self, dialog=path, exchanges=exchanges)

    @property
    def starts_on_script(self) -> bool:
        """Whether the first golden exchange was played, with its own first message."""
        first = self.exchanges[0]
        return first.present and first.on_script

    @property
    def run_id(self) -> str:
        """The run's identity: 32 hex digits over agent, conversation, dialog and play."""
        return run_id_of(self.conversation.agent, self.conversation.key, self.dialog.name, self.play)

    @property
    def releases(self) -> frozenset[str]:
        """The releases under which its calls and replies were made."""
        return frozenset(item.release for item in self._acts() if item.release is not None)

    @property
    def models(self) -> frozenset[str]:
        """The models that asked for its calls and wrote its replies."""
        return frozenset(item.model for item in self._acts() if item.model is not None)

    def _acts(self) -> Iterator[ToolCall | Response]:
        for played in self.exchanges:
            yield from played.calls
            yield from played.replies


def run_id_of(agent: str, conversation_key: str, dialog: str, play: int) -> str:
    """A hash of what makes a run that run; the separator cannot occur in names of a dialog."""
    content = "\x1f".join((agent, conversation_key, dialog, str(play)))
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def runs_of(conversation: Conversation, dialog: Dialog, same: SameMessage, play_gap_ns: int) -> list[Run]:
    """Cut a recognised conversation into its plays, in time order."""
    # Cutting, pairing and judging completeness compare the same few messages over and over.
    known = cache(same)
    return [
        _run(conversation, dialog, number, exchanges, known)
        for number, exchanges in enumerate(split_plays(conversation.exchanges, dialog, known, play_gap_ns), start=1)
    ]


def run_of(conversation: Conversation, dialog: Dialog, play: int, same: SameMessage) -> Run:
    """The run that all exchanges of a conversation are, where it is known already that they are one play."""
    return _run(conversation, dialog, play, conversation.exchanges, cache(same))


def split_plays(
    exchanges: Sequence[Exchange], dialog: Dialog, same: SameMessage, play_gap_ns: int
) -> list[tuple[Exchange, ...]]:
    """A new play starts when the first golden message comes again after the last expected reply, or after a gap.

    An open dialog has no first message of its own: only the gap separates its plays, and only where the message after
    it is a known first one.
    """
    plays: list[list[Exchange]] = []
    for exchange in exchanges:
        if not plays:
            plays.append([exchange])
            continue
        current = plays[-1]
        starts = any(_agrees(exchange.user, text, same) for text in dialog.first_user)
        if starts and (_gap(current, exchange) > play_gap_ns or _answers_last(current, dialog, same)):
            plays.append([exchange])
        else:
            current.append(exchange)
    return [tuple(play) for play in plays]


def _gap(played: Sequence[Exchange], following: Exchange) -> int:
    return following.start_ns - max(item.end_ns for item in played)


def _answers_last(played: Sequence[Exchange], dialog: Dialog, same: SameMessage) -> bool:
    """Whether the last expected reply has come; never in an open dialog, which expects no last one."""
    if dialog.open:
        return False
    last = dialog.exchanges[-1]
    pairs = _pair(dialog, played, same)
    at = pairs.get(len(dialog.exchanges) - 1)
    if at is None:
        return False
    return played[at].response is not None or (not last.replies and played[at].root_seen)


def _pair(dialog: Dialog, live: Sequence[Exchange], same: SameMessage) -> dict[int, int]:
    """Golden exchange index -> live exchange index, in order, with the best total agreement of user messages.

    A live message that agrees with no golden one is paired by position between its neighbours and is off script.
    """

    golden = dialog.exchanges

    def agreement(i: int, j: int) -> int:
        user, said = golden[i].user, live[j].user
        if any(_agrees(said, text, same) for text in _spellings(dialog, i)):
            return _SAME
        if not _tells(said):
            return _UNKNOWN
        return _SAME if i == 0 and j == 0 and user is None else _DEPARTED

    rows, columns = len(golden), len(live)
    value = [[agreement(i, j) for j in range(columns)] for i in range(rows)]
    best = [[0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        for j in range(columns - 1, -1, -1):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], value[i][j] + best[i + 1][j + 1])
    pairs: dict[int, int] = {}
    i = j = 0
    while i < rows and j < columns:
        if best[i][j] == value[i][j] + best[i + 1][j + 1]:
            pairs[i] = j
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _tells(said: UserMessage) -> bool:
    return said.text is not None and tells_enough(said.text, said.truncated)


def _spellings(dialog: Dialog, index: int) -> tuple[str, ...]:
    """What the user may say to begin a golden exchange; the first message has spellings. Empty in an open dialog."""
    user = dialog.exchanges[index].user
    if user is None:
        return ()
    return dialog.first_user if index == 0 else (user.text,)


def _agrees(said: UserMessage, golden: str, same: SameMessage) -> bool:
    return said.text is not None and same(golden, said.text, truncated=said.truncated)


def _run(conversation: Conversation, dialog: Dialog, number: int, live: Sequence[Exchange], same: SameMessage) -> Run:
    if dialog.open:
        played: tuple[PlayedExchange, ...] = (_merged(dialog.exchanges[0], live),)
        all_present = False
    else:
        pairs = _pair(dialog, live, same)
        played = tuple(
            _played(golden, index, live[pairs[index]] if index in pairs else None, _spellings(dialog, index), same)
            for index, golden in enumerate(dialog.exchanges)
        )
        all_present = len(pairs) == len(dialog.exchanges) and _answers_last(live, dialog, same)
    return Run(
        dialog=dialog,
        conversation=conversation,
        play=number,
        exchanges=played,
        first_ns=min(item.start_ns for item in live),
        last_ns=max(item.end_ns for item in live),
        latency_ns=sum(max(0, item.end_ns - item.start_ns) for item in live),
        trace_ids=tuple(dict.fromkeys(trace for item in live for trace in item.trace_ids)),
        all_present=all_present,
        live=tuple(live),
    )


def _played(
    golden: GoldenExchange, index: int, live: Exchange | None, spellings: Sequence[str], same: SameMessage
) -> PlayedExchange:
    if live is None:
        return PlayedExchange(golden, index, present=False, on_script=True)
    text = live.user.text
    on_script = not _tells(live.user) or not spellings or any(_agrees(live.user, text, same) for text in spellings)
    calls = live.tool_turns
    return PlayedExchange(
        golden,
        index,
        present=True,
        on_script=on_script,
        calls=calls,
        ranks=tuple(call.round for call in calls),
        replies=(live.response,) if live.response is not None else (),
        user_texts=(text,) if text is not None else (),
        complete=live.complete,
        reply_failed=live.response is not None and live.response.error is not None,
        start_ns=live.start_ns,
        end_ns=live.end_ns,
    )


def _merged(golden: GoldenExchange, live: Sequence[Exchange]) -> PlayedExchange:
    calls: list[ToolCall] = []
    ranks: list[int] = []
    for exchange in live:
        base = max(ranks) + 1 if ranks else 0
        calls.extend(exchange.tool_turns)
        ranks.extend(base + call.round for call in exchange.tool_turns)
    return PlayedExchange(
        golden,
        0,
        present=True,
        on_script=True,
        calls=tuple(calls),
        ranks=tuple(ranks),
        replies=tuple(item.response for item in live if item.response is not None),
        user_texts=tuple(item.user.text for item in live if item.user.text is not None),
        complete=all(item.complete for item in live),
        reply_failed=bool(live) and live[-1].response is not None and live[-1].response.error is not None,
        start_ns=min((item.start_ns for item in live), default=0),
        end_ns=max((item.end_ns for item in live), default=0),
    )
