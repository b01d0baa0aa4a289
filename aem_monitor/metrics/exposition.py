"""The two text formats that a scraper may ask for."""

from collections.abc import Callable
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics

# Neither generator is fully annotated.
_generate_text: Callable[[CollectorRegistry], bytes] = generate_latest
_generate_openmetrics: Callable[[CollectorRegistry], bytes] = generate_openmetrics

_OPENMETRICS: Final = "application/openmetrics-text"
_TEXT: Final = ("text/plain", "text/*", "*/*")


def expose(registry: CollectorRegistry, accept: str | None) -> tuple[bytes, str]:
    """The metrics and their content type, in the format that ``accept`` (an HTTP Accept header) prefers.

    OpenMetrics 1.0 is the format with exemplars and is given to whoever asks for it in version 1 or any. Version 2 is
    not offered: prometheus_client answers such a request with a body of version 1 under the name of version 2.
    """
    if _wants_openmetrics(accept or ""):
        return _generate_openmetrics(registry), CONTENT_TYPE_LATEST
    return _generate_text(registry), CONTENT_TYPE_PLAIN_0_0_4


def _wants_openmetrics(accept: str) -> bool:
    openmetrics = text = 0.0
    for entry in accept.split(","):
        media, *rest = (part.strip().lower() for part in entry.split(";"))
        parameters = dict(part.split("=", 1) for part in rest if "=" in part)
        quality = _quality(parameters.get("q", "1"))
        version = parameters.get("version", "1.0.0").strip('"')
        if media == _OPENMETRICS and version.split(".")[0] == "1":
            openmetrics = max(openmetrics, quality)
        elif media in _TEXT:
            text = max(text, quality)
    return openmetrics > 0 and openmetrics >= text


def _quality(text: str) -> float:
    try:
        quality = float(text)
    except ValueError:
        return 0.0
    # A comparison with NaN is false, so that it counts as 0 too.
    return quality if 0 <= quality <= 1 else 0.0
