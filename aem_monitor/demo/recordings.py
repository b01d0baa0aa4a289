"""The recorded export requests that the demo sends, and what is in them.

Where they come from says the README of the examples.
"""

import gzip
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
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
_IDS: Final = ("traceId", "spanId", "parentSpanId")

Json = Mapping[str, Any]
_Rules = Mapping[str, Callable[[str], str]]
"""By the key of a field, what becomes of its text."""


@dataclass(frozen=True, slots=True)
class Part:
    """All of one golden dialog, or of customers: OTLP JSON export requests in the order in which they were sent, and
    the end of their last span."""

    requests: tuple[bytes, ...]
    last_ns: int


@dataclass(frozen=True, slots=True)
class Recording:
    """Everything one release was recorded to export.

    ``canaries`` and ``customers`` are conversation ids; ``named`` are those canaries whose spans name the golden dialog
    that they play.
    """

    agent: str
    release: str
    models: tuple[str, ...]
    parts: tuple[Part, ...]
    spans: int
    canaries: frozenset[str]
    named: frozenset[str]
    customers: frozenset[str]

    @property
    def requests(self) -> tuple[bytes, ...]:
        """The export requests of all parts."""
        return tuple(request for part in self.parts for request in part.requests)

    @property
    def last_ns(self) -> int:
        """The end of the last span."""
        return max(part.last_ns for part in self.parts)


def recordings() -> tuple[Recording, ...]:
    """The recordings that ship with aem-monitor, a release each, in order of the releases."""
    folders = sorted(folder for folder in example_traces().iterdir() if folder.is_dir())
    return tuple(_read([gzip.decompress(path.read_bytes()) for path in sorted(folder.iterdir())]) for folder in folders)


def _read(files: Sequence[bytes]) -> Recording:
    parts = tuple(_part(lines) for lines in files)
    agent = release = ""
    models: dict[str, None] = {}
    spans = 0
    canaries: set[str] = set()
    customers: set[str] = set()
    named: set[str] = set()
    for resource, span in _spans([request for part in parts for request in part.requests]):
        agent, release = resource["service.name"], resource["service.version"]
        attributes = _texts(span["attributes"])
        spans += 1
        conversation = attributes[_CONVERSATION]
        (canaries if resource.get(ENVIRONMENT) == CANARY else customers).add(conversation)
        if _DIALOG in attributes:
            named.add(conversation)
        if _MODEL in attributes:
            models[attributes[_MODEL]] = None
    return Recording(
        agent, release, tuple(models), parts, spans, frozenset(canaries), frozenset(named), frozenset(customers)
    )


def _part(lines: bytes) -> Part:
    requests = tuple(line for line in lines.splitlines() if line)
    return Part(requests, max(int(span["endTimeUnixNano"]) for _, span in _spans(requests)))


def _spans(requests: Sequence[bytes]) -> Iterator[tuple[Mapping[str, str], Json]]:
    """Every span with the attributes of its resource."""
    for request in requests:
        yield from _spans_of(orjson.loads(request))


def _spans_of(body: Json) -> Iterator[tuple[Mapping[str, str], Json]]:
    for resource_spans in body["resourceSpans"]:
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
    return orjson.dumps(_changed(orjson.loads(request), _later(by_ns)))


def played_again(request: bytes, play: int, by_ns: int) -> bytes:
    """An export request as another play of the same conversations would have it: all times later by ``by_ns``
    nanoseconds, conversation, trace and span ids that no other ``play`` (a number) has."""

    def another(text: str) -> str:
        # As long as it was: 32 or 16 hexadecimal digits. A root span's parent is empty.
        return hashlib.sha256(f"{play} {text}".encode()).hexdigest()[: len(text)]

    rules = {**_later(by_ns), **dict.fromkeys(_IDS, another)}
    body = _changed(orjson.loads(request), rules)
    for _, span in _spans_of(body):
        for attribute in span["attributes"]:
            if attribute["key"] == _CONVERSATION:
                attribute["value"]["stringValue"] += f".{play}"
    return orjson.dumps(body)


def _later(by_ns: int) -> _Rules:
    return dict.fromkeys(_TIMES, lambda text: str(int(text) + by_ns))


def _changed(value: Any, rules: _Rules) -> Any:
    if isinstance(value, list):
        return [_changed(item, rules) for item in value]
    if isinstance(value, dict):
        return {
            key: rules[key](item) if key in rules and isinstance(item, str) else _changed(item, rules)
            for key, item in value.items()
        }
    return value
