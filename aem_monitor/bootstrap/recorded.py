"""What a recorded conversation holds for a draft: what was said, the calls that stand, and what was left out."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime

from aem_monitor.errors import UsageError
from aem_monitor.model.conversation import NOT_CAPTURED, Captured, Conversation, Exchange, ToolCall
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.scoring.jsontree import opened


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call that took effect. ``args`` is None and ``result`` ``NOT_CAPTURED`` where they are not known whole.

    A result that is JSON text is decoded. ``rank`` is the model step that asked for the call.
    """

    tool: str
    action: str | None
    args: Mapping[str, JSON] | None
    result: Captured
    rank: int

    @property
    def name(self) -> str:
        """Tool and action as one word."""
        return self.tool if self.action is None else f"{self.tool}.{self.action}"


@dataclass(frozen=True, slots=True)
class RecordedExchange:
    """One user message and what followed. ``reply`` is None where none was recorded whole and without an error."""

    user: str
    calls: tuple[RecordedCall, ...]
    reply: str | None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recording:
    """One conversation. ``source`` names it in notes; ``day`` is the day (UTC) of its first span.

    ``conversation`` is None where the recording is a golden dialog's own content.
    """

    source: str
    day: date
    agent: str | None
    dialog_id: str | None
    exchanges: tuple[RecordedExchange, ...]
    conversation: Conversation | None = None

    @property
    def script(self) -> tuple[str, ...]:
        """The user's messages."""
        return tuple(exchange.user for exchange in self.exchanges)


def recording_of(conversation: Conversation) -> Recording:
    """What a conversation holds for a draft.

    Calls inside a tool call, hand-offs and failed attempts are no turns. Raises ``UsageError`` where a user message was
    not captured: what the user said is the one thing that a draft cannot do without.
    """
    source = conversation.conversation_id or conversation.key
    exchanges = []
    for number, exchange in enumerate(conversation.exchanges, start=1):
        if exchange.user.text is None:
            raise UsageError(
                f"conversation {source}: the user's message of exchange {number} was not captured; record with message "
                "contents (OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT, or your framework's own switch)"
            )
        exchanges.append(_exchange(exchange, exchange.user.text))
    if not exchanges:
        raise UsageError(f"conversation {source}: nothing was said in it")
    return Recording(
        source=source,
        day=datetime.fromtimestamp(conversation.first_ns / 1e9, UTC).date(),
        agent=conversation.agent,
        dialog_id=conversation.dialog_ids[0] if len(conversation.dialog_ids) == 1 else None,
        exchanges=tuple(exchanges),
        conversation=conversation,
    )


def _exchange(exchange: Exchange, said: str) -> RecordedExchange:
    remarks = []
    if exchange.user.truncated:
        remarks.append("the user's message was cut by its exporter: complete it")
    failed = Counter(_name(call) for call in exchange.tool_turns if call.error is not None)
    stands = {_name(call) for call in exchange.tool_turns if call.error is None}
    for name, count in failed.items():
        times = "a failed attempt" if count == 1 else f"{count} failed attempts"
        remarks.append(
            f"{times} at {name} left out: "
            + ("a later one went through" if name in stands else "none went through, so that nothing was done")
        )
    response = exchange.response
    reply = None
    if response is None:
        remarks.append("no reply was recorded in this exchange")
    elif response.error is not None:
        remarks.append("the reply of this exchange failed and was left out")
    elif response.text is None or response.truncated:
        remarks.append("the reply was not captured whole: write what it has to say")
    else:
        reply = response.text
    return RecordedExchange(
        said, tuple(_call(call) for call in exchange.tool_turns if call.error is None), reply, tuple(remarks)
    )


def _call(call: ToolCall) -> RecordedCall:
    known = call.result if call.result is NOT_CAPTURED or not call.result_truncated else NOT_CAPTURED
    return RecordedCall(
        call.tool,
        call.action,
        None if call.arguments_truncated else call.arguments,
        known if known is NOT_CAPTURED else opened(known),
        call.round,
    )


def _name(call: ToolCall) -> str:
    return call.tool if call.action is None else f"{call.tool}.{call.action}"
