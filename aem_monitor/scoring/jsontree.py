"""Walking JSON values by path, through texts that hold JSON."""

from collections.abc import Mapping, Sequence

import orjson

from aem_monitor.golden.reference import JSONPath
from aem_monitor.model.conversation import NOT_CAPTURED, Captured
from aem_monitor.model.jsonvalue import JSON

_DEEPEST_TEXT = 3
"""How often a text that holds JSON is opened on the way: tools return JSON as text, and frameworks wrap it again."""


def step_into(value: JSON, path: JSONPath) -> Captured:
    """The value at ``path``, or ``NOT_CAPTURED`` where the path leads nowhere."""
    value = opened(value)
    for step in path:
        if not _leads_somewhere(value, step):
            return NOT_CAPTURED
        value = opened(value[step])  # type: ignore[index]
    return value


def _leads_somewhere(value: JSON, step: str | int) -> bool:
    if isinstance(step, str):
        return isinstance(value, Mapping) and step in value
    return isinstance(value, Sequence) and not isinstance(value, str) and step < len(value)


def opened(value: JSON) -> JSON:
    """``value``, or the object or list that it is as JSON text."""
    for _ in range(_DEEPEST_TEXT):
        if not isinstance(value, str) or value.lstrip()[:1] not in {"{", "["}:
            return value
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            return value
    return value
