"""A stored conversation, written as spans, is read as the same conversation."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from aem_monitor.build import PipelineSettings, build_pipeline, build_prefilter, build_registry
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.otlp_json import decode_json
from aem_monitor.model.conversation import NOT_CAPTURED, Conversation, Exchange
from aem_monitor.pipeline import Collected
from aem_monitor.review.spans import export_request
from tests.playing import SCORER, Call, conversation, exchange

REGISTRY = build_registry()
PIPELINE = build_pipeline((), PipelineSettings(require_where=False), REGISTRY, SCORER)


def read(found: Conversation) -> list[Conversation]:
    body = json.dumps(export_request(found, "sales")).encode()
    collected = Collected()
    collected.add(decode_json(body, Limits(), build_prefilter(REGISTRY, PIPELINE.assembly)))
    return collected.conversations(PIPELINE)


def essence(found: Conversation) -> Any:
    """All that a verdict rests on."""
    return (
        found.conversation_id,
        found.agent,
        found.release,
        found.model,
        [_exchange(one) for one in found.exchanges],
    )


def _exchange(one: Exchange) -> Any:
    rounds = sorted({call.round for call in one.tool_turns})
    calls = [
        (
            call.tool,
            call.action,
            call.arguments,
            call.arguments_truncated,
            call.result,
            call.result_truncated,
            call.error,
            rounds.index(call.round),
            call.span_id,
        )
        for call in one.tool_turns
    ]
    said = None if one.response is None else (one.response.text, one.response.error)
    return one.user.text, calls, said, one.complete, one.start_ns, one.end_ns


def test_calls_of_one_round_errors_and_results_of_all_kinds_are_kept() -> None:
    calls = [
        Call("reports.Filter", {"metric": "revenue", "n": [1, None]}, {"rows": [{"a": 1.5}]}, round=1),
        Call("lookup", {}, "plain text", round=1),
        Call("lookup", {"q": "ü"}, 5, round=2),
        Call("lookup", {"q": "x"}, True, round=3),
        Call("lookup", None, NOT_CAPTURED, round=4),
        Call("mail.send", {"to": "x"}, NOT_CAPTURED, error="SMTP timeout", round=5),
        Call("lookup", {"q": "y"}, [], round=6),
    ]
    plain = conversation(exchange("How much?", calls, "1.5 million."), exchange("Thanks", [], "Bye.", at=100))
    (found,) = read(plain)
    assert essence(found) == essence(plain)
    assert found.dialog_ids == ("sales",)


def test_what_was_not_captured_or_cut_stays_so() -> None:
    spoken = exchange(None, [Call("a.b", {"x": 1, "y": "z"}, {"k": 1, "l": [2, 3]})], None)
    (call,) = spoken.calls
    cut = replace(call, arguments_truncated=True, result_truncated=True)
    (found,) = read(conversation(replace(spoken, calls=(cut,))))
    assert found.exchanges[0].user.text is None
    assert found.exchanges[0].calls[0].arguments_truncated
    assert found.exchanges[0].calls[0].result_truncated
    assert found.exchanges[0].response is None or found.exchanges[0].response.text is None


def test_a_reply_that_failed_and_the_release_of_each_exchange_are_kept() -> None:
    first = exchange("Hello", [Call("a.b", {"x": 1}, 1)], reply_error="overloaded")
    second = exchange("Again", [], "Hi.", at=100)
    assert second.response is not None
    second = replace(second, response=replace(second.response, release="2.0"))
    (found,) = read(conversation(first, second))
    assert [one.response and (one.response.error, one.response.release) for one in found.exchanges] == [
        ("overloaded", "1.0"),
        (None, "2.0"),
    ]


def test_a_call_whose_span_was_lost_stays_lost() -> None:
    said = exchange("Hello", [Call("a.b", {"x": 1})], "Done.")
    (call,) = said.calls
    (found,) = read(conversation(replace(said, calls=(replace(call, span_id=None),))))
    (again,) = found.exchanges[0].calls
    assert again.span_id is None
    assert again.arguments == {"x": 1}


def test_exchanges_of_one_trace_and_a_conversation_without_an_id_are_told_apart() -> None:
    one, other = exchange("Hello", [], "Hi."), exchange("More", [], "Yes.", at=100)
    both = replace(conversation(one, replace(other, trace_ids=one.trace_ids)), conversation_id=None, key="f" * 32)
    (found,) = read(both)
    assert found.conversation_id == "f" * 32
    assert [each.user.text for each in found.exchanges] == ["Hello", "More"]


_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text("abc xyz", max_size=8).map(str.strip),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", min_size=1), inner, max_size=3),
    max_leaves=5,
)
_arguments = st.dictionaries(st.text("abcde", min_size=1, max_size=4), _values, max_size=4)
_calls = st.lists(
    st.builds(
        Call, st.sampled_from(["a.b", "lookup", "reports.Filter"]), _arguments, st.dictionaries(st.just("k"), _values)
    ),
    max_size=4,
)


@given(_calls)
@settings(deadline=None, max_examples=50)
def test_any_calls_are_read_as_they_were(calls: list[Call]) -> None:
    plain = conversation(exchange("Go", calls, "Done."))
    (found,) = read(plain)
    assert essence(found) == essence(plain)


def test_all_of_it_is_one_request_that_a_file_may_hold(tmp_path: Path) -> None:
    request = export_request(conversation(exchange("Hello", [Call("a.b", {"x": 1}, 2)], "Hi.")), "d")
    spans = [span for one in request["resourceSpans"] for scope in one["scopeSpans"] for span in scope["spans"]]
    assert len({span["spanId"] for span in spans}) == len(spans) == 3
    assert json.loads(json.dumps(request)) == request


def test_without_the_agents_own_span_the_user_is_heard_in_the_first_model_call() -> None:
    part = replace(exchange("Hello", [Call("a.b", {"x": 1}, 1)]), root_seen=False)
    (found,) = read(conversation(part))
    assert found.exchanges[0].user.text == "Hello"
    assert not found.exchanges[0].complete


def test_a_call_without_a_span_of_its_own_keeps_its_result_and_a_split_name_its_parts() -> None:
    said = exchange("Hello", [Call("shop.find", {"x": 1}, {"n": 1})], "Done.")
    (call,) = said.calls
    (found,) = read(conversation(replace(said, calls=(replace(call, span_id=None, name="shop-find"),))))
    (again,) = found.exchanges[0].calls
    assert (again.tool, again.action, again.result) == ("shop", "find", {"n": 1})
