"""A plot of power as SVG: how many rollouts are decided after how many conversations."""

import math
from collections.abc import Mapping
from typing import Final

import numpy as np

from tests.benchmarks.releases import Floats

_WIDTH: Final = 800
_LEFT, _RIGHT = 60, 560
_HEIGHT: Final = 220
_LEAST: Final = 5
"""Conversations, where the logarithmic axis begins."""

_TICKS: Final = (5, 10, 20, 50, 100, 200, 500, 1000)
_KINDS: Final = ("none", "least", "less", "more", "most", "pass")
"""Curves of a panel in their order; dashes tell what colours tell."""

# Rules are written out for both schemes, and no variables used, which converters to other formats do not know.
_STYLE: Final = """
text{font:12px system-ui,"Segoe UI","DejaVu Sans",sans-serif;fill:#1f2328}
.head{font-size:15px;font-weight:600}.soft{fill:#59636e}.mid{text-anchor:middle}.end{text-anchor:end}
.paper{fill:#fff}.axis{stroke:#d1d9e0;fill:none}.curve{fill:none;stroke-width:2}
.none{stroke:#cf222e}.least{stroke:#0a3069}.less{stroke:#0969da;stroke-dasharray:9 3}
.more{stroke:#8250df;stroke-dasharray:5 3}.most{stroke:#bc4c00;stroke-dasharray:2 3}
.pass{stroke:#1a7f37;stroke-dasharray:12 3 2 3}
@media(prefers-color-scheme:dark){
text{fill:#e6edf3}.soft{fill:#9198a1}.paper{fill:#0d1117}.axis{stroke:#3d444d}
.none{stroke:#ff7b72}.least{stroke:#a5d6ff}.less{stroke:#58a6ff}.more{stroke:#d2a8ff}.most{stroke:#ffa657}.pass{stroke:#3fb950}}
"""


def plot(panels: Mapping[str, Mapping[str, Floats]], most: int) -> str:
    """A panel for each title: by curve, after how many conversations each rollout was decided, infinity where never up
    to ``most``. At most six curves a panel."""
    drawn: list[str] = []
    top = 34
    for title, curves in panels.items():
        drawn += _panel(top, title, curves, most)
        top += _HEIGHT + 74
    height = top - 20
    drawn.append(_text(_place(70, most), height - 12, "mid soft", "conversations a release"))
    said = "How many rollouts the canary gate has decided after how many conversations"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}">\n<title>{said}</title>\n<style>{_STYLE}</style>\n'
        f'<rect class="paper" width="{_WIDTH}" height="{height}"/>\n' + "\n".join(drawn) + "\n</svg>\n"
    )


def _panel(top: int, title: str, curves: Mapping[str, Floats], most: int) -> list[str]:
    drawn = [_text(_LEFT, top - 12, "head", title)]
    for share in (0.0, 0.25, 0.5, 0.75, 0.95, 1.0):
        y = top + (1 - share) * _HEIGHT
        drawn.append(f'<path class="axis" d="M{_LEFT} {y:.1f}H{_RIGHT}"/>')
        if share != 1.0:
            drawn.append(_text(_LEFT - 8, y + 4, "end soft", f"{100 * share:.0f} %"))
    for tick in _TICKS:
        x = _place(tick, most)
        drawn.append(f'<path class="axis" d="M{x:.1f} {top}v{_HEIGHT + 5}"/>')
        drawn.append(_text(x, top + _HEIGHT + 20, "mid soft", str(tick)))
    counts = np.unique(np.geomspace(_LEAST, most, 160).astype(int))
    for number, (kind, (name, decided)) in enumerate(zip(_KINDS, curves.items(), strict=False)):
        path = "L".join(
            f"{_place(count, most):.1f} {top + (1 - float((decided <= count).mean())) * _HEIGHT:.1f}"
            for count in counts
        )
        drawn.append(f'<path class="curve {kind}" d="M{path}"/>')
        y = top + 14 + 22 * number
        drawn.append(f'<path class="curve {kind}" d="M{_RIGHT + 14} {y}h34"/>')
        drawn.append(_text(_RIGHT + 56, y + 4, "", name))
    return drawn


def _place(count: float, most: int) -> float:
    return _LEFT + (_RIGHT - _LEFT) * math.log(count / _LEAST) / math.log(most / _LEAST)


def _text(x: float, y: float, style: str, told: str) -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}">{told}</text>'
