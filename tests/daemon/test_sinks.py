"""A daemon with a sink: what is in its file, and what it does when the file cannot be written."""

import json
import resource
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from aem_monitor.sinks.line import BEGINNING
from aem_monitor.sinks.schema import line_schema
from tests.daemon.running import PROFIT, Running, eventually

SINKS = {"json_lines": {"path": "verdicts.jsonl"}}
"""Beside the configuration file."""


def lines(folder: Path) -> list[Any]:
    return [json.loads(line) for line in (folder / "verdicts.jsonl").read_bytes().splitlines()]


def test_a_line_is_what_the_api_shows(tmp_path: Path) -> None:
    daemon = Running(tmp_path, sinks=SINKS)
    try:
        daemon.start()
        conversations = {daemon.play(), daemon.play(PROFIT)}
        eventually(lambda: daemon.value("aem_monitor_sink_verdicts_total", sink="json_lines") == 2, "both are written")
        written = lines(tmp_path)
        assert {one["conversation_id"] for one in written} == conversations
        assert written == [daemon.api(f"/api/v1/runs/{one['run_id']}") for one in written]
        for one in written:
            Draft202012Validator(line_schema()).validate(one)
        assert stat.S_IMODE((tmp_path / "verdicts.jsonl").stat().st_mode) == 0o600
        eventually(lambda: daemon.value("aem_monitor_sink_behind_verdicts", sink="json_lines") == 0, "none waits")
    finally:
        daemon.close()


def test_what_is_redacted_in_the_store_is_in_no_line(tmp_path: Path) -> None:
    store = {"url": f"sqlite:///{tmp_path / 'verdicts.db'}", "redact": {"patterns": {"word": "[A-Za-z]{4,}"}}}
    daemon = Running(tmp_path, sinks=SINKS, store=store)
    try:
        daemon.start()
        daemon.play(PROFIT)
        eventually(lambda: (tmp_path / "verdicts.jsonl").stat().st_size, "it is written")
        (run,) = lines(tmp_path)
        evidence = json.dumps([[turn["expected"], turn["actual"]] for turn in run["turns"]])
        assert "[redacted:word]" in evidence
        assert "profit" not in evidence.lower()
    finally:
        daemon.close()


def test_what_becomes_final_while_it_stops_is_written(tmp_path: Path) -> None:
    no_journal = {"otlp_journal": {"enabled": False}}
    daemon = Running(tmp_path, sinks=SINKS, ingest=no_journal, assembly={"grace": "1h", "idle": "2h"})
    try:
        daemon.start()
        conversation = daemon.play()
        assert daemon.stop() == 0
        assert "runs made final while draining: 1" in daemon.log
        assert [one["conversation_id"] for one in lines(tmp_path)] == [conversation]
    finally:
        daemon.close()


def test_what_rescore_says_beside_the_daemon_is_a_further_line(tmp_path: Path) -> None:
    daemon = Running(tmp_path, sinks=SINKS)
    try:
        daemon.start()
        daemon.play()
        eventually(lambda: daemon.value("aem_monitor_sink_verdicts_total", sink="json_lines") == 1, "it is written")
        text = daemon.golden.read_text(encoding="utf-8")
        (version,) = [line for line in text.splitlines() if line.startswith("version:")]
        daemon.golden.write_text(text.replace(version, "version: 41"), encoding="utf-8")
        command = [sys.executable, "-m", "aem_monitor", "rescore", "--config", str(tmp_path / "aem-monitor.yaml")]
        subprocess.run(command, capture_output=True, timeout=120, check=True)
        eventually(lambda: len(lines(tmp_path)) == 2, "so is the revision")
        final, revision = lines(tmp_path)
        assert (final["revision"], final["cause"]) == (0, "final")
        assert (revision["revision"], revision["dialog_version"], revision["cause"]) == (1, 41, "rescore")
        assert final["run_id"] == revision["run_id"]
    finally:
        daemon.close()


def test_on_a_full_disk_verdicts_wait_and_the_daemon_goes_on(tmp_path: Path) -> None:
    """A limit on file sizes: the file of the sink has reached it, those of the store and the journal have not."""
    (tmp_path / "verdicts.jsonl").write_bytes(BEGINNING + json.dumps("x" * 2_000_000).encode() + b',"stored_at":4e9}\n')
    daemon = Running(tmp_path, sinks=SINKS)
    try:
        daemon.start()
        full = (tmp_path / "verdicts.jsonl").stat().st_size
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (full + 100, resource.RLIM_INFINITY))
        conversations = {daemon.play(), daemon.play()}
        eventually(lambda: daemon.value("aem_monitor_sink_errors_total", reason="disk_full") >= 2, "it is tried")
        assert daemon.scored(2)
        assert daemon.value("aem_monitor_sink_behind_verdicts", sink="json_lines") >= 1
        assert daemon.value("aem_monitor_sink_oldest_timestamp_seconds", sink="json_lines") > 0
        assert daemon.get("/-/ready") == 200
        assert daemon.log.count("The sink json_lines failed") == 1
        assert (tmp_path / "verdicts.jsonl").stat().st_size == full, "no half line is left"
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        eventually(lambda: len(lines(tmp_path)) == 3, "they are written")
        assert {one["conversation_id"] for one in lines(tmp_path)[1:]} == conversations
        eventually(lambda: "takes verdicts again" in daemon.log, "it is said")
    finally:
        daemon.close()


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nowhere/verdicts.jsonl", "check that the folder is there"),
        ("golden", "Is a directory"),
    ],
)
def test_a_path_that_cannot_work_is_refused_at_the_start(tmp_path: Path, path: str, message: str) -> None:
    daemon = Running(tmp_path, sinks={"json_lines": {"path": path}})
    try:
        with pytest.raises(AssertionError):
            daemon.start()
        assert "sinks.json_lines: verdicts could not be written to" in daemon.log
        assert message in daemon.log
        assert "Traceback" not in daemon.log
    finally:
        daemon.close()
