"""The ten minutes of the page on playing golden dialogs come out as it says."""

import json
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from aem_monitor.cli.main import main
from tests.daemon.running import eventually
from tests.services.daemon import Daemon
from tests.services.process import free_port

PAGE = (Path(__file__).parents[2] / "deploy/docs/canary-run.md").read_text(encoding="utf-8")
FILES = {
    name: text
    for text in re.findall(r"```(?:yaml|python)\n(.*?)```", PAGE, re.DOTALL)
    for name in re.findall(r"\A# (\S+)\n", text)
}


@pytest.fixture
def monitor(tmp_path: Path) -> Iterator[tuple[Daemon, str]]:
    """The page's monitor, on other ports, and where it takes spans."""
    otlp = f"127.0.0.1:{free_port()}"
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text.replace("127.0.0.1:4318", otlp), encoding="utf-8")
    daemon = Daemon(tmp_path, tmp_path / "golden", {"ingest": {"otlp_http": {"listen": otlp}}})
    daemon.start()
    yield daemon, otlp
    daemon.close()


def test_the_new_release_is_a_regression(
    tmp_path: Path, monitor: tuple[Daemon, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert list(FILES) == ["golden/cancel-order.yaml", "agent.py", "aem-monitor.yaml", "canary-run.yaml"]
    daemon, otlp = monitor
    runs = {}
    for release in ("1.0", "1.1"):
        port = free_port()
        environment = {"RELEASE": release, "PORT": str(port)}
        with subprocess.Popen(
            [sys.executable, "agent.py"], cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL
        ) as agent:
            try:
                words = ["canary", "run", str(tmp_path / "canary-run.yaml"), "--repeats", "20", "--format", "json"]
                words += ["--url", f"http://127.0.0.1:{port}/v1/chat/completions", "--otlp", f"http://{otlp}/v1/traces"]
                eventually(lambda port=port: _listens(port), "the agent")  # type: ignore[misc]
                assert main([*words, "--wait", f"http://{daemon.admin_address}"]) == 0
                runs[release] = [play["run"] for play in json.loads(capsys.readouterr().out)["plays"]]
            finally:
                agent.kill()
    assert [run["test_pass"] for run in runs["1.0"]] == [True] * 20
    assert {(run["first_failure_turn"], run["root_cause"]) for run in runs["1.1"]} == {
        (3, "inconsistent_parameter_values")
    }
    words = ["canary", "check", "--config", str(daemon.config), "--baseline", "1.0", "--candidate", "1.1"]
    assert main(words) == 1
    told = capsys.readouterr().out
    for line in ("  regression in runs that pass", "tool orders: worse, +100.0 points"):
        assert line in PAGE
        assert line in told


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
