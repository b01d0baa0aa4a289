"""A decoded YAML or JSON file that still knows where each of its values stands."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from aem_monitor.model.jsonvalue import JSON

KeyPath: TypeAlias = tuple[str | int, ...]
"""Keys and list indexes from the root of a document to a value."""

_SHOWN_KEY = 80


@dataclass(frozen=True, slots=True)
class Document:
    """A decoded file. ``lines`` holds the 1-based line of every key path; of a mapping's member, that of its key.

    ``origins`` names another place for a path and all below it, where a value did not come from the file.
    """

    name: str
    value: JSON
    lines: Mapping[KeyPath, int] = field(default_factory=dict)
    origins: Mapping[KeyPath, str] = field(default_factory=dict)

    def locate(self, path: KeyPath) -> KeyPath:
        """The part of ``path`` that exists; components a validator added (union tags) are skipped."""
        known: KeyPath = ()
        value: Any = self.value
        for component in path:
            in_mapping = isinstance(value, dict) and component in value
            in_list = isinstance(value, list) and isinstance(component, int) and 0 <= component < len(value)
            if in_mapping or in_list:
                known = (*known, component)
                value = value[component]
        return known

    def line(self, path: KeyPath) -> int:
        """Line of ``path``, or of the nearest enclosing value that the file has."""
        known = self.locate(path)
        return next((self.lines[known[:end]] for end in range(len(known), -1, -1) if known[:end] in self.lines), 1)

    def where(self, path: KeyPath) -> str:
        """``file:line`` of a path, or the name of the other place its value came from."""
        known = self.locate(path)
        for length in range(len(known), 0, -1):
            if known[:length] in self.origins:
                return self.origins[known[:length]]
        return f"{self.name}:{self.line(known)}"

    def with_origins(self, value: JSON, origins: Mapping[KeyPath, str]) -> "Document":
        """The same document with ``value`` in place, parts of which come from ``origins``."""
        return replace(self, value=value, origins={**self.origins, **origins})


def key_path(path: KeyPath) -> str:
    """A path as people write it: ``turns[2].gold_turn.args``; on one line and of bounded length whatever its keys."""
    text = ""
    for component in path:
        if isinstance(component, int):
            text += f"[{component}]"
            continue
        key = component if len(component) <= _SHOWN_KEY else f"{component[:_SHOWN_KEY]}..."
        if not key or not key.isprintable():
            text += f"[{json.dumps(key)}]"
        else:
            text += f".{key}" if text else key
    return text
