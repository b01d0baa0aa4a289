"""What a span says about the tools that its agent has: names, and the JSON Schemas of their arguments.

Attributes that hold nothing else are read here, whatever the convention, since instrumentations lend each other's:
``gen_ai.tool.definitions`` (OpenTelemetry), ``llm.tools.N.tool.json_schema`` (OpenInference),
``llm.request.functions.N.*`` (Traceloop), ``ai.prompt.tools`` (Vercel), ``mlflow.chat.tools``,
``model_request_parameters`` (Pydantic AI), and a tool span's own schema. Definitions inside a whole request are its
convention's: ``tools_in_request``.

The same text comes with every model call, so that each distinct one is read once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

import orjson

from aem_monitor.conventions.jsontext import parse, parse_nested, redacted, to_json
from aem_monitor.model.jsonvalue import JSON, Attributes, AttributeValue

MAX_TOOLS: Final = 256
MAX_SCHEMA_CHARS: Final = 64 * 1024
MAX_TEXT: Final = 512 * 1024
"""Bounds of one span's definitions. What agents have are some dozens of tools of some kilobytes."""

_REMEMBERED: Final = 128
_LISTS: Final = ("gen_ai.tool.definitions", "mlflow.chat.tools", "ai.prompt.tools", "model_request_parameters")
_FLAT: Final = "llm.tools.{}.tool.json_schema"
_FUNCTION: Final = "llm.request.functions.{}.{}"
_FUNCTION_SCHEMAS: Final = ("parameters", "input_schema")
_PARAMETERS: Final = "llm.invocation_parameters"
_OWN: Final = (
    ("gen_ai.tool.json_schema", "gen_ai.tool.name"),
    ("tool.json_schema", "tool.name"),
    ("tool.parameters", "tool.name"),
)
"""A tool span's schema and name. ``tool.parameters`` holds the arguments in some instrumentations."""
_IN_OBJECTS: Final = ("tools", "function_tools", "output_tools", "function_declarations", "functionDeclarations")
_SCHEMAS: Final = (
    *("parameters", "parameters_json_schema", "parametersJsonSchema", "input_schema", "inputSchema", "json_schema"),
    "custom_input_schema",
)
_REQUEST_MARKS: Final = ('"tools"', '\\"tools\\"')
_DEPTH: Final = 4


class Unread(StrEnum):
    """Why definitions, or some of them, were not read."""

    MALFORMED = "malformed"
    TOO_LARGE = "too_large"
    TOO_MANY = "too_many"


@dataclass(frozen=True, slots=True)
class StatedTool:
    """A tool as a span states it. ``name`` is whole, not split into tool and action.

    ``schema`` is the JSON Schema of its arguments as canonical JSON text, empty where none is said. ``read_only`` and
    ``destructive`` are the hints of the Model Context Protocol, None where nothing is said.
    """

    name: str
    schema: str = ""
    description: str = ""
    read_only: bool | None = None
    destructive: bool | None = None


@dataclass(frozen=True, slots=True)
class ToolDefinitions:
    """What one span states; ``unread``: why some of it is missing."""

    tools: tuple[StatedTool, ...] = ()
    unread: frozenset[Unread] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.tools or self.unread)


NO_TOOLS: Final = ToolDefinitions()


def tools_in_attributes(attributes: Attributes) -> ToolDefinitions:
    """The definitions of a span, from the first of its attributes that has any."""
    for name in _LISTS:
        if name in attributes:
            return tools_of(attributes[name])
    if _FLAT.format(0) in attributes:
        return _together([tools_of(value) for value in _numbered(attributes, _FLAT)])
    if _FUNCTION.format(0, "name") in attributes:
        return _functions(attributes)
    if _PARAMETERS in attributes:
        return tools_in_request(attributes[_PARAMETERS])
    for schema, name in _OWN:
        if schema in attributes and isinstance(attributes.get(name), str):
            return _own(attributes[schema], str(attributes[name]))
    return NO_TOOLS


def tools_of(value: AttributeValue) -> ToolDefinitions:
    """The definitions that a value holds and nothing else: a list, one definition, or an object of such lists."""
    if isinstance(value, str):
        if len(value) > MAX_TEXT:
            return ToolDefinitions(unread=frozenset({Unread.TOO_LARGE}))
        return _of_text(value)
    return NO_TOOLS if value is None else _of_value(to_json(value))


def tools_in_request(value: AttributeValue) -> ToolDefinitions:
    """The ``tools`` of a whole request, at its top or in its ``config``; a request without any says nothing."""
    if isinstance(value, str):
        if not any(mark in value for mark in _REQUEST_MARKS):
            return NO_TOOLS
        request = parse_nested(value).value
    else:
        request = to_json(value)
    config = request.get("config") if isinstance(request, Mapping) else None
    for holder in (request, config):
        tools = holder.get("tools") if isinstance(holder, Mapping) else None
        if isinstance(tools, Sequence) and not isinstance(tools, str) and tools:
            return _of_plain(list(tools))
    return NO_TOOLS


def _of_plain(value: JSON) -> ToolDefinitions:
    """The definitions of a value that is decoded already; equal ones are still read once."""
    text = _dumped(value)
    return tools_of(text) if text else ToolDefinitions(unread=frozenset({Unread.MALFORMED}))


def _dumped(value: JSON) -> str:
    """Canonical JSON text; empty for what JSON cannot hold (half a surrogate pair)."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS, default=str).decode()
    except TypeError:
        return ""


@lru_cache(maxsize=_REMEMBERED)
def _of_text(text: str) -> ToolDefinitions:
    if not text.strip() or redacted(text):
        return NO_TOOLS
    parsed = parse(text)
    if not parsed.is_json or parsed.truncated:
        # Of a text that was cut the last schema is half a schema, and half a schema forbids what the whole one allows.
        return ToolDefinitions(unread=frozenset({Unread.MALFORMED}))
    return _of_value(parsed.value)


def _of_value(value: JSON) -> ToolDefinitions:
    found: list[StatedTool] = []
    unread: set[Unread] = set()
    _collect(value, found, unread, _DEPTH)
    return ToolDefinitions(tuple(found), frozenset(unread))


def _collect(value: JSON, found: list[StatedTool], unread: set[Unread], depth: int) -> None:
    if isinstance(value, str) and depth:
        parsed = parse_nested(value)
        value = parsed.value if parsed.is_json and not parsed.truncated else None
    if isinstance(value, Mapping):
        inside = [value[key] for key in _IN_OBJECTS if isinstance(value.get(key), list | tuple)]
        if not inside:
            _add(value, found, unread)
        for part in inside if depth else ():
            _collect(part, found, unread, depth - 1)
    elif isinstance(value, Sequence) and not isinstance(value, str) and depth:
        for item in value:
            _collect(item, found, unread, depth - 1)
    elif value is not None or depth < _DEPTH:
        unread.add(Unread.MALFORMED)


def _add(value: Mapping[str, JSON], found: list[StatedTool], unread: set[Unread]) -> None:
    """Reads the forms of OpenAI (``function``), Anthropic, Gemini, Bedrock (``toolSpec``, ``inputSchema.json``) and MCP
    (``annotations``). A provider's own tool (``{"type": "web_search"}``) has no name, and no arguments either."""
    about = next((inner for key in ("function", "toolSpec") if isinstance(inner := value.get(key), Mapping)), value)
    name = about.get("name")
    if not isinstance(name, str) or not name:
        return
    if len(found) >= MAX_TOOLS:
        unread.add(Unread.TOO_MANY)
        return
    hints = about.get("annotations", value.get("annotations"))
    hints = hints if isinstance(hints, Mapping) else about
    description = about.get("description")
    found.append(
        StatedTool(
            name,
            _schema_text(next((about[key] for key in _SCHEMAS if about.get(key) is not None), None), unread),
            description if isinstance(description, str) else "",
            _hint(hints.get("readOnlyHint")),
            _hint(hints.get("destructiveHint")),
        )
    )


def _schema_text(schema: JSON, unread: set[Unread]) -> str:
    """The schema as canonical JSON text, empty where there is none, or none that can be used."""
    if isinstance(schema, str):
        parsed = parse_nested(schema)
        schema = None if parsed.truncated else parsed.value
    if isinstance(schema, Mapping) and isinstance(schema.get("json"), Mapping):
        schema = schema["json"]
    if schema is None:
        return ""
    if not isinstance(schema, Mapping):
        unread.add(Unread.MALFORMED)
        return ""
    text = _dumped(schema)
    if not text or len(text) > MAX_SCHEMA_CHARS:
        unread.add(Unread.TOO_LARGE if text else Unread.MALFORMED)
        return ""
    return text


def _hint(value: JSON) -> bool | None:
    return value if isinstance(value, bool) else None


def _numbered(attributes: Attributes, form: str) -> list[AttributeValue]:
    """The attributes of a numbered name, from 0 to the first that is missing."""
    found: list[AttributeValue] = []
    while len(found) < MAX_TOOLS and (value := attributes.get(form.format(len(found)))) is not None:
        found.append(value)
    return found


def _functions(attributes: Attributes) -> ToolDefinitions:
    found: list[StatedTool] = []
    unread: set[Unread] = set()
    for index, name in enumerate(_numbered(attributes, _FUNCTION.format("{}", "name"))):
        schemas = (attributes.get(_FUNCTION.format(index, key)) for key in _FUNCTION_SCHEMAS)
        schema = next((value for value in schemas if value is not None), None)
        description = to_json(attributes.get(_FUNCTION.format(index, "description")))
        stated = _of_plain({"name": to_json(name), "description": description, "parameters": to_json(schema)})
        found += stated.tools
        unread |= stated.unread
    return ToolDefinitions(tuple(found), frozenset(unread))


def _own(schema: AttributeValue, name: str) -> ToolDefinitions:
    plain = to_json(schema)
    plain = parse_nested(plain).value if isinstance(plain, str) else plain
    if not isinstance(plain, Mapping) or not isinstance(plain.get("properties"), Mapping):
        return NO_TOOLS
    return _of_plain({"name": name, "parameters": plain})


def _together(parts: Sequence[ToolDefinitions]) -> ToolDefinitions:
    tools = tuple(tool for part in parts for tool in part.tools)
    return ToolDefinitions(tools, frozenset(cause for part in parts for cause in part.unread))
