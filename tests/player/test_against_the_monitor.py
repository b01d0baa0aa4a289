"""The player, an agent with telemetry of its own, and the daemon: what the monitor says of plays."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from aem_monitor.cli.main import main
from tests.daemon.running import PROFIT, RIGHT, Running, eventually
from tests.player.agent import LocalAgent
from tests.services.agent import Turn


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    running = Running(tmp_path_factory.mktemp("monitor"))
    running.start()
    yield running
    running.close()


def played(
    daemon: Running,
    capsys: pytest.CaptureFixture[str],
    turns: Sequence[Turn],
    release: str,
    *more: str,
    lose: Sequence[str] = (),
) -> tuple[dict[str, Any], LocalAgent]:
    """What ``canary run`` tells of a run against an agent that does these turns, and the agent."""
    agent = LocalAgent(daemon.otlp_address, turns, release, lose)
    file = Path(daemon.folder) / "canary-run.yaml"
    file.write_text(
        f"dialogs: [{daemon.golden}]\n"
        f"agent: {{url: '{agent.url}', openai: {{}}}}\n"
        f"otlp: {{endpoint: 'http://{daemon.otlp_address}/v1/traces'}}\n"
    )
    try:
        assert main(["canary", "run", str(file), "--format", "json", *more]) == 0
    finally:
        agent.close()
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found, agent


def verdict(daemon: Running, conversation: str) -> dict[str, Any]:
    path = f"/api/v1/runs?conversation_id={conversation}"
    eventually(lambda: daemon.api(path)["runs"], "a final run of the play")
    (found,) = daemon.api(path)["runs"]
    run: dict[str, Any] = daemon.api(f"/api/v1/runs/{found['run_id']}")
    return run


def test_a_good_and_a_bad_release_are_told_apart_by_the_agents_own_spans(
    daemon: Running, capsys: pytest.CaptureFixture[str]
) -> None:
    good, agent = played(daemon, capsys, RIGHT, "1.0", "--repeats", "2")
    bad, _ = played(daemon, capsys, PROFIT, "1.1")
    assert [play["complete"] for play in good["plays"]] == [True, True]
    for play in good["plays"]:
        run = verdict(daemon, play["conversation_id"])
        assert (run["dialog"], run["agent"], run["release"], run["test_pass"]) == ("sales-report", "shop", "1.0", True)
        assert run["success_rate"] == 1.0
    run = verdict(daemon, bad["plays"][0]["conversation_id"])
    assert (run["release"], run["test_pass"], run["first_failure_turn"]) == ("1.1", False, 2)
    assert (run["root_cause"], run["root_cause_count"], run["cascading_count"]) == (
        "inconsistent_parameter_values",
        1,
        3,
    )
    assert daemon.value("aem_monitor_recognised_conversations_total", by="id") == 3
    assert [len(request["body"]["messages"]) for request in agent.requests] == [1, 3, 1, 3]


def test_spans_that_are_lost_on_the_way_make_a_play_undecided_and_not_wrong(
    daemon: Running, capsys: pytest.CaptureFixture[str]
) -> None:
    found, _ = played(daemon, capsys, RIGHT, "1.0", lose=["invoke_agent shop"])
    run = verdict(daemon, found["plays"][0]["conversation_id"])
    assert (run["dialog"], run["release"], run["test_pass"]) == ("sales-report", "1.0", None)


def test_a_plain_span_between_player_and_agent_may_be_lost(daemon: Running, capsys: pytest.CaptureFixture[str]) -> None:
    found, _ = played(daemon, capsys, RIGHT, "1.0", lose=["POST /v1/chat/completions"])
    assert verdict(daemon, found["plays"][0]["conversation_id"])["test_pass"] is True


def test_the_verdicts_can_be_waited_for(daemon: Running, capsys: pytest.CaptureFixture[str]) -> None:
    found, _ = played(daemon, capsys, PROFIT, "1.1", "--wait", f"http://{daemon.admin_address}")
    run = found["plays"][0]["run"]
    assert (run["release"], run["test_pass"], run["first_failure_turn"]) == ("1.1", False, 2)
    assert run["run_id"] == verdict(daemon, found["plays"][0]["conversation_id"])["run_id"]
