"""Golden dialogs that change while conversations are open."""

from dataclasses import replace

from aem_monitor.engine.settings import EngineSettings
from aem_monitor.golden.dialog import Dialog
from tests.engine.bench import ASK, PROFIT, SHOW, Bench, exchange, pipeline_of, play, sales
from tests.playing import agent, golden, user

OTHER = golden([user("Something else"), agent(1, "Yes.")], dialog="other")


def _reload(bench: Bench, *dialogs: Dialog, settings: EngineSettings | None = None) -> None:
    bench.pipeline = pipeline_of(*dialogs)
    bench.engine.reconfigure(bench.pipeline, settings or bench.settings, {"reports"})


def test_the_version_is_the_one_loaded_when_the_run_completes() -> None:
    bench = Bench()
    bench.feed(play("complete"))
    bench.feed(exchange(ASK, "open", 5))
    bench.tick()
    _reload(bench, sales(version=2))
    bench.tick()
    bench.feed(exchange(SHOW, "open", 15))
    bench.finish()
    versions = {result.conversation_id: result.dialog_version for result in bench.results()}
    assert versions == {"complete": 1, "open": 2}
    assert bench.counted_runs() == 2


def test_a_complete_run_whose_dialog_is_gone_is_counted_all_the_same() -> None:
    bench = Bench()
    bench.feed(play("complete"))
    bench.feed(exchange(ASK, "open", 5))
    bench.tick()
    _reload(bench, OTHER)
    bench.feed(exchange(SHOW, "open", 15))
    bench.finish()
    assert [result.conversation_id for result in bench.results()] == ["complete"]
    assert bench.counter("aem_monitor_unrecognised_conversations_total", outcome="none") >= 1
    assert bench.engine.figures.runs == 0
    assert bench.store.provisional_runs() == []


def test_a_final_run_is_not_counted_again_under_a_new_version_or_name() -> None:
    bench = Bench()
    bench.feed(play("c"))
    bench.wait(60)
    for number, dialog in enumerate([sales(version=2), sales(dialog="renamed")]):
        _reload(bench, dialog)
        bench.wait(5)
        late = replace(play("c")[0], span_id=f"{number + 1:016x}", name="chat", attributes={})
        bench.feed([late])
        bench.wait(5)
    assert [(result.dialog, result.dialog_version) for result in bench.results()] == [("sales", 1)]
    assert bench.counted_runs() == 1


def test_the_next_play_in_an_open_conversation_is_judged_by_the_new_version() -> None:
    bench = Bench()
    bench.feed(play("c", 0))
    bench.wait(40)
    _reload(bench, sales(version=2))
    bench.feed(play("c", 60, PROFIT))
    bench.finish()
    assert [(result.play, result.dialog_version) for result in bench.results()] == [(1, 1), (2, 2)]


def test_new_times_hold_from_then_on() -> None:
    bench = Bench()
    bench.feed(play("c"))
    bench.tick()
    _reload(bench, sales(), settings=EngineSettings(grace=120, wall_idle=5))
    bench.wait(60)
    assert bench.results() == []
    bench.wait(90)
    assert len(bench.results()) == 1


def test_a_dialog_that_is_added_recognises_what_is_open() -> None:
    bench = Bench(pipeline_of(OTHER))
    bench.feed(play("c"))
    bench.wait(3)
    _reload(bench, sales())
    bench.finish()
    assert [result.dialog for result in bench.results()] == ["sales"]
