"""Reload, restart and the end of a daemon."""

import json
import resource
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.running import PROFIT, RIGHT, Running, eventually
from tests.services.agent import agent_spans
from tests.services.collector import otlp_proto


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Running]:
    daemon = Running(tmp_path)
    daemon.start()
    yield daemon
    daemon.close()


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One for tests that leave the configuration as it was."""
    daemon = Running(tmp_path_factory.mktemp("lasting"))
    daemon.start()
    yield daemon
    daemon.close()


def _version(daemon: Running, version: int) -> None:
    text = daemon.golden.read_text(encoding="utf-8")
    lines = [f"version: {version}" if line.startswith("version:") else line for line in text.splitlines()]
    daemon.golden.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _versions(daemon: Running) -> list[int]:
    return sorted(run["dialog_version"] for run in daemon.api("/api/v1/runs")["runs"])


def test_a_reload_swaps_the_golden_dialogs_for_what_comes_after(daemon: Running) -> None:
    daemon.play()
    eventually(lambda: daemon.scored(1), "scored by the first version")
    _version(daemon, 41)
    status, answer = daemon.reload()
    assert status == 200
    assert "1 golden dialog" in answer["message"]
    daemon.play()
    eventually(lambda: daemon.scored(2), "scored by the second version")
    assert _versions(daemon)[-1] == 41
    _version(daemon, 42)
    daemon.signal(signal.SIGHUP)
    eventually(lambda: daemon.log.count("Reloaded") == 2, "SIGHUP does the same")
    daemon.play()
    eventually(lambda: daemon.scored(3), "scored by the third version")
    assert _versions(daemon)[-1] == 42
    assert daemon.value("aem_monitor_config_last_reload_successful") == 1


def test_a_reload_says_which_dialogs_should_run(daemon: Running) -> None:
    gauge = "aem_dialog_loaded_timestamp_seconds"
    loaded = daemon.value(gauge, dialog="sales-report")
    assert loaded > 0
    text = daemon.golden.read_text(encoding="utf-8")
    daemon.golden.write_text(text.replace("dialog: sales-report", "dialog: other-report"), encoding="utf-8")
    daemon.reload()
    assert daemon.value(gauge, dialog="sales-report") == 0
    assert daemon.value(gauge, dialog="other-report") > loaded
    page = daemon.request(daemon.admin_address, "/dialogs")[1]
    assert "other-report" in page
    assert "sales-report" not in page


BAD = {
    "bad YAML": ("aem-monitor.yaml", "golden: [\n", "aem-monitor.yaml:"),
    "unknown key": ("aem-monitor.yaml", "golden:\n  paths: [golden]\nnonsense: 1\n", "aem-monitor.yaml:3"),
    "bad golden file": (
        "golden/sales-report.yaml",
        "dialog: x\nversion: 1\nnonsense: 1\nturns: []\n",
        "golden/sales-report.yaml:3",
    ),
}


@pytest.mark.parametrize(("name", "text", "named"), list(BAD.values()), ids=list(BAD))
def test_a_bad_reload_keeps_the_old_and_says_where_the_fault_is(
    lasting: Running, name: str, text: str, named: str
) -> None:
    daemon, scored = lasting, round(lasting.value("aem_runs_total"))
    path = daemon.folder / name
    good = path.read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    status, answer = daemon.reload()
    assert status == 500
    assert named in answer["error"]["message"]
    assert "stays in use" in answer["error"]["message"]
    assert named in daemon.log
    assert daemon.value("aem_monitor_config_last_reload_successful") == 0
    daemon.play(PROFIT)
    eventually(lambda: daemon.scored(scored + 1), "the old dialog is still scored")
    assert daemon.get("/-/ready") == 200
    path.write_text(good, encoding="utf-8")
    assert daemon.reload()[0] == 200
    assert daemon.value("aem_monitor_config_last_reload_successful") == 1


ONLY_WITH_A_RESTART: dict[str, dict[str, dict[str, Any]]] = {
    "metrics.max_label_values": {"metrics": {"max_label_values": 77}},
    "admin.insecure": {"admin": {"insecure": True}},
    "log.level": {"log": {"level": "debug"}},
    "experts.deadline": {"experts": {"deadline": "7s"}},
    "store.replica": {"store": {"replica": "another"}},
    "ingest.queue": {"ingest": {"queue": {"batches": 7}}},
    "ingest.otlp_journal": {"ingest": {"otlp_journal": {"fsync": "off"}}},
    "sinks.json_lines": {"sinks": {"json_lines": {"path": "verdicts.jsonl"}}},
    "assembly (new attributes)": {"assembly": {"conversation_id": ["house.conversation"]}},
    "recognise.where (new attributes)": {"recognise": {"where": {"house.canary": "yes"}}},
}


def test_what_only_a_restart_changes_is_said_as_long_as_it_is_so(lasting: Running) -> None:
    daemon, path = lasting, lasting.folder / "aem-monitor.yaml"
    original = path.read_text()
    changed = json.loads(original)
    for more in ONLY_WITH_A_RESTART.values():
        for section, keys in more.items():
            changed[section] = {**changed.get(section, {}), **keys}
    path.write_text(json.dumps(changed))
    for time in ("first", "second"):
        status, answer = daemon.reload()
        assert status == 200
        named = answer["message"].partition("restart: ")[2].split(", ")
        assert sorted(named) == sorted(ONLY_WITH_A_RESTART), time
    path.write_text(original)
    status, answer = daemon.reload()
    assert status == 200
    assert "restart" not in answer["message"], "it is what runs"


def test_what_a_reload_carries_out_is_not_said_to_need_a_restart(daemon: Running) -> None:
    path = daemon.folder / "aem-monitor.yaml"
    document = json.loads(path.read_text())
    document["store"]["retention"] = "3d"
    document["shutdown"] = {"grace": "9s"}
    document["scoring"] = {"threshold": 0.4}
    path.write_text(json.dumps(document))
    status, answer = daemon.reload()
    assert status == 200
    assert "restart" not in answer["message"]
    assert daemon.stop() == 0
    assert "at most 9 s" in daemon.log


def test_counters_go_on_after_a_restart(daemon: Running) -> None:
    daemon.play(PROFIT, "2.0.0")
    eventually(lambda: daemon.scored(1), "scored")
    counters = [
        line for line in daemon.metrics("text/plain").splitlines() if line.startswith(("aem_turns", "aem_root"))
    ]
    seen = daemon.value("aem_release_first_seen_timestamp_seconds")
    assert daemon.stop() == 0
    daemon.start()
    assert daemon.scored(1)
    after = daemon.metrics("text/plain").splitlines()
    assert [line for line in counters if line not in after] == []
    assert daemon.value("aem_release_first_seen_timestamp_seconds") == pytest.approx(seen, abs=1)
    daemon.play(RIGHT, "2.0.0")
    eventually(lambda: daemon.scored(2), "and goes on")


def test_the_same_spans_again_after_a_restart_are_counted_once(tmp_path: Path) -> None:
    daemon = Running(tmp_path)
    try:
        daemon.start()
        body = otlp_proto(agent_spans("again", RIGHT, attributes={"aem.dialog.id": "sales-report"}))
        daemon.post(body)
        eventually(lambda: daemon.scored(1), "scored")
        assert daemon.stop() == 0
        daemon.start()
        daemon.post(body)
        eventually(lambda: daemon.value("aem_monitor_duplicate_spans_total") == 5, "seen before")
        assert daemon.scored(1)
    finally:
        daemon.close()


def test_without_a_journal_sigterm_scores_what_is_complete_and_exits_0(tmp_path: Path) -> None:
    """OTLP cannot send again: what the grace still holds must not be lost with the process."""
    assembly = {"grace": "10m", "idle": "20m"}
    daemon = Running(tmp_path, assembly=assembly, ingest={"otlp_journal": {"enabled": False}})
    try:
        daemon.start()
        conversation = daemon.play()
        assert daemon.stop() == 0
        assert "Draining" in daemon.log
        assert "Stopped; runs made final while draining: 1" in daemon.log
        daemon.start()
        (run,) = daemon.api(f"/api/v1/runs?conversation_id={conversation}")["runs"]
        assert run["test_pass"] is True
        assert daemon.scored(1)
        assert "Traceback" not in daemon.log
    finally:
        daemon.close()


def test_while_the_store_cannot_be_written_nothing_is_accepted_and_nothing_lost(tmp_path: Path) -> None:
    """Readable it stays all the time, as on a disk that is full."""
    daemon = Running(tmp_path)
    try:
        daemon.start()
        eventually(lambda: daemon.get("/-/ready") == 200, "ready")
        size = (tmp_path / "verdicts.db-wal").stat().st_size
        assert size > len(daemon.log)
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        conversation = daemon.play()
        eventually(lambda: daemon.get("/-/ready") == 503, "not ready")
        assert "the store cannot be written since" in daemon.request(daemon.metrics_address, "/-/ready")[1]
        body = otlp_proto(agent_spans("later", RIGHT, attributes={"aem.dialog.id": "sales-report"}))
        assert daemon.post(body) == 503
        said = daemon.request(daemon.otlp_address, "/v1/traces", body, {"Content-Type": "application/x-protobuf"})
        assert "the store cannot be written" in said[1]
        assert daemon.value("aem_runs_total") == 0
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        eventually(lambda: daemon.get("/-/ready") == 200, "ready again")
        assert daemon.post(body) == 200
        eventually(lambda: daemon.scored(2), "both are scored")
        assert daemon.api(f"/api/v1/runs?conversation_id={conversation}")["runs"]
        assert daemon.log.count("The store failed") == 1
        assert daemon.log.count("The store can be written again") == 1
    finally:
        daemon.close()
