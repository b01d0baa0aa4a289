"""One export request as it came over the wire."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from aem_monitor.errors import DecodeError
from aem_monitor.ingest.batch import Decoded
from aem_monitor.ingest.inflate import gunzip
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.otlp_json import decode_logs_json, decode_traces_json
from aem_monitor.ingest.otlp_proto import decode_logs_proto, decode_traces_proto
from aem_monitor.ingest.otlp_reply import ContentType
from aem_monitor.ingest.prefilter import Prefilter

Signal: TypeAlias = Literal["traces", "logs"]

_DECODERS: Final[Mapping[tuple[Signal, ContentType], Callable[[bytes, Limits, Prefilter], Decoded]]] = {
    ("traces", ContentType.PROTOBUF): decode_traces_proto,
    ("traces", ContentType.JSON): decode_traces_json,
    ("logs", ContentType.PROTOBUF): decode_logs_proto,
    ("logs", ContentType.JSON): decode_logs_json,
}


@dataclass(frozen=True, slots=True)
class OtlpRequest:
    """What was exported and by whom. ``source`` is the input's name, ``peer`` the sender's address without port."""

    source: str
    peer: str
    signal: Signal
    content_type: ContentType
    zipped: bool
    body: bytes

    def decode(self, limits: Limits, keep: Prefilter) -> Decoded:
        """The agent telemetry in it. Raises ``DecodeError``, ``TooLargeError`` for what is over the limits."""
        body = gunzip(self.body, limits.max_body_bytes) if self.zipped else self.body
        return replace(_DECODERS[self.signal, self.content_type](body, limits, keep), size=len(body))

    def head(self) -> bytes:
        """All but the body, for the journal."""
        described = {
            "source": self.source,
            "peer": self.peer,
            "signal": self.signal,
            "type": self.content_type,
            "gzip": self.zipped,
        }
        return json.dumps(described).encode()


def journalled_request(head: bytes, body: bytes) -> OtlpRequest:
    """The request that ``head`` described. Raises ``DecodeError`` for a description that no version has written."""
    try:
        described = json.loads(head)
        signal: Signal = "logs" if described["signal"] == "logs" else "traces"
        return OtlpRequest(
            str(described["source"]),
            str(described["peer"]),
            signal,
            ContentType(described["type"]),
            bool(described["gzip"]),
            body,
        )
    except (ValueError, KeyError, TypeError) as error:
        raise DecodeError(f"a record of the journal does not say what it is: {error!r}") from error
