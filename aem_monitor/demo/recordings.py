"""The recorded export requests that the demo sends, and what is in them.

Where they come from says the README of the examples.
"""

import gzip
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from aem_monitor.examples import example_traces

ENVIRONMENT: Final = "deployment.environment.name"
CANARY: Final = "canary"
"""The resource attribute, and its value, by which canary traffic can be told from that of customers."""

_CONVERSATION: Final = "session.id"
_DIALOG: Final = "aem.dialog.id"
_MODEL: Final = "gen_ai.request.model"
_TIMES: Final = ("startTimeUnixNano", "endTimeUnixNano", "timeUnixNano")

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Recording:
    """Everything one release was recorded to export.

    ``requests`` are OTLP JSON export requests, of each dialog in the order in which they were sent. ``canaries`` and
    ``customers`` are conversation ids; ``named`` are those canaries whose spans name the golden dialog that they play.
    ``last_ns`` is the end of the last span.
    """

    agent: str
    release: str
    models: tuple[str, ...]
    requests: tuple[bytes, ...]
    spans: int
    canaries: frozenset[str]
    named: frozenset[str]
    customers: frozenset[str]
    last_ns: int


def recordings() -> tuple[Recording, ...]:
    """The recordings that ship with aem-monitor, a release each, in order of the releases."""
    folders = sorted(folder for folder in example_traces().iterdir() if folder.is_dir())
    return tuple(_read([gzip.decompress(path.read_bytes()) for path in sorted(folder.iterdir())]) for folder in folders)


def _read(files: Sequence[bytes]) -> Recording:
    requests = tuple(line for lines in files for line in lines.splitlines() if line)
    agent = release = ""
    models: dict[str, None] = {}
    spans, last_ns = 0, 0
    canaries: set[str] = set()
    customers: set[str] = set()
    named: set[str] = set()
    for resource, span in _spans(requests):
        agent, release = resource["service.name"], resource["service.version"]
        attributes = _texts(span["attributes"])
        spans += 1
        last_ns = max(last_ns, int(span["endTimeUnixNano"]))
        conversation = attributes[_CONVERSATION]
        (canaries if resource.get(ENVIRONMENT) == CANARY else customers).add(conversation)
        if _DIALOG in attributes:
            named.add(conversation)
        if _MODEL in attributes:
            models[attributes[_MODEL]] = None
    return Recording(
        agent,
        release,
        tuple(models),
        requests,
        spans,
        frozenset(canaries),
        frozenset(named),
        frozenset(customers),
        last_ns,
    )


def _spans(requests: Sequence[bytes]) -> Iterator[tuple[Mapping[str, str], Json]]:
    """Every span with the attributes of its resource."""
    for request in requests:
        for resource_spans in orjson.loads(request)["resourceSpans"]:
            resource = _texts(resource_spans["resource"]["attributes"])
            for scope_spans in resource_spans["scopeSpans"]:
                for span in scope_spans["spans"]:
                    yield resource, span


def _texts(attributes: Sequence[Json]) -> dict[str, str]:
    return {entry["key"]: entry["value"]["stringValue"] for entry in attributes if "stringValue" in entry["value"]}


def moved(request: bytes, by_ns: int) -> bytes:
    """An export request with all its times later by ``by_ns`` nanoseconds.

    Only for machines whose clock is behind the recordings: spans from the future hold event time back.
    """

    def move(value: Any) -> Any:
        if isinstance(value, list):
            return [move(item) for item in value]
        if isinstance(value, dict):
            return {
                key: str(int(item) + by_ns) if key in _TIMES and isinstance(item, str) else move(item)
                for key, item in value.items()
            }
        return value

    return orjson.dumps(move(orjson.loads(request)))
