"""Spans and log records as they arrive, decoded from OTLP and not yet interpreted.

Field meanings follow the OpenTelemetry protocol (opentelemetry-proto ``trace.proto`` and ``logs.proto``). Times are
nanoseconds since the Unix epoch, ids are lower-case hexadecimal.
"""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

from aem_monitor.model.jsonvalue import Attributes, AttributeValue

_PARENT_REMOTENESS_KNOWN: Final = 0x100
_PARENT_IS_REMOTE: Final = 0x200


def parent_is_remote(flags: int) -> bool | None:
    """What ``Span.flags`` says of the parent (``SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK``, ``..IS_REMOTE_MASK``)."""
    return bool(flags & _PARENT_IS_REMOTE) if flags & _PARENT_REMOTENESS_KNOWN else None


class StatusCode(IntEnum):
    """``Status.StatusCode`` of the OTLP trace protocol."""

    UNSET = 0
    OK = 1
    ERROR = 2


@dataclass(frozen=True, slots=True)
class Resource:
    """The entity that produced the telemetry; shared by all spans of one ResourceSpans block."""

    attributes: Attributes = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scope:
    """The instrumentation scope; its name is the best hint at the convention in use."""

    name: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """A timed event on a span."""

    name: str
    time_ns: int
    attributes: Attributes = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Span:
    """One span. ``parent_span_id`` is None for a root (missing, empty or all zeros on the wire).

    ``dropped`` counts attributes and events that the producer says it dropped; a span with more of them is less
    complete than its twin. ``parent_remote`` says whether the parent came from another process over the wire; None when
    the producer does not tell (SDKs before 2024 did not) and for a root.
    """

    trace_id: str
    span_id: str
    parent_span_id: str | None
    name: str
    kind: int
    start_ns: int
    end_ns: int
    attributes: Attributes
    events: tuple[SpanEvent, ...]
    status_code: StatusCode
    status_message: str
    resource: Resource
    scope: Scope
    dropped: int = 0
    parent_remote: bool | None = None

    @property
    def key(self) -> tuple[str, str]:
        """What identifies a span: (trace id, span id)."""
        return self.trace_id, self.span_id


@dataclass(frozen=True, slots=True)
class LogRecord:
    """A log record that belongs to a span; instrumentations put message contents here instead of on the span.

    ``event_name`` is the record's ``eventName`` or its ``event.name`` attribute, empty if it has neither.
    """

    trace_id: str
    span_id: str
    time_ns: int
    event_name: str
    body: AttributeValue
    attributes: Attributes
    resource: Resource
    scope: Scope
