"""A daemon with sinks that send: to a Kafka topic, and to a receiver of OpenTelemetry events."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.daemon.running import PROFIT, Running, eventually
from tests.services.kafka import KafkaBroker
from tests.services.otlp_logs import Answer, LogsServer
from tests.sinks.test_kafka import messages

TAKEN = "aem_monitor_sink_verdicts_total"


@pytest.fixture
def server() -> Iterator[LogsServer]:
    server = LogsServer().start()
    yield server
    server.stop()
    assert server.faults == []


def otlp(url: str, **keys: Any) -> dict[str, Any]:
    return {"otlp": {"endpoint": url, **keys}}


def test_events_carry_the_ids_of_the_spans_that_were_judged(tmp_path: Path, server: LogsServer) -> None:
    (tmp_path / "token").write_text("Bearer secret-1\n")
    daemon = Running(tmp_path, sinks=otlp(server.url, authorization_file="token"))
    try:
        daemon.start()
        daemon.play(PROFIT)
        eventually(lambda: daemon.value(TAKEN, sink="otlp") == 1, "it is sent")
        (run_id,) = {one.attributes["aem.run.id"] for one in server.events}
        run = daemon.api(f"/api/v1/runs/{run_id}")
        judged = {turn["turn_no"]: (turn["trace_id"], turn.get("span_id", "")) for turn in run["turns"]}
        assert any(span for _, span in judged.values())
        told = [one for one in server.events if one.attributes["gen_ai.evaluation.name"] == "aem.turn"]
        assert {one.attributes["aem.turn"]: (one.trace_id, one.span_id) for one in told} == judged
        assert {one["Authorization"] for one in server.headers} == {"Bearer secret-1"}
        assert "secret-1" not in daemon.log
    finally:
        daemon.close()


def test_while_the_receiver_is_away_verdicts_wait_and_the_daemon_goes_on(tmp_path: Path, server: LogsServer) -> None:
    server.stop()
    daemon = Running(tmp_path, sinks=otlp(server.url))
    try:
        daemon.start()
        daemon.play()
        eventually(lambda: daemon.value("aem_monitor_sink_errors_total", reason="unreachable"), "it is tried")
        assert daemon.scored(1)
        assert daemon.get("/-/ready") == 200
        assert daemon.value("aem_monitor_sink_behind_verdicts", sink="otlp") == 1
        server.start()
        eventually(lambda: daemon.value(TAKEN, sink="otlp") == 1, "it is sent")
        eventually(lambda: "takes verdicts again" in daemon.log, "it is said")
    finally:
        daemon.close()


def test_what_the_receiver_rejects_is_counted_as_lost(tmp_path: Path, server: LogsServer) -> None:
    server.answer = lambda events: Answer(400)
    daemon = Running(tmp_path, sinks=otlp(server.url))
    try:
        daemon.start()
        daemon.play()
        eventually(lambda: daemon.value("aem_monitor_sink_lost_verdicts_total", cause="rejected") == 1, "it is said")
        eventually(lambda: daemon.value("aem_monitor_sink_behind_verdicts", sink="otlp") == 0, "none waits")
    finally:
        daemon.close()


def test_events_that_come_back_change_nothing(tmp_path: Path) -> None:
    """A collector may send all log records to the topic that the daemon reads, its own events among them."""
    daemon = Running(tmp_path)
    document = json.loads(daemon.config.read_text())
    document["sinks"] = otlp(f"http://{daemon.otlp_address}/v1/logs")
    document["assembly"] = {"grace": "1s", "idle": "5s", "wall_idle": "1s", "late_window": "1h"}
    daemon.config.write_text(json.dumps(document))
    try:
        daemon.start()
        daemon.play(PROFIT)
        eventually(lambda: daemon.value(TAKEN, sink="otlp") == 1, "it is sent to itself")
        received = daemon.value("aem_monitor_received_batches_total", source="otlp_http")
        # What follows goes the same way: when it is scored, what came before it is.
        daemon.play(PROFIT)
        eventually(lambda: daemon.value(TAKEN, sink="otlp") == 2, "the next one, too")
        assert daemon.scored(2)
        assert daemon.value("aem_verdict_revisions_total") == 0
        eventually(lambda: daemon.value("aem_monitor_sink_behind_verdicts", sink="otlp") == 0, "none waits")
        assert received >= 2, "spans, and events of its own"
    finally:
        daemon.close()


@pytest.mark.service
def test_a_topic_gets_what_the_api_shows_from_a_daemon_that_stops(tmp_path: Path, kafka_broker: KafkaBroker) -> None:
    topic = f"verdicts.{uuid4().hex[:8]}"
    kafka_broker.create_topic(topic, partitions=3)
    daemon = Running(tmp_path, sinks={"kafka": {"bootstrap_servers": [kafka_broker.bootstrap], "topic": topic}})
    try:
        daemon.start()
        daemon.play(PROFIT)
        eventually(lambda: daemon.value(TAKEN, sink="kafka") == 1, "it is written")
        (message,) = messages(kafka_broker, topic)
        run = json.loads(message.value)
        assert run == daemon.api(f"/api/v1/runs/{run['run_id']}")
        assert message.key.decode() == run["run_id"]
        assert daemon.stop() == 0
        assert len(messages(kafka_broker, topic)) == 1
    finally:
        daemon.close()
