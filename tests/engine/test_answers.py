"""A verdict that an expert may change waits for it in bounds; a failure is no verdict; answers survive restarts."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from aem_monitor.attribution.steps import ScoringSettings
from aem_monitor.build import PipelineSettings, build_pipeline, build_registry
from aem_monitor.engine.answers import ExpertAnswers
from aem_monitor.engine.recorder import Recorder
from aem_monitor.engine.runs import RunState
from aem_monitor.errors import StoreError
from aem_monitor.metrics.registry import Metrics
from aem_monitor.model.verdict import NotScored
from aem_monitor.scoring.oracle import Question
from aem_monitor.store import Store
from tests.playing import Call, exchange, golden, runs, tool, user

DIALOG = golden([user("Note it."), tool(1, "notes.add", {"text": "the delivery was late"})])
(RUN,) = runs(
    DIALOG, exchange("Note it.", [Call("notes.add", {"text": "the parcel came late"}, {"ok": True})], "Done.")
)


class Even:
    """A cheap scorer that never knows."""

    name = "even"

    def score(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        return [0.5] * len(pairs)


class Asked:
    """Stands in for the pool: collects what is asked."""

    def __init__(self) -> None:
        self.questions: list[Question] = []

    def ask(self, questions: Sequence[Question]) -> None:
        self.questions += questions


class Bench:
    def __init__(self, url: str) -> None:
        self.store = Store(url)
        metrics = Metrics(CollectorRegistry())
        settings = PipelineSettings(scoring=ScoringSettings(expert="judge:m"))
        pipeline = build_pipeline([DIALOG], settings, build_registry(), Even())
        self.asked = Asked()
        self.answers = ExpertAnswers("judge:m", self.store, metrics, deadline=60.0, clock=lambda: 0.0)
        self.answers.use(self.asked)
        self.recorder = Recorder(pipeline, self.store, metrics, {"notes"}, self.answers)
        self.state = RunState(RUN.run_id, 100.0, RUN)
        self.recorder.propose(self.state, 100.0)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    found = Bench(f"sqlite:///{tmp_path / 'store.db'}")
    yield found
    found.store.close()


def test_the_verdict_waits_for_the_answer(bench: Bench) -> None:
    (question,) = bench.asked.questions
    assert (question.kind, question.expected) == ("value", "the delivery was late")
    assert not bench.recorder.finalise(bench.state, 101.0)
    bench.answers.answered({question.key: 0.9})
    assert bench.recorder.finalise(bench.state, 102.0)
    assert bench.state.final is not None
    assert bench.state.final.test_pass is True


def test_an_answer_may_fail_the_turn(bench: Bench) -> None:
    (question,) = bench.asked.questions
    bench.answers.answered({question.key: 0.1})
    assert bench.recorder.finalise(bench.state, 102.0)
    assert bench.state.final is not None
    assert bench.state.final.test_pass is False


def test_a_failed_expert_is_scorer_error_and_never_a_verdict(bench: Bench) -> None:
    (question,) = bench.asked.questions
    bench.answers.answered({question.key: None})
    assert bench.recorder.finalise(bench.state, 102.0)
    assert bench.state.final is not None
    assert bench.state.final.turns[0].not_scored is NotScored.SCORER_ERROR
    assert bench.state.final.test_pass is None


def test_an_expert_that_says_nothing_is_not_waited_for_for_ever(bench: Bench) -> None:
    assert not bench.recorder.finalise(bench.state, 159.0)
    assert bench.recorder.finalise(bench.state, 160.0)
    assert bench.state.final is not None
    assert bench.state.final.turns[0].not_scored is NotScored.SCORER_ERROR


def test_a_shutdown_does_not_wait(bench: Bench) -> None:
    assert bench.recorder.finalise(bench.state, 101.0, wait=False)
    assert bench.state.final is not None


def test_a_stored_answer_is_used_after_a_restart_without_asking(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    first = Bench(url)
    first.answers.answered({first.asked.questions[0].key: 0.9})
    first.store.close()
    second = Bench(url)
    assert second.asked.questions == []
    assert second.recorder.finalise(second.state, 101.0)
    assert second.state.final is not None
    assert second.state.final.test_pass is True


def test_an_answer_that_cannot_be_stored_is_not_used(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise StoreError("disk full", reason="full")

    monkeypatch.setattr(bench.store, "store_answers", fail)
    (question,) = bench.asked.questions
    bench.answers.answered({question.key: 0.9})
    assert bench.recorder.finalise(bench.state, 102.0)
    assert bench.state.final is not None
    assert bench.state.final.turns[0].not_scored is NotScored.SCORER_ERROR


def test_without_an_expert_the_cheap_opinion_stands_and_is_marked(bench: Bench) -> None:
    pipeline = build_pipeline([DIALOG], replace(PipelineSettings()), build_registry(), Even())
    plan = pipeline.judge_run(RUN)
    assert plan.questions == ()
    assert any(check.uncertain for check in plan.result.turns[0].checks)
