"""Messages as the OpenTelemetry Collector's Kafka exporter writes them.

``otlp_proto`` is the protobuf of an export request, ``otlp_json`` its JSON mapping as OTLP defines it: ids in
hexadecimal, enumerations as integers, 64-bit integers as strings (opentelemetry-proto, "JSON Protobuf Encoding").
"""

import base64
import json
from collections.abc import Sequence
from typing import Any

from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan

_IDS = ("traceId", "spanId", "parentSpanId")


def otlp_proto(spans: Sequence[ReadableSpan]) -> bytes:
    """One message of encoding ``otlp_proto``."""
    return bytes(encode_spans(spans).SerializeToString())


def otlp_json(spans: Sequence[ReadableSpan]) -> bytes:
    """One message of encoding ``otlp_json``."""
    request = MessageToDict(encode_spans(spans), use_integers_for_enums=True)
    _hexadecimal_ids(request)
    return json.dumps(request, separators=(",", ":")).encode()


def _hexadecimal_ids(node: Any) -> None:
    if isinstance(node, list):
        for item in node:
            _hexadecimal_ids(item)
    elif isinstance(node, dict):
        for key, value in node.items():
            if key in _IDS:
                node[key] = _from_base64(value)
            else:
                _hexadecimal_ids(value)


def _from_base64(text: str) -> str:
    return base64.b64decode(text).hex()
