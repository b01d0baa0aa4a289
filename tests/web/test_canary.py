"""``GET /api/v1/canary``."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from starlette.testclient import TestClient

from aem_monitor.cli.main import main
from aem_monitor.store import Store
from aem_monitor.web.admin_app import ReloadResult, admin_app
from tests.store.results import run

SCHEMA = json.loads((Path(__file__).parents[2] / "deploy/schemas/canary-result.schema.json").read_text())


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'store.db'}"


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with Store(url, replica="a") as store:
        yield store


def record(store: Store, release: str, pattern: str, agent: str = "reporting") -> None:
    """A run a letter: ``.`` passes, ``x`` fails, ``?`` is undecided."""
    for number, letter in enumerate(pattern):
        passed = {".": True, "x": False, "?": None}[letter]
        one = run(f"{agent}-{release}-{number}", release=release, agent=agent, test_pass=passed)
        store.record_final(one, [], stored_at=float(number))


def ask(store: Store, query: str) -> tuple[int, Any]:
    app = admin_app(store, lambda: ReloadResult(True, "loaded"))
    with TestClient(app, raise_server_exceptions=False) as http:
        answer = http.get(f"/api/v1/canary?{query}")
    return answer.status_code, answer.json()


def test_the_answer_is_what_the_command_prints(
    store: Store, url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record(store, "1", "." * 20)
    record(store, "2", "x" * 19 + "?")
    status, answer = ask(store, "baseline=1&candidate=2&agent=reporting")
    assert status == 200
    jsonschema.validate(answer, SCHEMA)
    config = tmp_path / "c.yaml"
    config.write_text(f"store:\n  url: {url}\n", encoding="utf-8")
    words = ["canary", "check", "--baseline", "1", "--candidate", "2", "--config", str(config), "--format", "json"]
    assert main(words) == 1
    assert answer == json.loads(capsys.readouterr().out)


def test_without_decided_runs_there_are_a_state_and_numbers(store: Store) -> None:
    record(store, "1", "?")
    record(store, "2", "?")
    _, found = ask(store, "baseline=1&candidate=2")
    jsonschema.validate(found, SCHEMA)
    assert (found["state"], found["pairs"], found["more_pairs"]) == ("not_enough_evidence", 0, -1)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("candidate=2", "baseline is missing"),
        ("baseline=1&candidate=", "candidate is missing"),
        ("baseline=1&candidate=2&realese=3", "unknown parameter 'realese'; known are agent, baseline, candidate"),
        ("baseline=1&candidate=2&candidate=3", "candidate is given more than once"),
        ("baseline=1&candidate=1", "the same release"),
        ("baseline=1&candidate=2", "give the agent, one of: bank, reporting"),
    ],
)
def test_parameters_that_cannot_be_used_are_refused_with_the_reason(store: Store, query: str, said: str) -> None:
    record(store, "1", ".")
    record(store, "2", ".", agent="bank")
    status, answer = ask(store, query)
    assert (status, answer["error"]["reason"]) == (400, "query")
    assert said in answer["error"]["message"]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("baseline=0&candidate=1", "the baseline: no final run of a reviewed dialog belongs to release '0'"),
        ("baseline=1&candidate=2", "the candidate: no final run of a reviewed dialog belongs to release '2'"),
        ("baseline=1&candidate=2&agent=bank", "the baseline: no final run"),
    ],
)
def test_a_release_without_runs_is_not_found(store: Store, query: str, said: str) -> None:
    record(store, "1", ".")
    status, answer = ask(store, query)
    assert (status, answer["error"]["reason"]) == (404, "not_found")
    assert said in answer["error"]["message"]
