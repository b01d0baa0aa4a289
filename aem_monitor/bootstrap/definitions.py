"""What spans say about the tools that an agent has: names, descriptions, parameters, annotations."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from aem_monitor.model.jsonvalue import JSON, AttributeValue
from aem_monitor.model.span import Span

_LISTS: Final = ("gen_ai.tool.definitions", "mlflow.chat.tools", "ai.prompt.tools")
"""Attributes that hold all definitions: as JSON text, or a list of JSON texts."""

_MOST: Final = 1_000


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as its agent knows it. ``name`` is whole, not split into tool and action.

    ``read_only`` and ``destructive`` are the hints of the Model Context Protocol (``readOnlyHint``,
    ``destructiveHint``), None where nothing is said. ``parameters`` maps argument names to their JSON Schemas;
    ``required`` is None where no schema is known.
    """

    name: str
    description: str = ""
    read_only: bool | None = None
    destructive: bool | None = None
    parameters: Mapping[str, JSON] = field(default_factory=dict)
    required: frozenset[str] | None = None

    def defaults(self) -> dict[str, JSON]:
        """The arguments that may be left out and have a default."""
        if self.required is None:
            return {}
        return {
            name: schema["default"]
            for name, schema in self.parameters.items()
            if name not in self.required and isinstance(schema, Mapping) and "default" in schema
        }


def definitions_in(spans: Iterable[Span]) -> dict[str, ToolDefinition]:
    """The definitions by name; of several the one that says most stands."""
    found: dict[str, ToolDefinition] = {}
    for span in spans:
        for value in _values(span.attributes):
            definition = _definition(value)
            if definition is None or len(found) >= _MOST:
                continue
            known = found.get(definition.name)
            if known is None or _says(definition) > _says(known):
                found[definition.name] = definition
    return found


def _says(definition: ToolDefinition) -> int:
    hints = (definition.read_only is not None) + (definition.destructive is not None)
    return 4 * hints + 2 * bool(definition.parameters) + bool(definition.description)


def _values(attributes: Mapping[str, AttributeValue]) -> Iterator[JSON]:
    for name in _LISTS:
        value = attributes.get(name)
        listed = _read(value)
        yield from (_read(item) for item in listed) if isinstance(listed, list | tuple) else ()
    for index in range(_MOST):
        schema: AttributeValue = attributes.get(f"llm.tools.{index}.tool.json_schema")
        called: AttributeValue = attributes.get(f"llm.request.functions.{index}.name")
        if schema is None and called is None:
            break
        if schema is not None:
            yield _read(schema)
        if isinstance(called, str):
            about = {
                part: attributes.get(f"llm.request.functions.{index}.{part}") for part in ("description", "parameters")
            }
            yield {"name": called, "description": _read(about["description"]), "parameters": _read(about["parameters"])}


def _read(value: AttributeValue) -> JSON:
    """JSON text decoded; what is no JSON stays as it is, bytes say nothing."""
    if isinstance(value, bytes):
        return None
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            decoded: JSON = json.loads(value)
        except (ValueError, RecursionError):
            return value
        return decoded
    return value


def _definition(value: JSON) -> ToolDefinition | None:
    """Reads the forms of OpenAI (``function``), Anthropic, Bedrock (``inputSchema.json``) and MCP (``annotations``)."""
    if not isinstance(value, Mapping):
        return None
    inner = value.get("function")
    about = inner if isinstance(inner, Mapping) else value
    name = about.get("name")
    if not isinstance(name, str) or not name:
        return None
    hints = about.get("annotations", value.get("annotations"))
    hints = hints if isinstance(hints, Mapping) else about
    schema = next(
        (about[key] for key in ("parameters", "input_schema", "inputSchema", "json_schema") if key in about), None
    )
    if isinstance(schema, Mapping) and isinstance(schema.get("json"), Mapping):
        schema = schema["json"]
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    required = schema.get("required", ()) if isinstance(schema, Mapping) else ()
    description = about.get("description")
    return ToolDefinition(
        name=name,
        description=description if isinstance(description, str) else "",
        read_only=_hint(hints.get("readOnlyHint")),
        destructive=_hint(hints.get("destructiveHint")),
        parameters=properties if isinstance(properties, Mapping) else {},
        required=frozenset(item for item in required if isinstance(item, str))
        if isinstance(properties, Mapping) and isinstance(required, Sequence)
        else None,
    )


def _hint(value: JSON) -> bool | None:
    return value if isinstance(value, bool) else None
