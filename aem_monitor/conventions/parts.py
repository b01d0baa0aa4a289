"""What a message consists of: spoken text, tool calls, tool results, read from every form of content block.

Told apart by their keys: GenAI parts (``{"type": "text", "content"}``, the tool result under ``response`` or the older
``result``), OpenAI content and ``tool_calls[].function``, Bedrock (``{"text"}``, ``{"toolUse"}``, ``{"toolResult"}``),
Anthropic (``tool_use``, ``tool_result``), Gemini (``function_call``, ``function_response``) and lists of any of these.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from aem_monitor.conventions.jsontext import parse_nested, redacted, without_redacted
from aem_monitor.model.conversation import NOT_CAPTURED, Captured
from aem_monitor.model.jsonvalue import JSON

_MAX_NESTING: Final = 8
TEXT_TYPES: Final = frozenset({"text", "input_text", "output_text", "refusal"})
CALL_TYPES: Final = frozenset({"tool_call", "tool-call", "tool_use", "function_call", "function"})
RESULT_TYPES: Final = frozenset(
    {"tool_call_response", "tool_response", "tool-result", "tool_result", "function_call_output", "tool_call_result"}
)
UNSPOKEN_TYPES: Final = frozenset(
    {
        *("reasoning", "thinking", "redacted_thinking", "reasoning_text", "summary_text", "blob", "uri", "file"),
        *("image", "image_url", "input_image", "audio", "input_audio", "video", "video_url", "document", "input_file"),
    }
)
# What else says aloud what is in it: an item of OpenAI's Responses.
_SPOKEN_TYPES: Final = TEXT_TYPES | {"message"}
_MEDIA: Final = frozenset({"image", "document", "video", "audio"})
_SPEAKING_WRAPPERS: Final = frozenset({"guardContent", "citationsContent"})
_BEDROCK_ONLY: Final = frozenset({"reasoningContent", "cachePoint", "toolUse", "toolResult"}) | _SPEAKING_WRAPPERS
_WRAPPERS: Final = frozenset(
    {"toolUse", "toolResult", "function_call", "functionCall", "function_response", "functionResponse"}
)
_CALL_REPR: Final = re.compile(r"^\s*ResponseFunctionToolCall\(")
_REPR_FIELD: Final = re.compile(r"\b(arguments|call_id|name)='((?:[^'\\]|\\.)*)'")


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


def read_arguments(value: JSON) -> tuple[Mapping[str, JSON] | None, bool]:
    """Call arguments as an object, and whether they were cut; None when they are not an object at all.

    Arguments of which single values were taken away count as cut.
    """
    cut = False
    source = value
    if isinstance(value, str):
        if not value.strip():
            return {}, False
        parsed = parse_nested(value)
        value, cut = parsed.value, parsed.truncated
    if not isinstance(value, Mapping):
        return None, cut
    kept, lost = without_redacted(value, source)
    return (kept if isinstance(kept, Mapping) else value), cut or lost


def parts_of(value: JSON, depth: int = _MAX_NESTING) -> Iterator[Part]:
    """The parts of a content: text, one block, or a list of blocks."""
    if value is None or depth == 0:
        return
    if isinstance(value, str):
        yield _spoken(value)
    elif isinstance(value, (dict, Mapping)):
        yield from _block(value, depth)
    elif isinstance(value, Sequence):
        for item in value:
            yield from parts_of(item, depth - 1)
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
    if not _WRAPPERS.isdisjoint(value):
        kind, value = _unwrapped(kind, value)
    elif kind is None and len(value) == 1 and not _SPEAKING_WRAPPERS.isdisjoint(value):
        yield from parts_of(next(iter(value.values())), depth - 1)
        return
    if kind is None and "name" in value and "arguments" in value:
        kind = "tool_call"
    elif kind is None and "response" in value:
        kind = "tool_call_response"
    if kind in CALL_TYPES:
        call = call_part(value)
        if call is not None:
            yield call
        return
    if kind in RESULT_TYPES:
        yield result_part(value, None, NOT_CAPTURED)
        return
    if kind is not None and kind not in _SPOKEN_TYPES:
        return
    text = _first(value, "content", "text")
    if isinstance(text, Mapping) and isinstance(text.get("value"), str):
        text = text["value"]
    if text is not None:
        yield from parts_of(text, depth - 1)
    elif kind in TEXT_TYPES:
        yield TextPart(None)


def _unwrapped(kind: str | None, value: Mapping[str, JSON]) -> tuple[str | None, Mapping[str, JSON]]:
    """The call or result in a block that has it under a key of its own."""
    if isinstance(used := value.get("toolUse"), Mapping):
        return "tool_use", used
    if isinstance(returned := value.get("toolResult"), Mapping):
        return "tool_result", returned
    if isinstance(called := value.get("function_call", value.get("functionCall")), Mapping):
        return "tool_call", called
    if isinstance(answered := value.get("function_response", value.get("functionResponse")), Mapping):
        return "tool_call_response", answered
    return kind, value


def bedrock_block(value: Mapping[str, JSON]) -> bool:
    """Whether an object is one of Bedrock's blocks, which have their content under one key instead of a type."""
    if not _BEDROCK_ONLY.isdisjoint(value):
        return True
    if len(value) != 1 or _MEDIA.isdisjoint(value):
        return False
    inner = next(iter(value.values()))
    return isinstance(inner, Mapping) and "source" in inner


def kind_of(value: Mapping[str, JSON]) -> str | None:
    """The type that a content block names."""
    kind = value.get("type")
    return kind if isinstance(kind, str) else None


def call_part(value: Mapping[str, JSON]) -> CallPart | None:
    """A call in any of the forms; None when it names no tool."""
    function = value.get("function")
    inner: Mapping[str, JSON] = function if isinstance(function, Mapping) else value
    name = _first(inner, "name", "toolName", "tool_name")
    if not isinstance(name, str) or not name:
        return None
    call_id = text_or_none(_first(value, "id", "call_id", "toolUseId", "toolCallId", "tool_call_id"))
    arguments, cut = read_arguments(_first(inner, "arguments", "input", "args"))
    return CallPart(name, call_id, arguments, cut)


def result_part(value: Mapping[str, JSON], call_id: str | None, content: Captured) -> ResultPart:
    """A result block; ``content`` is its value where that is already known."""
    if content is NOT_CAPTURED:
        for key in ("response", "result", "content", "output"):
            if key in value:
                content = value[key]
                break
    found = call_id or text_or_none(
        _first(value, "id", "tool_call_id", "toolUseId", "tool_use_id", "toolCallId", "call_id")
    )
    failed = value.get("is_error", value.get("isError"))
    if not isinstance(failed, bool):
        status = value.get("status")
        failed = status == "error" if status in ("success", "error") else None
    return ResultPart(found, content, text_or_none(value.get("name")), failed)


def _first(value: Mapping[str, JSON], *keys: str) -> JSON:
    for key in keys:
        found = value.get(key)
        if found is not None:
            return found
    return None


def text_or_none(value: JSON) -> str | None:
    """An id or name as text."""
    if isinstance(value, str):
        return value or None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None
