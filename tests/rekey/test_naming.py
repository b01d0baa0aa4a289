"""The conversation of a trace is found as assembly finds it, on every recording there is."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from aem_monitor.assembly import AssemblySettings, join, read_trace
from aem_monitor.build import build_prefilter, build_registry
from aem_monitor.ingest.files import read_files
from aem_monitor.ingest.limits import Limits
from aem_monitor.model.span import LogRecord, Span
from aem_monitor.pipeline import Collected
from aem_monitor.rekey.keys import Keys
from aem_monitor.rekey.naming import naming_of

TRACES = Path(__file__).parents[1] / "data" / "traces"
RECORDINGS = sorted(path for path in TRACES.rglob("*.json*") if not path.name.endswith(".expected.json"))
REGISTRY = build_registry()
SETTINGS = AssemblySettings()


def traces_of(path: Path) -> list[tuple[Sequence[Span], Sequence[LogRecord]]]:
    collected = Collected()
    for decoded in read_files([path], Limits(), build_prefilter(REGISTRY, SETTINGS)):
        collected.add(decoded)
    return [(spans, collected.logs.get(trace, ())) for trace, spans in collected.spans.items()]


each_recording = pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: str(path.relative_to(TRACES)))


@each_recording
def test_it_is_the_one_that_assembly_finds(path: Path) -> None:
    for spans, logs in traces_of(path):
        reading = read_trace(spans, logs, REGISTRY, SETTINGS)
        naming = naming_of(spans, logs, REGISTRY, SETTINGS)
        named = [one.conversation_id for one in join([reading], SETTINGS) if one.conversation_id]
        # Operations beside a run are a part of an exchange in another trace, and of no conversation by themselves.
        assert naming.ids[:1] == tuple(named[:1]) or not named
        assert frozenset(naming.ids) == reading.conversation_ids
        assert naming.has_turns == reading.has_turns
        assert naming.of_agent == (reading.has_turns or reading.agent_spans > 0)


@each_recording
@pytest.mark.parametrize("backwards", [False, True])
def test_all_traces_of_a_conversation_get_its_key_in_any_order(path: Path, backwards: bool) -> None:
    traces = {spans[0].trace_id: (spans, logs) for spans, logs in traces_of(path)}
    keys = Keys("agent", remembered=1000)
    chosen = {
        trace: keys.choose(trace, naming_of(*traces[trace], REGISTRY, SETTINGS))
        for trace in (reversed(traces) if backwards else traces)
    }
    readings = [read_trace(*each, REGISTRY, SETTINGS) for each in traces.values()]
    for conversation in join([reading for reading in readings if reading.has_turns], SETTINGS):
        found = {chosen[trace].value for trace in conversation.trace_ids}
        assert found == {conversation.conversation_id or conversation.agent}
