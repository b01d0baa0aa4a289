"""Tool and agent names: the same name is spelled differently by model, framework and protocol."""

import re
from typing import Final

_SEPARATORS: Final = re.compile(r"[^0-9a-z]+")
_HANDOFF: Final = re.compile(r"^(?:transfer|handoff|hand_off|delegate)(?:_to)?_(.+)$")


def folded(name: str) -> str:
    """Case and separators folded: a model sees ``shop-lookup_order`` where the tool span says ``shop.lookup_order``."""
    return _SEPARATORS.sub("_", name.lower()).strip("_")


def same_tool(one: str, other: str) -> bool:
    """Equal names, or one is the other behind a prefix (``functions.lookup_order``, ``mcp__shop__lookup_order``)."""
    first, second = folded(one), folded(other)
    if first == second:
        return True
    return bool(first) and bool(second) and (first.endswith("_" + second) or second.endswith("_" + first))


def handoff_target(tool: str) -> str | None:
    """The agent that a hand-off tool's name speaks of: ``transfer_to_flights_agent`` gives ``flights_agent``."""
    match = _HANDOFF.match(folded(tool))
    return match.group(1) if match else None
