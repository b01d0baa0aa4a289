"""Messages between user, model and tools, in one form, read from every form that instrumentations write.

Forms understood, told apart by their keys: GenAI parts (``{"role", "parts": [{"type": "text", "content"}, ..]}``, the
tool result under ``response`` or the older ``result``), OpenAI chat (``content``, ``tool_calls[].function``,
``tool_call_id``), Bedrock blocks (``{"text"}``, ``{"toolUse"}``, ``{"toolResult"}``), Anthropic blocks (``tool_use``,
``tool_result``), and content lists of any of these.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from aem_monitor.conventions.jsontext import parse, parse_nested, redacted
from aem_monitor.model.conversation import NOT_CAPTURED, Captured
from aem_monitor.model.jsonvalue import JSON

_MAX_NESTING: Final = 8
_TEXT_TYPES: Final = frozenset({"text", "input_text", "output_text", "refusal"})
_CALL_TYPES: Final = frozenset({"tool_call", "tool-call", "tool_use", "function_call", "function"})
_RESULT_TYPES: Final = frozenset(
    {"tool_call_response", "tool_response", "tool-result", "tool_result", "function_call_output", "tool_call_result"}
)
_UNSPOKEN_TYPES: Final = frozenset({"reasoning", "thinking", "blob", "uri", "file", "image", "image_url", "audio"})
_KNOWN_TYPES: Final = _TEXT_TYPES | _CALL_TYPES | _RESULT_TYPES | _UNSPOKEN_TYPES
_CONTENT_KEYS: Final = frozenset({"parts", "content", "tool_calls"})
_IDENTIFIERS: Final = frozenset(
    {"name", "id", "call_id", "role", "type", "toolName", "tool_name", "toolUseId", "toolCallId", "tool_call_id"}
)
_CALL_REPR: Final = re.compile(r"^\s*ResponseFunctionToolCall\(")
_REPR_FIELD: Final = re.compile(r"\b(arguments|call_id|name)='((?:[^'\\]|\\.)*)'")


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
class TextPart:
    """Spoken text; ``text`` is None when the part is there but its content was not captured."""

    text: str | None
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class CallPart:
    """The model asks for a tool call. ``arguments`` is None when not captured."""

    name: str
    call_id: str | None = None
    arguments: Mapping[str, JSON] | None = None
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class ResultPart:
    """What a tool returned, still in the framework's wrapping. ``failed`` is None when the message does not say."""

    call_id: str | None
    result: Captured
    name: str | None = None
    failed: bool | None = None
    truncated: bool = False


Part: TypeAlias = TextPart | CallPart | ResultPart


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
            value = _without_cut_identifier(value)
    if isinstance(value, Mapping) and isinstance(value.get("messages"), Sequence):
        value = value["messages"]
    items = _items(value, default)
    if cut and items:
        items[-1] = mark_cut(items[-1])
    return Messages(tuple(items), cut)


def read_message(value: JSON, default: Role) -> Message | None:
    """One message object, or the text or content of a message of role ``default``."""
    if isinstance(value, Mapping) and ("parts" in value or "content" in value or "tool_calls" in value):
        return _message(value, default)
    if isinstance(value, Mapping) and "role" in value and not _is_block(value):
        return _message(value, default)
    parts = tuple(_parts(value))
    return Message(default, parts) if parts else None


def read_arguments(value: JSON) -> tuple[Mapping[str, JSON] | None, bool]:
    """Call arguments as an object, and whether they were cut; None when they are not an object at all."""
    if isinstance(value, str):
        if not value.strip():
            return {}, False
        parsed = parse_nested(value)
        return (parsed.value, parsed.truncated) if isinstance(parsed.value, Mapping) else (None, parsed.truncated)
    return (value, False) if isinstance(value, Mapping) else (None, False)


def _items(value: JSON, default: Role) -> list[Message]:
    if isinstance(value, Sequence) and not isinstance(value, str) and value and not all(map(_is_block, value)):
        found = [read_message(item, default) for item in value if item is not None]
        return [message for message in found if message is not None]
    message = read_message(value, default)
    return [message] if message else []


def is_content(value: JSON) -> bool:
    """Whether a parsed JSON text is content that an emitter wrote: blocks, one message or messages.

    What else parses as JSON (a user who pastes an order as JSON) is text.
    """
    if isinstance(value, Mapping):
        return _is_typed_block(value) or ("role" in value and not value.keys().isdisjoint(_CONTENT_KEYS))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return bool(value) and all(isinstance(item, Mapping) and is_content(item) for item in value)
    return False


def read_content(value: str) -> tuple[JSON, bool]:
    """The content that a text holds, and whether it was cut. Text that is no JSON of content stays text.

    Of content that was cut before anything was said (``[{"te``) a text part without text remains.
    """
    parsed = parse_nested(value)
    if is_content(parsed.value):
        return _without_cut_identifier(parsed.value) if parsed.truncated else parsed.value, parsed.truncated
    if parsed.truncated and _only_begun(parsed.value):
        return [{"type": "text"}], True
    return value, False


def _only_begun(value: JSON) -> bool:
    """Whether a cut value holds nothing but the beginning of a first block or message."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return not value or (len(value) == 1 and _only_begun(value[0]))
    return isinstance(value, Mapping) and value.keys() <= {"type", "role"}


def _is_typed_block(value: Mapping[str, JSON]) -> bool:
    if kind_of(value) in _KNOWN_TYPES or "toolUse" in value or "toolResult" in value:
        return True
    return value.keys() == {"text"}


def _is_block(value: JSON) -> bool:
    """Whether a list item is a content block rather than a message."""
    if isinstance(value, str) or value is None:
        return False
    if not isinstance(value, Mapping) or "parts" in value:
        return False
    if "role" in value and ("content" in value or "tool_calls" in value):
        return False
    return bool({"text", "toolUse", "toolResult", "type"} & value.keys())


def _message(value: Mapping[str, JSON], default: Role) -> Message:
    parts: list[Part] = []
    role = _ROLES.get(str(value.get("role") or "").lower(), default)
    call_id = _text_or_none(value.get("tool_call_id")) or (
        _text_or_none(value.get("id")) if role is Role.TOOL else None
    )
    for key in ("parts", "content"):
        content = value.get(key)
        if role is Role.TOOL and key == "content" and content is not None and not _has_typed_results(content):
            parts.append(_result(value, call_id, content))
        elif content is not None:
            parts.extend(_parts(content))
    calls = value.get("tool_calls")
    if isinstance(calls, Sequence) and not isinstance(calls, str):
        parts.extend(part for call in calls if isinstance(call, Mapping) and (part := _call(call)) is not None)
    reason = value.get("finish_reason")
    return Message(role, tuple(parts), reason if isinstance(reason, str) and reason else None)


def _has_typed_results(content: JSON) -> bool:
    if not isinstance(content, Sequence) or isinstance(content, str):
        return False
    return any(
        isinstance(item, Mapping) and (kind_of(item) in _RESULT_TYPES or "toolResult" in item) for item in content
    )


def _parts(value: JSON, depth: int = _MAX_NESTING) -> Iterator[Part]:
    if value is None or depth == 0:
        return
    if isinstance(value, str):
        yield _spoken(value)
    elif isinstance(value, Mapping):
        yield from _block(value, depth)
    elif isinstance(value, Sequence):
        for item in value:
            yield from _parts(item, depth - 1)
    else:
        yield TextPart(str(value))


def _spoken(text: str) -> Part:
    """Text, unless it is the Python repr of a call, which some emitters put where text belongs, or a redaction mark."""
    if redacted(text):
        return TextPart(None)
    if _CALL_REPR.match(text):
        found = dict(_REPR_FIELD.findall(text))
        if found.get("name"):
            arguments, cut = read_arguments(found.get("arguments", "").replace("\\'", "'").replace("\\\\", "\\"))
            return CallPart(found["name"], found.get("call_id"), arguments, cut)
    return TextPart(text)


def _block(value: Mapping[str, JSON], depth: int) -> Iterator[Part]:
    kind = kind_of(value)
    if isinstance(value.get("toolUse"), Mapping):
        kind, value = "tool_use", value["toolUse"]  # type: ignore[assignment]
    elif isinstance(value.get("toolResult"), Mapping):
        kind, value = "tool_result", value["toolResult"]  # type: ignore[assignment]
    if kind in _UNSPOKEN_TYPES:
        return
    if kind is None and "name" in value and "arguments" in value:
        kind = "tool_call"
    elif kind is None and "response" in value:
        kind = "tool_call_response"
    if kind in _CALL_TYPES:
        call = _call(value)
        if call is not None:
            yield call
        return
    if kind in _RESULT_TYPES:
        yield _result(value, None, NOT_CAPTURED)
        return
    text = value.get("content") if value.get("content") is not None else value.get("text")
    if isinstance(text, Mapping) and isinstance(text.get("value"), str):
        text = text["value"]
    if text is not None:
        yield from _parts(text, depth - 1)
    elif kind in _TEXT_TYPES:
        yield TextPart(None)


def kind_of(value: Mapping[str, JSON]) -> str | None:
    """The type that a content block names."""
    kind = value.get("type")
    return kind if isinstance(kind, str) else None


def _call(value: Mapping[str, JSON]) -> CallPart | None:
    function = value.get("function")
    inner: Mapping[str, JSON] = function if isinstance(function, Mapping) else value
    name = _first(inner, "name", "toolName", "tool_name")
    if not isinstance(name, str) or not name:
        return None
    call_id = _text_or_none(_first(value, "id", "call_id", "toolUseId", "toolCallId", "tool_call_id"))
    arguments, cut = read_arguments(_first(inner, "arguments", "input", "args"))
    return CallPart(name, call_id, arguments, cut)


def _result(value: Mapping[str, JSON], call_id: str | None, content: Captured) -> ResultPart:
    if content is NOT_CAPTURED:
        for key in ("response", "result", "content", "output"):
            if key in value:
                content = value[key]
                break
    found = call_id or _text_or_none(
        _first(value, "id", "tool_call_id", "toolUseId", "tool_use_id", "toolCallId", "call_id")
    )
    failed = value.get("is_error", value.get("isError"))
    if not isinstance(failed, bool):
        status = value.get("status")
        failed = status == "error" if status in ("success", "error") else None
    return ResultPart(found, content, _text_or_none(value.get("name")), failed)


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


def _without_cut_identifier(value: JSON, depth: int = _MAX_NESTING) -> JSON:
    """Without the name or id that a cut may have gone through: half a name is worse than none."""
    if depth == 0:
        return value
    if isinstance(value, Mapping) and value:
        key = next(reversed(list(value)))
        kept = {name: item for name, item in value.items() if name != key}
        if key in _IDENTIFIERS and isinstance(value[key], str):
            return kept
        return {**kept, key: _without_cut_identifier(value[key], depth - 1)}
    if isinstance(value, Sequence) and not isinstance(value, str) and value:
        return [*value[:-1], _without_cut_identifier(value[-1], depth - 1)]
    return value


def _first(value: Mapping[str, JSON], *keys: str) -> JSON:
    return next((value[key] for key in keys if value.get(key) is not None), None)


def _text_or_none(value: JSON) -> str | None:
    if isinstance(value, str):
        return value or None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def parsed_mapping(value: JSON) -> Mapping[str, JSON] | None:
    """A JSON object, or the object that a JSON text holds."""
    if isinstance(value, str):
        value = parse(value).value
    return value if isinstance(value, Mapping) else None
