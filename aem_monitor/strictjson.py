"""JSON that every reader takes, of whatever tools return."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any


def strict_json(value: Any) -> str:
    """ASCII text: lone surrogates are escaped, integers of any size kept, and numbers that JSON lacks are texts
    (``"nan"``, ``"inf"``)."""
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":"))
    except (ValueError, TypeError):
        return json.dumps(_plain(value), allow_nan=False, separators=(",", ":"))


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(one) for one in value]
    return value
