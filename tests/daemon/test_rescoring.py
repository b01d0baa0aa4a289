"""Stored runs can be judged again while the daemon runs; both say the same afterwards."""

import subprocess
import sys
from pathlib import Path

from tests.daemon.running import PROFIT, Running, eventually


def test_rescore_beside_the_daemon_shows_in_its_api_and_metrics_and_counts_no_run_again(tmp_path: Path) -> None:
    daemon = Running(tmp_path)
    daemon.start()
    try:
        right, wrong = daemon.play(), daemon.play(PROFIT)
        eventually(lambda: daemon.scored(2), "both are scored")
        before = daemon.value("aem_turns_total")
        text = daemon.golden.read_text(encoding="utf-8")
        (version,) = [line for line in text.splitlines() if line.startswith("version:")]
        daemon.golden.write_text(text.replace(version, "version: 41"), encoding="utf-8")
        command = [sys.executable, "-m", "aem_monitor", "rescore", "--config", str(tmp_path / "aem-monitor.yaml")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert (done.returncode, done.stderr.strip()) == (0, "2 runs: 2 changed")
        for conversation, passed in ((right, True), (wrong, False)):
            (run,) = daemon.api(f"/api/v1/runs?conversation_id={conversation}")["runs"]
            assert (run["dialog_version"], run["revision"], run["cause"]) == (41, 1, "rescore")
            assert run["test_pass"] is passed
            history = daemon.api(f"/api/v1/runs/{run['run_id']}/revisions")["revisions"]
            assert [(one["revision"], one["cause"]) for one in history] == [(0, "final"), (1, "rescore")]
        eventually(
            lambda: daemon.value("aem_verdict_revisions_total", cause="rescore") == 2, "the daemon shows the revisions"
        )
        assert daemon.value("aem_runs_total") == 2
        assert daemon.value("aem_turns_total") == before
        assert daemon.stop() == 0
        daemon.start()
        assert daemon.value("aem_verdict_revisions_total", cause="rescore") == 2, "counted once, also after a restart"
    finally:
        daemon.close()
