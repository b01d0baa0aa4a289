"""Nested lists and objects that were flattened into attribute names: ``llm.input_messages.0.message.role``."""

from collections.abc import Mapping
from typing import TypeAlias

from aem_monitor.conventions.jsontext import MAX_DEPTH, to_json
from aem_monitor.model.jsonvalue import JSON, Attributes

_Tree: TypeAlias = "dict[str, _Tree | JSON]"


def unflatten(attributes: Attributes, prefix: str) -> JSON:
    """The value below ``prefix``: objects whose keys are all numbers become lists in numeric order.

    None without any attribute below the prefix. The order of attributes is arbitrary; numbers may have gaps, since
    count limits drop attributes.
    """
    root: _Tree = {}
    start = prefix + "."
    for name in sorted(attributes):
        if name.startswith(start):
            _insert(root, name[len(start) :].split(".")[:MAX_DEPTH], to_json(attributes[name]))
    return _folded(root) if root else None


class _Branch(dict[str, "_Branch | JSON"]):
    """An inner node, told from a value that is an object itself."""


def _insert(root: _Tree, path: list[str], value: JSON) -> None:
    node = root
    for key in path[:-1]:
        below = node.get(key)
        if not isinstance(below, _Branch):
            below = _Branch()
            node[key] = below
        node = below
    if not isinstance(node.get(path[-1]), _Branch):
        node[path[-1]] = value


def _folded(node: Mapping[str, "_Tree | JSON"]) -> JSON:
    items = {key: _folded(item) if isinstance(item, _Branch) else item for key, item in node.items()}
    if items and all(key.isascii() and key.isdigit() and len(key) <= 9 for key in items):
        return [items[key] for key in sorted(items, key=int)]
    return items
