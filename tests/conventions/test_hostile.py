"""Recorded spans of every convention with contents that no emitter would mean: nothing is raised, nothing hangs."""

from collections import defaultdict
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aem_monitor.conventions.registry import Registry, registry
from aem_monitor.model.jsonvalue import Attributes, AttributeValue
from aem_monitor.model.span import Span
from tests.assembly.recordings import SETTINGS, assembled, load, recordings

REGISTRY: Registry = registry()


@cache
def recorded() -> dict[str, list[Span]]:
    """Recorded spans by the convention that reads them, up to twenty different shapes of each."""
    found: dict[str, dict[tuple[str, ...], Span]] = defaultdict(dict)
    for path in recordings():
        for span in load(path)[0]:
            reading = REGISTRY.read(span)
            if reading is not None and len(found[reading.convention]) < 20:
                found[reading.convention].setdefault((span.scope.name, *sorted(span.attributes)), span)
    return {name: list(spans.values()) for name, spans in sorted(found.items())}


DEEP = '{"a":' * 2000 + "1" + "}" * 2000
HOSTILE: st.SearchStrategy[AttributeValue] = st.one_of(
    st.sampled_from(
        ["", "{", "[", "null", "[]", "{}", '[{"role": "user"', '{"messages": 7}', "\x00", "\ud83d", DEEP, '"' * 99, "-"]
    ),
    st.sampled_from(
        [None, True, -1, 2**63 - 1, float("nan"), float("inf"), b"\xff\x00", [], {}, [[[]]], {"a": {"b": []}}]
    ),
    st.text(max_size=40),
)


def spoilt(attributes: Attributes, data: st.DataObject) -> dict[str, AttributeValue]:
    """The attributes with some values cut or replaced, and some names gone."""
    changed: dict[str, AttributeValue] = {}
    for name, value in attributes.items():
        match data.draw(st.sampled_from(("keep", "keep", "cut", "replace", "drop"))):
            case "keep":
                changed[name] = value
            case "cut":
                end = data.draw(st.integers(0, 60))
                changed[name] = value[:end] if isinstance(value, str) else value
            case "replace":
                changed[name] = data.draw(HOSTILE)
    return changed


@pytest.mark.parametrize("convention", recorded())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_spoilt_spans_are_read(convention: str, data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(recorded()[convention]), min_size=1, max_size=4))
    spans = [
        replace(
            span,
            attributes=spoilt(span.attributes, data),
            events=tuple(replace(event, attributes=spoilt(event.attributes, data)) for event in span.events),
        )
        for span in chosen
    ]
    for span in spans:
        REGISTRY.read(span)
    assembled(spans)


@pytest.mark.parametrize("convention", recorded())
def test_what_a_convention_knows_the_prefilter_lets_pass(convention: str) -> None:
    (known,) = [one for one in REGISTRY.conventions if one.name == convention]
    for span in recorded()[convention]:
        names = [span.scope.name, *span.attributes, *(event.name for event in span.events)]
        assert any(marker in name for marker in (*known.markers, *SETTINGS.markers) for name in names), names


def test_there_are_recordings_of_nearly_every_convention() -> None:
    assert {one.name for one in REGISTRY.conventions} - recorded().keys() <= {"azure-ai-projects", "logfire"}
