"""What one message holds of one trace, as bytes that are an export request of their own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from aem_monitor.errors import TooLargeError
from aem_monitor.ingest.kafka_settings import Signal

Encoding: TypeAlias = Literal["otlp_proto", "otlp_json"]

_MOST_COPIES: Final = 4
"""How often over ``max_body_bytes`` the parts of a message may be: the resource stands in the part of each trace."""


@dataclass(frozen=True, slots=True)
class Link:
    """Where a span stands in its trace. ``parent_id`` is None for a root; ids are hexadecimal."""

    span_id: str
    parent_id: str | None


@dataclass(frozen=True, slots=True)
class Chunk:
    """All that a message of ``topic`` holds of one trace: an export request with ``items`` spans or log records.

    ``body`` has every byte of them, of their resource and scope, whether this version knows their meaning or not.
    """

    trace_id: str
    topic: str
    signal: Signal
    encoding: Encoding
    body: bytes
    items: int
    links: Sequence[Link] = ()


@dataclass(frozen=True, slots=True)
class Split:
    """A message by traces. ``nameless`` counts spans and log records without a usable trace id, which are left out."""

    chunks: Sequence[Chunk]
    nameless: int = 0


def check_size(size: int, max_body_bytes: int) -> None:
    """Raise TooLargeError for parts that are together far larger than any message: a bomb of tiny spans."""
    if size > _MOST_COPIES * max_body_bytes:
        raise TooLargeError(
            f"the message holds so many traces that its parts would be over {_MOST_COPIES * max_body_bytes} bytes; "
            "send smaller batches"
        )
