"""JSON that every client can read."""

from typing import Any

from starlette.responses import JSONResponse, Response

from aem_monitor.strictjson import strict_json


class StrictJSONResponse(JSONResponse):
    """Escapes what is not ASCII (tools return lone surrogates) and writes numbers that JSON lacks as texts."""

    def render(self, content: Any) -> bytes:
        return strict_json(content).encode("ascii")


def error_response(status: int, reason: str, message: str, headers: dict[str, str] | None = None) -> Response:
    """The one form of an error."""
    return StrictJSONResponse({"error": {"reason": reason, "message": message}}, status_code=status, headers=headers)
