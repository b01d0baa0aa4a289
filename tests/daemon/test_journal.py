"""A daemon with its journal: what it took over OTLP outlives it."""

import resource
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.running import PROFIT, RIGHT, Running, eventually
from tests.services.agent import Turn, agent_spans
from tests.services.collector import otlp_proto


def _journal(folder: Path) -> Path:
    (found,) = folder.glob("verdicts.db-otlp-*")
    return found


def _one_body(conversation: str, release: str = "1.0.0") -> bytes:
    return otlp_proto(agent_spans(conversation, RIGHT, release, attributes={"aem.dialog.id": "sales-report"}))


def _runs(daemon: Running, conversation: str) -> list[Any]:
    found = daemon.api(f"/api/v1/runs?conversation_id={conversation}")["runs"]
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_an_unfinished_run_goes_on_in_the_next_process(tmp_path: Path, end: str) -> None:
    spans = agent_spans("c-halves", PROFIT, attributes={"aem.dialog.id": "sales-report"})
    first = [span for span in spans if span.context.trace_id == spans[0].context.trace_id]
    rest = [span for span in spans if span not in first]
    assert rest
    daemon = Running(tmp_path, assembly={"grace": "2s", "idle": "10m", "wall_idle": "1s"})
    try:
        daemon.start()
        assert daemon.post(otlp_proto(first)) == 200
        if end == "kill":
            daemon.kill()
        else:
            assert daemon.stop() == 0
            assert "runs made final while draining: 0" in daemon.log
        daemon.start()
        assert daemon.post(otlp_proto(rest)) == 200
        eventually(lambda: daemon.scored(1), "scored")
        (run,) = _runs(daemon, "c-halves")
        assert len(run["turns"]) == 5
        assert "partial" not in run
        assert daemon.value("aem_root_causes_total") == 1
        assert daemon.value("aem_monitor_journal_replayed_records_total") == 1
        eventually(lambda: daemon.value("aem_monitor_journal_bytes") > 0, "it is looked at")
        assert "Traceback" not in daemon.log
    finally:
        daemon.close()


def test_what_is_final_is_not_counted_again_and_its_requests_go(tmp_path: Path) -> None:
    daemon = Running(tmp_path)
    try:
        daemon.start()
        daemon.post(_one_body("c-final"))
        eventually(lambda: daemon.scored(1), "scored")
        folder = _journal(tmp_path)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert list(folder.glob("*.segment"))
        daemon.kill()
        daemon.start()
        eventually(lambda: daemon.value("aem_monitor_journal_segments") == 0, "read again, and deleted")
        assert daemon.value("aem_monitor_journal_replayed_records_total") == 1
        assert daemon.scored(1)
        assert daemon.stop() == 0
        assert list(folder.glob("*.segment")) == []
    finally:
        daemon.close()


def test_while_the_journals_disk_is_full_requests_are_refused_and_come_in_later(tmp_path: Path) -> None:
    """A limit on file sizes below the journal's, with the store's own files far below it."""
    daemon = Running(tmp_path, assembly={"grace": "1h", "idle": "2h"})
    try:
        daemon.start()
        eventually(lambda: daemon.get("/-/ready") == 200, "ready")
        assert daemon.post(_one_body("c-before")) == 200
        (segment,) = _journal(tmp_path).glob("*.segment")
        full = segment.stat().st_size + 10
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (full, resource.RLIM_INFINITY))
        assert daemon.post(_one_body("c-refused")) == 503
        assert daemon.get("/-/ready") == 503
        assert "the OTLP journal cannot be written since" in daemon.request(daemon.metrics_address, "/-/ready")[1]
        assert daemon.value("aem_monitor_journal_errors_total", reason="disk_full") >= 1
        assert daemon.value("aem_monitor_refused_requests_total", source="otlp_http", cause="journal") == 1
        assert daemon.value("aem_monitor_received_batches_total", source="otlp_http") == 1
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        eventually(lambda: daemon.get("/-/ready") == 200, "ready again, though nobody sent anything")
        assert daemon.post(_one_body("c-refused")) == 200
    finally:
        daemon.close()


def test_a_flood_of_other_traffic_pushes_no_run_out_of_a_full_journal(tmp_path: Path) -> None:
    spans = agent_spans("c-flood", RIGHT, attributes={"aem.dialog.id": "sales-report"})
    first = [span for span in spans if span.context.trace_id == spans[0].context.trace_id]
    rest = [span for span in spans if span not in first]
    journal = {"otlp_journal": {"segment_bytes": "64KiB", "max_bytes": "1152KiB"}}
    daemon = Running(tmp_path, ingest=journal, assembly={"grace": "10m", "idle": "10m"})
    try:
        daemon.start()
        assert daemon.post(otlp_proto(first)) == 200
        for number in range(20):
            body = otlp_proto(agent_spans(f"other-{number}", [Turn("x" * 100_000, "y")]))
            eventually(lambda body=body: daemon.post(body) == 200, "there is room again")  # type: ignore[misc]
        assert daemon.value("aem_monitor_journal_evicted_segments_total", cause="full") >= 1
        assert daemon.value("aem_monitor_journal_bytes") <= 1152 * 1024
        daemon.kill()
        daemon = Running(tmp_path, ingest=journal)
        daemon.start()
        assert daemon.post(otlp_proto(rest)) == 200
        eventually(lambda: daemon.scored(1), "scored")
        (run,) = _runs(daemon, "c-flood")
        assert len(run["turns"]) == 5
        assert run["test_pass"] is True
    finally:
        daemon.close()


def test_two_daemons_on_one_journal_are_refused(tmp_path: Path) -> None:
    shared = {"otlp_journal": {"path": str(tmp_path / "journal")}}
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    one = Running(tmp_path / "one", ingest=shared)
    two = Running(tmp_path / "two", ingest=shared)
    try:
        one.start()
        with pytest.raises(AssertionError, match="is used by another daemon"):
            two.start()
        assert "Traceback" not in two.log
        one.kill()
        two.start()
    finally:
        one.close()
        two.close()


def test_a_store_in_memory_has_no_journal_of_its_own(tmp_path: Path) -> None:
    daemon = Running(tmp_path, store={"url": "sqlite://"})
    try:
        daemon.start()
        assert daemon.post(_one_body("c-memory")) == 200
        assert daemon.value("aem_monitor_journal_records_total") == 0
        assert {path.name for path in tmp_path.iterdir()} == {"aem-monitor.yaml", "daemon.log", "golden"}
    finally:
        daemon.close()
