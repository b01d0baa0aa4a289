"""``aem-monitor canary run``: what it prints, and how it ends."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from aem_monitor.cli.main import main
from aem_monitor.examples import example_dialogs
from tests.alerting.answering import Answer, Receiving, Request

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "deploy/schemas/canary-run-result.schema.json").read_text(encoding="utf-8")
)
REPLY = Answer(200, {"Content-Type": "application/json"}, b'{"choices": [{"message": {"content": "Sure."}}]}')
RUN: dict[str, Any] = {
    "run_id": "r-1",
    "agent": "shop",
    "release": "1.1",
    "model": None,
    "test_pass": False,
    "success_rate": 0.2,
    "first_failure_turn": 2,
    "root_cause": "tool_mismatch",
    "root_cause_count": 1,
    "cascading_count": 3,
    "turns": [],
}


class Monitor(Receiving):
    """Takes spans, and answers the API with ``runs``."""

    def __init__(self) -> None:
        super().__init__()
        self.answer = lambda request: Answer(200, {}, b"")
        self.runs: list[Mapping[str, Any]] = []
        self.asked: list[str] = []
        monitor = self

        def do_get(handler: Any) -> None:
            monitor.asked.append(handler.path)
            body = json.dumps({"runs": monitor.runs, "next": None}).encode()
            handler.send_response(200)
            handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            handler.wfile.write(body)

        self._server.RequestHandlerClass.do_GET = do_get  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def monitor() -> Iterator[Monitor]:
    server = Monitor()
    yield server
    server.close()


@pytest.fixture
def agent() -> Iterator[Receiving]:
    server = Receiving()
    server.answer = lambda request: REPLY
    yield server
    server.close()


@pytest.fixture
def file(tmp_path: Path, agent: Receiving, monitor: Monitor) -> Path:
    path = tmp_path / "canary-run.yaml"
    path.write_text(
        f"dialogs: ['{example_dialogs() / 'sales-report.yaml'}']\nagent: {{url: '{agent.url}/chat', openai: {{}}}}\n"
        f"otlp: {{endpoint: '{monitor.url}/v1/traces'}}\n"
    )
    return path


def play(file: Path, *more: str) -> int:
    return main(["canary", "run", str(file), *more])


def test_the_table_says_what_was_played(file: Path, agent: Receiving, capsys: pytest.CaptureFixture[str]) -> None:
    assert play(file, "--repeats", "3") == 0
    told = capsys.readouterr()
    row = told.out.splitlines()[-1].split()
    assert row[:5] == ["sales-report", "3", "3", "6", "0"]
    assert "its state should be disposable: nothing is put back before a play (reset)" in told.err
    assert "The dialogs ask for reports.FilterData, reports.ShareReport" in told.err
    assert len(agent.requests) == 6


def test_json_keeps_to_its_schema_whatever_happened(
    file: Path, agent: Receiving, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[Request] = []

    def third_time(request: Request) -> Answer:
        seen.append(request)
        return REPLY if len(seen) < 3 else Answer(500)

    agent.answer = third_time
    assert play(file, "--repeats", "3", "--error-budget", "1", "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, SCHEMA)
    assert [one["complete"] for one in found["plays"]] == [True, False, False]
    assert {name: count for name, count in found["outcomes"].items() if count} == {"answered": 2, "status": 2}
    assert (found["latency_seconds"]["count"], found["plays_complete"], found["exchanges"]) == (2, 1, 4)


def test_failures_are_counted_by_kind_and_end_it(
    file: Path, agent: Receiving, capsys: pytest.CaptureFixture[str]
) -> None:
    agent.answer = lambda request: Answer(503)
    assert play(file, "--repeats", "10") == 3
    told = capsys.readouterr()
    assert told.out.splitlines()[-1].split() == ["status", "3"]
    assert "Ended, the error budget is used up: 3 of 10 plays began" in told.err


def test_nothing_is_played_that_the_monitor_would_not_see(
    file: Path, agent: Receiving, monitor: Monitor, capsys: pytest.CaptureFixture[str]
) -> None:
    monitor.answer = lambda request: Answer(404)
    assert play(file) == 2
    told = capsys.readouterr()
    assert "otlp.endpoint: nothing is played, since no spans can be sent: " in told.err
    assert (told.out, agent.requests) == ("", [])


def test_nothing_is_played_where_verdicts_cannot_be_had(
    file: Path, agent: Receiving, capsys: pytest.CaptureFixture[str]
) -> None:
    assert play(file, "--wait", agent.url) == 2
    assert "--wait: nothing is played, since no verdicts can be had: " in capsys.readouterr().err
    assert agent.requests == []


def test_verdicts_that_were_waited_for_are_told(
    file: Path, monitor: Monitor, capsys: pytest.CaptureFixture[str]
) -> None:
    monitor.runs = [RUN]
    assert play(file, "--wait", monitor.url) == 0
    out = capsys.readouterr().out
    assert "sales-report  1.1      fail    0.2      turn 2         tool_mismatch  r-1" in out
    assert play(file, "--wait", monitor.url, "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, SCHEMA)
    (one,) = found["plays"]
    assert one["run"] == {name: value for name, value in RUN.items() if name != "turns"}
    assert monitor.asked[-1] == f"/api/v1/runs?limit=1&conversation_id={one['conversation_id']}"


def test_a_verdict_that_does_not_come_is_no_success(
    file: Path, monitor: Monitor, capsys: pytest.CaptureFixture[str]
) -> None:
    assert play(file, "--wait", monitor.url, "--wait-for", "100ms") == 3
    told = capsys.readouterr()
    assert "no run" in told.out
    assert "1 plays have no final run: do the agent's spans reach the monitor" in told.err


def test_dialogs_that_cannot_be_played_are_named(
    file: Path, tmp_path: Path, agent: Receiving, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "open.yaml").write_text(
        "dialog: free\nversion: 1\nturns:\n  - {turn_no: 1, turn: Agent, must_mention: [hello]}\n"
    )
    file.write_text(file.read_text().replace("dialogs: [", "dialogs: [open.yaml, "))
    assert play(file, "--format", "json") == 0
    told = capsys.readouterr()
    found = json.loads(told.out)
    jsonschema.validate(found, SCHEMA)
    why = "an open dialog: it does not say what the user says"
    assert found["not_played"] == [{"dialog": "free", "why": why}]
    assert f"free is not played: {why}" in told.err
    agent.requests.clear()
    assert play(file, "--dialog", "free") == 2
    assert "none of the chosen dialogs can be played" in capsys.readouterr().err
    assert agent.requests == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--repeats", "0"], "command line: play.repeats: "),
        (["--url", "ftp://a"], "command line: agent.url: must be a whole URL"),
        (["--dialog", "sales-reprot"], "did you mean 'sales-report'?"),
        (["--wait", "localhost:1"], "localhost:1: give the whole URL of the admin listener"),
        (["--wait-for", "5"], "5: a duration is written with its unit"),
    ],
)
def test_what_cannot_be_used_is_refused_before_anything_is_played(
    file: Path, agent: Receiving, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert play(file, *words) == 2
    assert said in capsys.readouterr().err
    assert agent.requests == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_lets_the_exchange_under_way_end_and_tells_what_was_played(
    file: Path, agent: Receiving, number: int, code: int
) -> None:
    words = [sys.executable, "-m", "aem_monitor", "canary", "run", str(file), "--repeats", "50", "--format", "json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:

        def interrupting(request: Request) -> Answer:
            if len(agent.requests) == 3:
                process.send_signal(number)
                time.sleep(0.3)
            return REPLY

        agent.answer = interrupting
        out, err = process.communicate(timeout=60)
    assert process.returncode == code
    found = json.loads(out)
    jsonschema.validate(found, SCHEMA)
    assert (found["ended"], [len(one["exchanges"]) for one in found["plays"]]) == ("interrupted", [2, 1])
    assert "Ending after the exchanges under way; once more to end at once" in err
    assert "Traceback" not in err
