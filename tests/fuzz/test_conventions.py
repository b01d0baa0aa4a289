"""Every convention survives any content of its own attributes, events and log records.

The recordings give the attributes that each convention reads; what is in them is replaced.
"""

import copy
import json
import math
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aem_monitor.assembly.render import conversation_object
from aem_monitor.ingest.batch import Decoded
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.otlp_json import decode_json
from aem_monitor.ingest.otlp_proto import decode_traces_proto
from aem_monitor.ingest.prefilter import Prefilter
from tests.assembly.recordings import REGISTRY, SETTINGS, assembled, recordings
from tests.end_to_end.requests import Recording, Request, encoded_proto, items_of, objects_in, recording
from tests.fuzz.budget import fuzzing
from tests.fuzz.hostile import DEEP, any_values, nested, nested_value

KEEP: Final = Prefilter([*REGISTRY.markers, *SETTINGS.markers])
RECORDINGS: Final = [recording(path) for path in recordings()]
ONE_EACH: Final = list({one.framework: one for one in RECORDINGS}.values())
HUGE: Final = 10 * 2**20
MANY: Final = 10_000
LONGEST_NAME: Final = 40

framework = pytest.mark.parametrize("one", ONE_EACH, ids=lambda one: one.framework)


def decoded(request: Request) -> Decoded:
    return decode_json(json.dumps(request).encode("utf-8", "surrogatepass"), Limits(), KEEP)


def use(*parts: Decoded) -> list[Any]:
    """All that is done with spans before the golden dialogs play a part; the result can be written as strict JSON."""
    spans = [span for part in parts for span in part.spans]
    found = [conversation_object(one) for one in assembled(spans, [log for part in parts for log in part.logs])]
    json.dumps(found, allow_nan=False).encode()
    return found


def values_of(request: Request) -> list[dict[str, Any]]:
    """Every place of a request that holds an AnyValue: attributes, their members, bodies."""
    return [item for item in objects_in(request) if "value" in item or "body" in item]


@pytest.mark.parametrize("one", RECORDINGS, ids=lambda one: one.name)
def test_any_value_in_the_place_of_any_other(one: Recording) -> None:
    @fuzzing
    @given(st.data())
    def survive(data: st.DataObject) -> None:
        requests = copy.deepcopy([*one.traces, *one.logs])
        places = [place for request in requests for place in values_of(request)]
        for place in data.draw(st.lists(st.sampled_from(places), min_size=1, max_size=12)):
            place["body" if "body" in place else "value"] = data.draw(any_values)
        use(*map(decoded, requests))

    survive()


@framework
@pytest.mark.parametrize("encode", ["json", "proto"])
def test_ten_megabytes_in_one_text_are_cut_and_counted(one: Recording, encode: str) -> None:
    """The longest text of the recording's agents, on the span or in an event."""
    requests = [copy.deepcopy(item.request) for item in items_of(one.traces) if of_agent(item.item)]
    request = max(requests, key=lambda request: len(longest(request)["stringValue"]))
    text = longest(request)["stringValue"]
    longest(request)["stringValue"] = text[:-1] + "x" * HUGE + text[-1:]
    part = decode(request, encode)
    assert part.altered["string_cut"] == 1
    use(part)


def of_agent(span: dict[str, Any]) -> bool:
    return any(KEEP.in_name(pair["key"]) for pair in span.get("attributes", ()))


def longest(request: Request) -> dict[str, Any]:
    texts = [item for item in objects_in(request) if "stringValue" in item]
    return max(texts, key=lambda item: len(item["stringValue"]))


def decode(request: Request, encoding: str) -> Decoded:
    if encoding == "json":
        return decoded(request)
    return decode_traces_proto(encoded_proto(request), Limits(), KEEP)


@framework
@pytest.mark.parametrize("encode", ["json", "proto"])
def test_ten_thousand_attributes_are_cut_and_counted(one: Recording, encode: str) -> None:
    request = copy.deepcopy(one.traces[0])
    for item in items_of([request])[:3]:
        names = ("gen_ai.prompt.{}.content", "llm.input_messages.{}.message.content", "house.{}")
        more = [{"key": names[n % 3].format(n), "value": {"stringValue": "x"}} for n in range(MANY)]
        item.item.setdefault("attributes", []).extend(more)
    part = decode(request, encode)
    assert part.altered["too_many"] >= 1
    assert all(len(span.attributes) <= Limits().max_attributes for span in part.spans)
    use(part)


@framework
@pytest.mark.parametrize("encode", ["json", "proto"])
def test_a_thousand_levels_are_cut_and_counted(one: Recording, encode: str) -> None:
    """As JSON text in all but the short texts, which name kinds and operations, and as a value of the protocol."""
    request = copy.deepcopy(one.traces[0])
    for number, item in enumerate(objects_in(request)):
        if len(item.get("stringValue", "")) > LONGEST_NAME:
            deep = nested(DEEP, '{"content":', "}") if number % 2 else nested(DEEP, "[", "]")
            item["stringValue"] = deep
    use(decode(request, encode))
    if encode == "proto":
        return  # what encodes it has a limit of its own, of which the tests of the decoder know
    first = next(item.item for item in items_of([request]) if of_agent(item.item))
    first["attributes"].append({"key": "house.deep", "value": nested_value(150)})
    part = decoded(request)
    assert part.altered["too_deep"] >= 1
    use(part)


@framework
def test_ids_that_are_all_one(one: Recording) -> None:
    """Each span its own parent, all of one trace, all of one id: parents in circles and copies that differ."""
    for same in ({"parentSpanId"}, {"traceId"}, {"traceId", "spanId"}, {"traceId", "parentSpanId"}):
        request = copy.deepcopy(one.traces[0])
        items = [item.item for item in items_of([request])]
        for item in items:
            item.update({key: items[0]["spanId" if key == "parentSpanId" else key] for key in same})
        use(decoded(request))


@framework
def test_times_of_any_kind(one: Recording) -> None:
    times = [0, 1, "-1", "x", None, 2**63 - 1, 2**64, math.nan, "18446744073709551615", [], 1.5e18]
    for time in times:
        request = copy.deepcopy(one.traces[0])
        for number, item in enumerate(items_of([request])):
            item.item["endTimeUnixNano" if number % 2 else "startTimeUnixNano"] = time
        use(decoded(request))
