"""Real agents of two frameworks, played against: their own telemetry comes back over OTLP and is judged."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from aem_monitor.cli.main import main
from tests.daemon.running import Running
from tests.player.frameworks.model import ModelServer
from tests.services.agents import agents_python
from tests.services.cache import ServiceUnavailableError

PROJECT = Path(__file__).parents[2]

pytestmark = pytest.mark.service


@pytest.fixture(scope="module")
def python() -> str:
    """The interpreter that has the frameworks."""
    try:
        return str(agents_python())
    except ServiceUnavailableError as error:
        pytest.skip(str(error))


@contextmanager
def agent(python: str, framework: str, model: str, release: str, otlp: str) -> Iterator[str]:
    """The agent's URL while it runs."""
    server = ModelServer()
    words = [python, "-m", f"tests.player.frameworks.{framework}", server.url, model, otlp, release]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=PROJECT) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1/chat/completions"
        finally:
            process.stdin.close()
            server.close()


@pytest.mark.parametrize("framework", ["openai_agents", "strands_agent"])
def test_a_release_that_asks_for_profit_breaks_at_the_second_turn(
    python: str, framework: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    daemon = Running(tmp_path)
    daemon.start()
    otlp = f"http://{daemon.otlp_address}/v1/traces"
    found = {}
    try:
        for release, model in (("1.0", "good"), ("1.1", "bad")):
            with agent(python, framework, model, release, otlp) as url:
                file = tmp_path / "canary-run.yaml"
                file.write_text(
                    f"dialogs: [golden]\nagent: {{url: '{url}', openai: {{}}}}\notlp: {{endpoint: '{otlp}'}}\n"
                )
                words = ["canary", "run", str(file), "--wait", f"http://{daemon.admin_address}", "--format", "json"]
                assert main(words) == 0
            (play,) = json.loads(capsys.readouterr().out)["plays"]
            found[release] = play["run"]
    finally:
        daemon.close()
    good, bad = found["1.0"], found["1.1"]
    assert (good["agent"], good["release"], good["model"], good["test_pass"]) == ("sales", "1.0", "good", True)
    assert (bad["release"], bad["model"], bad["test_pass"], bad["first_failure_turn"]) == ("1.1", "bad", False, 2)
    assert (bad["root_cause"], bad["root_cause_count"], bad["cascading_count"]) == (
        "inconsistent_parameter_values",
        1,
        3,
    )
