"""The pages for people: what each shows, that links lead somewhere, and that nothing from outside becomes markup."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urljoin

import pytest
from starlette.testclient import TestClient

from aem_monitor.alerting.evidence import evidence
from aem_monitor.alerting.notification import About, dedup_key, resolved, triggered
from aem_monitor.alerting.observed import Finding, Kind, Signature, Why
from aem_monitor.examples import example_dialogs
from aem_monitor.golden.dialog import Dialog
from aem_monitor.golden.load import load_dialogs
from aem_monitor.links import TraceLink
from aem_monitor.model.verdict import Basis, FailureReason, MismatchDetail, NotScored, RunResult
from aem_monitor.store import Store
from aem_monitor.store.alerts import Decision, Incident
from aem_monitor.store.conversations import Keeping, pack
from aem_monitor.web.admin_app import ReloadResult, admin_app
from aem_monitor.web.pages.render import STYLE_PATH
from aem_monitor.web.pages.routes import BesideStore
from tests.playing import Call, conversation, exchange
from tests.services.postgresql import PostgresqlServer
from tests.store.results import check, failing, run, turn
from tests.web.html import Page

NOW = 1_764_600_000.0
TRACE = "5b8efff798038103d269b633813fc60c"
BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}

WRONG = check(
    passed=False,
    field="region",
    reason=FailureReason.INCONSISTENT_PARAMETER_VALUES,
    expected="sales of EU",
    actual="sales of US",
    rule="words",
    score=0.2,
)
INHERITED = replace(WRONG, field="report", expected="R-17", actual="R-4001", explained_by=(2,), basis=Basis.PROVENANCE)


def broken(run_id: str = "broken", **changes: Any) -> RunResult:
    """A run with a passing turn, a root cause, its cascade, a turn without a verdict and a call that nobody wanted."""
    turns = (
        turn(1, latency_seconds=0.25, recovered=True, attempts=2),
        failing(2, tool="reports", action="FilterData", checks=(WRONG, check()), trace_id=TRACE, span_id="00f0"),
        turn(
            3,
            exchange=1,
            success=False,
            failure_reason=FailureReason.PRIOR_ACTION_FAILED,
            blames=(2,),
            basis=Basis.PROVENANCE,
            checks=(replace(INHERITED, uncertain=True),),
            expected={"report": "R-17"},
            actual={"report": "R-4001"},
        ),
        turn(4, exchange=1, success=None, not_scored=NotScored.TOOL_ERROR),
        failing(None, "tool_mismatch", exchange=1, detail=MismatchDetail.UNEXPECTED_CALL, called="mail.Send"),
    )
    plain: dict[str, Any] = {
        "success_rate": 0.25,
        "test_pass": False,
        "first_failure_turn": 2,
        "root_cause": FailureReason.INCONSISTENT_PARAMETER_VALUES,
        "root_cause_count": 2,
        "cascading_count": 1,
        "trace_ids": (TRACE,),
    }
    return run(run_id, *turns, **{**plain, **changes})


def incident(number: int, kind: Kind, opened_at: float, shown_by: Sequence[RunResult] = (), **names: str) -> Incident:
    """As built-in alerting stores one."""
    about = About("tests")
    signature = Signature(kind, **{"agent": "reporting", "release": "1.0.0", **names})
    finding = Finding(0.02, 0.5, 10, 20, 9.0, 8.0, {})
    body = triggered(about, signature, number, opened_at, finding, evidence(signature, shown_by, None, None))
    return Incident(dedup_key(about, signature), number, signature.agent, opened_at, None, body)


def over(one: Incident, at: float) -> Incident:
    """The same, resolved."""
    return replace(one, resolved_at=at, body=resolved(one.body, at, Why.RECOVERED))


def keep(store: Store, *incidents: Incident) -> None:
    lease = store.take_alert_lease("a", store.alert_lease())
    assert lease is not None
    store.decide(lease, Decision(incidents=incidents))


def client(store: Store, dialogs: Sequence[Dialog] = (), *, alerting: bool = False) -> TestClient:
    traces = TraceLink.parse("https://traces.example/{trace_id}")
    beside = BesideStore(traces, alerting, dialogs=lambda: dialogs, clock=lambda: NOW)
    app = admin_app(store, lambda: ReloadResult(True, ""), beside)
    return TestClient(app, raise_server_exceptions=False, headers=BROWSER)


class PagesContract:
    """On every store."""

    @pytest.fixture
    def store(self, url: str) -> Iterator[Store]:
        with Store(url, replica="a") as store:
            yield store

    @pytest.fixture
    def http(self, store: Store) -> Iterator[TestClient]:
        with client(store) as http:
            yield http

    def test_every_link_leads_to_a_page(self, store: Store, http: TestClient) -> None:
        for number in range(60):
            store.record_final(run(f"run-{number}", dialog=f"d/{number % 3} ä"), [], NOW - 100 - number)
        store.record_final(broken(), [], NOW - 50)
        store.record_final(broken("newer", release="2.0.0", dialog="d/1 ä"), [], NOW - 40)
        store.record_final(run("draft", dialog="new", draft=True), [], NOW - 30)
        store.record_provisional(broken("open"), NOW - 10)
        seen: set[str] = set()
        waiting = ["/", "/runs?state=provisional"]
        while waiting:
            address, _, fragment = waiting.pop().partition("#")
            if address in seen and not fragment:
                continue
            answer = http.get(address)
            assert answer.status_code == 200, address
            if address.startswith("/api/"):
                seen.add(address)
                continue
            page = Page(answer.text)
            assert not fragment or fragment in page.ids, (address, fragment)
            if address not in seen:
                seen.add(address)
                waiting += [urljoin(address, link) for link in page.links if not link.startswith(("#", "https:"))]
        assert {"/", "/releases", "/dialogs/new", "/runs/broken", "/runs/open", "/dialogs/d%2F1%20%C3%A4"} <= seen
        assert any("cursor=" in address for address in seen)

    def test_the_error_map_says_what_broke_and_what_hangs_from_it(self, store: Store, http: TestClient) -> None:
        store.record_final(broken(), [], NOW - 50)
        page = Page(http.get("/runs/broken").text)
        assert "2 root causes, 1 cascade, 25.0 %" in page.text()
        root, cascade = page.by_id("turn-2"), page.by_id("turn-3")
        assert "root" in root.get("class", "").split()
        assert "● root cause inconsistent parameter values" in page.text(root)
        assert [one.text for one in root.iter("mark")] == ["EU", "US"]
        assert [one.get("href") for one in root.iter("a")] == ["#turn-2", "#turn-3", f"https://traces.example/{TRACE}"]
        assert "Inherited from turn 2 (seen in the trace" in page.text(cascade)
        assert "uncertain" in page.text(cascade)
        assert "? not scored tool error" in page.text(page.by_id("turn-4"))
        assert "recovered" in page.text(page.by_id("turn-1"))
        extra = page.text(page.by_id("extra-5"))
        assert "mail.Send" in extra
        assert "tool mismatch (unexpected call)" in extra
        assert [page.text(one) for one in page.all("h3")] == ["Exchange 1", "Exchange 2"]
        assert "seen in the trace" not in page.text(root)

    def test_a_run_shows_its_revisions_and_its_conversation(self, store: Store, http: TestClient) -> None:
        spoken = conversation(exchange("Report", [Call("reports.FilterData", {"region": "EU"}, {})], "Done."))
        store.record_final(broken(), [], NOW - 50, conversation=pack(spoken, Keeping()))
        store.record_revision(replace(broken(), test_pass=None), "rescore", NOW - 20)
        page = Page(http.get("/runs/broken").text)
        assert "Every verdict that this run has had" in page.text()
        assert "User Report" in page.text()
        assert "Agent Done." in page.text()
        store.record_final(broken("bare"), [], NOW - 50)
        assert "The conversation is not kept" in Page(http.get("/runs/bare").text).text()

    def test_a_verdict_that_is_not_final_says_so(self, store: Store, http: TestClient) -> None:
        store.record_provisional(broken("open"), NOW - 10)
        assert "Not final yet" in Page(http.get("/runs/open").text).text()
        assert "/runs/open" in Page(http.get("/runs?state=provisional").text).links
        assert "/runs/open" not in Page(http.get("/runs").text).links

    def test_runs_are_filtered_by_the_form_and_paged(self, store: Store, http: TestClient) -> None:
        for number in range(7):
            store.record_final(run(f"run-{number}", test_pass=bool(number % 2)), [], NOW - number)
        address, shown = "/runs?agent=&release=1.0.0&result=&draft=false&state=&limit=3", []
        while True:
            page = Page(http.get(address).text)
            shown += [link for link in page.links if link.startswith("/runs/run-")]
            assert next(one for one in page.all("input") if one.get("name") == "release").get("value") == "1.0.0"
            older = [one.get("href") for one in page.all("a") if one.get("rel") == "next"]
            if not older:
                break
            address = older[0] or ""
        assert shown == [f"/runs/run-{number}" for number in range(7)]
        failed = Page(http.get("/runs?result=fail").text)
        assert [link for link in failed.links if link.startswith("/runs/run-")] == [
            f"/runs/run-{number}" for number in (0, 2, 4, 6)
        ]

    def test_releases_are_compared_over_the_dialogs_that_both_ran(self, store: Store, http: TestClient) -> None:
        at = NOW - 1000
        for number in range(40):
            store.record_final(run(f"old-{number}", dialog="both"), [], at + number)
            store.record_final(broken(f"new-{number}", dialog="both", release="2.0.0"), [], at + 100 + number)
        store.record_final(run("gone", dialog="gone"), [], at)
        page = Page(http.get("/releases").text)
        assert "2.0.0 is worse than 1.0.0" in page.text()
        assert "100.0 % 91.2 % to 100.0 %, 40 of 40" in page.text()
        assert "1 dialog ran under 1.0.0 alone gone" in page.text()
        assert "inconsistent parameter values 0 0.0 % of runs 40 100.0 % of runs" in page.text()
        assert "few runs" not in page.text()
        assert page.text() == Page(http.get("/releases?baseline=1.0.0&candidate=2.0.0").text).text()
        other = Page(http.get("/releases?agent=nobody&baseline=1.0.0&candidate=2.0.0").text)
        assert "nothing can be compared" in other.text()

    def test_of_releases_that_were_seen_at_once_the_one_whose_runs_began_later_is_the_candidate(
        self, store: Store, http: TestClient
    ) -> None:
        for release, hours in (("2.0.0", 3), ("3.0.0", 5), ("1.0.0", 9)):
            started = int((NOW - hours * 3600) * 1e9)
            store.note_release("reporting", release, "small-1", NOW)
            store.record_final(run(release, release=release, started_ns=started), [], NOW)
        store.note_release("reporting", "0.9.0", "small-1", NOW - 10 * 3600)
        store.record_final(run("kept", release="0.9.0", started_ns=int((NOW - 3600) * 1e9)), [], NOW)
        page = Page(http.get("/releases").text)
        assert "2.0.0 is better or worse than 3.0.0" in page.text()
        page = Page(http.get("/releases?candidate=1.0.0").text)
        assert "1.0.0 is better or worse than 0.9.0" in page.text(), "its first runs have passed their retention"

    def test_two_runs_are_not_called_a_difference(self, store: Store, http: TestClient) -> None:
        store.record_final(run("old"), [], NOW - 20)
        store.record_final(broken("new", release="2.0.0"), [], NOW - 10)
        text = Page(http.get("/releases").text).text()
        assert "nothing shows that 2.0.0 is better or worse than 1.0.0" in text
        assert "There are few runs" in text

    def test_the_overview_and_the_dialogs_count_and_tell_ages(self, store: Store, http: TestClient) -> None:
        store.record_final(run("pass"), [], NOW - 7200)
        store.record_final(broken(), [], NOW - 3600)
        store.record_final(run("open", test_pass=None, success_rate=None), [], NOW - 3600)
        store.record_final(run("draft", draft=True), [], NOW - 3600)
        store.record_final(run("old", agent="gone"), [], NOW - 40 * 86400)
        page = Page(http.get("/").text)
        (row,) = list(page.all("tbody")[0])
        text = page.text(row)
        assert "1.0.0 50.0 % 9.5 % to 90.5 %, 1 of 2" in text
        assert "1 2 hours ago 1 hour ago" in text
        assert [page.text(one) for one in page.all("h2")] == ["reporting", "Latest failed runs"]
        dialogs = Page(http.get("/dialogs").text)
        assert "sales-report 1 of drafts 50.0 %" in dialogs.text()

    def test_the_overview_has_the_incidents_that_are_open_or_were_lately(self, store: Store) -> None:
        spike = {"reason": "inconsistent_parameter_values", "tool": "reports"}
        extra = replace(broken("extra", release="2.0.0"), turns=broken().turns[4:])
        for one in (broken(), extra):
            store.record_final(one, [], NOW - 7300)
        shown = incident(1, Kind.ROOT_CAUSE_SPIKE, NOW - 7200, [broken()], **spike)
        drift = incident(1, Kind.DRIFT, NOW - 3600, [extra], release="2.0.0")
        recent = over(incident(1, Kind.RELEASE_REGRESSION, NOW - 90_000), NOW - 86_000)
        old = over(incident(1, Kind.DRIFT, NOW - 90_000, agent="gone"), NOW - 87_000)
        keep(store, drift, shown, recent, old)
        with client(store, alerting=True) as http:
            page = Page(http.get("/").text)
            opened, closed = (list(page.all("tbody")[place]) for place in (0, 1))
            first, second = (page.text(row) for row in opened)
            assert first.startswith(
                "critical reporting 1.0.0: root cause inconsistent_parameter_values (reports) in 10 of"
            )
            assert "with 1 cascade 2 hours ago open sales-report broken, turn 2, region failed runs of 1.0.0" in first
            assert second.startswith("warning reporting 2.0.0: fails more dialogs than before, 10 of the last 20 runs")
            assert [page.text(row[2]) for row in closed] == ["23 hours ago recovered"]
            links = [one.get("href") or "" for row in opened for one in row.iter("a")]
            assert links[0] == "/runs/broken#turn-2"
            assert "turn-2" in Page(http.get(links[0]).text).ids
            assert links[2] == "/runs/extra"
            assert all(http.get(link).status_code == 200 for link in links)
        with client(store) as http:
            assert "ncident" not in Page(http.get("/").text).text(), (
                "alerting is off, so that nobody keeps them up to date"
            )

    def test_the_overview_says_that_no_incident_is_open(self, store: Store) -> None:
        with client(store, alerting=True) as http:
            assert "Built-in alerting has no open incident." in Page(http.get("/").text).text()

    def test_of_many_open_incidents_the_overview_has_the_oldest(self, store: Store) -> None:
        keep(store, *(incident(1, Kind.DRIFT, NOW - 100 + at, agent=f"agent {at}") for at in range(53)))
        with client(store, alerting=True) as http:
            page = Page(http.get("/").text)
        assert len(page.all("tbody")[0]) == 50
        assert "3 newer ones are left out" in page.text()

    def test_loaded_dialogs_that_do_not_run_are_listed(self, store: Store) -> None:
        (example,) = load_dialogs([example_dialogs() / "sales-report.yaml"])
        draft = replace(example.review, draft=True)
        loaded = [
            replace(example, name="stopped", version=4),
            replace(example, name="never <b>"),
            replace(example, name="ran"),
            replace(example, name="a draft", review=draft),
        ]
        store.record_final(run("ran", dialog="ran"), [], NOW - 100)
        earlier = NOW - 40 * 86400
        for name in ("stopped", "unloaded"):
            store.record_final(run(name, dialog=name, ended_ns=int(earlier * 1e9)), [], earlier)
        with client(store, loaded) as http:
            page = Page(http.get("/dialogs").text)
            ran, idle = page.all("tbody")
            assert [page.text(row[0]) for row in ran] == ["ran"]
            assert [page.text(row) for row in idle] == [
                "a draft draft 1 no run is stored",
                "never <b> 1 no run is stored",
                "stopped 4 40 days ago",
            ]
            assert [one.get("href") for one in idle.iter("a")] == ["/dialogs/stopped"]

    def test_a_dialog_shows_its_runs_in_a_row_and_how_often_they_flip(self, store: Store, http: TestClient) -> None:
        for number, passed in enumerate([True, True, False, True]):
            store.record_final(run(f"run-{number}", test_pass=passed), [], NOW - 100 + number)
        store.record_final(run("later", dialog_version=2, release="2.0.0"), [], NOW - 10)
        page = Page(http.get("/dialogs/sales-report").text)
        strips = [one for one in page.all("ol") if one.get("class") == "strip"]
        assert [[link.get("href") for link in strip.iter("a")] for strip in strips] == [
            ["/runs/later"],
            [f"/runs/run-{number}" for number in range(4)],
        ]
        assert "2 flips in 3 steps" in page.text()


class TestSqlite(PagesContract):
    @pytest.fixture
    def url(self, tmp_path: Any) -> str:
        return f"sqlite:///{tmp_path / 'store.db'}"


@pytest.mark.service
class TestPostgresql(PagesContract):
    @pytest.fixture
    def url(self, postgresql_server: PostgresqlServer) -> Iterator[str]:
        with postgresql_server.database() as url:
            yield url


@pytest.fixture
def store() -> Iterator[Store]:
    with Store("sqlite://") as store:
        yield store


ATTACK = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>{{7*7}}\u202e\x00\ud800"
IDS = ATTACK[:-1]
"""Ids of spans are read as bytes; halves of characters are in none."""


def test_what_comes_from_outside_is_never_markup(store: Store) -> None:
    evil = check(
        passed=False, subject=ATTACK, field=ATTACK, rule=ATTACK, submetric=ATTACK, expected=ATTACK, actual={ATTACK: 1}
    )
    attacked: dict[str, Any] = {
        "tool": ATTACK,
        "action": ATTACK,
        "called": ATTACK,
        "expected": ATTACK,
        "actual": [ATTACK],
    }
    names = dict.fromkeys(("agent", "release", "model", "dialog", "conversation_id", "variant"), ATTACK)
    result = run(
        "evil",
        failing(1, checks=(evil,), span_id=IDS, trace_id=IDS, **attacked),
        failing(None, **attacked),
        test_pass=False,
        trace_ids=(IDS,),
        recognised_by=ATTACK,
        **names,
    )
    talk = conversation(exchange(ATTACK, [Call(ATTACK, {"a": ATTACK}, ATTACK)], ATTACK))
    store.record_final(result, [], NOW - 10, conversation=pack(talk, Keeping()))
    store.record_final(replace(result, run_id="other", release="<b>2</b>"), [], NOW - 5)
    seen = ATTACK.encode("utf-8", "replace").decode()
    spike = {"agent": seen, "release": seen, "reason": "inconsistent_parameter_values", "tool": seen}
    attacking = incident(1, Kind.ROOT_CAUSE_SPIKE, NOW - 5, [result], **spike)
    assert attacking.body["evidence"]["examples"]
    keep(store, attacking, over(replace(attacking, number=2), NOW))
    (example,) = load_dialogs([example_dialogs() / "sales-report.yaml"])
    named = quote(ATTACK, errors="replace")
    with client(store, [replace(example, name=ATTACK + "!")], alerting=True) as http:
        listed = [link for link in Page(http.get("/dialogs").text).links if link.startswith("/dialogs/")]
        addresses = ["/", "/runs", "/runs/evil", "/releases", *listed]
        addresses += [f"/runs?agent={named}", f"/releases?baseline={named}&candidate=x"]
        for address in addresses:
            answer = http.get(address)
            assert answer.status_code == 200, address
            text = Page(answer.text).text()
            assert "\u202e" not in answer.text
            assert "49" not in text
        run_page = http.get("/runs/evil").text
    assert "\\u202e\\u0000" in run_page
    assert "&lt;script&gt;" in run_page


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/nothing", 404),
        ("/runs/<script>alert(1)</script>", 404),
        ("/dialogs/<script>", 404),
        ("/runs?sort=<b>", 400),
        ("/runs?limit=0", 400),
        ("/releases?x=<b>", 400),
        ("/?x=1", 400),
    ],
)
def test_errors_are_pages_for_browsers_only(store: Store, path: str, status: int) -> None:
    with client(store) as http:
        answer = http.get(path)
        assert answer.status_code == status
        Page(answer.text)
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    with client(store) as http:
        if path.startswith("/runs?"):
            assert http.get(path, headers={"Accept": "*/*"}).json()["error"]["reason"] == "query"
        assert http.get("/api/v1/runs?sort=1").json()["error"]["reason"] == "query"


def test_pages_run_nothing_are_kept_nowhere_and_answer_head(store: Store) -> None:
    store.record_final(broken(), [], NOW)
    with client(store) as http:
        for path in ("/", "/runs", "/runs/broken", "/releases", "/dialogs", "/dialogs/sales-report"):
            answer = http.get(path)
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'; style-src 'self'" in policy
            assert "script" not in policy
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["cache-control"] == "no-store"
            assert answer.headers["content-type"] == "text/html; charset=utf-8"
            assert f'href="{STYLE_PATH}"' in answer.text
            head = http.head(path)
            assert (head.status_code, head.text) == (200, "")
            assert http.post(path).status_code == 405
        style = http.get(STYLE_PATH)
        assert style.headers["content-type"] == "text/css; charset=utf-8"
        assert "immutable" in style.headers["cache-control"]
        assert "url(" not in style.text
        assert "@import" not in style.text


def test_pages_are_bounded_however_large_a_run_is(store: Store) -> None:
    long = "x" * 100_000
    wrong = check(passed=False, expected=long, actual=long + "y")
    turns = [failing(number, checks=(wrong,) * 3, expected=long) for number in range(1, 20)]
    many = [turn(number) for number in range(20, 2000)]
    store.record_final(run("large", *turns, *many, test_pass=False, conversation_id=long), [], NOW)
    with client(store) as http:
        answer = http.get("/runs/large")
    assert len(answer.content) < 2_000_000
    text = Page(answer.text).text()
    assert "(100,000 characters, the first 4,000 shown)" in text
    assert "1499 further turns are in the JSON only" in text


def test_an_empty_store_has_pages(store: Store) -> None:
    with client(store) as http:
        for path in ("/", "/runs", "/releases", "/dialogs"):
            answer = http.get(path)
            assert answer.status_code == 200
            Page(answer.text)


def test_a_store_that_fails_is_a_page_that_says_so(store: Store) -> None:
    with client(store) as http:
        store.close()
        answer = http.get("/runs")
        assert answer.status_code == 503
        assert "The store does not answer" in Page(answer.text).text()
