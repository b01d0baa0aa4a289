"""The step of a GitHub Actions workflow: what it does for each exit code, and what the workflow makes of it."""

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema import Draft7Validator

from tests.deploy.files import documents
from tests.deploy.rollouts import ROLLOUTS, command_that, ended, environment, shellcheck, stored

(ACTION,) = documents(ROLLOUTS / "github" / "action.yml")
(WORKFLOW,) = documents(ROLLOUTS / "github" / "workflow.yml")
(STEP,) = ACTION["runs"]["steps"]

STATES: Final = {"pass", "regression", "not_enough_evidence", "error"}


def schema(name: str) -> Any:
    return json.loads((files("check_jsonschema") / "builtin_schemas/vendor" / f"{name}.json").read_text())


@pytest.mark.parametrize(("document", "name"), [(ACTION, "github-actions"), (WORKFLOW, "github-workflows")])
def test_it_is_valid(document: dict[str, Any], name: str) -> None:
    # YAML 1.1 takes the key `on` for true; GitHub does not.
    known = {{"True": "on"}.get(str(key), key): value for key, value in document.items()}
    assert [error.message for error in Draft7Validator(schema(name)).iter_errors(known)] == []
    assert list(Draft7Validator(schema(name)).iter_errors({**known, "job": {}})) != []


def ran(
    folder: Path, arguments: list[str], path: Path | None = None, candidate: str = "1.1"
) -> tuple[int, str, str, str]:
    """Exit code of the step, the state that it sets, the summary of the job, and its log."""
    given = {"inputs.baseline": "1.0", "inputs.candidate": candidate, "inputs.arguments": "\n".join(arguments) + "\n"}
    inputs = {name: given[value.removeprefix("${{ ").removesuffix(" }}")] for name, value in STEP["env"].items()}
    output, summary = folder / "output", folder / "summary"
    # Others write into the summary before.
    summary.write_text("before\n")
    environ = environment(path, GITHUB_OUTPUT=str(output), GITHUB_STEP_SUMMARY=str(summary), **inputs)
    assert STEP["shell"] == "bash"
    # How the runner starts `shell: bash`.
    script = folder / "step.sh"
    script.write_text(STEP["run"], encoding="utf-8")
    done = ended(["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)], environ, folder)
    (line,) = output.read_text().splitlines()
    assert summary.read_text().startswith("before\n### Canary: ")
    return done.returncode, line.removeprefix("state="), summary.read_text(), done.stdout + done.stderr


@pytest.mark.parametrize(
    ("state", "code", "said"),
    [
        ("pass", 0, None),
        ("regression", 1, "The candidate is worse"),
        ("not_enough_evidence", 3, "neither go on nor roll back"),
        ("no runs at all", 3, "neither go on nor roll back"),
    ],
)
def test_each_exit_code_is_a_state_and_all_but_a_pass_fail(
    state: str, code: int, said: str | None, tmp_path: Path
) -> None:
    config = stored(tmp_path, state)
    found, set_to, summary, log = ran(tmp_path, ["--config", str(config), "", "--tolerance=0.1"])
    assert (found, set_to) == (code, "not_enough_evidence" if state == "no runs at all" else state)
    assert "| baseline |" in summary
    assert re.findall(r"^::error title=Canary::(.*)$", log, re.MULTILINE) == ([] if said is None else [log_line(log)])
    assert said is None or said in log_line(log)


def log_line(log: str) -> str:
    return next(line for line in log.splitlines() if line.startswith("::error")).partition("::error title=Canary::")[2]


def test_a_store_that_is_not_there_is_an_error_whose_reason_is_in_the_log(tmp_path: Path) -> None:
    config = stored(tmp_path, "regression")
    (tmp_path / "store.db").unlink()
    code, state, summary, log = ran(tmp_path, ["--config", str(config)])
    assert (code, state) == (2, "error")
    assert "ended with 2; the log says why" in summary
    assert "there is no store" in log
    assert "neither go on nor roll back" in log


@pytest.mark.parametrize(
    ("does", "code"),
    [("exit 0", 2), ("exit 1", 1), ("exit 3", 3), ("exit 137", 137), ("echo '### Canary: pass'; exit 1", 1)],
)
def test_a_command_that_says_something_else_than_its_exit_code_is_an_error(
    does: str, code: int, tmp_path: Path
) -> None:
    found, state, _, _ = ran(tmp_path, ["--config", "c.yaml"], command_that(tmp_path, does))
    assert (found, state) == (code, "error")


def test_names_of_releases_and_arguments_are_no_code(tmp_path: Path) -> None:
    prints = command_that(tmp_path, """printf '### Canary: pass\\n'; printf '<%s>' "$@" """)
    evil = '$(touch made) `touch made`; "; touch made'
    code, _, summary, _ = ran(tmp_path, ["--critical", evil], prints, candidate=evil)
    assert code == 0
    assert f"<--candidate><{evil}>" in summary
    assert f"<--critical><{evil}>" in summary
    assert not (tmp_path / "made").exists()
    assert "${{" not in STEP["run"]


def test_the_linter_of_shells_has_nothing_to_say(tmp_path: Path) -> None:
    assert shellcheck(STEP["run"], "bash", tmp_path) == ""


def test_the_workflow_gives_what_the_action_asks_for_and_acts_on_states_that_there_are() -> None:
    jobs = WORKFLOW["jobs"]
    (canary,) = (step for step in jobs["gate"]["steps"] if step.get("id") == "canary")
    assert set(canary["with"]) == set(ACTION["inputs"])
    assert canary["uses"] == "./.github/actions/canary-gate"
    assert jobs["gate"]["outputs"] == {"state": "${{ steps.canary.outputs.state }}"}
    assert "continue-on-error" not in canary
    conditions = {name: jobs[name]["if"] for name in ("promote", "roll-back")}
    assert conditions == {
        "promote": "needs.gate.outputs.state == 'pass'",
        "roll-back": "${{ !cancelled() && needs.gate.outputs.state == 'regression' }}",
    }
    assert all(jobs[name]["needs"] == "gate" for name in conditions)
    assert ACTION["outputs"]["state"]["value"] == f"${{{{ steps.{STEP['id']}.outputs.state }}}}"
    assert all(f"state={state}" in STEP["run"] for state in STATES)
    assert set(re.findall(r"state=(\w+)", STEP["run"])) == STATES
