"""Traces are published under the id of their conversation, once they name it, and nothing is committed before."""

from dataclasses import replace

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan

from tests.end_to_end.sales import RIGHT
from tests.rekey.rekeying import LOG_SOURCE, LOG_TARGET, SETTINGS, SOURCE, TARGET, Rekeying, by_trace, proto
from tests.services.agent import agent_spans

NO_ID = {"gen_ai.conversation.id": ""}


def turn(conversation: str = "c-1", **attributes: str) -> list[ReadableSpan]:
    """One trace with tool calls: children first, the root with the conversation id last, as the SDK exports them."""
    spans = agent_spans(conversation, RIGHT[1:], attributes=attributes)
    assert spans[-1].parent is None
    assert len(by_trace(spans)) == 1
    return spans


def test_a_trace_is_published_under_its_conversation_id_when_its_root_has_come() -> None:
    rekeying = Rekeying()
    *calls, root = turn("c-7")
    for call in calls:
        rekeying.spans(call)
    rekeying.after(1)
    assert rekeying.keys == []
    rekeying.spans(root)
    rekeying.after(1)
    assert rekeying.keys == ["c-7"]
    assert [record.topic for record in rekeying.broker.records] == [TARGET]
    assert rekeying.count("aem_monitor_rekeyed_traces_total", by="conversation_id") == 1


def test_all_spans_of_a_trace_are_published_in_one_message() -> None:
    rekeying = Rekeying()
    spans = turn()
    for span in spans:
        rekeying.spans(span)
    rekeying.after(1)
    (record,) = rekeying.broker.records
    assert record.value == b"".join(proto([span]) for span in spans)


def test_a_batch_of_many_conversations_is_published_apart() -> None:
    rekeying = Rekeying()
    rekeying.spans(*turn("c-1"), *turn("c-2"), *turn("c-1"))
    rekeying.after(1)
    assert sorted(rekeying.keys) == ["c-1", "c-1", "c-2"]


def test_traces_of_one_conversation_from_several_partitions_get_one_key() -> None:
    rekeying = Rekeying()
    for number, trace in enumerate(by_trace(agent_spans("c-1", RIGHT))):
        rekeying.spans(*trace, partition=number)
    rekeying.after(1)
    assert rekeying.keys == ["c-1", "c-1"]


def test_the_id_of_highest_precedence_is_the_key_whatever_comes_first() -> None:
    rekeying = Rekeying()
    *calls, root = turn("c-1")
    for call in calls:
        call._attributes = {**call.attributes, "session.id": "s-1"}  # type: ignore[dict-item]
        rekeying.spans(call)
        rekeying.after(1)
    rekeying.spans(root)
    rekeying.after(1)
    assert rekeying.keys == ["c-1"]


def test_a_trace_whose_root_never_comes_is_published_after_a_silence_if_it_names_its_conversation() -> None:
    rekeying = Rekeying()
    *calls, _ = turn()
    calls[0]._attributes = {**calls[0].attributes, "session.id": "s-1"}  # type: ignore[dict-item]
    rekeying.spans(*calls)
    rekeying.after(SETTINGS.wait - 1)
    assert rekeying.keys == []
    rekeying.after(1)
    assert rekeying.keys == ["s-1"]


def test_a_trace_without_an_id_waits_longer_for_the_span_that_carries_it() -> None:
    rekeying = Rekeying()
    *calls, root = turn("c-1")
    rekeying.spans(*calls)
    rekeying.after(SETTINGS.wait_without_id - 1)
    assert rekeying.keys == []
    rekeying.spans(root)
    rekeying.after(1)
    assert rekeying.keys == ["c-1"]


@pytest.mark.parametrize("without_id", ["agent", "trace"])
def test_traces_without_an_id_are_keyed_by_their_agent_or_by_themselves(without_id: str) -> None:
    rekeying = Rekeying(replace(SETTINGS, without_id=without_id))  # type: ignore[arg-type]
    traces = [turn("", **NO_ID), turn("", **NO_ID)]
    for trace in traces:
        rekeying.spans(*trace)
    rekeying.after(1)
    ids = [f"{trace[0].context.trace_id:032x}" for trace in traces]
    assert sorted(rekeying.keys) == (["shop", "shop"] if without_id == "agent" else sorted(ids))
    by = "agent" if without_id == "agent" else "trace_id"
    assert rekeying.count("aem_monitor_rekeyed_traces_total", by=by) == 2


def test_what_comes_late_follows_its_trace_at_once() -> None:
    rekeying = Rekeying()
    late, *rest = turn("c-1")
    rekeying.spans(*rest)
    rekeying.after(1)
    rekeying.spans(late)
    assert rekeying.keys == ["c-1", "c-1"]
    assert rekeying.count("aem_monitor_rekey_late_messages_total") == 1
    assert rekeying.count("aem_monitor_rekey_late_ids_total") == 0


def test_an_id_that_comes_too_late_is_counted_and_changes_nothing() -> None:
    rekeying = Rekeying()
    *calls, root = turn("c-1")
    rekeying.spans(*calls)
    rekeying.after(SETTINGS.wait_without_id)
    rekeying.spans(root)
    assert rekeying.keys == ["shop", "shop"]
    assert rekeying.count("aem_monitor_rekey_late_ids_total") == 1


def test_a_trace_that_only_has_a_second_id_follows_the_one_that_has_both() -> None:
    rekeying = Rekeying()
    rekeying.spans(*turn("c-1", **{"session.id": "s-1"}))
    rekeying.after(1)
    rekeying.spans(*turn("", **NO_ID, **{"session.id": "s-1"}))
    rekeying.after(1)
    assert rekeying.keys == ["c-1", "c-1"]


def test_conversations_that_share_an_id_keep_their_own_and_are_counted() -> None:
    rekeying = Rekeying()
    for conversation in ("c-1", "c-2", "c-1"):
        rekeying.spans(*turn(conversation, **{"session.id": "s-1"}))
        rekeying.after(1)
    assert rekeying.keys == ["c-1", "c-2", "c-1"]
    assert rekeying.count("aem_monitor_rekey_shared_ids_total") == 2


def test_traces_of_no_agent_are_dropped_after_the_wait() -> None:
    request = ExportTraceServiceRequest()
    scoped = request.resource_spans.add().scope_spans.add()
    scoped.spans.add(name="GET /about/gen_ai.models", trace_id=bytes(15) + b"1", span_id=bytes(7) + b"1")
    rekeying = Rekeying()
    rekeying.message(request.SerializeToString())
    rekeying.after(SETTINGS.wait_without_id)
    assert rekeying.broker.records == []
    assert rekeying.count("aem_monitor_skipped_spans_total", cause="no_agent_content") == 1
    assert rekeying.committed == {(SOURCE, 0): 1}


def test_spans_of_no_agent_that_link_agents_are_published_with_them() -> None:
    *calls, root = turn()
    gateway = ExportTraceServiceRequest()
    scoped = gateway.resource_spans.add().scope_spans.add()
    trace_id = root.context.trace_id.to_bytes(16, "big")
    scoped.spans.add(name="GET /chat/gen_ai.html", trace_id=trace_id, span_id=bytes(7) + b"1")
    rekeying = Rekeying()
    rekeying.message(gateway.SerializeToString())
    rekeying.spans(*calls, root)
    rekeying.after(1)
    (record,) = rekeying.broker.records
    assert b"GET /chat/gen_ai.html" in record.value


def test_log_records_follow_their_trace_to_the_topic_of_logs() -> None:
    rekeying = Rekeying()
    *calls, root = turn("c-1")
    request = ExportLogsServiceRequest()
    scoped = request.resource_logs.add().scope_logs.add()
    scoped.log_records.add(
        trace_id=root.context.trace_id.to_bytes(16, "big"),
        span_id=root.context.span_id.to_bytes(8, "big"),
        event_name="gen_ai.user.message",
    )
    rekeying.message(request.SerializeToString(), topic=LOG_SOURCE)
    rekeying.spans(*calls, root)
    rekeying.after(1)
    rekeying.message(request.SerializeToString(), topic=LOG_SOURCE)
    found = sorted((record.topic, record.key) for record in rekeying.broker.records)
    assert found == [(LOG_TARGET, b"c-1"), (LOG_TARGET, b"c-1"), (TARGET, b"c-1")]


def test_nothing_is_committed_before_it_is_acknowledged() -> None:
    rekeying = Rekeying()
    rekeying.broker.away = True
    rekeying.spans(*turn("c-1"))
    rekeying.after(SETTINGS.wait_without_id)
    assert rekeying.keys == ["c-1"]
    assert rekeying.committed == {(SOURCE, 0): 0}
    rekeying.broker.away = False
    rekeying.after(1)
    assert rekeying.committed == {(SOURCE, 0): 1}


def test_a_trace_that_waits_holds_the_offset_of_all_that_came_after_it() -> None:
    rekeying = Rekeying()
    *calls, root = turn("c-1")
    rekeying.spans(*calls)
    for number in range(3):
        rekeying.spans(*turn(f"other-{number}"))
    rekeying.after(SETTINGS.wait + 1)
    assert rekeying.committed == {(SOURCE, 0): 0}
    rekeying.spans(root)
    rekeying.after(SETTINGS.wait + 1)
    assert rekeying.committed == {(SOURCE, 0): 5}


def test_a_published_trace_is_read_again_by_the_next_process_as_long_as_something_may_come_late() -> None:
    rekeying = Rekeying()
    rekeying.spans(*turn("c-1"))
    rekeying.after(SETTINGS.wait - 1)
    assert rekeying.keys == ["c-1"]
    assert rekeying.committed == {(SOURCE, 0): 0}
    rekeying.after(2)
    assert rekeying.committed == {(SOURCE, 0): 1}


def test_a_partition_that_is_lost_is_forgotten_with_what_waits_on_it() -> None:
    rekeying = Rekeying()
    *calls, root = turn("c-1")
    rekeying.spans(*calls, partition=0)
    rekeying.spans(*turn("c-2")[:-1], partition=1)
    rekeying.revoke(0)
    rekeying.after(SETTINGS.wait_without_id)
    assert rekeying.keys == ["shop"]
    assert rekeying.rekeyer.waiting == 0
    rekeying.spans(*calls, root, partition=0)
    rekeying.after(1)
    assert rekeying.keys == ["shop", "c-1"]


def test_an_acknowledgement_of_a_lost_partition_does_not_stand_for_what_is_read_again() -> None:
    rekeying = Rekeying()
    trace = turn("c-1")
    rekeying.broker.away = True
    rekeying.spans(*trace)
    rekeying.after(1)
    rekeying.revoke(0)
    first, rekeying.broker._open = rekeying.broker._open, []
    rekeying.spans(*trace)
    rekeying.after(1)
    second, rekeying.broker._open = rekeying.broker._open, first
    rekeying.broker.away = False
    rekeying.after(SETTINGS.wait + 1)
    assert rekeying.committed == {(SOURCE, 0): 1}
    rekeying.broker._open = second
    rekeying.after(1)
    assert rekeying.committed == {(SOURCE, 0): 2}


def test_more_traces_than_may_wait_are_published_oldest_first() -> None:
    rekeying = Rekeying(replace(SETTINGS, max_traces=2))
    for _ in range(4):
        rekeying.spans(*turn()[:-1])
    rekeying.after(1)
    assert rekeying.rekeyer.waiting == 2
    assert rekeying.keys == ["shop", "shop"]
    assert rekeying.count("aem_monitor_rekey_cut_traces_total", cause="traces") == 2


def test_more_bytes_than_may_wait_are_published_oldest_first() -> None:
    rekeying = Rekeying(replace(SETTINGS, max_bytes=10_000))
    for _ in range(10):
        rekeying.spans(*turn()[:-1])
    rekeying.after(1)
    assert rekeying.rekeyer.waiting_bytes <= 10_000
    assert rekeying.count("aem_monitor_rekey_cut_traces_total", cause="bytes") == len(rekeying.keys) > 0


def test_a_trace_that_never_ends_is_published_at_its_age() -> None:
    rekeying = Rekeying()
    calls = turn()[:-1]
    for number in range(130):
        rekeying.spans(calls[number % len(calls)])
        rekeying.after(5)
    assert rekeying.count("aem_monitor_rekey_cut_traces_total", cause="age") == 1
    assert rekeying.keys[0] == "shop"


def test_a_message_that_cannot_be_read_is_passed_on_as_it_is_with_its_origin() -> None:
    rekeying = Rekeying()
    rekeying.broker.away = True
    rekeying.unreadable(b"poison")
    rekeying.after(SETTINGS.wait)
    (record,) = rekeying.broker.records
    assert (record.topic, record.key, record.value) == (TARGET, None, b"poison")
    assert list(record.headers) == [("aem.origin", b"spans/0/0")]
    assert rekeying.committed == {(SOURCE, 0): 0}
    rekeying.broker.away = False
    rekeying.after(1)
    assert rekeying.committed == {(SOURCE, 0): 1}


def test_a_message_that_the_topic_does_not_take_is_counted_and_holds_nothing_up() -> None:
    rekeying = Rekeying()
    rekeying.broker.refusing = True
    rekeying.spans(*turn())
    rekeying.after(SETTINGS.wait + 1)
    assert rekeying.count("aem_monitor_rekey_refused_messages_total") == 1
    assert rekeying.committed == {(SOURCE, 0): 1}


def test_a_part_that_is_broken_inside_is_published_apart_and_hides_nothing() -> None:
    rekeying = Rekeying()
    spans = turn("c-1")
    trace_id = spans[0].context.trace_id.to_bytes(16, "big")
    attribute_cut_off = b"\x4a\x02\x0a\x7f"
    name = b"\x2a\x06gen_ai"
    span = b"\x0a\x10" + trace_id + name + attribute_cut_off
    scoped = b"\x12" + bytes([len(span)]) + span
    block = b"\x12" + bytes([len(scoped)]) + scoped
    broken = b"\x0a" + bytes([len(block)]) + block
    rekeying.message(broken)
    rekeying.spans(*spans)
    rekeying.after(1)
    assert [(record.key, record.value) for record in rekeying.broker.records] == [
        (b"c-1", proto(spans)),
        (b"c-1", broken),
    ]
    assert rekeying.count("aem_monitor_refused_requests_total", source="kafka", cause="malformed") == 1


@pytest.mark.parametrize("scattered", [True, False])
def test_a_topic_that_is_not_keyed_by_trace_is_said_once(scattered: bool, caplog: pytest.LogCaptureFixture) -> None:
    rekeying = Rekeying()
    for _ in range(3):
        for number, span in enumerate(turn()):
            rekeying.spans(span, partition=number % 2 if scattered else 0)
    said = [record.message for record in caplog.records if "not keyed by trace" in record.message]
    assert len(said) == scattered
