"""The OTLP sink against a strict receiver: what is taken, what waits, what is given up."""

import logging
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from aem_monitor.errors import ConfigError, RefusedVerdictError, SinkError
from aem_monitor.sinks.otlp import OtlpEvents
from aem_monitor.sinks.otlp_http import LogsReceiver, OtlpHttpSettings
from aem_monitor.store.records import StoredRun
from tests.services.otlp_logs import Answer, Event, LogsServer
from tests.store.results import run


@pytest.fixture
def server() -> Iterator[LogsServer]:
    server = LogsServer().start()
    yield server
    server.stop()
    assert server.faults == []


@pytest.fixture
def sink(server: LogsServer) -> Iterator[OtlpEvents]:
    sink = OtlpEvents(LogsReceiver(OtlpHttpSettings(server.url, {"X-Tenant": "agents"}, timeout=5.0)))
    sink.open()
    yield sink
    sink.close()


def verdicts(*numbers: int) -> list[StoredRun]:
    return [StoredRun(run(f"run-{number}"), 100.0, 100.0, "final") for number in numbers]


def runs(server: LogsServer) -> list[str]:
    """Of each request, in its order."""
    return [request[0].attributes["aem.run.id"] for request in server.requests]


def of_run(name: str, answer: Answer, events: list[Event]) -> Answer:
    return answer if events[0].attributes["aem.run.id"] == name else Answer()


def test_each_verdict_is_a_request_with_the_headers_that_were_chosen(server: LogsServer, sink: OtlpEvents) -> None:
    sink.take(verdicts(1, 2))
    sink.take([])
    assert runs(server) == ["run-1", "run-2"]
    assert {one["X-Tenant"] for one in server.headers} == {"agents"}


def test_a_connection_that_the_receiver_ended_is_no_failure(server: LogsServer, sink: OtlpEvents) -> None:
    sink.take(verdicts(1))
    server.stop()
    server.start()
    sink.take(verdicts(2))
    assert runs(server) == ["run-1", "run-2"]


def test_while_nobody_listens_it_fails_and_waits_longer_each_time(server: LogsServer, sink: OtlpEvents) -> None:
    server.stop()
    pauses = []
    for _ in range(8):
        with pytest.raises(SinkError, match="does not answer") as caught:
            sink.take(verdicts(1))
        assert (caught.value.reason, caught.value.taken) == ("unreachable", 0)
        pauses.append(caught.value.retry_after or 0.0)
    assert 2.25 <= pauses[0] <= 3.0
    assert all(pause > pauses[0] for pause in pauses[1:])
    assert 45.0 <= pauses[-1] <= 60.0
    server.start()
    sink.take(verdicts(1))
    server.stop()
    with pytest.raises(SinkError) as caught:
        sink.take(verdicts(2))
    assert (caught.value.retry_after or 0.0) <= 3.0, "what is over is forgotten"


@pytest.mark.parametrize(
    ("answer", "reason", "pause"),
    [
        (Answer(503, {"Retry-After": "17"}), "overloaded", 17.0),
        (Answer(429, {"Retry-After": "86400"}), "overloaded", 300.0),
        (Answer(502, {"Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"}), "overloaded", None),
        (Answer(401), "unauthorized", None),
        (Answer(404), "refused", None),
        (Answer(500), "refused", None),
        (Answer(302, {"Location": "http://127.0.0.1:1/"}), "refused", None),
    ],
)
def test_an_answer_that_is_no_judgement_of_the_verdict_leaves_it_waiting(
    server: LogsServer, sink: OtlpEvents, answer: Answer, reason: str, pause: float | None
) -> None:
    server.answer = lambda events: of_run("run-2", answer, events)
    with pytest.raises(SinkError, match=f"answered {answer.status}") as caught:
        sink.take(verdicts(1, 2, 3))
    assert (caught.value.reason, caught.value.taken) == (reason, 1)
    assert caught.value.retry_after == pause if pause else (caught.value.retry_after or 0.0) <= 3.0
    assert runs(server) == ["run-1"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(400), "rejected"),
        (Answer(413), "too_large"),
        (Answer(200, rejected=2, message="too old"), "rejected"),
    ],
)
def test_what_the_receiver_rejects_is_given_up_and_nothing_else(
    server: LogsServer, sink: OtlpEvents, answer: Answer, reason: str
) -> None:
    server.answer = lambda events: of_run("run-2", answer, events)
    with pytest.raises(RefusedVerdictError, match=answer.message or f"answered {answer.status}") as caught:
        sink.take(verdicts(1, 2, 3))
    assert (caught.value.reason, caught.value.taken) == (reason, 1)
    sink.take(verdicts(3))
    assert runs(server) == ["run-1", "run-3"]


def test_a_warning_is_said_and_the_verdict_is_taken(
    server: LogsServer, sink: OtlpEvents, caplog: pytest.LogCaptureFixture
) -> None:
    server.answer = lambda events: Answer(message="old attribute names")
    with caplog.at_level(logging.WARNING):
        sink.take(verdicts(1))
    assert runs(server) == ["run-1"]
    assert "old attribute names" in caplog.text


def test_a_receiver_that_nobody_vouches_for_gets_nothing(server: LogsServer) -> None:
    sink = OtlpEvents(LogsReceiver(OtlpHttpSettings(server.url.replace("http:", "https:"), timeout=2.0)))
    with pytest.raises(SinkError, match="does not answer") as caught:
        sink.take(verdicts(1))
    assert isinstance(caught.value.__cause__, ssl.SSLError | OSError)
    sink.close()


def test_a_file_of_authorities_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("nothing")
    with pytest.raises(ConfigError, match=r"sinks\.otlp\.cafile: .*ca\.pem cannot be used"):
        LogsReceiver(OtlpHttpSettings("https://localhost/v1/logs", cafile=tmp_path / "ca.pem"))
