"""From the value of one Kafka message to agent telemetry."""

from collections.abc import Callable, Mapping
from typing import Final, Literal, TypeAlias

from aem_monitor.errors import DecodeError
from aem_monitor.ingest.batch import Decoded
from aem_monitor.ingest.causes import Refused
from aem_monitor.ingest.kafka_settings import KafkaTopic, Signal
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.otlp_json import decode_logs_json, decode_traces_json
from aem_monitor.ingest.otlp_proto import decode_logs_proto, decode_traces_proto
from aem_monitor.ingest.prefilter import Prefilter

_Decode: TypeAlias = Callable[[bytes, Limits, Prefilter], Decoded]
_KnownEncoding: TypeAlias = Literal["otlp_proto", "otlp_json"]

_DECODERS: Final[Mapping[tuple[Signal, _KnownEncoding], _Decode]] = {
    ("traces", "otlp_proto"): decode_traces_proto,
    ("traces", "otlp_json"): decode_traces_json,
    ("logs", "otlp_proto"): decode_logs_proto,
    ("logs", "otlp_json"): decode_logs_json,
}


def sniff(value: bytes) -> _KnownEncoding:
    """The OTLP encoding of a message, by its first byte.

    ``{`` (and the byte order mark of UTF-8) cannot begin an OTLP protobuf message: as a tag it would be a group of
    field 15, which OTLP does not have. Leading white space is no hint, since a newline is also the tag of field 1.

    Raises:
        DecodeError: a JSON array, which is Zipkin's encoding and not OTLP (``unsupported_encoding``).
    """
    first = value[:1]
    if first in (b"{", b"\xef"):
        return "otlp_json"
    if first == b"[":
        raise DecodeError(
            "a JSON array is not OTLP (zipkin_json?); set the exporter's encoding to otlp_proto or otlp_json",
            reason=Refused.UNSUPPORTED_ENCODING,
        )
    return "otlp_proto"


def decode_message(value: bytes | None, topic: KafkaTopic, limits: Limits, keep: Prefilter) -> Decoded:
    """Decode one message of a topic; a message without a value (a tombstone) holds nothing.

    Raises:
        DecodeError: the value is not what the topic should hold.
    """
    if value is None:
        return Decoded()
    encoding = sniff(value) if topic.encoding == "auto" else topic.encoding
    return _DECODERS[topic.signal, encoding](value, limits, keep)
