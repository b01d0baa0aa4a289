"""Many plays against an agent that answers as a test says, told to a receiver of spans that does so as well."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from aem_monitor.player import exporter as exporting
from aem_monitor.player.faults import Outcome
from aem_monitor.player.plan import Plan, read_plan
from aem_monitor.player.player import Player
from aem_monitor.player.record import Ended, Record
from aem_monitor.player.script import Script
from tests.alerting.answering import Answer, Receiving, Request

GREETING = Script("greeting", 1, ("Hello",))
REFUND = Script("refund", 2, ("Refund A-1", "Yes, please"))
REPLY = Answer(200, {"Content-Type": "application/json"}, b'{"choices": [{"message": {"content": "Sure."}}]}')


@pytest.fixture
def monitor() -> Iterator[Receiving]:
    """Who is told of the plays."""
    server = Receiving()
    server.answer = lambda request: Answer(200, {}, b"")
    yield server
    server.close()


@pytest.fixture
def agent(receiving: Receiving) -> Receiving:
    receiving.answer = lambda request: REPLY
    return receiving


def plan(folder: Path, agent: Receiving, monitor: Receiving, more: str = "") -> Plan:
    file = folder / "canary-run.yaml"
    file.write_text(
        f"dialogs: [golden]\nagent: {{url: '{agent.url}/chat', openai: {{}}, timeout: 10s}}\n"
        f"otlp: {{endpoint: '{monitor.url}/v1/traces'}}\n{more}"
    )
    return read_plan(file, {}, {})


def play(chosen: Plan, *scripts: Script) -> Record:
    return Player(chosen, scripts or (GREETING, REFUND), (), list).run(lambda done, of: None, lambda: False)


def spans(monitor: Receiving) -> list[Any]:
    requests = [ExportTraceServiceRequest.FromString(request.body) for request in monitor.requests]
    return [one.resource_spans[0].scope_spans[0].spans[0] for one in requests]


def attributes(span: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in span.attributes}


def test_each_message_is_said_in_a_trace_of_its_own_that_names_the_dialog(
    tmp_path: Path, agent: Receiving, monitor: Receiving
) -> None:
    record = play(plan(tmp_path, agent, monitor))
    assert (record.ended, record.planned, record.undelivered) == (Ended.PLAYED, 2, 0)
    assert [(one.script.dialog, len(one.exchanges), one.complete) for one in record.plays] == [
        ("greeting", 1, True),
        ("refund", 2, True),
    ]
    assert [one.json["messages"][-1]["content"] for one in agent.requests] == ["Hello", "Refund A-1", "Yes, please"]
    told = spans(monitor)
    assert len({span.trace_id for span in told}) == 3
    for request, span in zip(agent.requests, told, strict=True):
        assert request.headers["traceparent"][:-2] == f"00-{span.trace_id.hex()}-{span.span_id.hex()}-"
        assert int(request.headers["traceparent"][-2:], 16) & 1, "sampled"
        named = attributes(span)
        assert request.headers["baggage"].split(",") == [
            f"aem.dialog.id={named['aem.dialog.id']}",
            f"aem.run.id={named['aem.run.id']}",
            f"gen_ai.conversation.id={named['gen_ai.conversation.id']}",
        ]
        assert (span.kind, "aem.run.end" in named) == (span.SPAN_KIND_CLIENT, False)
    conversations = [attributes(span)["gen_ai.conversation.id"] for span in told]
    assert conversations == [record.plays[0].conversation_id, *[record.plays[1].conversation_id] * 2]
    assert [one.trace_id for one in record.plays[1].exchanges] == [span.trace_id.hex() for span in told[1:]]


def test_all_dialogs_are_played_once_before_any_of_them_again(
    tmp_path: Path, agent: Receiving, monitor: Receiving
) -> None:
    record = play(plan(tmp_path, agent, monitor, "play: {repeats: 2}"))
    order = [(one.script.dialog, one.repeat) for one in record.plays]
    assert order == [("greeting", 1), ("refund", 1), ("greeting", 2), ("refund", 2)]
    assert len({one.conversation_id for one in record.plays}) == 4


def test_each_round_is_played_in_another_order(tmp_path: Path, agent: Receiving, monitor: Receiving) -> None:
    """Three rounds of six in one order have a probability of 1 in 500,000."""
    scripts = [Script(f"dialog {number}", 1, ("Hello",)) for number in range(6)]
    record = Player(plan(tmp_path, agent, monitor, "play: {repeats: 3}"), scripts, ()).run(
        lambda done, of: None, lambda: False
    )
    told = [one.script.dialog for one in record.plays]
    rounds = [told[:6], told[6:12], told[12:]]
    assert [sorted(one) for one in rounds] == [[one.dialog for one in scripts]] * 3
    assert not rounds[0] == rounds[1] == rounds[2]


def test_no_more_plays_than_asked_for_run_at_a_time(tmp_path: Path, agent: Receiving, monitor: Receiving) -> None:
    now, most, lock = 0, 0, threading.Lock()

    def slowly(request: Request) -> Answer:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.05)
        with lock:
            now -= 1
        return REPLY

    agent.answer = slowly
    record = play(plan(tmp_path, agent, monitor, "play: {repeats: 6, concurrency: 3}"), GREETING)
    assert (most, sum(one.complete for one in record.plays)) == (3, 6)


def test_plays_begin_at_the_rate(tmp_path: Path, agent: Receiving, monitor: Receiving) -> None:
    times: list[float] = []

    def noted(request: Request) -> Answer:
        times.append(time.monotonic())
        return REPLY

    agent.answer = noted
    begun = time.monotonic()
    play(plan(tmp_path, agent, monitor, "play: {repeats: 4, concurrency: 4, rate: 600}"), GREETING)
    assert [at - begun >= number * 0.1 for number, at in enumerate(sorted(times))] == [True] * 4


def test_a_play_ends_with_the_exchange_that_comes_to_nothing_and_says_so_to_the_monitor(
    tmp_path: Path, agent: Receiving, monitor: Receiving, caplog: pytest.LogCaptureFixture
) -> None:
    agent.answer = lambda request: Answer(500) if "Refund" in request.body.decode() else REPLY
    record = play(plan(tmp_path, agent, monitor, "play: {error_budget: 1, repeats: 2}"))
    assert record.ended is Ended.PLAYED
    assert Counter({Outcome.ANSWERED: 2, Outcome.STATUS: 2}) == +Counter(record.outcomes())
    (failed,) = record.plays[1].exchanges
    assert (failed.outcome, failed.status, record.plays[1].complete) == (Outcome.STATUS, 500, False)
    named = attributes(next(span for span in spans(monitor) if "error.type" in attributes(span)))
    assert (named["error.type"], named["http.response.status_code"], named["aem.run.end"]) == ("status", 500, True)
    assert f"refund, exchange 1 ({record.plays[1].conversation_id}): {agent.url}/chat answered 500" in caplog.text


@pytest.mark.parametrize(("budget", "begun"), [(0.0, 1), (0.2, 3), (0.39, 4), (1.0, 10)])
def test_more_failures_than_the_budget_has_end_everything(
    tmp_path: Path, agent: Receiving, monitor: Receiving, budget: float, begun: int
) -> None:
    agent.answer = lambda request: Answer(503)
    record = play(plan(tmp_path, agent, monitor, f"play: {{error_budget: {budget}, repeats: 10}}"), GREETING)
    assert len(record.plays) == begun
    assert record.ended is (Ended.PLAYED if begun == 10 else Ended.ERROR_BUDGET)


def test_no_exchange_begins_after_the_deadline(tmp_path: Path, agent: Receiving, monitor: Receiving) -> None:
    def slowly(request: Request) -> Answer:
        time.sleep(0.3)
        return REPLY

    agent.answer = slowly
    record = play(plan(tmp_path, agent, monitor, "play: {deadline: 200ms}"), REFUND)
    assert (record.ended, len(agent.requests)) == (Ended.DEADLINE, 1)
    assert record.plays[0].exchanges[0].outcome is Outcome.ANSWERED


def test_a_deadline_does_not_wait_for_the_rate(tmp_path: Path, agent: Receiving, monitor: Receiving) -> None:
    record = play(plan(tmp_path, agent, monitor, "play: {deadline: 200ms, rate: 1}"))
    assert (record.ended, len(record.plays)) == (Ended.DEADLINE, 1)


def test_who_stops_gets_the_exchange_that_is_under_way(tmp_path: Path, agent: Receiving, monitor: Receiving) -> None:
    player = Player(plan(tmp_path, agent, monitor), (REFUND,), ())

    def stopping(request: Request) -> Answer:
        player.stop()
        return REPLY

    agent.answer = stopping
    record = player.run(lambda done, of: None, lambda: False)
    assert (record.ended, [len(one.exchanges) for one in record.plays]) == (Ended.INTERRUPTED, [1])


def test_who_is_in_a_hurry_waits_for_nothing(tmp_path: Path, agent: Receiving, monitor: Receiving) -> None:
    released = threading.Event()

    def never(request: Request) -> Answer:
        released.wait(30)
        return REPLY

    agent.answer = never
    player = Player(plan(tmp_path, agent, monitor), (REFUND,), ())
    record = player.run(lambda done, of: None, lambda: bool(agent.requests))
    ended, exchanges = record.ended, [list(one.exchanges) for one in record.plays]
    released.set()
    while not monitor.requests:
        time.sleep(0.01)
    assert (ended, exchanges) == (Ended.INTERRUPTED, [[]])


def test_the_world_is_put_back_before_each_play(tmp_path: Path, agent: Receiving, monitor: Receiving) -> None:
    more = f"reset: {{url: '{agent.url}/reset?c={{{{ conversation_id }}}}', headers: {{X-D: '{{{{ dialog }}}}'}}}}"
    record = play(plan(tmp_path, agent, monitor, more))
    paths = [request.path for request in agent.requests]
    first, second = (one.conversation_id for one in record.plays)
    assert paths == [f"/reset?c={first}", "/chat", f"/reset?c={second}", "/chat", "/chat"]
    assert agent.requests[0].headers["X-D"] == "greeting"


def test_a_command_puts_the_world_back_in_the_folder_of_the_file(
    tmp_path: Path, agent: Receiving, monitor: Receiving
) -> None:
    more = 'reset: {command: [sh, -c, "echo $0 >> resets", "{{ dialog }} $(id)"]}'
    play(plan(tmp_path, agent, monitor, more))
    assert (tmp_path / "resets").read_text() == "greeting $(id)\nrefund $(id)\n"


@pytest.mark.parametrize(
    ("reset", "said"),
    [
        ("{command: [sh, -c, 'echo broken >&2; exit 3']}", "sh ended with exit code 3: broken"),
        ("{command: [no-such-program]}", "no-such-program cannot be run"),
        ("{command: [sleep, '10'], timeout: 50ms}", "sleep took longer than 0.05 seconds"),
    ],
)
def test_nothing_is_played_on_a_world_that_was_not_put_back(
    tmp_path: Path, agent: Receiving, monitor: Receiving, reset: str, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    record = play(plan(tmp_path, agent, monitor, f"reset: {reset}\nplay: {{error_budget: 1}}"), GREETING)
    assert (agent.requests, monitor.requests) == ([], [])
    assert record.outcomes()[Outcome.RESET_FAILED] == 1
    assert f"greeting is not played: the reset failed: {said}" in caplog.text


def test_a_span_that_the_monitor_does_not_take_uses_up_the_budget(
    tmp_path: Path, agent: Receiving, monitor: Receiving, caplog: pytest.LogCaptureFixture
) -> None:
    rejecting = ExportTraceServiceResponse(
        partial_success=ExportTracePartialSuccess(rejected_spans=1, error_message="full")
    )
    monitor.answer = lambda request: Answer(200, {}, rejecting.SerializeToString())
    record = play(plan(tmp_path, agent, monitor), REFUND)
    assert (record.ended, record.undelivered) == (Ended.ERROR_BUDGET, 1)
    assert record.plays[0].exchanges[0].outcome is Outcome.ANSWERED
    assert "the monitor does not know of it" in caplog.text
    assert "rejected the span: full" in caplog.text


def test_a_span_is_sent_again_while_the_monitor_is_busy(
    tmp_path: Path, agent: Receiving, monitor: Receiving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "_PAUSES", (0.01, 0.01))
    monitor.answer = lambda request: Answer(503 if len(monitor.requests) < 3 else 200, {}, b"<html>")
    assert play(plan(tmp_path, agent, monitor), GREETING).undelivered == 0
    assert len({request.body for request in monitor.requests}) == 1
    assert (len(agent.requests), len(monitor.requests)) == (1, 3)


def test_a_fault_of_the_player_itself_is_not_taken_for_played(
    tmp_path: Path, agent: Receiving, monitor: Receiving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aem_monitor.player.play.body_of", lambda dialect, values: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        play(plan(tmp_path, agent, monitor))
