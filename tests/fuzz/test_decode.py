"""Any damage to a real request is decoded as far as it goes or refused, and nothing is lost without being counted."""

import copy
from typing import Any, Final

from hypothesis import given
from hypothesis import strategies as st

from aem_monitor.errors import DecodeError
from aem_monitor.ingest.batch import Decoded
from aem_monitor.ingest.causes import Refused
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.otlp_json import decode_json
from aem_monitor.ingest.otlp_proto import decode_logs_proto, decode_traces_proto
from tests.assembly.recordings import recordings
from tests.end_to_end.requests import Request, encoded_json, encoded_proto, recording
from tests.fuzz.budget import fuzzing
from tests.fuzz.hostile import json_values
from tests.fuzz.test_conventions import KEEP, use

RECORDINGS: Final = [recording(path) for path in recordings()]
REQUESTS: Final[list[Request]] = [request for one in RECORDINGS for request in (*one.traces, *one.logs)]
BODIES: Final = [(encoded_proto(request), "resourceLogs" in request) for request in REQUESTS]
CAUSES: Final = {str(cause) for cause in Refused}

requests = st.sampled_from(REQUESTS)


def check(body: bytes, decode: Any) -> None:
    decoded: Decoded | str
    try:
        decoded = decode(body, Limits(), KEEP)
    except DecodeError as error:
        decoded = error.reason
    if isinstance(decoded, str):
        assert decoded in CAUSES
        return
    assert len(decoded.spans) + sum(decoded.skipped.values()) == decoded.seen_spans
    assert len(decoded.logs) + sum(decoded.skipped_logs.values()) == decoded.seen_logs
    use(decoded)


def places_in(value: Any) -> list[tuple[Any, Any]]:
    """Every (holder, key) of a document."""
    found: list[tuple[Any, Any]] = []
    stack = [value]
    while stack:
        holder = stack.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
        for key in keys:
            found.append((holder, key))
            stack.append(holder[key])
    return found


@fuzzing
@given(requests, st.data())
def test_any_part_of_a_document_may_be_anything(request: Request, data: st.DataObject) -> None:
    document = copy.deepcopy(request)
    places = places_in(document)
    for holder, key in data.draw(st.lists(st.sampled_from(places), min_size=1, max_size=4)):
        holder[key] = data.draw(json_values)
    check(encoded_json(document), decode_json)


def damaged(body: bytes, data: st.DataObject) -> bytes:
    """The bytes with pieces overwritten, taken out, put in or cut off."""
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, max(0, len(body) - 1)))
        size = data.draw(st.integers(0, 8))
        body = body[:at] + data.draw(st.binary(max_size=8)) + body[at + size :]
    return body[: data.draw(st.integers(0, len(body)))] if data.draw(st.booleans()) else body


@fuzzing
@given(st.sampled_from(BODIES), st.data())
def test_damaged_protobuf(body: tuple[bytes, bool], data: st.DataObject) -> None:
    message, logs = body
    check(damaged(message, data), decode_logs_proto if logs else decode_traces_proto)


@fuzzing
@given(requests, st.data())
def test_damaged_json(request: Request, data: st.DataObject) -> None:
    check(damaged(encoded_json(request), data), decode_json)


@fuzzing
@given(st.sampled_from(BODIES))
def test_one_signal_read_as_the_other(body: tuple[bytes, bool]) -> None:
    message, logs = body
    check(message, decode_traces_proto if logs else decode_logs_proto)
