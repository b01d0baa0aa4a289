"""The services are the real ones and answer."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.conftest import StartPrometheus
from tests.services.kafka import KafkaBroker

pytestmark = pytest.mark.service


def test_the_broker_keeps_messages_over_a_restart(own_kafka_broker: KafkaBroker) -> None:
    own_kafka_broker.start()
    own_kafka_broker.create_topic("services.restart")
    assert own_kafka_broker.produce("services.restart", b"one", b"two") == [0, 1]
    own_kafka_broker.stop()
    own_kafka_broker.start()
    assert own_kafka_broker.end_offset("services.restart") == 2


class _Exposition(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b"# TYPE answer gauge\nanswer 42\n# EOF\n"
        self.send_response(200)
        self.send_header("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def exposition() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Exposition)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_prometheus_scrapes_and_answers_queries(exposition: str, start_prometheus: StartPrometheus) -> None:
    prometheus = start_prometheus([{"job_name": "here", "static_configs": [{"targets": [exposition]}]}])
    (sample,) = prometheus.wait_for("answer", bool)
    assert sample.value == 42
    assert sample.labels["job"] == "here"
    assert json.dumps(prometheus.api("query_exemplars", {"query": "answer", "start": "0", "end": "1"})) == "[]"


def test_promtool_is_there(promtool: Path) -> None:
    assert promtool.is_file()
