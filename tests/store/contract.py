"""What every store must do, whatever database is under it. A test module names the database in a ``url`` fixture."""

import math
import threading
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

import pytest

from aem_monitor.canary.pairs import Played, Undecided
from aem_monitor.canary.played import releases_of_lines
from aem_monitor.errors import StoreError
from aem_monitor.model.increment import Increment, Total
from aem_monitor.model.render import evidence_object
from aem_monitor.model.verdict import FailureReason, NotScored
from aem_monitor.scoring.compose import summarise
from aem_monitor.store import RunFilter, Store
from aem_monitor.store.records import LatencyOfRun
from aem_monitor.store.summaries import DialogOfRelease, DialogTally, ReleaseTally, Tally
from tests.playing import Call, conversation, exchange
from tests.store.results import check, failing, review, run, turn

PASSED = Increment("aem_runs_total", (("dialog", "sales-report"), ("result", "pass")))
QUICK = Increment("aem_run_latency_seconds", (("agent", "reporting"),), value=1.5, bucket=2.5)
SLOW = Increment("aem_run_latency_seconds", (("agent", "reporting"),), value=900.0, bucket=float("inf"))
NO_NAME: Any = None
BROKEN = replace(PASSED, metric=NO_NAME)
"""No database takes this one."""


CONVERSATION = conversation(exchange("Report", [Call("reports.FilterData", {"region": "EU"}, {"total": 12})], "Done."))


class StoreContract:
    @pytest.fixture
    def store(self, url: str) -> Iterator[Store]:
        with Store(url, replica="a") as store:
            yield store

    # One verdict, one transaction

    def test_a_final_run_comes_back_as_it_was_stored(self, store: Store) -> None:
        result = run("run-1", turn(1), failing(2), failing(None))
        assert store.record_final(result, [], stored_at=100.0)
        stored = store.run("run-1")
        assert stored is not None
        assert stored.result == result
        assert (stored.final_at, stored.stored_at, stored.cause) == (100.0, 100.0, "final")

    def test_a_run_is_final_once(self, store: Store) -> None:
        assert store.record_final(run(), [PASSED], stored_at=100.0) is True
        assert store.record_final(run(), [PASSED], stored_at=200.0) is False
        assert [total.value for total in store.totals()] == [1.0]

    def test_a_run_is_not_final_again_under_a_later_version_of_its_dialog(self, store: Store) -> None:
        store.record_final(run(), [PASSED], stored_at=100.0)
        assert store.record_final(run(dialog_version=2), [PASSED], stored_at=200.0) is False
        assert [total.value for total in store.totals()] == [1.0]

    def test_a_verdict_that_cannot_be_stored_adds_nothing(self, store: Store) -> None:
        with pytest.raises(StoreError):
            store.record_final(run(), [PASSED, BROKEN], stored_at=100.0, positions={("spans", 0): 7})
        assert store.run("run-1") is None
        assert store.totals() == []
        assert store.positions() == {}
        assert store.plays_of_traces(["trace of run-1"]) == {}
        assert store.record_final(run(), [PASSED], stored_at=100.0) is True

    def test_positions_are_stored_with_the_verdict(self, store: Store) -> None:
        store.record_final(run(), [], stored_at=100.0, positions={("spans", 0): 7, ("spans", 1): 3})
        assert store.positions() == {("spans", 0): 7, ("spans", 1): 3}
        store.store_positions({("spans", 0): 9})
        assert store.positions() == {("spans", 0): 9, ("spans", 1): 3}

    def test_traces_lead_to_their_run(self, store: Store) -> None:
        store.record_final(run("run-1", trace_ids=("t1", "t2", "t1")), [], stored_at=100.0)
        store.record_final(run("run-2", trace_ids=("t2",)), [], stored_at=101.0)
        found = store.plays_of_traces(["t1", "t2", "t3"])
        assert {trace: {play.run_id for play in plays} for trace, plays in found.items()} == {
            "t1": {"run-1"},
            "t2": {"run-1", "run-2"},
        }
        store.record_revision(run("run-1", failing(1), trace_ids=("t1", "t4")), "late_span", stored_at=110.0)
        (known,) = store.plays_of_traces(["t4"])["t4"]
        result = run("run-1")
        assert (known.agent, known.conversation_key, known.dialog) == (
            result.agent,
            result.conversation_key,
            result.dialog,
        )
        assert (known.play, known.started_ns, known.ended_ns) == (result.play, result.started_ns, result.ended_ns)

    def test_a_conversation_leads_to_its_plays(self, store: Store) -> None:
        for number in (1, 2, 3):
            store.record_final(run(f"run-{number}", play=number, conversation_key="c"), [], stored_at=100.0 + number)
        store.record_revision(run("run-2", failing(1), play=2, conversation_key="c"), "late_span", stored_at=110.0)
        store.record_final(run("run-4", conversation_key="d"), [], stored_at=104.0)
        agent = run().agent
        assert [play.run_id for play in store.plays(agent, "c")] == ["run-3", "run-2", "run-1"]
        assert store.plays(agent, "e") == []
        assert store.plays("another", "c") == []

    def test_any_number_of_traces_can_be_asked_for(self, store: Store) -> None:
        store.record_final(run("run-1", trace_ids=("t777",)), [], stored_at=100.0)
        assert list(store.plays_of_traces(f"t{number}" for number in range(5000))) == ["t777"]

    # Provisional verdicts

    def test_a_provisional_verdict_is_shown_and_counts_nothing(self, store: Store) -> None:
        store.record_provisional(run("run-1", failing(1)), stored_at=90.0)
        store.record_provisional(run("run-1", turn(1), failing(2)), stored_at=95.0)
        assert store.provisional_runs() == [(run("run-1", turn(1), failing(2)), 95.0)]
        assert store.provisional_run("run-1") == (run("run-1", turn(1), failing(2)), 95.0)
        assert store.provisional_run("run-2") is None
        assert store.runs() == []
        assert store.plays_of_traces(["trace of run-1"]) == {}
        assert store.last_runs() == {}

    def test_a_provisional_verdict_can_be_withdrawn(self, store: Store) -> None:
        store.record_provisional(run("run-1"), stored_at=90.0)
        store.record_provisional(run("run-2"), stored_at=90.0)
        store.drop_provisional(["run-1", "never there"])
        assert [result.run_id for result, _ in store.provisional_runs()] == ["run-2"]

    def test_a_provisional_verdict_is_gone_when_the_run_is_final(self, store: Store) -> None:
        store.record_provisional(run("run-1"), stored_at=90.0)
        store.record_final(run("run-1"), [], stored_at=100.0)
        store.record_provisional(run("run-1"), stored_at=110.0)
        assert store.provisional_runs() == []

    def test_a_provisional_verdict_that_never_became_final_is_forgotten(self, store: Store) -> None:
        store.record_provisional(run("run-1"), stored_at=90.0)
        store.record_provisional(run("run-2"), stored_at=190.0)
        store.retain(before=100.0)
        assert [result.run_id for result, _ in store.provisional_runs()] == ["run-2"]

    # Revisions

    def test_a_revision_replaces_what_is_shown_and_adds_no_run(self, store: Store) -> None:
        store.record_final(run(), [PASSED], stored_at=100.0)
        changed = run("run-1", failing(1), test_pass=False, success_rate=0.0)
        assert store.record_revision(changed, "late_span", stored_at=150.0) == 1
        assert store.record_revision(run(), "rescore", stored_at=160.0) == 2
        (stored,) = store.runs()
        assert stored.result == replace(run(), revision=2)
        assert (stored.final_at, stored.stored_at, stored.cause) == (100.0, 160.0, "rescore")
        assert store.totals() == [Total(PASSED.metric, PASSED.labels, 1.0)]

    def test_the_same_verdict_again_is_no_revision(self, store: Store) -> None:
        store.record_final(run(), [], stored_at=100.0)
        assert store.record_revision(run(), "late_span", stored_at=150.0, increments=[PASSED]) == 0
        assert store.totals() == []

    def test_a_run_that_is_not_final_cannot_be_revised(self, store: Store) -> None:
        with pytest.raises(StoreError, match="run-1") as caught:
            store.record_revision(run(), "late_span", stored_at=150.0)
        assert caught.value.reason == "integrity"

    def test_a_revision_is_refused_where_another_one_came_between(self, store: Store) -> None:
        store.record_final(run(), [], stored_at=100.0)
        store.record_revision(run("run-1", failing(1)), "late_span", stored_at=150.0, based_on=0)
        assert store.record_revision(run(dialog_version=2), "rescore", 160.0, [PASSED], based_on=0) is None
        assert store.totals() == []
        assert store.record_revision(run(dialog_version=2), "rescore", 160.0, [PASSED], based_on=1) == 2
        shown = store.run("run-1")
        assert shown is not None
        assert (shown.result.dialog_version, shown.result.revision) == (2, 2)

    def test_another_version_of_the_dialog_is_a_revision_also_with_the_same_verdict(self, store: Store) -> None:
        store.record_final(run(), [], stored_at=100.0)
        assert store.record_revision(run(dialog_version=2), "rescore", stored_at=150.0) == 1
        assert store.record_revision(run(dialog_version=2), "rescore", stored_at=160.0) == 0

    def test_numbers_that_equal_nothing_make_no_revision(self, store: Store) -> None:
        strange = run("run-1", turn(1, actual=[math.nan, (1, 2)]))
        store.record_final(strange, [], stored_at=100.0)
        assert store.record_revision(strange, "rescore", stored_at=150.0) == 0

    def test_all_revisions_stay_in_their_order(self, store: Store) -> None:
        store.record_final(run(dialog_version=3), [], stored_at=100.0)
        store.record_revision(run(dialog_version=1), "rescore", stored_at=150.0)
        store.record_revision(run(dialog_version=2), "rescore", stored_at=160.0)
        history = store.history("run-1")
        assert [(one.result.dialog_version, one.result.revision, one.cause) for one in history] == [
            (3, 0, "final"),
            (1, 1, "rescore"),
            (2, 2, "rescore"),
        ]
        assert [len(one.result.turns) for one in history] == [1, 1, 1]
        assert store.history("nothing") == []

    def test_writers_that_revise_at_once_follow_each_other(self, url: str, store: Store) -> None:
        store.record_final(run(), [], stored_at=100.0)
        with self.second(url, store) as other:
            together = threading.Barrier(2)
            found: list[int | None] = []

            def revise(writer: Store, version: int) -> None:
                together.wait()
                for number in range(10):
                    changed = run(dialog_version=version + 2 * number)
                    found.append(writer.record_revision(changed, "rescore", stored_at=150.0))

            writers = [threading.Thread(target=revise, args=pair) for pair in ((store, 2), (other, 3))]
            for writer in writers:
                writer.start()
            for writer in writers:
                writer.join()
            assert sorted(number or 0 for number in found) == list(range(1, 21))
            assert len(store.runs()) == 1

    # Conversations

    def test_a_conversation_is_stored_with_its_verdict_or_not_at_all(self, store: Store) -> None:
        packed = store.pack(CONVERSATION)
        with pytest.raises(StoreError):
            store.record_final(run(), [BROKEN], stored_at=100.0, conversation=packed)
        assert store.conversations(["run-1"]) == {}
        store.record_final(run(), [], stored_at=100.0, conversation=packed)
        assert store.conversations(["run-1", "run-2"])["run-1"].conversation == CONVERSATION

    def test_a_revision_brings_what_the_conversation_has_become(self, store: Store) -> None:
        store.record_final(run(), [], stored_at=100.0, conversation=store.pack(CONVERSATION))
        store.record_revision(run(dialog_version=2), "rescore", stored_at=150.0)
        assert store.conversations(["run-1"])["run-1"].conversation == CONVERSATION
        more = replace(CONVERSATION, ended=True)
        store.record_revision(run("run-1", failing(1)), "late_span", stored_at=160.0, conversation=store.pack(more))
        assert store.conversations(["run-1"])["run-1"].conversation == more

    def test_a_conversation_goes_with_its_run_or_before(self, store: Store) -> None:
        for name, at in (("run-1", 100.0), ("run-2", 200.0), ("run-3", 300.0)):
            store.record_final(run(name), [], stored_at=at, conversation=store.pack(CONVERSATION))
        store.retain(before=150.0, conversations_before=250.0)
        assert set(store.conversations(["run-1", "run-2", "run-3"])) == {"run-3"}
        assert [stored.result.run_id for stored in store.runs()] == ["run-3", "run-2"]

    # What people say

    def test_an_answer_of_a_person_is_kept_until_retention(self, store: Store) -> None:
        answer = review(labels=({"a": 1, "b": None, "equivalent": False},), answered_at=100.0)
        store.record_review(review(answer="accept", answered_at=90.0))
        store.record_review(answer)
        store.record_review(review(revision=1, answered_at=150.0))
        store.record_review(review("run-2", subject="path", turn_no=None, answered_at=200.0))
        assert store.reviews(["run-1"]) == [answer, review(revision=1, answered_at=150.0)]
        assert [one.run_id for one in store.reviews()] == ["run-1", "run-1", "run-2"]
        store.retain(before=150.0)
        assert [(one.run_id, one.revision) for one in store.reviews()] == [("run-1", 1), ("run-2", 0)]

    def test_runs_that_may_need_a_person_are_found_by_their_latest_revision(self, store: Store) -> None:
        doubt = turn(1, checks=(check(uncertain=True),))
        open_question = turn(1, success=None, not_scored=NotScored.UNDETERMINED)
        other_path = {"outcome": True, "test_pass": False}
        store.record_final(run("plain", turn(1, actual='"uncertain":true', checks=(check(),))), [], stored_at=1.0)
        store.record_final(run("doubt", doubt), [], stored_at=2.0)
        store.record_final(run("open", open_question, dialog="refund"), [], stored_at=3.0)
        store.record_final(run("path", failing(1), **other_path), [], stored_at=4.0)
        store.record_final(run("reached", outcome=True), [], stored_at=5.0)
        store.record_final(run("settled", doubt), [], stored_at=6.0)
        store.record_revision(run("settled", turn(1)), "late_span", stored_at=7.0)

        def ids(wanted: RunFilter) -> list[str]:
            return [stored.result.run_id for stored in store.doubtful_runs(wanted)]

        assert ids(RunFilter()) == ["path", "open", "doubt"]
        assert ids(RunFilter(dialog="refund")) == ["open"]
        assert ids(RunFilter(limit=1)) == ["path"]

    def test_runs_are_found_by_the_beginning_of_their_id(self, store: Store) -> None:
        for name in ("abc1", "abc2", "abd1", "a%c9"):
            store.record_final(run(name), [], stored_at=100.0)
        assert store.run_ids("abc") == ["abc1", "abc2"]
        assert store.run_ids("a%c") == ["a%c9"]
        assert store.run_ids("b") == []

    # Totals

    def test_one_metric_can_be_asked_for(self, store: Store) -> None:
        store.add_totals([PASSED, QUICK])
        assert store.totals(metric=PASSED.metric) == [Total(PASSED.metric, PASSED.labels, 1.0)]

    def test_totals_add_up_by_series_and_bucket(self, store: Store) -> None:
        store.record_final(run("run-1"), [PASSED, QUICK], stored_at=100.0)
        store.record_final(run("run-2"), [PASSED, QUICK, SLOW], stored_at=101.0)
        store.add_totals([replace(PASSED, value=0.5)])
        assert sorted(store.totals(), key=repr) == sorted(
            [
                Total(PASSED.metric, PASSED.labels, 2.5),
                Total(QUICK.metric, QUICK.labels, 3.0, count=2, bucket=2.5),
                Total(SLOW.metric, SLOW.labels, 900.0, count=1, bucket=float("inf")),
            ],
            key=repr,
        )

    def test_totals_add_up_after_a_transaction_that_failed(self, store: Store) -> None:
        other = replace(PASSED, labels=(("dialog", "refund"), ("result", "pass")))
        store.add_totals([PASSED])
        with pytest.raises(StoreError):
            store.add_totals([PASSED, other, BROKEN])
        store.add_totals([PASSED, other])
        assert {total.labels: total.value for total in store.totals()} == {PASSED.labels: 2.0, other.labels: 1.0}

    def test_an_increment_of_zero_makes_a_total_of_zero(self, store: Store) -> None:
        store.add_totals([replace(PASSED, value=0.0)])
        assert store.totals() == [Total(PASSED.metric, PASSED.labels, 0.0)]

    def test_replicas_keep_their_own_totals_and_positions(self, url: str, store: Store) -> None:
        store.record_final(run("run-1"), [PASSED], stored_at=100.0, positions={("spans", 0): 7})
        with self.second(url, store) as other:
            if other is store:
                pytest.skip("a store in memory has one replica")
            other.record_final(run("run-2"), [PASSED, PASSED], stored_at=100.0)
            assert [total.value for total in other.totals()] == [2.0]
            assert [total.value for total in other.totals("a")] == [1.0]
            assert other.positions() == {}

    def second(self, url: str, store: Store) -> Store:
        """Another process' store on the same database."""
        return Store(url, replica="b")

    # Answers and releases

    def test_an_answer_is_kept_by_scorer_and_never_changes(self, store: Store) -> None:
        store.store_answers("embedded", {"k1": 0.25, "k2": 0.5}, stored_at=100.0)
        store.store_answers("embedded", {"k1": 0.99, "k3": 0.75}, stored_at=101.0)
        assert store.answers(["k1", "k2", "k3", "k4"], "embedded") == {"k1": 0.25, "k2": 0.5, "k3": 0.75}
        assert store.answers(["k1"], "judge") == {}

    def test_a_release_is_new_once(self, store: Store) -> None:
        assert store.note_release("reporting", "1.0.0", "small-1", seen_at=100.0) is True
        assert store.note_release("reporting", "1.0.0", "small-1", seen_at=200.0) is False
        assert store.note_release("reporting", "1.0.0", "large-1", seen_at=300.0) is True
        seen = [(one.release, one.model, one.first_seen, one.last_seen) for one in store.releases()]
        assert seen == [("1.0.0", "small-1", 100.0, 200.0), ("1.0.0", "large-1", 300.0, 300.0)]
        assert store.last_seen() == {"1.0.0": 300.0}

    def test_a_verdict_tells_of_the_releases_of_its_turns(self, store: Store) -> None:
        store.record_final(run("run-1", release="1.0.0"), [], stored_at=100.0)
        store.record_final(run("run-2", release=None, model=None), [], stored_at=200.0)
        both = (turn(1, release="1.0.0"), turn(2, release="2.0.0"), turn(3))
        store.record_final(run("run-3", *both, release="mixed"), [], stored_at=300.0)
        store.record_final(run("run-4", release="9.9.9", draft=True), [], stored_at=400.0)
        seen = [(one.agent, one.release, one.model, one.first_seen, one.last_seen) for one in store.releases()]
        assert seen == [
            ("reporting", "1.0.0", "small-1", 100.0, 300.0),
            ("reporting", "unknown", "unknown", 200.0, 200.0),
            ("reporting", "2.0.0", "small-1", 300.0, 300.0),
        ]

    def test_the_latest_run_of_a_dialog_is_known(self, store: Store) -> None:
        store.record_final(run("run-1", ended_ns=5_000_000_000), [], stored_at=100.0)
        store.record_final(run("run-2", ended_ns=4_000_000_000), [], stored_at=101.0)
        assert store.last_runs() == {"sales-report": 5.0}

    # Retention

    def test_latencies_are_of_the_newest_whole_pairs_of_reviewed_dialogs(self, store: Store) -> None:
        store.record_final(run("old"), [], stored_at=100.0)
        store.record_final(run("1", latency_seconds=1.0, success_rate=0.5), [], stored_at=200.0)
        store.record_final(run("2", latency_seconds=2.0, release=None), [], stored_at=300.0)
        store.record_final(run("draft", draft=True), [], stored_at=400.0)
        store.record_final(run("unscored", success_rate=None), [], stored_at=400.0)
        store.record_final(run("no latency", latency_seconds=None), [], stored_at=400.0)
        store.record_final(run("broken clock", latency_seconds=math.nan), [], stored_at=150.0)
        first, second = LatencyOfRun("reporting", "1.0.0", 1.0, 0.5), LatencyOfRun("reporting", None, 2.0, 1.0)
        assert store.latencies(150.0, 10) == [second, first]
        assert store.latencies(150.0, 2) == [second]

    def test_retention_forgets_runs_and_leaves_totals(self, store: Store) -> None:
        store.record_final(run("run-1"), [PASSED], stored_at=100.0, positions={("spans", 0): 7})
        store.record_revision(run("run-1", failing(1)), "rescore", stored_at=500.0)
        store.record_final(run("run-2"), [PASSED], stored_at=200.0)
        store.store_answers("embedded", {"old": 0.5}, stored_at=100.0)
        store.store_answers("embedded", {"new": 0.5}, stored_at=200.0)
        assert store.retain(before=200.0) == 1
        assert [stored.result.run_id for stored in store.runs()] == ["run-2"]
        assert list(store.plays_of_traces(["trace of run-1", "trace of run-2"])) == ["trace of run-2"]
        assert store.answers(["old", "new"], "embedded") == {"new": 0.5}
        assert store.totals() == [Total(PASSED.metric, PASSED.labels, 2.0)]
        assert store.positions() == {("spans", 0): 7}
        assert store.retain(before=200.0) == 0

    # Filters and pages

    def test_what_spans_do_not_carry_is_found_as_unknown(self, store: Store) -> None:
        store.record_final(run("a", release=None), [], stored_at=1.0)
        store.record_final(run("b", model=None, conversation_id=None), [], stored_at=2.0)
        store.record_final(run("c", release="unknown"), [], stored_at=3.0)

        def ids(wanted: RunFilter) -> list[str]:
            return [stored.result.run_id for stored in store.runs(wanted)]

        assert ids(RunFilter(release="unknown")) == ["c", "a"]
        assert ids(RunFilter(model="unknown")) == ["b"]
        assert ids(RunFilter(conversation_id="unknown")) == []

    # Counts for pages

    def test_runs_are_counted_once_in_their_latest_revision_over_all_replicas(self, store: Store, url: str) -> None:
        store.record_final(run("a"), [], stored_at=10.0)
        store.record_revision(run("a", failing(1), test_pass=False), "late_span", stored_at=90.0)
        store.record_final(run("draft", draft=True, dialog_version=3), [], stored_at=15.0)
        with self.second(url, store) as other:
            other.record_final(run("b"), [], stored_at=20.0)
            other.record_final(run("c", test_pass=None, release=None), [], stored_at=30.0)
            assert store.release_tallies(0.0) == [
                ReleaseTally("reporting", None, Tally(undecided=1), 30.0, 30.0),
                ReleaseTally("reporting", "1.0.0", Tally(passed=1, failed=1), 10.0, 20.0),
            ]
            assert store.release_tallies(25.0) == [ReleaseTally("reporting", None, Tally(undecided=1), 30.0, 30.0)]
            (dialog,) = store.dialog_tallies(0.0)
            assert dialog == DialogTally("sales-report", Tally(1, 1, 1), 1, 3, 1_764_500_003.0)
            assert [play.run_id for play in store.plays_of_dialog("sales-report", 3)] == ["c", "b", "draft"]

    def test_the_dialogs_of_a_release_are_counted_with_the_reasons_of_failed_runs(self, store: Store) -> None:
        wrong = {"test_pass": False, "root_cause": FailureReason.TOOL_MISMATCH}
        store.record_final(run("a", **wrong), [], stored_at=1.0)
        store.record_final(run("b", **wrong), [], stored_at=2.0)
        store.record_final(run("c", test_pass=False), [], stored_at=3.0)
        store.record_final(run("d", dialog="other", agent="another"), [], stored_at=4.0)
        store.record_final(run("e", release="2.0.0"), [], stored_at=5.0)
        counted = DialogOfRelease("sales-report", Tally(failed=3), (("tool_mismatch", 2),))
        assert store.dialogs_of_release("reporting", "1.0.0") == [counted]
        assert store.dialogs_of_release(None, "1.0.0") == [DialogOfRelease("other", Tally(passed=1), ()), counted]
        assert store.dialogs_of_release("reporting", "3.0.0") == []

    def test_a_release_began_with_its_earliest_run(self, store: Store) -> None:
        for number, release in enumerate(("2.0.0", None, "2.0.0", "1.0.0")):
            started = (9 - number) * 10**9
            store.record_final(run(f"run-{number}", release=release, started_ns=started), [], stored_at=1.0)
        store.record_final(run("other", agent="other", started_ns=10**9), [], stored_at=1.0)
        store.record_final(run("draft", draft=True, started_ns=10**9), [], stored_at=1.0)
        assert store.release_starts("reporting") == {"2.0.0": 7.0, "unknown": 8.0, "1.0.0": 6.0}
        assert store.release_starts(None)["1.0.0"] == 1.0

    def test_the_runs_of_a_release_are_given_for_the_canary_gate_in_order_with_their_root_causes(
        self, store: Store
    ) -> None:
        wrong = failing(1, "tool_mismatch", chain_length=4, tool="pay")
        store.record_final(run("b", wrong, test_pass=False, root_cause=FailureReason.TOOL_MISMATCH), [], stored_at=2.0)
        store.record_final(run("a"), [], stored_at=1.0)
        store.record_final(run("c", test_pass=None), [], stored_at=3.0)
        store.record_final(run("d", draft=True), [], stored_at=4.0)
        store.record_final(run("e", release="2.0.0"), [], stored_at=5.0)
        store.record_final(run("f", agent="other"), [], stored_at=6.0)
        found = store.played("reporting", "1.0.0")
        assert (found.undecided, found.agents) == (1, {"reporting"})
        assert [(one.passed, one.reason) for one in found.played] == [(True, None), (False, "tool_mismatch")]
        assert {tuple(part) for part in found.played[1].parts} == {
            ("reason", "tool_mismatch"),
            ("submetric", "structural"),
            ("tool", "pay"),
            ("chain_length", "3+"),
            ("turn_kind", "tool"),
        }
        assert store.played(None, "1.0.0").agents == {"reporting", "other"}

    def test_a_run_judged_before_its_end_is_undecided_for_the_gate_as_in_the_lines_of_files(self, store: Store) -> None:
        store.record_final(run("a", dialog_version=3), [], stored_at=1.0)
        store.record_final(run("b", failing(), partial=True, test_pass=False), [], stored_at=2.0)
        lines = [evidence_object(stored.result) for stored in store.runs(RunFilter())]
        of_files = releases_of_lines((("", line) for line in reversed(lines)), None, ["1.0.0"])["1.0.0"]
        for found in (store.played(None, "1.0.0"), of_files):
            assert [(type(one), one.version) for one in found.plays] == [(Played, 3), (Undecided, 1)]
        assert [one.order for one in store.played(None, "1.0.0").plays] == [1.0, 2.0]

    def test_runs_from_before_a_time_are_counted_only(self, store: Store) -> None:
        for number, name in enumerate("abcd"):
            wrong = run(name, failing(), test_pass=False, agent="old" if name == "a" else "reporting")
            store.record_final(wrong, [], stored_at=float(number))
        store.record_final(run("e", draft=True), [], stored_at=0.0)
        store.record_revision(run("b", failing(2), test_pass=False), "rescore", stored_at=9.0)
        found = store.played(None, "1.0.0", since=2.0)
        assert (found.before, found.agents, [one.order for one in found.plays]) == (2, {"reporting"}, [2.0, 3.0])
        assert store.played(None, "1.0.0").before == 0

    def test_the_share_of_right_turns_is_of_the_dialogs_own_as_in_the_lines_of_files(self, store: Store) -> None:
        unscored = turn(4, success=None, not_scored=NotScored.UPSTREAM_ERROR)
        inherited = failing(3, "prior_action_failed", root_cause=False)
        extra = failing(None, "tool_mismatch")
        several = (
            (turn(), failing(2), inherited, unscored),
            (turn(), failing(2), inherited, extra, extra),
            (turn(), turn(2), extra),
            (extra,),
            (failing(),),
            (turn(), unscored),
        )
        for number, turns in enumerate(several):
            summary = asdict(summarise(turns, complete=True, captured=True))
            store.record_final(run(f"run-{number}", *turns, **summary), [], stored_at=float(number))
        found = [one.correct for one in store.played(None, "1.0.0").played]
        assert found == pytest.approx([1 / 3, 1 / 3, 1.0, 1.0, 0.0])
        lines = [evidence_object(stored.result) for stored in store.runs(RunFilter())]
        of_files = releases_of_lines((("", line) for line in reversed(lines)), None, ["1.0.0"])["1.0.0"]
        assert [one.correct for one in of_files.played] == found
        assert [one.parts for one in of_files.played] == [one.parts for one in store.played(None, "1.0.0").played]

    def test_runs_are_filtered_by_what_they_are(self, store: Store) -> None:
        store.record_final(run("a"), [], stored_at=1.0)
        store.record_final(run("b", release="2.0.0", model="large-1"), [], stored_at=2.0)
        store.record_final(run("c", release="2.0.0", test_pass=False), [], stored_at=3.0)
        store.record_final(run("d", dialog="refund", test_pass=None, draft=True), [], stored_at=4.0)
        store.record_final(run("e", agent="other", conversation_id="c-7"), [], stored_at=5.0)

        def ids(wanted: RunFilter) -> list[str]:
            return [stored.result.run_id for stored in store.runs(wanted)]

        assert ids(RunFilter()) == ["e", "d", "c", "b", "a"]
        assert ids(RunFilter(release="2.0.0")) == ["c", "b"]
        assert ids(RunFilter(release="2.0.0", model="large-1")) == ["b"]
        assert ids(RunFilter(outcome="fail")) == ["c"]
        assert ids(RunFilter(outcome="undecided")) == ["d"]
        assert ids(RunFilter(draft=True)) == ["d"]
        assert ids(RunFilter(draft=False, agent="reporting")) == ["c", "b", "a"]
        assert ids(RunFilter(dialog="refund")) == ["d"]
        assert ids(RunFilter(conversation_id="c-7")) == ["e"]
        assert ids(RunFilter(conversation_key="key of b")) == ["b"]
        assert ids(RunFilter(since=2.0, until=4.0)) == ["c", "b"]

    def test_pages_show_every_run_once_also_at_the_same_moment(self, store: Store) -> None:
        for number in range(7):
            store.record_final(run(f"run-{number}"), [], stored_at=float(number // 3))
        shown: list[str] = []
        wanted = RunFilter(limit=2)
        while page := store.runs(wanted):
            shown += [stored.result.run_id for stored in page]
            wanted = replace(wanted, after=page[-1].cursor)
        assert sorted(shown) == [f"run-{number}" for number in range(7)]
        assert len(shown) == 7

    def test_a_run_that_does_not_exist_is_none(self, store: Store) -> None:
        assert store.run("nothing") is None

    # Threads and the end

    def test_readers_in_other_threads_see_whole_verdicts(self, store: Store) -> None:
        stop = threading.Event()
        seen: list[str] = []

        def read() -> None:
            while not stop.is_set():
                seen.extend(one.result.run_id for one in store.runs() if len(one.result.turns) != 3)

        readers = [threading.Thread(target=read) for _ in range(2)]
        for reader in readers:
            reader.start()
        try:
            for number in range(25):
                store.record_final(run(f"run-{number}", turn(1), turn(2), turn(3)), [PASSED], stored_at=float(number))
        finally:
            stop.set()
            for reader in readers:
                reader.join()
        assert seen == []
        assert [total.value for total in store.totals()] == [25.0]

    def test_a_closed_store_says_so(self, store: Store) -> None:
        store.close()
        store.close()
        with pytest.raises(StoreError, match="closed") as caught:
            store.runs()
        assert caught.value.reason == "closed"
