"""``GET /api/v1/canary``."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from aem_monitor.canary.played import Release
from aem_monitor.cli.main import main
from aem_monitor.model.verdict import FailureReason
from aem_monitor.store import Store
from aem_monitor.store.played import Mark
from aem_monitor.web.admin_app import ReloadResult, admin_app
from aem_monitor.web.canary import AT_ONCE, WAITING, CanaryEndpoint
from aem_monitor.web.json_response import error_response
from aem_monitor.web.query import QueryError
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
        reason = None if passed is not False else FailureReason.TOOL_MISMATCH
        one = run(f"{agent}-{release}-{number}", release=release, agent=agent, test_pass=passed, root_cause=reason)
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


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("margin=0.2&tolerance=0.3&alpha=0.1", ["--margin=0.2", "--tolerance=0.3", "--alpha=0.1"]),
        ("cost=tool_mismatch%3D0&cost=missing_parameters%3D1", ["--cost=tool_mismatch=0"]),
        ("critical=sales-report&critical=b", ["--critical=sales-report", "--critical=b"]),
    ],
)
def test_its_rules_are_those_of_the_command(
    store: Store, url: str, query: str, words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record(store, "1", "." * 60)
    record(store, "2", "." * 50 + "x" * 10)
    config = tmp_path / "c.yaml"
    config.write_text(f"store:\n  url: {url}\n", encoding="utf-8")
    command = ["canary", "check", "--baseline", "1", "--candidate", "2", "--config", str(config), "--format", "json"]
    printed = [(main([*command, *more]), json.loads(capsys.readouterr().out))[1] for more in ([], words)]
    assert printed[0] != printed[1]
    assert ask(store, f"baseline=1&candidate=2&{query}") == (200, printed[1])


def test_earlier_runs_are_left_out_and_counted(store: Store) -> None:
    record(store, "1", "x" * 10 + "." * 5)
    record(store, "2", "." * 12)
    status, found = ask(store, "baseline=1&candidate=2&since=10")
    assert status == 200
    assert [(one["runs"], one["passed"], one["before"]) for one in (found["baseline"], found["candidate"])] == [
        (5, 5, 10),
        (2, 2, 10),
    ]


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
        (
            "baseline=1&candidate=2&realese=3",
            "unknown parameter 'realese'; known are agent, alpha, baseline, candidate, ",
        ),
        ("baseline=1&candidate=2&candidate=3", "candidate is given more than once"),
        ("baseline=1&candidate=1", "the same release"),
        ("baseline=1&candidate=2&agent=", "agent is empty"),
        ("baseline=1&candidate=2&since=7d", "since is a time in seconds since 1970"),
        ("baseline=1&candidate=2&margin=ten", "margin is a number, such as 0.05"),
        ("baseline=1&candidate=2&margin=0.1&margin=0.2", "margin is given more than once"),
        ("baseline=1&candidate=2&margin=nan", "margin is nan: give 0 or more, below 1"),
        ("baseline=1&candidate=2&tolerance=0", "tolerance is 0: give more than the margin (0), below 1"),
        ("baseline=1&candidate=2&alpha=0.5", "alpha is 0.5: give 1e-09 or more, below 0.5"),
        ("baseline=1&candidate=2&cost=tool_mismatch", "'tool_mismatch' is not REASON=COST"),
        ("baseline=1&candidate=2&cost=tool_mismatch=2", "the cost of tool_mismatch is 2: give 0 to 1"),
        ("baseline=1&candidate=2&cost=misspelt=0.3", "'misspelt' is no reason of a root cause; these are inconsist"),
        ("baseline=1&candidate=2&cost=tool_mismatch=0&cost=tool_mismatch=1", "tool_mismatch is given more than once"),
        ("baseline=1&candidate=2&critical=", "critical: give the name of a dialog"),
        ("baseline=1&candidate=2" + "&critical=a" * 101, "critical is given 101 times: at most 100 dialogs"),
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
    ("query", "runs"),
    [
        ("baseline=0&candidate=1", (0, 1)),
        ("baseline=1&candidate=2", (1, 0)),
        ("baseline=0&candidate=2", (0, 0)),
        ("baseline=1&candidate=2&agent=bank", (0, 0)),
    ],
)
def test_a_release_without_runs_is_not_enough_evidence_as_it_is_for_the_command(
    store: Store, query: str, runs: tuple[int, int]
) -> None:
    record(store, "1", ".")
    status, answer = ask(store, query)
    jsonschema.validate(answer, SCHEMA)
    assert (status, answer["state"]) == (200, "not_enough_evidence")
    assert (answer["baseline"]["runs"], answer["candidate"]["runs"]) == runs


class Counting:
    """A store in which reading the runs of a release is counted, and takes ten seconds of the processor."""

    def __init__(self, store: Store) -> None:
        self.store, self.mark = store, store.mark
        self.read: list[str] = []
        self.now = 100.0

    def played(self, agent: str | None, release: str, since: float | None = None) -> Release:
        self.read.append(release)
        self.now += 10.0
        return self.store.played(agent, release, since)

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def counting(store: Store) -> Counting:
    record(store, "1", "." * 3)
    record(store, "2", "." * 3)
    return Counting(store)


@pytest.fixture
def http(counting: Counting) -> Iterator[TestClient]:
    def clock() -> float:
        return counting.now

    endpoint = CanaryEndpoint(counting, clock, counting.sleep, clock)  # type: ignore[arg-type]
    handlers = {QueryError: lambda _, error: error_response(400, "query", str(error))}
    app = Starlette(routes=[Route("/", endpoint.answer)], exception_handlers=handlers)
    with TestClient(app) as http:
        yield http


def test_the_same_question_costs_nothing_until_there_are_other_runs(
    store: Store, counting: Counting, http: TestClient
) -> None:
    first = http.get("/?baseline=1&candidate=2")
    assert http.get("/?candidate=2&baseline=1").json() == first.json()
    assert counting.read == ["1", "2"]
    store.record_revision(run("reporting-2-0", release="2", test_pass=False), "rescore", stored_at=9.0)
    counting.now += 60.0
    assert http.get("/?baseline=1&candidate=2").json()["candidate"]["passed"] == 2
    store.retain(before=1.5)
    counting.now += 60.0
    assert http.get("/?baseline=1&candidate=2").json()["candidate"]["runs"] == 1


def test_questions_that_cost_much_are_answered_with_rests(counting: Counting, http: TestClient) -> None:
    http.get("/?baseline=1&candidate=2")
    answer = http.get("/?baseline=1&candidate=2&margin=0.05")
    assert (answer.status_code, answer.json()["error"]["reason"]) == (503, "busy")
    assert answer.headers["Retry-After"] == "60"
    counting.now += 56.0
    assert http.get("/?baseline=1&candidate=2&margin=0.05").status_code == 200
    assert counting.now == 100.0 + 20.0 + 60.0 + 20.0


def test_what_cannot_be_answered_costs_rests_as_well(store: Store, counting: Counting, http: TestClient) -> None:
    record(store, "2", ".", agent="bank")
    assert http.get("/?baseline=1&candidate=2").status_code == 400
    assert http.get("/?baseline=1&candidate=2").status_code == 503


def test_of_many_who_ask_at_once_some_are_sent_away(counting: Counting, http: TestClient) -> None:
    known = http.get("/?baseline=1&candidate=2")
    counting.now += 60.0
    inside, go = threading.Event(), threading.Event()
    played = counting.played

    def slowly(agent: str | None, release: str, since: float | None = None) -> Release:
        inside.set()
        go.wait(30)
        return played(agent, release, since)

    counting.played = slowly  # type: ignore[method-assign]
    with ThreadPoolExecutor(WAITING + 1) as threads:
        first = threads.submit(http.get, "/?baseline=1&candidate=2&margin=0.05")
        assert inside.wait(30)
        others = [threads.submit(http.get, "/?baseline=1&candidate=2&margin=0.05") for _ in range(WAITING)]
        assert next(as_completed(others)).result().status_code == 503
        assert http.get("/?baseline=1&candidate=2").json() == known.json()
        go.set()
        assert sorted(one.result().status_code for one in (first, *others)) == [200] * WAITING + [503]
    assert counting.read == ["1", "2"] * 2


def test_those_who_are_sent_away_cost_no_look_at_the_store(counting: Counting, http: TestClient) -> None:
    inside, go = threading.Event(), threading.Event()
    looks: list[str] = []
    mark = counting.mark

    def slowly(agent: str | None, release: str) -> Mark:
        looks.append(release)
        if len(looks) == AT_ONCE:
            inside.set()
        go.wait(30)
        return mark(agent, release)

    counting.mark = slowly
    with ThreadPoolExecutor(AT_ONCE) as threads:
        asked = [threads.submit(http.get, "/?baseline=1&candidate=2") for _ in range(AT_ONCE)]
        assert inside.wait(30)
        assert http.get("/?baseline=1&candidate=2").headers["Retry-After"] == "1"
        assert len(looks) == AT_ONCE
        go.set()
        assert any(one.result().status_code == 200 for one in asked)
