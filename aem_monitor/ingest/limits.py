"""Bounds on everything that comes from outside."""

from dataclasses import dataclass

from aem_monitor.errors import TooLargeError


@dataclass(frozen=True, slots=True)
class Limits:
    """What one request or message may cost.

    ``max_body_bytes`` counts after decompression; 64 MiB is what the OTLP specification recommends, and collectors
    do send more than gRPC's default of 4 MiB. ``max_spans`` bounds spans or log records of one body, in protobuf
    together with the resources and scopes around them; a body over it is refused: 64 MiB hold 32 million empty ones.

    The others bound one value; what is over them is cut and counted while the span stays. ``max_attribute_chars`` is
    the length of a string (bytes of a bytes value), ``max_depth`` the nesting of an attribute value,
    ``max_attributes`` the entries of one map or list, ``max_events`` the events of one span. Flattened conversations
    reach some thousand attributes, so these are far above the SDK's own bounds (128).
    """

    max_body_bytes: int = 64 * 2**20
    max_attribute_chars: int = 2**20
    max_depth: int = 64
    max_attributes: int = 8192
    max_events: int = 8192
    max_spans: int = 250_000


def check_body_size(size: int, limits: Limits) -> None:
    """Raise TooLargeError for a body over the limit."""
    if size > limits.max_body_bytes:
        raise TooLargeError(
            f"body of {size} bytes is over the limit of {limits.max_body_bytes}; "
            "send smaller batches or raise the limit"
        )


def check_item_count(count: int, limits: Limits, what: str) -> None:
    """Raise TooLargeError for a body of more spans or log records than the limit."""
    if count > limits.max_spans:
        raise TooLargeError(
            f"{count} {what} in one body are over the limit of {limits.max_spans}; "
            "send smaller batches or raise the limit"
        )
