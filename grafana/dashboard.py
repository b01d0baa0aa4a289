"""What is around the panels: variables, annotations, links, rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from grafana.panels import DATASOURCE, Json, Panel
from grafana.promql import series

TAG: Final = "aem-monitor"
_COLUMNS: Final = 24
_SELECTED: Final = 'job=~"$job",instance=~"$instance"'
_OF_AGENT: Final = f'{_SELECTED},agent=~"$agent"'


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where links lead by default; a dashboard's variables of the same names change it for one viewer.

    ``monitor_url`` is the admin listener of aem-monitor, ``runbook_url`` the folder of the runbooks.
    """

    monitor_url: str
    runbook_url: str


@dataclass(frozen=True, slots=True)
class Row:
    """Panels under a heading; they flow from left to right."""

    title: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True)
class Dashboard:
    """A dashboard; ``uid`` is part of its address and never changes."""

    uid: str
    title: str
    description: str
    rows: tuple[Row, ...]
    variables: tuple[Json, ...]
    annotations: tuple[Json, ...] = ()
    time_from: str = "now-7d"

    def document(self, addresses: Addresses) -> Json:
        """Its JSON, as Grafana's file provisioning reads it."""
        return {
            "id": None,
            "uid": self.uid,
            "title": self.title,
            "description": self.description,
            "tags": [TAG],
            "schemaVersion": 41,
            "version": 1,
            "editable": False,
            "graphTooltip": 1,
            "refresh": "1m",
            "time": {"from": self.time_from, "to": "now"},
            "timezone": "",
            "templating": {"list": [*self.variables, *_address_variables(addresses)]},
            "annotations": {"list": [_BUILT_IN, *self.annotations]},
            "links": [*_LINKS],
            "panels": _laid_out(self.rows),
        }


def _laid_out(rows: Sequence[Row]) -> list[Json]:
    """Rows and panels with their places and numbers."""
    panels: list[Json] = []
    y = 0
    for row in rows:
        place = {"h": 1, "w": _COLUMNS, "x": 0, "y": y}
        head = {"id": len(panels) + 1, "type": "row", "title": row.title, "collapsed": False, "panels": []}
        panels.append({**head, "gridPos": place})
        x, y, lowest = 0, y + 1, y + 1
        for panel in row.panels:
            if x + panel.width > _COLUMNS:
                x, y = 0, lowest
            panels.append(panel.document(len(panels) + 1, x, y))
            x, lowest = x + panel.width, max(lowest, y + panel.height)
        y = lowest
    return panels


def runbook(page: str) -> str:
    """The address of a runbook, by the name of its file without suffix."""
    return f"${{runbook_url:raw}}/{page}.md"


def failed_runs(filters: str = "") -> str:
    """The page that lists failed runs of reviewed dialogs, which panels count; ``filters`` are further parameters."""
    return f"${{monitor_url:raw}}/runs?result=fail&draft=false{filters}"


def releases_compared() -> str:
    """The page with baseline and candidate side by side, for dashboards that have both as variables."""
    return "${monitor_url:raw}/releases?baseline=${baseline:percentencode}&candidate=${candidate:percentencode}"


def links_of_dialogs(title: str, filters: str = "") -> list[Json]:
    """Links of a cell that holds the name of a dialog: its page, and its failed runs under ``title``."""
    return [
        {
            "title": "${__value.raw}: its runs in a row",
            "url": "${monitor_url:raw}/dialogs/${__value.raw:percentencode}",
            "targetBlank": True,
        },
        {
            "title": title,
            "url": failed_runs(f"{filters}&dialog=${{__value.raw:percentencode}}"),
            "targetBlank": True,
        },
    ]


_BUILT_IN: Final[Json] = {
    "builtIn": 1,
    "datasource": {"type": "grafana", "uid": "-- Grafana --"},
    "enable": True,
    "hide": True,
    "iconColor": "rgba(0, 211, 255, 1)",
    "name": "Annotations & Alerts",
    "type": "dashboard",
}

_LINKS: Final[tuple[Json, ...]] = (
    {
        "type": "dashboards",
        "title": "aem-monitor",
        "tags": [TAG],
        "asDropdown": True,
        "includeVars": True,
        "keepTime": True,
        "targetBlank": False,
        "icon": "external link",
        "tooltip": "The other dashboards",
        "url": "",
    },
    {
        "type": "link",
        "title": "Failed runs",
        "tags": [],
        "url": failed_runs(),
        "tooltip": "Newest failed runs, each with its error map: what broke by itself and what hangs from it",
        "asDropdown": False,
        "includeVars": False,
        "keepTime": False,
        "targetBlank": True,
        "icon": "doc",
    },
)


def _address_variables(addresses: Addresses) -> list[Json]:
    return [
        _textbox("monitor_url", "aem-monitor", addresses.monitor_url, "Base address of aem-monitor's admin listener"),
        _textbox("runbook_url", "Runbooks", addresses.runbook_url, "Base address of the runbooks"),
    ]


def _textbox(name: str, label: str, value: str, description: str) -> Json:
    current = {"selected": True, "text": value, "value": value}
    return {
        "name": name,
        "label": label,
        "description": description,
        "type": "textbox",
        "query": value,
        "current": current,
        "options": [current],
        "hide": 0,
        "skipUrlSync": False,
    }


def _queried(name: str, label: str, query: str, **more: object) -> Json:
    return {
        "name": name,
        "label": label,
        "type": "query",
        "datasource": DATASOURCE,
        "query": query,
        "definition": query,
        # On every change of the time range: releases come and go.
        "refresh": 2,
        "sort": 1,
        "regex": "",
        "current": {},
        "options": [],
        "hide": 0,
        "skipUrlSync": False,
        "multi": False,
        "includeAll": False,
        **more,
    }


def _labels(name: str, label: str, selector: str) -> Json:
    """Any number of the values of a label, at first all."""
    return _queried(
        name,
        label,
        f"label_values({selector}, {name})",
        multi=True,
        includeAll=True,
        allValue=".+",
        current={"selected": True, "text": ["All"], "value": ["$__all"]},
    )


SOURCE: Final[tuple[Json, ...]] = (
    {
        "name": "datasource",
        "label": "Data source",
        "type": "datasource",
        "query": "prometheus",
        "refresh": 1,
        "regex": "",
        "current": {},
        "options": [],
        "hide": 0,
        "skipUrlSync": False,
        "multi": False,
        "includeAll": False,
    },
    _labels("job", "Job", "aem_monitor_build_info"),
    _labels("instance", "Instance", 'aem_monitor_build_info{job=~"$job"}'),
)
"""Where the metrics come from."""

AGENT: Final = _labels("agent", "Agent", f"aem_runs_total{{{_SELECTED}}}")
RELEASE: Final = _labels("release", "Release", f"aem_runs_total{{{_OF_AGENT}}}")
MODEL: Final = _labels("model", "Model", f"aem_runs_total{{{_OF_AGENT}}}")
DIALOG: Final = _labels("dialog", "Dialog", f"aem_runs_total{{{_OF_AGENT}}}")

_FIRST_SEEN: Final = f"max by (release) (aem_release_first_seen_timestamp_seconds{{{_OF_AGENT}}})"
_RELEASE_NAME: Final = '/release="([^"]*)"/'

CANDIDATE: Final = _queried(
    "candidate", "Candidate", f"query_result(sort_desc({_FIRST_SEEN}))", regex=_RELEASE_NAME, sort=0
)
"""A release, at first the newest: the first value is taken, and they stay in the order of the query."""

BASELINE: Final = _queried(
    "baseline",
    "Baseline",
    # What follows the newest; the newest itself is there too, at the end, to be chosen.
    f"query_result(sort_desc({_FIRST_SEEN} unless topk(1, {_FIRST_SEEN}) or 0 * topk(1, {_FIRST_SEEN})))",
    regex=_RELEASE_NAME,
    sort=0,
)
"""A release, at first the one before the newest."""

_WINDOWS: Final = ("1h", "6h", "1d", "7d")

WINDOW: Final[Json] = {
    "name": "window",
    "label": "Window",
    "description": "How far back each point of a graph looks: longer is steadier, shorter is sooner",
    "type": "custom",
    "query": ",".join(_WINDOWS),
    "current": {"selected": True, "text": "6h", "value": "6h"},
    "options": [{"selected": one == "6h", "text": one, "value": one} for one in _WINDOWS],
    "hide": 0,
    "skipUrlSync": False,
    "multi": False,
    "includeAll": False,
}


def _annotation(name: str, color: str, expression: str, title: str, text: str, **more: object) -> Json:
    return {
        "name": name,
        "datasource": DATASOURCE,
        "enable": True,
        "hide": False,
        "iconColor": color,
        "expr": expression,
        "titleFormat": title,
        "textFormat": text,
        "tagKeys": "agent",
        **more,
    }


NEW_RELEASES: Final = _annotation(
    "New releases",
    "purple",
    f"1000 * min by (agent, release) ({series('aem_release_first_seen_timestamp_seconds')})",
    "{{agent}}: release {{release}}",
    "first seen",
    step="60s",
    # The value is the time of the event, in milliseconds.
    useValueForTime=True,
)

NEW_MODELS: Final = _annotation(
    "New models",
    "blue",
    # No metric says when a model was first seen: it has series now, and had none in the day until ten minutes ago.
    f"count by (agent, model) ({series('aem_runs_total', dialog='')}) "
    f"unless count by (agent, model) (last_over_time({series('aem_runs_total', dialog='')}[1d] offset 10m))",
    "{{agent}}: model {{model}}",
    "first runs in a day",
    step="5m",
)

MARKERS: Final = (NEW_RELEASES, NEW_MODELS)
"""Vertical lines where a release or a model came."""
