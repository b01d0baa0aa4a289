"""Writes the page on the dashboards: ``python -m grafana.document > deploy/docs/dashboards.md``."""

import sys
from pathlib import Path

from grafana.build import DASHBOARDS
from grafana.dashboard import Dashboard

_PAGE = Path(__file__).parent / "page.md"


def document() -> str:
    """The whole page: its text, and between two parts of it what every panel answers."""
    panels = "\n".join(_section(dashboard) for dashboard in DASHBOARDS)
    return _PAGE.read_text(encoding="utf-8").replace("{panels}\n", f"{panels}\n")


def _section(dashboard: Dashboard) -> str:
    lines = [f"## {dashboard.title.removeprefix('aem-monitor / ')}", "", f"{dashboard.description} (`{dashboard.uid}`)"]
    for row in dashboard.rows:
        lines += ["", f"| {row.title} | |", "|---|---|"]
        lines += [f"| {panel.title} | {panel.description} |" for panel in row.panels]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.stdout.write(document())
