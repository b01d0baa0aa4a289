"""JSON values as they are written, without any form but their own."""

import math
from collections.abc import Mapping, Sequence
from typing import TypeGuard

from aem_monitor.golden.matchers import Tolerance
from aem_monitor.model.jsonvalue import JSON


def identical(a: JSON, b: JSON) -> bool:
    """Equal as JSON: 1 and 1.0 are equal, true and 1 are not."""
    if isinstance(a, bool) or isinstance(b, bool):
        return isinstance(a, bool) and isinstance(b, bool) and a == b
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(identical(value, b[key]) for key, value in a.items())
    if is_list(a) and is_list(b):
        return len(a) == len(b) and all(identical(x, y) for x, y in zip(a, b, strict=True))
    return a == b


def within(actual: JSON, expected: JSON, tolerance: Tolerance) -> bool:
    """Whether both are numbers, or texts that are written as one, and no further apart than the tolerance."""
    a, b = _number(actual), _number(expected)
    if a is None or b is None:
        return False
    distance = abs(a - b)
    slack = 1e-9 * max(abs(a), abs(b))  # 0.1 + 0.2 is within 0.3
    return (tolerance.abs is not None and distance <= tolerance.abs + slack) or (
        tolerance.rel is not None and distance <= tolerance.rel * abs(b) + slack
    )


def _number(value: JSON) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def is_list(value: JSON) -> TypeGuard[Sequence[JSON]]:
    """Whether a value is a JSON array."""
    return isinstance(value, Sequence) and not isinstance(value, str)
