"""What messages say: who spoke last, and what is history."""

from collections.abc import Sequence
from typing import Final

from aem_monitor.conventions.messages import Message, Messages, Role
from aem_monitor.conventions.parts import TextPart
from aem_monitor.conventions.reading import SpanReading

_CALL_REASONS: Final = frozenset(
    {"tool_calls", "tool_call", "tool-calls", "tool-call", "tool_use", "function_call", "function_calls"}
)


def is_user_turn(message: Message) -> bool:
    """Whether a message is the user's own; tool results travel under the role ``user`` too."""
    return message.role is Role.USER and all(isinstance(part, TextPart) for part in message.parts)


def user_turns(messages: Messages) -> tuple[str | None, ...]:
    """The user's texts in a list of messages, None for one without captured text."""
    return tuple(message.text.text if message.text else None for message in messages.items if is_user_turn(message))


def last_user(messages: Messages) -> TextPart | None:
    """The last text of the user; None when what the user said last has no captured text.

    Several user messages in a row are one utterance: the last of them with text counts. Of a list that was cut, only a
    single user message can be trusted to be the last one.
    """
    if messages.truncated and sum(map(is_user_turn, messages.items)) != 1:
        return None
    found = False
    for message in reversed(messages.items):
        if not is_user_turn(message):
            if found:
                return None
            continue
        found = True
        part = message.text
        if part is not None and part.text is not None:
            return part
    return None


def tail(messages: Messages) -> tuple[Message, ...]:
    """What follows the user's last message: the calls and results of the current exchange."""
    items = messages.items
    return items[_last_turn(items) + 1 :]


def before_last_user(messages: Messages) -> tuple[tuple[str, str], ...]:
    """The user and assistant texts before the user's last message, for comparing histories. Texts beside calls are
    left out, since emitters disagree about them."""
    items = messages.items
    return spoken_texts(items[: max(0, _last_turn(items))])


def _last_turn(items: Sequence[Message]) -> int:
    """Where the user spoke last, -1 for nowhere; from the end, since every model call repeats the whole history."""
    return next((at for at in range(len(items) - 1, -1, -1) if is_user_turn(items[at])), -1)


def spoken_texts(items: Sequence[Message]) -> tuple[tuple[str, str], ...]:
    """(role, text) of what user and assistant said."""
    found: list[tuple[str, str]] = []
    for message in items:
        part = message.text
        if part is None or part.text is None or message.calls or message.results:
            continue
        if message.role in (Role.USER, Role.ASSISTANT):
            found.append((message.role.value, squeezed(part.text)))
    return tuple(found)


def squeezed(text: str) -> str:
    """White space folded: emitters differ in newlines at the end of a text."""
    return " ".join(text.split())


def reply_of(messages: Messages) -> TextPart | None:
    """The text of the last assistant message, None when that message asks for calls: text beside calls is no reply.

    A message that also carries the results of all its calls is a whole run in one message, its text is the reply.
    """
    for message in reversed(messages.items):
        if message.role is not Role.ASSISTANT or not message.parts:
            continue
        if message.calls and len(message.results) < len(message.calls):
            return None
        part = message.text
        if part is None or part.text is None or not part.text.strip():
            continue
        return part
    return None


def asks_for_calls(reading: SpanReading) -> bool:
    """Whether a model call ended with a request for tool calls, by its output or by its finish reason."""
    if reading.output:
        return any(message.calls for message in reading.output.items)
    return any(reason.lower() in _CALL_REASONS for reason in reading.finish_reasons)
