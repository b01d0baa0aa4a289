"""A verdict is stored and counted together, once, and a store that fails loses nothing."""

import logging
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from aem_monitor.build import PipelineSettings, build_pipeline, build_registry
from aem_monitor.engine.recorder import Recorder
from aem_monitor.engine.runs import RunState
from aem_monitor.errors import StoreError
from aem_monitor.golden.dialog import Dialog
from aem_monitor.golden.play import Run
from aem_monitor.metrics.registry import Metrics
from aem_monitor.store import Store
from aem_monitor.store.conversations import Keeping
from tests.playing import SCORER, Call, agent, exchange, golden, runs, tool, user

REPORT = golden(
    [user("Report"), tool(2, "reports.FilterData", {"region": "EU"}), agent(3, "Done.")],
    forbidden=[{"tool_id": "mail"}],
)
TOOLS = {"reports", "mail"}


class Bench:
    """A recorder with a store and metrics of its own, as one process has them."""

    def __init__(self, url: str, dialogs: Sequence[Dialog] = (REPORT,), keeping: Keeping | None = None) -> None:
        self.store = Store(url, keeping=keeping)
        self.metrics = Metrics(CollectorRegistry())
        self.metrics.restore(self.store.totals())
        pipeline = build_pipeline(dialogs, PipelineSettings(), build_registry(), SCORER)
        self.recorder = Recorder(pipeline, self.store, self.metrics, TOOLS)

    def play(self, run: Run, now: float = 100.0) -> bool:
        self.recorder.show(run, now)
        return self.recorder.finalise(RunState(run.run_id, now, run), now)

    def total(self, name: str, **labels: str) -> float:
        """The sum over all series that carry the labels."""
        families = {family.name: family for family in self.metrics.registry.collect()}
        return sum(
            sample.value
            for sample in families[name.removesuffix("_total")].samples
            if sample.name == name and labels.items() <= sample.labels.items()
        )

    def series(self, name: str, **labels: str) -> int:
        families = {family.name: family for family in self.metrics.registry.collect()}
        found = [one for one in families[name.removesuffix("_total")].samples if one.name == name]
        return sum(1 for one in found if labels.items() <= one.labels.items())


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'store.db'}"


@pytest.fixture
def bench(url: str) -> Iterator[Bench]:
    bench = Bench(url)
    yield bench
    bench.store.close()


def played(region: str = "EU", *extra: Call, dialog: Dialog = REPORT) -> Run:
    (run,) = runs(dialog, exchange("Report", [Call("reports.FilterData", {"region": region}), *extra], "Done."))
    return run


def test_every_series_of_a_verdict_is_at_zero_while_its_run_is_open(bench: Bench) -> None:
    run = played("US")
    bench.recorder.show(run, 100.0)
    root = {"reason": "inconsistent_parameter_values", "tool": "reports", "release": "1.0", "model": "m"}
    assert bench.series("aem_root_causes_total", **root) == 1
    assert bench.total("aem_root_causes_total") == 0
    before = bench.series("aem_turns_total")
    bench.recorder.finalise(RunState(run.run_id, 100.0, run), 101.0)
    assert bench.total("aem_root_causes_total", **root) == 1
    assert bench.series("aem_turns_total") == before


def test_a_verdict_is_stored_and_counted(bench: Bench) -> None:
    assert bench.play(played("US"))
    (stored,) = bench.store.runs()
    assert stored.result.test_pass is False
    assert bench.total("aem_runs_total", result="fail") == 1
    assert bench.total("aem_dialog_last_run_timestamp_seconds", dialog="d") == stored.result.ended_ns / 1e9


def test_a_run_that_comes_again_is_counted_once_also_after_a_restart(bench: Bench, url: str) -> None:
    assert bench.play(played())
    assert bench.play(played())
    assert bench.total("aem_runs_total") == 1
    again = Bench(url)
    assert again.play(played())
    assert again.total("aem_runs_total") == 1
    assert again.total("aem_turns_total", result="pass") == 2
    again.store.close()


def test_a_store_that_fails_keeps_the_verdict_for_later(bench: Bench, url: str) -> None:
    run = played()
    bench.recorder.show(run, 100.0)
    state = RunState(run.run_id, 100.0, run)
    bench.store.close()
    assert bench.recorder.finalise(state, 101.0) is False
    assert not bench.recorder.store_up
    assert not state.is_final
    assert bench.total("aem_runs_total") == 0
    assert bench.total("aem_monitor_store_errors_total", reason="closed") > 0


def test_a_store_that_cannot_be_written_is_said_until_it_can(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing may be waiting that would be written again: then the recorder has to try of itself."""
    caplog.set_level(logging.INFO)
    run = played()
    state = RunState(run.run_id, 100.0, run)

    def full(action: str, work: object) -> None:
        raise StoreError("no space left", reason="full")

    with monkeypatch.context() as patch:
        patch.setattr(bench.store, "_write", full)
        bench.recorder.propose(state, 100.0)
        said = bench.recorder.cannot_write()
        assert said is not None
        assert re.fullmatch(r"the store cannot be written since \S+Z: full", said)
        assert bench.recorder.plays_of_traces(["1" * 32]) == {}
        assert bench.recorder.cannot_write() == said, "that it can be read does not end it"
        bench.recorder._tried_at = -1e9
        bench.recorder.try_again()
        assert bench.recorder.cannot_write() == said
    bench.recorder.try_again()
    assert bench.recorder.cannot_write() == said, "not tried at every tick"
    bench.recorder._tried_at = -1e9
    bench.recorder.try_again()
    assert bench.recorder.cannot_write() is None
    assert bench.recorder.store_up
    lines = [record.message for record in caplog.records]
    assert [line.partition(",")[0].partition(";")[0] for line in lines] == [
        "The store failed",
        "The store can be written again",
    ]


def test_what_is_wrong_with_one_record_does_not_hold_everything_back(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(action: str, work: object) -> None:
        raise StoreError("there already", reason="integrity")

    monkeypatch.setattr(bench.store, "_write", refused)
    assert bench.play(played()) is False
    assert bench.recorder.cannot_write() is None


def test_a_release_is_dated_when_it_is_first_seen_and_stays_so(bench: Bench) -> None:
    bench.play(played(), now=100.0)
    bench.play(played("US"), now=200.0)
    assert bench.total("aem_release_first_seen_timestamp_seconds", agent="a", release="1.0") == 100


def test_a_forbidden_call_counts_under_its_tool_and_was_at_zero_before(bench: Bench) -> None:
    run = played("EU", Call("mail", {"to": "x"}))
    forbidden = {"detail": "forbidden_call", "tool": "mail"}
    bench.recorder.show(run, 100.0)
    assert bench.series("aem_root_causes_total", **forbidden) == 1
    bench.play(run)
    assert bench.total("aem_root_causes_total", **forbidden) == 1


def test_a_draft_is_counted_as_a_draft_only(url: str) -> None:
    draft = golden([user("Report"), tool(2, "reports.FilterData", {"region": "EU"})], review={"status": "draft"})
    bench = Bench(url, [draft])
    assert bench.play(played("US", dialog=draft))
    assert bench.total("aem_draft_runs_total", dialog="d", result="fail") == 1
    assert bench.series("aem_runs_total") == bench.series("aem_turns_total") == 0
    assert bench.store.releases() == []
    bench.store.close()


# What a later version of the dialog is judged by


def test_a_run_is_kept_as_it_was_judged(bench: Bench) -> None:
    call = Call("reports.FilterData", {"region": "US"}, {"total": 12})
    first, second = runs(REPORT, exchange("Report", [call], "Done."), exchange("Report", [call], "Done.", at=5000))
    assert bench.play(first)
    assert bench.play(second)
    kept = bench.store.conversations([first.run_id, second.run_id])
    pipeline = build_pipeline([REPORT], PipelineSettings(), build_registry(), SCORER)
    for run in (first, second):
        stored = bench.store.run(run.run_id)
        assert stored is not None
        found = kept[run.run_id].conversation
        assert found is not None
        again = pipeline.run_again(found, REPORT, run.play)
        assert len(again.live) == 1
        assert pipeline.judge_run(again).result == stored.result


def test_a_late_span_makes_the_kept_conversation_whole(bench: Bench) -> None:
    run = played()
    state = RunState(run.run_id, 100.0, run)
    assert bench.recorder.finalise(state, 101.0)
    state.run = played("EU", Call("mail", {"to": "x"}))
    assert bench.recorder.revise(state, 110.0)
    found = bench.store.conversations([run.run_id])[run.run_id].conversation
    assert found is not None
    assert [call.name for call in found.exchanges[0].calls] == ["reports.FilterData", "mail"]


def test_a_conversation_that_is_too_large_is_counted_and_its_verdict_stored(url: str) -> None:
    bench = Bench(url, keeping=Keeping(max_bytes=100))
    run = played()
    assert bench.play(run)
    assert bench.store.run(run.run_id) is not None
    kept = bench.store.conversations([run.run_id])[run.run_id]
    assert kept.conversation is None
    assert kept.size > 100
    assert bench.total("aem_monitor_conversations_not_kept_total") == 1
    bench.store.close()
