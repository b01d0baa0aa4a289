"""What spans say about the tools that an agent has: names, descriptions, parameters, annotations."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from aem_monitor.conventions.registry import registry
from aem_monitor.conventions.tooldefinitions import StatedTool
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.span import Span

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
    conventions = registry()
    for span in spans:
        reading = conventions.read(span)
        for stated in reading.tools.tools if reading is not None else ():
            if len(found) >= _MOST and stated.name not in found:
                continue
            definition = _definition(stated)
            known = found.get(definition.name)
            if known is None or _says(definition) > _says(known):
                found[definition.name] = definition
    return found


def _says(definition: ToolDefinition) -> int:
    hints = (definition.read_only is not None) + (definition.destructive is not None)
    return 4 * hints + 2 * bool(definition.parameters) + bool(definition.description)


def _definition(stated: StatedTool) -> ToolDefinition:
    schema = json.loads(stated.schema) if stated.schema else {}
    properties, required = schema.get("properties"), schema.get("required", ())
    known = isinstance(properties, Mapping) and isinstance(required, Sequence)
    return ToolDefinition(
        name=stated.name,
        description=stated.description,
        read_only=stated.read_only,
        destructive=stated.destructive,
        parameters=properties if isinstance(properties, Mapping) else {},
        required=frozenset(item for item in required if isinstance(item, str)) if known else None,
    )
