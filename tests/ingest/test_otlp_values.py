import json
import math
from typing import Any

import pytest

from aem_monitor.ingest.batch import Decoded
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.otlp_json import decode_traces_json
from aem_monitor.model.jsonvalue import AttributeValue
from aem_monitor.model.span import Span, StatusCode
from tests.ingest.requests import AGENTS, LIMITS, json_request, json_span


def decode(document: Any, limits: Limits = LIMITS) -> Decoded:
    return decode_traces_json(json.dumps(document).encode(), limits, AGENTS)


def only(decoded: Decoded) -> Span:
    (span,) = decoded.spans
    return span


def read_value(value: Any) -> tuple[AttributeValue, dict[str, int]]:
    """What one attribute value is decoded to, and what was altered."""
    decoded = decode(json_request(json_span(attributes=[{"key": "gen_ai.x", "value": value}])))
    return only(decoded).attributes["gen_ai.x"], dict(decoded.altered)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({}, None),
        (None, None),
        ({"stringValue": ""}, ""),
        ({"stringValue": None}, None),
        ({"intValue": "-9223372036854775808"}, -(2**63)),
        ({"intValue": 7}, 7),
        ({"intValue": 7.0}, 7),
        ({"intValue": "7.0"}, 7),
        ({"intValue": "1e3"}, 1000),
        ({"boolValue": False}, False),
        ({"boolValue": "true"}, True),
        ({"doubleValue": 1}, 1.0),
        ({"doubleValue": "Infinity"}, math.inf),
        ({"doubleValue": "-Infinity"}, -math.inf),
        ({"doubleValue": "1.5"}, 1.5),
        ({"bytesValue": "//8="}, b"\xff\xff"),
        ({"bytesValue": "__8"}, b"\xff\xff"),
        ({"bytesValue": ""}, b""),
        ({"arrayValue": {}}, []),
        ({"arrayValue": {"values": [{"intValue": "1"}, {}, {"stringValue": "a"}]}}, [1, None, "a"]),
        ({"kvlistValue": {}}, {}),
        ({"kvlistValue": {"values": [{"key": "k", "value": {"arrayValue": {"values": []}}}]}}, {"k": []}),
        ({"kvlist_value": {"values": [{"key": "k", "value": {"int_value": 2}}]}}, {"k": 2}),
        ("bare text", "bare text"),
        (3, 3),
        ({"futureValue": 1}, None),
    ],
)
def test_a_value_is_read_from_every_spelling(value: Any, expected: AttributeValue) -> None:
    read, altered = read_value(value)
    assert read == expected
    assert type(read) is type(expected)
    assert altered == {}


def test_equal_keys_of_many_spans_are_kept_once() -> None:
    (key, *_), (same, *_) = (only(decode(json_request(json_span()))).attributes for _ in range(2))
    assert key is same


def test_nan_is_a_double_given_as_text() -> None:
    read, _ = read_value({"doubleValue": "NaN"})
    assert isinstance(read, float)
    assert math.isnan(read)


@pytest.mark.parametrize(
    "value",
    [
        {"intValue": "seven"},
        {"intValue": True},
        {"intValue": 1.5},
        {"intValue": "9" * 5000},
        {"intValue": 2**63},
        {"intValue": "-9223372036854775809"},
        {"intValue": 1e30},
        {"doubleValue": "much"},
        {"boolValue": 1},
        {"bytesValue": "!!"},
        {"stringValue": {"a": 1}},
        {"arrayValue": {"values": 3}},
        {"kvlistValue": {"values": "x"}},
    ],
)
def test_an_unreadable_value_is_counted_and_the_span_stays(value: Any) -> None:
    read, altered = read_value(value)
    assert read in (None, "")
    assert altered == {"unreadable_value": 1}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("SPAN_KIND_CLIENT", 3), ("client", 3), ("3", 3), (3.0, 3), (9, 0), ("SPAN_KIND_NEW", 0), (None, 0), ([], 0)],
)
def test_a_span_kind_is_read_from_every_spelling(kind: Any, expected: int) -> None:
    assert only(decode(json_request(json_span(kind=kind)))).kind == expected


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"code": "STATUS_CODE_OK"}, StatusCode.OK),
        ({"code": "Error"}, StatusCode.ERROR),
        ({"code": 7}, StatusCode.UNSET),
        ({}, StatusCode.UNSET),
        (None, StatusCode.UNSET),
        ("ERROR", StatusCode.ERROR),
    ],
)
def test_a_status_is_read_from_every_spelling(status: Any, expected: StatusCode) -> None:
    assert only(decode(json_request(json_span(status=status)))).status_code is expected


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        ("12", 12),
        (12, 12),
        (1.764e18, 1764000000000000000),
        ("-1", 0),
        ("soon", 0),
        (None, 0),
        (2**63 - 1, 2**63 - 1),
        (2**63, 0),
        (2**64, 0),
    ],
)
def test_a_time_is_nanoseconds_or_unknown(time: Any, expected: int) -> None:
    assert only(decode(json_request(json_span(startTimeUnixNano=time)))).start_ns == expected


@pytest.mark.parametrize(("count", "expected"), [(2, 2), ("2", 2), (-1, 0), (None, 0), ("many", 0), (1e300, 0)])
def test_a_dropped_count_is_a_number_or_none(count: Any, expected: int) -> None:
    span = json_span(droppedAttributesCount=count, dropped_events_count=1)
    assert only(decode(json_request(span))).dropped == expected + 1


def test_limits_of_values_hold() -> None:
    limits = Limits(max_attribute_chars=8, max_attributes=2, max_events=1, max_depth=2)
    deep: dict[str, Any] = {"arrayValue": {"values": [{"arrayValue": {"values": [{"arrayValue": {"values": []}}]}}]}}
    decoded = decode(
        json_request(
            json_span(
                attributes=[
                    {"key": "gen_ai.a", "value": {"stringValue": "x" * 9}},
                    {"key": "deep", "value": deep},
                    {"key": "third", "value": {}},
                ],
                events=[{"name": "a"}, {"name": "b"}],
            )
        ),
        limits,
    )
    assert only(decoded).attributes == {"gen_ai.a": "x" * 8, "deep": [[None]]}
    assert [event.name for event in only(decoded).events] == ["a"]
    assert decoded.altered == {"string_cut": 1, "too_deep": 1, "too_many": 2}
