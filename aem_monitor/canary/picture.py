"""A result of the gate as a picture, in SVG."""

from collections.abc import Callable, Mapping, Sequence
from textwrap import wrap
from typing import Final
from unicodedata import east_asian_width
from xml.sax.saxutils import escape

from aem_monitor.canary.gate import Result
from aem_monitor.canary.pairs import Played
from aem_monitor.canary.played import Release
from aem_monitor.canary.render import ENDPOINTS, facts, reason_mix, sentence
from aem_monitor.controls import visible
from aem_monitor.interval import wilson

WIDTH: Final = 800
_LEFT, _RIGHT = 250, 560
"""Where bars begin and end; names stand left of them, numbers right."""

_ROW: Final = 20
_NAME_LETTERS: Final = 30
_HEAD_LETTERS: Final = 70
_HEAD_LINES: Final = 4
_MOST_DIALOGS: Final = 40
"""Those that differ most; a picture with more is no longer read."""

_MEASURED: Final[Mapping[str, Callable[[Played], float]]] = {
    "Runs that pass": lambda one: float(one.passed),
    "Turns that are right": lambda one: one.correct,
}

# Rules are written out for both schemes, and no variables used, which converters to other formats do not know.
_STYLE: Final = """
text{font:12px system-ui,"Segoe UI","DejaVu Sans",sans-serif;fill:#1f2328}
.head{font-size:17px;font-weight:600}.part{font-size:13px;font-weight:600}.soft{fill:#59636e}
.paper{fill:#fff}.axis{stroke:#d1d9e0}.baseline{fill:#6e7781}.candidate{fill:#0969da}
.range.baseline{stroke:#6e7781}.range.candidate{stroke:#0969da}
.worse{fill:#cf222e}.better{fill:#1a7f37}.range{stroke-width:2}
@media(prefers-color-scheme:dark){
text{fill:#e6edf3}.soft{fill:#9198a1}.paper{fill:#0d1117}.axis{stroke:#3d444d}
.baseline{fill:#9198a1}.candidate{fill:#58a6ff}.range.baseline{stroke:#9198a1}.range.candidate{stroke:#58a6ff}
.worse{fill:#ff7b72}.better{fill:#3fb950}}
"""


def svg(names: tuple[str, str], releases: tuple[Release, Release], result: Result) -> str:
    """The state; correctness of both releases by runs and by turns, with intervals (Wilson, 95 %); of the decided runs,
    the share whose first root cause has each reason; and the dialogs that lost or gained. Readable on light and dark
    screens; side and sign tell what colours tell."""
    sheet = _Sheet()
    said = dict(facts(names, releases, result))
    for number, line in enumerate(wrap(visible(f"Canary: {sentence(result)}"), _HEAD_LETTERS)[:_HEAD_LINES]):
        sheet.line("head", line, 26 if number == 0 else 22)
    if result.pairs:
        for endpoint in ENDPOINTS.values():
            sheet.line("soft", f"loss of {endpoint}: {said[f'loss of {endpoint}']}", 20)
        sheet.line("soft", f"pairs: {said['pairs']}", 20)
    _correctness(sheet, names, releases)
    _reasons(sheet, releases)
    _dialogs(sheet, result)
    return sheet.finished(f"Canary, {names[0]} to {names[1]}: {sentence(result)}")


def _correctness(sheet: "_Sheet", names: tuple[str, str], releases: tuple[Release, Release]) -> None:
    for title, of in _MEASURED.items():
        sheet.part(f"{title}, 0 to 100 %")
        for role, name, release in zip(("baseline", "candidate"), names, releases, strict=True):
            runs, total = len(release.played), sum(of(one) for one in release.played)
            if runs:
                lower, upper = wilson(total, runs)
                sheet.axis(0.0, 1.0)
                sheet.interval(role, total / runs, lower, upper)
                told = f"{100 * total / runs:.0f} % ({100 * lower:.0f} to {100 * upper:.0f}), {runs} runs"
            else:
                told = "no decided run"
            sheet.row(f"{role} {name}", told)


def _reasons(sheet: "_Sheet", releases: tuple[Release, Release]) -> None:
    found = reason_mix(releases)
    longest = max((share for one in found for share in one[1:]), default=0.0)
    scale = f", 0 to {100 * longest:.1f} %" if found else ""
    sheet.part(f"First root causes, share of runs{scale}: baseline above")
    for one in sorted(found, key=lambda one: (-max(one[1:]), one.reason)):
        sheet.bar("baseline", 0.0, one.baseline / longest, -8, 7)
        sheet.bar("candidate", 0.0, one.candidate / longest, 0, 7)
        sheet.row(one.reason, f"{100 * one.baseline:.1f} %, now {100 * one.candidate:.1f} %")
    if not found:
        sheet.line("soft", "no run failed" if any(one.played for one in releases) else "no decided run", 0)


def _dialogs(sheet: "_Sheet", result: Result) -> None:
    sheet.part("Dialogs: lost to the left, gained to the right")
    changed = {**{name: -loss for name, loss in result.lost.items()}, **result.gained}
    ordered = sorted(changed.items(), key=lambda one: (-abs(one[1]), one[0]))
    longest = abs(ordered[0][1]) if ordered else 0.0
    for name, gain in sorted(ordered[:_MOST_DIALOGS], key=lambda one: (one[1], one[0])):
        sheet.axis(0.5, 0.5)
        end = 0.5 + 0.5 * gain / longest
        sheet.bar("better" if gain > 0 else "worse", min(0.5, end), max(0.5, end), -6, 11)
        sheet.row(name, f"{'gained' if gain > 0 else 'lost'} {100 * abs(gain):.1f} points")
    if len(ordered) > _MOST_DIALOGS:
        sheet.line("soft", f"and {len(ordered) - _MOST_DIALOGS} more that differ less", 0)
    if not ordered:
        sheet.line("soft", "none differs" if result.pairs else "no dialog ran on both releases", 0)


class _Sheet:
    """Rows from the top down. Places along the bars are shares of their length."""

    def __init__(self) -> None:
        self._y = 10
        self._drawn: list[str] = []

    def line(self, style: str, text: str, height: int) -> None:
        self._y += height
        self._text(20, style, _cut(visible(text), _HEAD_LETTERS), text)

    def part(self, text: str) -> None:
        self.line("part", text, 36)
        self._y += 22

    def row(self, name: str, told: str) -> None:
        """The texts of a row; what stands between them is drawn before."""
        self._text(20, "", _cut(visible(name), _NAME_LETTERS), name)
        self._text(_RIGHT + 12, "soft", told, told)
        self._y += _ROW

    def bar(self, style: str, start: float, end: float, above: int, height: int) -> None:
        x, to = _place(start), _place(end)
        self._drawn.append(
            f'<rect class="{style}" x="{x:.1f}" y="{self._y - 4 + above}" width="{to - x:.1f}" height="{height}"/>'
        )

    def interval(self, style: str, value: float, lower: float, upper: float) -> None:
        y = self._y - 4
        self._drawn.append(
            f'<path class="{style} range" d="M{_place(lower):.1f} {y}H{_place(upper):.1f}"/>'
            f'<circle class="{style}" cx="{_place(value):.1f}" cy="{y}" r="4"/>'
        )

    def axis(self, *places: float) -> None:
        for place in dict.fromkeys(places):
            self._drawn.append(f'<path class="axis" d="M{_place(place):.1f} {self._y - 14}v{_ROW}"/>')

    def finished(self, title: str) -> str:
        height = self._y + 10
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{WIDTH}" height="{height}" '
            f'viewBox="0 0 {WIDTH} {height}">\n<title>{_plain(title)}</title>\n<style>{_STYLE}</style>\n'
            f'<rect class="paper" width="{WIDTH}" height="{height}"/>\n' + "\n".join(self._drawn) + "\n</svg>\n"
        )

    def _text(self, x: int, style: str, shown: str, whole: str) -> None:
        title = f"<title>{_plain(whole)}</title>" if shown != visible(whole) else ""
        self._drawn.append(f'<text class="{style}" x="{x}" y="{self._y}">{title}{_plain(shown)}</text>')


def _place(share: float) -> float:
    return _LEFT + share * (_RIGHT - _LEFT)


def _cut(text: str, letters: int) -> str:
    """As much of a text as has room; letters of East Asian scripts take that of two."""
    widths: Sequence[int] = [2 if east_asian_width(letter) in "FW" else 1 for letter in text]
    if sum(widths) <= letters:
        return text
    taken = 0
    while sum(widths[: taken + 1]) < letters:
        taken += 1
    return text[:taken] + "…"


def _plain(text: str) -> str:
    """Names come from agents: they are text here, nor do they turn it around."""
    return escape(visible(text))
