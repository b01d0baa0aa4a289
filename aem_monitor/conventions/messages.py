"""Messages between user, model and tools, in one form, read from every form that instrumentations write.

Forms understood, told apart by their keys: GenAI and Gemini (``{"role", "parts": [..]}``), OpenAI, Bedrock and
Anthropic (``{"role", "content", "tool_calls"}``), LangChain in its three serialisations (``{"type": "human",
"content"}``, ``{"type": "human", "data": {..}}``, ``{"lc": 1, "kwargs": {..}}``). What a message consists of is in
``parts``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from aem_monitor.conventions.jsontext import parse_nested
from aem_monitor.conventions.parts import (
    CALL_TYPES,
    RESULT_TYPES,
    TEXT_TYPES,
    UNSPOKEN_TYPES,
    CallPart,
    Part,
    ResultPart,
    TextPart,
    bedrock_block,
    call_part,
    kind_of,
    parts_of,
    result_part,
    text_or_none,
)
from aem_monitor.model.jsonvalue import JSON

_MAX_NESTING: Final = 8
_KNOWN_TYPES: Final = TEXT_TYPES | CALL_TYPES | RESULT_TYPES | UNSPOKEN_TYPES
_SINGLE_RESULT: Final = frozenset({"tool_call_id", "content"})
_CONTENT_KEYS: Final = frozenset({"parts", "content", "tool_calls"})
_SAYING_WHOSE: Final = frozenset({"role", "type", "lc", "tool_call_id", "toolUseId", "toolCallId"})
_IDENTIFIERS: Final = frozenset(
    {"name", "id", "call_id", "role", "type", "toolName", "tool_name", "toolUseId", "toolCallId", "tool_call_id"}
)


class Role(StrEnum):
    """Who speaks. ``developer`` messages are system messages."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


_ROLES: Final[Mapping[str, Role]] = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "human": Role.USER,
    "assistant": Role.ASSISTANT,
    "ai": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
}


@dataclass(frozen=True, slots=True)
class Message:
    """One message. Reasoning, images and other parts that are neither spoken nor calls are left out."""

    role: Role
    parts: tuple[Part, ...]
    finish_reason: str | None = None

    @property
    def calls(self) -> tuple[CallPart, ...]:
        """The tool calls that the message asks for."""
        return tuple(part for part in self.parts if isinstance(part, CallPart))

    @property
    def results(self) -> tuple[ResultPart, ...]:
        """The tool results that the message carries."""
        return tuple(part for part in self.parts if isinstance(part, ResultPart))

    @property
    def text(self) -> TextPart | None:
        """All spoken text of the message as one; None when it has no text part at all."""
        texts = [part for part in self.parts if isinstance(part, TextPart)]
        if not texts:
            return None
        captured = [part.text for part in texts if part.text is not None]
        return TextPart("\n".join(captured) if captured else None, any(part.truncated for part in texts))


@dataclass(frozen=True, slots=True)
class Messages:
    """A list of messages. ``truncated``: the list was cut, so its last message may not be the last that was sent."""

    items: tuple[Message, ...] = ()
    truncated: bool = False

    def __add__(self, other: "Messages") -> "Messages":
        if not other.items and not other.truncated:
            return self
        return Messages(self.items + other.items, self.truncated or other.truncated)

    def __bool__(self) -> bool:
        return bool(self.items)


NO_MESSAGES: Final = Messages()


def read_messages(value: JSON, default: Role) -> Messages:
    """Messages from a list of messages, one message, ``{"messages": [..]}``, content blocks, plain text, or the JSON
    text of any of these. A message without a role has the role ``default``."""
    cut = False
    if isinstance(value, str):
        parsed = parse_nested(value)
        value, cut = parsed.value, parsed.truncated
        if cut:
            value = without_cut_end(value)
    if isinstance(value, Mapping) and isinstance(value.get("messages"), Sequence):
        value = value["messages"]
    items = _items(value, default)
    if cut and items:
        items[-1] = mark_cut(items[-1])
    return Messages(tuple(items), cut)


def read_message(value: JSON, default: Role) -> Message | None:
    """One message object, or the text or content of a message of role ``default``."""
    if isinstance(value, (dict, Mapping)):
        value = _from_langchain(value)
        if "parts" in value or "content" in value or "tool_calls" in value:
            return _message(value, default)
        if "role" in value and not _is_block(value):
            return _message(value, default)
    parts = tuple(parts_of(value))
    return Message(default, parts) if parts else None


def _items(value: JSON, default: Role) -> list[Message]:
    if isinstance(value, Sequence) and not isinstance(value, str) and value and not all(map(_is_block, value)):
        if all(isinstance(item, Sequence) and not isinstance(item, str) for item in value):
            # A batch of conversations, of which instrumented calls have one: [[message, ..]].
            return _items(value[0], default)
        found = [read_message(item, default) for item in value if item is not None]
        return [message for message in found if message is not None]
    message = read_message(value, default)
    return [message] if message else []


def _from_langchain(value: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """A serialised LangChain message as an ordinary one; anything else as it is."""
    inner = value.get("kwargs") if "lc" in value else value.get("data")
    if inner is not None and isinstance(inner, Mapping):
        kind = kind_of(inner) or kind_of(value)
        if kind in _ROLES and "content" in inner:
            return {**inner, "role": kind}
    kind = kind_of(value)
    if kind in _ROLES and "role" not in value and "content" in value:
        return {**value, "role": kind}
    return value


def is_content(value: JSON) -> bool:
    """Whether a parsed JSON text is content that an emitter wrote: blocks, one message or messages.

    What else parses as JSON (a user who pastes an order as JSON) is text. Emitters have blocks of more types than are
    known here: in a list one that is known vouches for the others.
    """
    if isinstance(value, Mapping):
        return _is_typed_block(value) or ("role" in value and not value.keys().isdisjoint(_CONTENT_KEYS))
    if isinstance(value, Sequence) and not isinstance(value, str):
        known = [isinstance(item, Mapping) and is_content(item) for item in value]
        return any(known) and all(map(_may_be_block, value, known))
    return False


def _may_be_block(item: JSON, known: bool) -> bool:
    """Whether a list item has the shape of a block, of whatever type: the type named, or one key for the content."""
    if known or not isinstance(item, Mapping):
        return known
    return kind_of(item) is not None or (len(item) == 1 and isinstance(next(iter(item.values())), Mapping))


def read_content(value: str) -> tuple[JSON, bool]:
    """The content that a text holds, and whether it was cut. Text that is no JSON of content stays text.

    Of content that was cut before anything was said (``[{"te``) a text part without text remains.
    """
    parsed = parse_nested(value)
    if is_content(parsed.value):
        return without_cut_end(parsed.value) if parsed.truncated else parsed.value, parsed.truncated
    if parsed.truncated and _only_begun(parsed.value):
        return [{"type": "text"}], True
    return value, False


def _only_begun(value: JSON) -> bool:
    """Whether a cut value holds nothing but the beginning of a first block or message."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return not value or (len(value) == 1 and _only_begun(value[0]))
    return isinstance(value, Mapping) and value.keys() <= {"type", "role"}


def _is_typed_block(value: Mapping[str, JSON]) -> bool:
    if kind_of(value) in _KNOWN_TYPES or bedrock_block(value):
        return True
    return value.keys() == {"text"}


def _is_block(value: JSON) -> bool:
    """Whether a list item is a content block rather than a message."""
    if isinstance(value, str) or value is None:
        return False
    if not isinstance(value, Mapping) or "parts" in value or "lc" in value or kind_of(value) in _ROLES:
        return False
    if "role" in value and ("content" in value or "tool_calls" in value):
        return False
    return "text" in value or "type" in value or bedrock_block(value)


def _message(value: Mapping[str, JSON], default: Role) -> Message:
    parts: list[Part] = []
    role = _ROLES.get(str(value.get("role") or "").lower(), default)
    call_id = text_or_none(value.get("tool_call_id")) or (text_or_none(value.get("id")) if role is Role.TOOL else None)
    for key in ("parts", "content"):
        content = value.get(key)
        if role is Role.TOOL and key == "content" and content is not None and not _has_typed_results(content):
            parts.extend(_tool_results(value, call_id, content))
        elif content is not None:
            parts.extend(parts_of(content))
    calls = value.get("tool_calls")
    if calls and isinstance(calls, Sequence) and not isinstance(calls, str):
        parts.extend(part for call in calls if isinstance(call, Mapping) and (part := call_part(call)) is not None)
    reason = value.get("finish_reason")
    return Message(role, tuple(parts), reason if isinstance(reason, str) and reason else None)


def _tool_results(value: Mapping[str, JSON], call_id: str | None, content: JSON) -> list[Part]:
    """The result that a tool message carries. Semantic Kernel puts those of several calls into one message:
    ``[{"tool_call_id", "content"}, ..]``."""
    if isinstance(content, Sequence) and not isinstance(content, str) and content:
        several = [item for item in content if isinstance(item, Mapping) and item.keys() == _SINGLE_RESULT]
        if len(several) == len(content):
            return [result_part(item, None, item["content"]) for item in several]
    return [result_part(value, call_id, content)]


def _has_typed_results(content: JSON) -> bool:
    if not isinstance(content, Sequence) or isinstance(content, str):
        return False
    return any(
        isinstance(item, Mapping) and (kind_of(item) in RESULT_TYPES or "toolResult" in item) for item in content
    )


def mark_cut(message: Message) -> Message:
    """The last message of a cut list: its last part is what the cut went through."""
    if not message.parts:
        return message
    last = message.parts[-1]
    if isinstance(last, TextPart):
        last = TextPart(last.text, truncated=True)
    elif isinstance(last, CallPart):
        last = CallPart(last.name, last.call_id, last.arguments, truncated=True)
    else:
        last = ResultPart(last.call_id, last.result, last.name, last.failed, truncated=True)
    return Message(message.role, (*message.parts[:-1], last), message.finish_reason)


def without_cut_end(value: JSON, depth: int = _MAX_NESTING) -> JSON:
    """A value of cut JSON text without what the cut leaves unclear at its end: a name or id that it may have gone
    through, since half a name is worse than none, and a message of which it hides who spoke."""
    if depth == 0:
        return value
    if isinstance(value, Mapping) and value:
        key = next(reversed(list(value)))
        kept = {name: item for name, item in value.items() if name != key}
        if key in _IDENTIFIERS and isinstance(value[key], str):
            return kept
        return {**kept, key: without_cut_end(value[key], depth - 1)}
    if isinstance(value, Sequence) and not isinstance(value, str) and value:
        last = without_cut_end(value[-1], depth - 1)
        return [*value[:-1], *(() if _hides_its_role(last) else (last,))]
    return value


def _hides_its_role(item: JSON) -> bool:
    """Whether a list item is a message, or a result, that was cut before it said whose it is."""
    return isinstance(item, Mapping) and bool(item.keys() & {"content", "parts"}) and not item.keys() & _SAYING_WHOSE
