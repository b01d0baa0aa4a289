"""JSON that every client can read."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import JSONResponse


class StrictJSONResponse(JSONResponse):
    """Escapes what is not ASCII (tools return lone surrogates) and writes numbers that JSON lacks as texts."""

    def render(self, content: Any) -> bytes:
        try:
            text = json.dumps(content, allow_nan=False, separators=(",", ":"))
        except (ValueError, TypeError):
            text = json.dumps(_plain(content), allow_nan=False, separators=(",", ":"))
        return text.encode("ascii")


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(one) for one in value]
    return value
