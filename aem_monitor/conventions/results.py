"""A tool's own return value, freed from the wrapping of framework and protocol.

Only wrappers that a framework or protocol is known to write are removed: what a tool itself returned stays, also when
it looks like one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from aem_monitor.conventions.jsontext import parse_nested, redacted, without_redacted
from aem_monitor.conventions.parts import kind_of
from aem_monitor.model.conversation import NOT_CAPTURED, Captured
from aem_monitor.model.jsonvalue import JSON

_BLOCK_KEYS: Final = frozenset({"text", "type", "annotations", "citations", "meta", "_meta", "json"})
_MESSAGE_MARKS: Final = frozenset({"tool_call_id", "toolCallId", "tool_use_id", "toolUseId"})
_LLAMA_OUTPUT: Final = frozenset({"blocks", "tool_name", "raw_input"})
_VERCEL_OUTPUTS: Final = ("text", "json", "content", "error-text", "error-json")
_CONTENT_TYPES: Final = frozenset({"text", "json"})


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """A return value, whether it was cut, and what a protocol's ``isError`` said (None: nothing)."""

    value: Captured
    truncated: bool = False
    failed: bool | None = None


def unwrap(value: Captured, *, blocks: bool = False, cut: bool = False) -> Unwrapped:
    """Remove JSON text, tool messages, MCP results and typed content blocks around a return value.

    ``blocks``: the emitter always wraps results in Bedrock blocks (``[{"text": ..}]``), so untyped ones are wrapping
    too. ``cut``: the text that ``value`` was read from was.
    """
    if value is NOT_CAPTURED or (isinstance(value, str) and redacted(value)):
        return Unwrapped(NOT_CAPTURED)
    parsed = parse_nested(value)
    current, cut = parsed.value, cut or parsed.truncated
    failed: bool | None = None
    for _ in range(4):
        if isinstance(current, Mapping):
            inner, said = _from_object(current, cut=cut)
        else:
            inner, said = _from_blocks(_whole_blocks(current) if cut else current, untyped=blocks), None
        failed = said if said is not None else failed
        if inner is NOT_CAPTURED:
            break
        blocks = blocks and isinstance(current, Mapping)
        parsed = parse_nested(inner)
        current, cut = parsed.value, cut or parsed.truncated
    if cut and _only_wrapping(current):
        return Unwrapped(NOT_CAPTURED, truncated=True, failed=failed)
    if isinstance(current, str) and redacted(current):
        return Unwrapped(NOT_CAPTURED, failed=failed)
    kept, lost = without_redacted(current, value)
    return Unwrapped(kept, cut or lost, failed)


def _from_object(value: Mapping[str, JSON], *, cut: bool) -> tuple[Captured, bool | None]:
    """The content of a tool message or of an MCP result; NOT_CAPTURED when it is neither."""
    failed = value.get("isError")
    said = failed if isinstance(failed, bool) else None
    content = value.get("content")
    if said is not None and "content" in value and isinstance(content, Sequence):
        return content, said
    if value.keys() == {"type", "value"} and value["type"] in _VERCEL_OUTPUTS:
        return value["value"], str(value["type"]).startswith("error-") or said
    if "content" in value and (_MESSAGE_MARKS & value.keys() or value.get("role") == "tool"):
        status = value.get("status")
        return content, status == "error" if status in ("success", "error") else said
    if value.keys() >= _LLAMA_OUTPUT and isinstance(value["blocks"], Sequence):
        returned = value.get("raw_output")
        return (_texts(value["blocks"]) if returned is None else returned), value.get("is_error") is True
    # LangChain's serialised ToolMessage: {"lc": 1, "kwargs": {..}} or {"type": "tool", "data": {..}}.
    inner = value.get("kwargs") if "lc" in value else value.get("data")
    # The call's id comes after the content and may be cut away.
    known = "lc" in value or (isinstance(inner, Mapping) and (cut or "tool_call_id" in inner))
    if known and isinstance(inner, Mapping) and "content" in inner:
        status = inner.get("status")
        return inner["content"], status == "error" if status in ("success", "error") else None
    return NOT_CAPTURED, said


def _texts(blocks: JSON) -> str:
    listed = blocks if isinstance(blocks, Sequence) else ()
    found = [block.get("text") for block in listed if isinstance(block, Mapping)]
    return "\n".join(text for text in found if isinstance(text, str))


def _only_wrapping(value: JSON) -> bool:
    """Whether a cut value ends before anything of what the tool returned: inside the wrapping, or at once."""
    if isinstance(value, Mapping):
        serialised = "lc" in value or (value.get("type") == "tool" and value.keys() <= {"type", "data"})
        return not value or serialised or value.keys() <= {"isError", "type", "role", "tool_call_id"}
    return isinstance(value, Sequence) and not isinstance(value, str) and all(map(_only_wrapping, value))


def _whole_blocks(value: JSON) -> JSON:
    """Content blocks without a last one that was cut before its content."""
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) < 2:
        return value
    return value[:-1] if _only_wrapping(value[-1]) else value


def _from_blocks(value: JSON, *, untyped: bool) -> Captured:
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        return NOT_CAPTURED
    contents: list[JSON] = []
    for item in value:
        if not isinstance(item, Mapping) or not item.keys() <= _BLOCK_KEYS:
            return NOT_CAPTURED
        kind = kind_of(item)
        if kind not in _CONTENT_TYPES and not (untyped and "type" not in item):
            return NOT_CAPTURED
        key = "json" if "json" in item else "text"
        if key not in item:
            return NOT_CAPTURED
        contents.append(item[key])
    if len(contents) == 1:
        return contents[0]
    opened = [parse_nested(content) for content in contents]
    if any(one.is_json or not isinstance(one.value, str) for one in opened):
        return [one.value for one in opened]
    return "\n".join(str(content) for content in contents)
