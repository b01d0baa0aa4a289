"""The small parts of the engine: remembered keys, trace states, cells, the book of runs."""

from dataclasses import replace

from aem_monitor.assembly import TraceReading
from aem_monitor.engine.cells import Cells
from aem_monitor.engine.remembered import Remembered
from aem_monitor.engine.runs import RunBook, RunState, same_play
from aem_monitor.engine.traces import Added, TraceBuffer, size_of
from aem_monitor.golden.play import Run
from tests.engine.bench import ASK, HELLO, Bench, exchange, pipeline_of, play, sales


def test_the_oldest_keys_are_forgotten_first() -> None:
    memory: Remembered[str] = Remembered(2)
    for key in ("a", "b", "a", "c"):
        memory.put(key, key.upper())
    assert [memory.get(key) for key in "abc"] == ["A", None, "C"]
    memory.drop("a")
    memory.drop("unknown")
    assert memory.get("a") is None
    assert len(memory) == 1


def test_an_equal_copy_of_a_span_is_a_duplicate_and_another_one_is_kept() -> None:
    traces = TraceBuffer()
    (span,) = exchange(ASK, "c", 0)
    state = traces.open(span.trace_id, 1.0)
    assert traces.add(state, span) is Added.NEW
    assert traces.add(state, replace(span)) is Added.DUPLICATE
    assert traces.add(state, replace(span, name="other")) is Added.ANOTHER_COPY
    assert traces.size == state.size > 2 * size_of(span)
    for number in range(10):
        traces.add(state, replace(span, name=f"copy {number}"))
    assert len(state.all_spans()) == 4
    traces.drop([span.trace_id])
    assert traces.size == 0


def test_traces_are_pending_until_they_have_a_place() -> None:
    traces = TraceBuffer()
    for number in range(3):
        traces.open(f"t{number}", float(number))
    traces.place(traces["t1"], 7)
    assert traces.pending() == ["t0", "t2"]
    assert traces.pending_opened_before(1.5) == ["t0"]
    traces.drop(["t0"])
    assert traces.pending_count == 1
    assert traces.heard(["t1", "t9"], 0.0) == 1.0
    assert traces.heard(["t9"], 4.0) == 4.0


def _reading(conversation: str | None, at: float = 0.0, service: str = "shop") -> TraceReading:
    return pipeline_of(sales()).read(exchange(HELLO, conversation, at, service=service), ())


def test_traces_that_share_an_id_share_a_cell() -> None:
    cells = Cells()
    one = cells.place("t1", _reading("c"), None)
    assert cells.place("t2", _reading("c", 1), None) == one
    assert cells.place("t3", _reading("d"), None) != one
    assert cells.place("t4", _reading(None), None) == cells.place("t5", _reading(None, 1), None)
    assert cells.place("t6", _reading(None, service="other"), None) not in {one, 3}


def test_a_trace_that_turns_out_to_have_an_id_moves_to_its_cell() -> None:
    cells = Cells()
    nobody = cells.place("t1", _reading(None), None)
    cells.place("t2", _reading(None, 1), None)
    home = cells.place("t3", _reading("c"), None)
    assert cells.place("t1", _reading("c"), nobody) == home
    left = cells.get(nobody)
    assert left is not None
    assert set(left.traces) == {"t2"}
    assert len(cells) == 2


def test_a_trace_with_two_ids_brings_their_cells_together() -> None:
    cells = Cells()
    cells.place("t1", _reading("c"), None)
    cells.place("t2", _reading("d"), None)
    both = replace(_reading("c"), exchanges=(*_reading("c").exchanges, *_reading("d").exchanges))
    merged = cells.get(cells.place("t3", both, None))
    assert merged is not None
    assert set(merged.traces) == {"t1", "t2", "t3"}
    assert len(cells) == 1
    cells.remove(merged, {"t1", "t2", "t3"})
    assert len(cells) == 0
    assert len({cells.place("t4", _reading("c"), None), cells.place("t5", _reading("d"), None)}) == 2


def _runs(*starts: float, conversation: str | None = "c") -> list[Run]:
    pipeline = pipeline_of(sales())
    spans = [span for at in starts for span in play(conversation, at)]
    by_trace: dict[str, list] = {}  # type: ignore[type-arg]
    for span in spans:
        by_trace.setdefault(span.trace_id, []).append(span)
    (found,) = pipeline.join(pipeline.read(part, ()) for part in by_trace.values())
    dialog = pipeline.recognise(found).dialog
    assert dialog is not None
    return pipeline.runs(found, dialog)


def test_a_run_is_held_while_any_of_its_traces_is() -> None:
    (run,) = _runs(0)
    book = RunBook()
    state = RunState(run.run_id, 1.0, run)
    book.keep(state)
    first, second = run.trace_ids
    assert book.of_traces([second]) == [state]
    book.forget_traces([first])
    assert book.get(run.run_id) is state
    book.forget_traces([second])
    assert book.get(run.run_id) is None
    assert book.open_count() == 0


def test_plays_are_the_same_when_they_overlap_in_time() -> None:
    one, two = _runs(0, 100)
    state = RunState(one.run_id, 1.0, one)
    assert same_play(one, state)
    assert not same_play(two, state)
    assert same_play(replace(one, first_ns=one.first_ns + 1), state)
    (other,) = _runs(0, conversation="d")
    assert not same_play(other, state), "another conversation, driven at the same time"


def test_a_bench_shows_what_it_counts() -> None:
    assert Bench().counted_runs() == 0
