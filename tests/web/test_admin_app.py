"""What the administration listener answers."""

import math
from collections.abc import Callable, Iterator

import pytest
from starlette.testclient import TestClient

from aem_monitor.errors import ConfigError
from aem_monitor.model.render import result_object
from aem_monitor.store import Store
from aem_monitor.web.admin_app import ReloadResult, admin_app
from tests.store.results import check, failing, run, turn


@pytest.fixture
def store() -> Iterator[Store]:
    with Store("sqlite://") as store:
        yield store


def client(store: Store, reload: Callable[[], ReloadResult] = lambda: ReloadResult(True, "loaded")) -> TestClient:
    return TestClient(admin_app(store, reload), raise_server_exceptions=False)


# Reload


def test_a_reload_says_what_was_loaded(store: Store) -> None:
    with client(store, lambda: ReloadResult(True, "3 dialogs")) as http:
        answer = http.post("/-/reload")
        assert answer.status_code == 200
        assert answer.json() == {"status": "reloaded", "message": "3 dialogs"}


def test_a_reload_that_fails_is_a_500_with_the_message(store: Store) -> None:
    with client(store, lambda: ReloadResult(False, "config.yaml:3: unknown key; the old one stays")) as http:
        answer = http.post("/-/reload")
        assert answer.status_code == 500
        assert answer.json()["error"]["message"] == "config.yaml:3: unknown key; the old one stays"


def test_a_reload_that_raises_is_a_500_with_the_message(store: Store) -> None:
    def fail() -> ReloadResult:
        raise ConfigError("config.yaml:3: unknown key")

    with client(store, fail) as http:
        answer = http.post("/-/reload")
        assert answer.status_code == 500
        assert answer.json() == {"error": {"reason": "config", "message": "config.yaml:3: unknown key"}}


def test_an_error_nobody_thought_of_says_nothing_about_the_inside(store: Store) -> None:
    def fail() -> ReloadResult:
        raise RuntimeError("password=hunter2")

    with client(store, fail) as http:
        answer = http.post("/-/reload")
        assert answer.status_code == 500
        assert "hunter2" not in answer.text
        assert answer.json()["error"]["reason"] == "internal"


def test_a_page_of_another_site_cannot_reload(store: Store) -> None:
    calls: list[int] = []

    def reload() -> ReloadResult:
        calls.append(1)
        return ReloadResult(True, "loaded")

    with client(store, reload) as http:
        for origin in ("https://evil.example", "null", "http://testserver:81"):
            answer = http.post("/-/reload", headers={"Origin": origin})
            assert answer.status_code == 403
            assert answer.json()["error"]["reason"] == "forbidden"
        assert calls == []
        assert http.post("/-/reload", headers={"Origin": "http://testserver"}).status_code == 200


@pytest.mark.parametrize(
    ("host", "answered"),
    [
        ("localhost:21465", True),
        ("LOCALHOST", True),
        ("aem.localhost", True),
        ("127.0.0.1:21465", True),
        ("127.8.0.1", True),
        ("[::1]:21465", True),
        ("Monitor.example", True),
        ("evil.example", False),
        ("localhost.evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("evil.example:21465", False),
        ("10.0.0.1", False),
        ("[::1", False),
        ("", False),
    ],
)
def test_a_name_that_was_pointed_at_loopback_is_not_answered(store: Store, host: str, answered: bool) -> None:
    calls: list[int] = []

    def reload() -> ReloadResult:
        calls.append(1)
        return ReloadResult(True, "loaded")

    app = admin_app(store, reload, hosts=["monitor.example"])
    with TestClient(app) as http:
        status = 200 if answered else 403
        for path in ("/", "/runs", "/api/v1/runs"):
            assert http.get(path, headers={"Host": host}).status_code == status
        assert http.post("/-/reload", headers={"Host": host, "Origin": f"http://{host}"}).status_code == status
    assert len(calls) == int(answered)


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/-/reload"), ("POST", "/api/v1/runs"), ("DELETE", "/api/v1/runs/r"), ("PUT", "/-/reload")],
)
def test_a_wrong_method_is_a_405_that_names_the_right_one(store: Store, method: str, path: str) -> None:
    with client(store) as http:
        answer = http.request(method, path)
        assert answer.status_code == 405
        assert answer.json()["error"]["reason"] == "wrong_method"
        assert answer.headers["allow"]


# One run


def test_a_run_is_its_result_object_with_evidence(store: Store) -> None:
    wrong = check(passed=False, field="region", expected="EU", actual="US", rule="enum")
    result = run("r", turn(1), failing(2, checks=(wrong,), expected={"region": "EU"}, actual={"region": "US"}))
    store.record_final(result, [], stored_at=100.0)
    with client(store) as http:
        body = http.get("/api/v1/runs/r").json()
    plain = result_object(result)
    assert {key: body[key] for key in plain if key != "turns"} == {key: plain[key] for key in plain if key != "turns"}
    failed = body["turns"][1]
    assert (failed["expected"], failed["actual"]) == ({"region": "EU"}, {"region": "US"})
    assert failed["checks"][0]["field"] == "region"
    assert (body["agent"], body["revision"], body["final_at"]) == ("reporting", 0, 100.0)


def test_a_verdict_that_may_still_change_says_so(store: Store) -> None:
    store.record_provisional(run("r", failing(1)), stored_at=90.0)
    with client(store) as http:
        body = http.get("/api/v1/runs/r").json()
        assert (body["provisional"], body["stored_at"], body["turns"][0]["success"]) == (True, 90.0, False)
        assert http.get("/api/v1/runs").json()["runs"] == []
        store.record_final(run("r"), [], stored_at=100.0)
        assert "provisional" not in http.get("/api/v1/runs/r").json()


def test_runs_in_their_grace_are_listed_apart_from_final_ones(store: Store) -> None:
    store.record_final(run("final"), [], 1.0)
    store.record_provisional(run("open"), 2.0)
    store.record_provisional(run("other", agent="another"), 3.0)
    with client(store) as http:

        def listed(query: str) -> list[str]:
            return [one["run_id"] for one in http.get(f"/api/v1/runs{query}").json()["runs"]]

        assert listed("") == listed("?state=final") == ["final"]
        assert listed("?state=provisional") == ["other", "open"]
        assert listed("?state=provisional&agent=another") == ["other"]
        assert listed("?state=provisional&limit=1") == ["other"]
        (one, _) = http.get("/api/v1/runs?state=provisional").json()["runs"]
        assert (one["provisional"], one["stored_at"]) == (True, 3.0)


@pytest.mark.parametrize("query", ["state=open", "state=provisional&since=1", "state=provisional&cursor=x"])
def test_a_state_that_makes_no_sense_is_a_400(store: Store, query: str) -> None:
    with client(store) as http:
        assert http.get(f"/api/v1/runs?{query}").status_code == 400


def test_a_run_that_does_not_exist_is_a_404(store: Store) -> None:
    with client(store) as http:
        for run_id in ("nothing", "%00", "x" * 5000):
            answer = http.get(f"/api/v1/runs/{run_id}")
            assert answer.status_code == 404
            assert answer.json()["error"]["reason"] == "not_found"


def test_values_that_json_lacks_are_texts(store: Store) -> None:
    store.record_final(run("r", turn(actual={"total": math.nan, "text": "\ud800"})), [], stored_at=100.0)
    with client(store) as http:
        answer = http.get("/api/v1/runs/r")
    assert answer.status_code == 200
    assert answer.json()["turns"][0]["actual"] == {"total": "nan", "text": "\ud800"}


# Many runs


def test_runs_are_listed_newest_first_in_pages_that_show_each_once(store: Store) -> None:
    for number in range(6):
        store.record_final(run(f"run-{number}"), [], stored_at=float(number // 2))
    shown: list[str] = []
    pages = 0
    with client(store) as http:
        query: dict[str, str] = {"limit": "3"}
        while True:
            body = http.get("/api/v1/runs", params=query).json()
            shown += [one["run_id"] for one in body["runs"]]
            pages += 1
            if body["next"] is None:
                break
            query["cursor"] = body["next"]
    assert shown == [f"run-{number}" for number in reversed(range(6))]
    assert pages == 2


def test_runs_are_filtered(store: Store) -> None:
    store.record_final(run("a"), [], stored_at=1.0)
    store.record_final(run("b", release="2.0.0", test_pass=False), [], stored_at=2.0)
    store.record_final(run("c", draft=True), [], stored_at=3.0)

    def ids(**query: str) -> list[str]:
        with client(store) as http:
            return [one["run_id"] for one in http.get("/api/v1/runs", params=query).json()["runs"]]

    assert ids() == ["c", "b", "a"]
    assert ids(release="2.0.0") == ["b"]
    assert ids(result="fail") == ["b"]
    assert ids(draft="false") == ["b", "a"]
    assert ids(agent="reporting", dialog="sales-report", model="small-1", since="2", until="3") == ["b"]
    assert ids(conversation_id="id of a") == ["a"]
    assert ids(agent="' OR 1=1 --") == []


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("limit=0", "limit"),
        ("limit=501", "limit"),
        ("limit=-1", "limit"),
        ("limit=ten", "limit"),
        ("limit=٣", "limit"),
        ("limit=1&limit=2", "limit"),
        ("result=passed", "result"),
        ("draft=yes", "draft"),
        ("since=yesterday", "since"),
        ("since=-1", "since"),
        ("since=5&until=1", "until is before since"),
        ("until=nan", "until"),
        ("cursor=rubbish", "cursor"),
        ("cursor=%F0%9F%92%A5", "cursor"),
        ("cursor=bmFuIHJ1bg", "cursor"),
        ("releese=1.0.0", "releese"),
    ],
)
def test_a_parameter_that_cannot_be_used_is_a_400_that_names_it(store: Store, query: str, named: str) -> None:
    with client(store) as http:
        answer = http.get(f"/api/v1/runs?{query}")
    assert answer.status_code == 400
    assert answer.json()["error"]["reason"] == "query"
    assert named in answer.json()["error"]["message"]


def test_a_store_that_is_down_is_a_503(store: Store) -> None:
    with client(store) as http:
        store.close()
        answer = http.get("/api/v1/runs")
    assert answer.status_code == 503
    assert answer.json()["error"]["reason"] == "store_closed"


def test_what_is_not_there_is_a_404_in_json(store: Store) -> None:
    with client(store) as http:
        answer = http.get("/metrics")
    assert answer.status_code == 404
    assert answer.json() == {"error": {"reason": "not_found", "message": "there is nothing at /metrics"}}


def test_all_revisions_of_a_run_are_told_the_first_one_first(store: Store) -> None:
    store.record_final(run("run-1", failing(1), test_pass=False), [], stored_at=100.0)
    store.record_revision(run("run-1", dialog_version=2), "rescore", stored_at=150.0)
    with client(store) as http:
        found = http.get("/api/v1/runs/run-1/revisions").json()["revisions"]
        told = [(one["revision"], one["dialog_version"], one["test_pass"], one["cause"]) for one in found]
        assert told == [(0, 1, False, "final"), (1, 2, True, "rescore")]
        assert http.get("/api/v1/runs/run-1").json()["revision"] == 1
        assert http.get("/api/v1/runs/nothing/revisions").status_code == 404
