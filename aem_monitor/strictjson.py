"""JSON that every reader takes, of whatever tools return."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import orjson


def strict_json(value: Any) -> str:
    """ASCII text: lone surrogates are escaped, integers of any size kept, and numbers that JSON lacks are texts
    (``"nan"``, ``"inf"``)."""
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":"))
    except (ValueError, TypeError):
        return json.dumps(_plain(value), allow_nan=False, separators=(",", ":"))


def json_bytes(value: Any, option: int | None = None) -> bytes:
    """What orjson writes, also of integers over 64 bits and of halves of characters, which it refuses; of anything else
    its ``repr``. Such integers come from arguments and results that were cut."""
    try:
        return orjson.dumps(value, option=option, default=repr)
    except TypeError:
        return json.dumps(value, sort_keys=bool((option or 0) & orjson.OPT_SORT_KEYS), default=repr).encode("ascii")


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(one) for one in value]
    return value
