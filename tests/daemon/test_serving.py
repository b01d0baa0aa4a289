"""A daemon that runs: verdicts and metrics come out, bad input is counted and changes nothing."""

import gzip
import re
import socket
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemon.running import PROFIT, RIGHT, Running, eventually
from tests.services.agent import agent_spans
from tests.services.collector import otlp_json, otlp_proto


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    daemon = Running(tmp_path_factory.mktemp("daemon"))
    daemon.start()
    yield daemon
    daemon.close()


def test_it_is_ready(daemon: Running) -> None:
    eventually(lambda: daemon.get("/-/ready") == 200, "ready")


def test_spans_become_verdicts_and_metrics(daemon: Running) -> None:
    before = daemon.value("aem_runs_total")
    right, wrong = daemon.play(RIGHT), daemon.play(PROFIT, "2.0.0", encoding="json")
    eventually(lambda: daemon.value("aem_runs_total") == before + 2, "both runs are counted")
    assert daemon.value("aem_root_causes_total", release="2.0.0", reason="inconsistent_parameter_values") == 1
    assert daemon.value("aem_turns_total", release="2.0.0", result="cascade") == 3
    (run,) = daemon.api(f"/api/v1/runs?conversation_id={wrong}")["runs"]
    assert (run["test_pass"], run["first_failure_turn"], run["release"]) == (False, 2, "2.0.0")
    (run,) = daemon.api(f"/api/v1/runs?conversation_id={right}")["runs"]
    assert run["test_pass"] is True


def test_no_page_of_another_site_reads_runs_by_a_name_that_it_points_here(daemon: Running) -> None:
    assert daemon.request(daemon.admin_address, "/api/v1/runs")[0] == 200
    assert daemon.request(daemon.admin_address, "/api/v1/runs", headers={"Host": "evil.example"})[0] == 403


def test_metrics_are_openmetrics_with_exemplars_or_plain_text(daemon: Running) -> None:
    daemon.play()
    eventually(lambda: daemon.value("aem_run_latency_seconds_count") > 0, "a latency")
    rich = daemon.metrics()
    assert rich.rstrip().endswith("# EOF")
    assert re.search(r'aem_run_latency_seconds_bucket\{.*\} \S+ # \{trace_id="[0-9a-f]{32}"\}', rich)
    plain = daemon.metrics("text/plain")
    assert "# EOF" not in plain
    assert "# {" not in plain


def test_a_run_in_its_grace_is_shown_as_provisional(daemon: Running) -> None:
    conversation = daemon.play()
    path = f"/api/v1/runs?state=provisional&conversation_id={conversation}"
    eventually(
        lambda: daemon.api(path)["runs"] or daemon.api(f"/api/v1/runs?conversation_id={conversation}")["runs"],
        "a verdict of any kind",
    )
    eventually(lambda: not daemon.api(path)["runs"], "no longer provisional")
    assert len(daemon.api(f"/api/v1/runs?conversation_id={conversation}")["runs"]) == 1


def test_bytes_and_spans_are_counted_by_source(daemon: Running) -> None:
    spans = daemon.value("aem_monitor_received_spans_total", source="otlp_http")
    size = daemon.value("aem_monitor_received_bytes_total", source="otlp_http")
    body = otlp_proto(agent_spans("c-bytes"))
    assert daemon.post(gzip.compress(body), Content_Encoding="gzip") == 200
    eventually(lambda: daemon.value("aem_monitor_received_spans_total", source="otlp_http") == spans + 1, "one span")
    assert daemon.value("aem_monitor_received_bytes_total", source="otlp_http") == size + len(body)


BAD = [
    ("broken protobuf", b"\x0a\xff\xff\xff\xff", {}, 400, "malformed"),
    ("broken JSON", b'{"resourceSpans": [', {"content_type": "application/json"}, 400, "malformed"),
    ("wrong type", b"spans", {"content_type": "text/plain"}, 415, "unsupported_type"),
    ("wrong encoding", b"spans", {"Content_Encoding": "br"}, 415, "unsupported_encoding"),
    ("broken gzip", b"no gzip at all", {"Content_Encoding": "gzip"}, 400, "malformed"),
    ("oversized", b"\x00" * (2 << 20), {}, 413, "too_large"),
    ("bomb", gzip.compress(b"\x00" * (64 << 20), 9), {"Content_Encoding": "gzip"}, 413, "too_large"),
    ("deep", b'{"a":' * 50_000, {"content_type": "application/json"}, 400, "malformed"),
    ("unknown path", b"x", {"path": "/v1/metrics"}, 404, "unknown_path"),
]


@pytest.mark.parametrize(("body", "how", "status", "cause"), [one[1:] for one in BAD], ids=[one[0] for one in BAD])
def test_bad_requests_are_refused_and_counted_by_cause(
    daemon: Running, body: bytes, how: dict[str, str], status: int, cause: str
) -> None:
    before = daemon.value("aem_monitor_refused_requests_total", source="otlp_http", cause=cause)
    assert daemon.post(body, **how) == status
    assert daemon.value("aem_monitor_refused_requests_total", source="otlp_http", cause=cause) == before + 1
    assert daemon.get("/-/healthy") == 200
    assert daemon.get("/-/ready") == 200


def test_what_is_not_even_http_changes_nothing(daemon: Running) -> None:
    host, _, port = daemon.otlp_address.rpartition(":")
    for noise in (b"\x16\x03\x01\x02\x00", b"GET", zlib.compress(b"x" * 1000), b"POST / HTTP/9.9\r\n\r\n"):
        with socket.create_connection((host, int(port)), timeout=5) as connection:
            connection.sendall(noise)
    runs = daemon.value("aem_runs_total")
    daemon.play(encoding="json")
    eventually(lambda: daemon.value("aem_runs_total") == runs + 1, "it still scores")


def test_spans_without_valid_ids_are_skipped_and_counted(daemon: Running) -> None:
    before = daemon.value("aem_monitor_skipped_spans_total", cause="invalid_id")
    body = otlp_json(agent_spans("c-ids")).replace(b'"traceId":"', b'"traceId":"zz')
    assert daemon.post(body, "application/json") == 200
    eventually(lambda: daemon.value("aem_monitor_skipped_spans_total", cause="invalid_id") == before + 1, "skipped")


def test_other_traffic_is_counted_and_leaves_no_label_behind(daemon: Running) -> None:
    daemon.post(otlp_proto(agent_spans("customer-4711")))
    eventually(lambda: daemon.value("aem_monitor_unrecognised_conversations_total") > 0, "counted")
    assert "customer-4711" not in daemon.metrics()


def test_the_log_holds_no_content_of_conversations(daemon: Running) -> None:
    assert "sales report" not in daemon.log
    assert "Traceback" not in daemon.log


def test_nothing_was_an_error_of_the_program(daemon: Running) -> None:
    assert daemon.value("aem_monitor_engine_errors_total") == 0
    assert daemon.value("aem_monitor_collector_errors_total") == 0
    assert Path(daemon.folder / "verdicts.db").exists()
