"""The picture of a result."""

from collections.abc import Sequence
from xml.etree import ElementTree as ET

import pytest

from aem_monitor.canary.gate import Rules, decide
from aem_monitor.canary.pairs import Played, pair
from aem_monitor.canary.picture import WIDTH, svg
from aem_monitor.canary.played import Release
from tests.canary.test_gate import REPLY, TOOL, runs

SVG = "{http://www.w3.org/2000/svg}"


def picture(baseline: Sequence[Played], candidate: Sequence[Played], names: tuple[str, str] = ("1", "2")) -> ET.Element:
    result = decide(pair(baseline, candidate), Rules())
    return ET.fromstring(svg(names, (Release(list(baseline)), Release(list(candidate))), result))


def texts(drawn: ET.Element) -> list[str]:
    return ["".join(one.itertext()) for one in drawn.iter(f"{SVG}text")]


def bars(drawn: ET.Element, style: str) -> list[tuple[float, float]]:
    """Begin and length of each."""
    found = [one for one in drawn.iter(f"{SVG}rect") if one.get("class") == style]
    return [(float(one.get("x", "nan")), float(one.get("width", "nan"))) for one in found]


def test_it_tells_the_state_the_rates_the_reasons_and_the_dialogs() -> None:
    baseline = runs("." * 48, "a") + runs("x" * 12, "b", TOOL)
    candidate = runs("x" * 48, "a", REPLY) + runs("." * 12, "b")
    told = texts(picture(baseline, candidate))
    assert told[0] == "Canary: regression in runs that pass and in turns that are right"
    assert "80 % (68 to 88), 60 runs" in told
    assert told[told.index("tool_mismatch") + 1] == "20.0 %, now 0.0 %"
    assert told[told.index("incomplete_response") + 1] == "0.0 %, now 80.0 %"
    assert told[told.index("a") + 1] == "lost 100.0 points"
    assert told[told.index("b") + 1] == "gained 100.0 points"


def test_bars_are_as_long_as_what_they_show_and_losses_go_to_the_left() -> None:
    baseline = runs("." * 10, "a") + runs("x" * 10, "b")
    candidate = runs("x" * 10, "a") + runs("x" * 5 + "." * 5, "b")
    drawn = picture(baseline, candidate)
    ((lost, lost_width),) = bars(drawn, "worse")
    ((gained, gained_width),) = bars(drawn, "better")
    assert lost + lost_width == pytest.approx(gained)
    assert gained_width == pytest.approx(lost_width / 2)
    ((_, before),) = bars(drawn, "baseline")
    ((_, now),) = bars(drawn, "candidate")
    assert before == pytest.approx(now * 10 / 15, abs=0.1)


def test_names_are_text_and_what_xml_may_not_hold_is_escaped() -> None:
    name = "</text><script>alert(1)</script>&\x00\ud800"
    drawn = picture(runs("." * 5, name), runs("x" * 5, name), ("<1>", "2"))
    assert not list(drawn.iter(f"{SVG}script"))
    assert "baseline <1>" in texts(drawn)
    assert any(title.text == "</text><script>alert(1)</script>&\\x00\\ud800" for title in drawn.iter(f"{SVG}title"))


def test_a_long_name_is_cut_and_whole_in_its_title() -> None:
    for letter, kept in (("n", 29), ("退", 14)):
        name = letter * 100
        told = texts(picture(runs(".", name), runs("x", name)))
        assert f"{name}{letter * kept}…" in told


def test_without_runs_nothing_is_said_to_be_zero() -> None:
    told = texts(picture([], []))
    assert told.count("no decided run") == 5
    assert "no dialog ran on both releases" in told
    assert not any("0 %" in one or "points" in one for one in told if "0 to 100 %" not in one)


def test_of_many_dialogs_those_that_differ_most_are_shown() -> None:
    names = [f"dialog {number}" for number in range(50)]
    baseline = [one for name in names for one in runs("..", name)]
    candidate = [one for number, name in enumerate(names) for one in runs("xx" if number < 20 else "x.", name)]
    drawn = picture(baseline, candidate)
    told = texts(drawn)
    assert len(bars(drawn, "worse")) == 40
    assert set(names[:20]) < set(told)
    assert "and 10 more that differ less" in told


def test_all_is_on_the_sheet() -> None:
    drawn = picture(runs(".x" * 20), runs("x." * 20))
    assert drawn.get("width") == str(WIDTH)
    height = float(drawn.get("height", "nan"))
    assert all(0 < float(one.get("y", "nan")) < height for one in drawn.iter(f"{SVG}text"))
