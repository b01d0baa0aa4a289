"""A decoded YAML or JSON file that still knows where each of its values stands."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from aem_monitor.model.jsonvalue import JSON

KeyPath: TypeAlias = tuple[str | int, ...]
"""Keys and list indexes from the root of a document to a value."""


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
        """The part of ``path`` that exists in the file; components a validator added (union tags) are skipped."""
        known: KeyPath = ()
        for component in path:
            candidate = (*known, component)
            if candidate in self.lines or any(origin[: len(candidate)] == candidate for origin in self.origins):
                known = candidate
        return known

    def line(self, path: KeyPath) -> int:
        """Line of ``path``, or of the nearest enclosing value that the file has."""
        return self.lines.get(self.locate(path), 1)

    def where(self, path: KeyPath) -> str:
        """``file:line`` of a path, or the name of the other place its value came from."""
        known = self.locate(path)
        for length in range(len(known), 0, -1):
            if known[:length] in self.origins:
                return self.origins[known[:length]]
        return f"{self.name}:{self.lines.get(known, 1)}"

    def with_origins(self, value: JSON, origins: Mapping[KeyPath, str]) -> "Document":
        """The same document with ``value`` in place, parts of which come from ``origins``."""
        return replace(self, value=value, origins={**self.origins, **origins})


def key_path(path: KeyPath) -> str:
    """A path as people write it: ``turns[2].gold_turn.args``."""
    text = ""
    for component in path:
        if isinstance(component, int):
            text += f"[{component}]"
        else:
            text += f".{component}" if text else component
    return text
