"""Who reads which span, and how third-party conventions come in."""

from collections.abc import Sequence
from importlib.metadata import EntryPoint

import pytest

from aem_monitor.conventions import registry as module
from aem_monitor.conventions.reading import SpanKind, SpanReading
from aem_monitor.conventions.registry import Registry, registry
from aem_monitor.errors import ConfigError
from aem_monitor.model.span import LogRecord, Span
from tests.assembly.building import agent, span


class House:
    """A convention of one's own."""

    name = "house"
    markers: Sequence[str] = ("house.",)

    def detect(self, span: Span) -> bool:
        return "house.agent" in span.attributes

    def read(self, span: Span, logs: Sequence[LogRecord]) -> SpanReading:
        return SpanReading(self.name, SpanKind.AGENT)


def test_the_specific_convention_goes_before_the_generic_one() -> None:
    reading = registry().read(agent("1", scope="strands.telemetry.tracer"))
    assert reading is not None
    assert reading.convention == "strands"


def test_every_convention_s_spans_pass_the_prefilter() -> None:
    assert "gen_ai." in registry().markers
    assert len(set(registry().markers)) == len(registry().markers)


def test_third_party_conventions_are_asked_first(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("house", "tests.conventions.test_registry:House", module.ENTRY_POINT_GROUP)
    monkeypatch.setattr(module, "entry_points", lambda group: [point])
    extended = registry().with_entry_points()
    assert isinstance(extended, Registry)
    reading = extended.read(span("1", attributes={"house.agent": "x", "gen_ai.operation.name": "chat"}))
    assert reading is not None
    assert reading.convention == "house"
    assert "house." in extended.markers


@pytest.mark.parametrize("value", ["tests.conventions.nowhere:X", "builtins:dict"])
def test_a_third_party_convention_that_cannot_work_is_named(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setattr(module, "entry_points", lambda group: [EntryPoint("bad", value, group)])
    with pytest.raises(ConfigError, match="'bad'"):
        registry().with_entry_points()
