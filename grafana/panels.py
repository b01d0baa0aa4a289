"""Panels in Grafana's classic JSON model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

Json = dict[str, Any]

DATASOURCE: Final[Json] = {"type": "prometheus", "uid": "${datasource}"}

GOOD, DOUBTFUL, BAD = "green", "orange", "red"

_LEGEND: Final[Json] = {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []}
_TOOLTIP: Final[Json] = {"mode": "multi", "sort": "desc"}
_LAST: Final[Json] = {"calcs": ["lastNotNull"], "fields": "", "values": False}


@dataclass(frozen=True, slots=True)
class Query:
    """One query of a panel. ``legend`` names its series, with ``{{label}}`` for a label's value."""

    expression: str
    legend: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel, ``width`` of 24 columns wide; its place and number are given by the dashboard."""

    kind: str
    title: str
    description: str
    width: int
    height: int
    body: Mapping[str, Any] = field(default_factory=dict)

    def linked(self, title: str, url: str) -> "Panel":
        """The same with one more link in its corner."""
        link = {"title": title, "url": url, "targetBlank": True}
        return replace(self, body={**self.body, "links": [*self.body.get("links", []), link]})

    def document(self, number: int, x: int, y: int) -> Json:
        """Its JSON at a place."""
        return {
            "id": number,
            "type": self.kind,
            "title": self.title,
            "description": self.description,
            "datasource": DATASOURCE,
            "gridPos": {"h": self.height, "w": self.width, "x": x, "y": y},
            **self.body,
        }


def _targets(queries: Sequence[Query], **more: Any) -> list[Json]:
    return [
        {
            "refId": chr(ord("A") + number),
            "datasource": DATASOURCE,
            "editorMode": "code",
            "expr": query.expression,
            "legendFormat": query.legend or "__auto",
            **more,
        }
        for number, query in enumerate(queries)
    ]


_OVER_TIME: Final[Json] = {"range": True, "instant": False, "format": "time_series"}
_NOW: Final[Json] = {"range": False, "instant": True, "format": "time_series"}
_TABLE: Final[Json] = {"range": False, "instant": True, "format": "table"}


def _defaults(unit: str, limits: tuple[float, float] | None, **more: Any) -> Json:
    given: Json = {"unit": unit, **more}
    if limits is not None:
        given |= {"min": limits[0], "max": limits[1]}
    return given


def steps(*thresholds: tuple[float | None, str]) -> Json:
    """Colours from a value on; the first has no value."""
    return {"mode": "absolute", "steps": [{"value": value, "color": color} for value, color in thresholds]}


def override(name: str, **properties: Any) -> Json:
    """Properties of the field of that name; ``__`` stands for the dot of a property of its ``custom`` part."""
    listed = [{"id": key.replace("__", "."), "value": value} for key, value in properties.items()]
    return {"matcher": {"id": "byName", "options": name}, "properties": listed}


def band(lower: str, upper: str) -> list[Json]:
    """Overrides that draw two series as the edges of a filled band."""
    edge: Json = {"custom__lineWidth": 0, "color": {"mode": "fixed", "fixedColor": "semi-dark-blue"}}
    return [
        override(lower, **edge),
        override(upper, **edge, custom__fillBelowTo=lower, custom__fillOpacity=20),
    ]


def timeseries(
    title: str,
    description: str,
    queries: Sequence[Query],
    unit: str,
    *,
    limits: tuple[float, float] | None = None,
    stacked: bool = False,
    exemplars: bool = False,
    overrides: Sequence[Json] = (),
    width: int = 12,
    height: int = 8,
) -> Panel:
    """Lines over time, or bars on top of each other."""
    custom = {
        "drawStyle": "bars" if stacked else "line",
        "lineWidth": 1,
        "fillOpacity": 60 if stacked else 5,
        "showPoints": "auto",
        "spanNulls": False,
        "stacking": {"mode": "normal" if stacked else "none", "group": "A"},
    }
    defaults = _defaults(unit, limits, color={"mode": "palette-classic"}, custom=custom)
    body = {
        "targets": _targets(queries, **_OVER_TIME, exemplar=exemplars),
        "fieldConfig": {"defaults": defaults, "overrides": list(overrides)},
        "options": {"legend": _LEGEND, "tooltip": _TOOLTIP},
    }
    return Panel("timeseries", title, description, width, height, body)


def stat(
    title: str,
    description: str,
    queries: Sequence[Query],
    unit: str,
    *,
    colors: Json | None = None,
    width: int = 6,
    height: int = 4,
) -> Panel:
    """One number a series, as of now."""
    defaults = _defaults(unit, None, color={"mode": "thresholds"}, thresholds=colors or steps((None, "text")))
    body = {
        "targets": _targets(queries, **_NOW),
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "options": {
            "reduceOptions": _LAST,
            "colorMode": "value",
            "graphMode": "none",
            "justifyMode": "auto",
            "orientation": "auto",
            "textMode": "value_and_name" if any(query.legend for query in queries) else "value",
        },
    }
    return Panel("stat", title, description, width, height, body)


def bars(
    title: str,
    description: str,
    queries: Sequence[Query],
    unit: str,
    *,
    limits: tuple[float, float] | None = None,
    colors: Json | None = None,
    width: int = 12,
    height: int = 8,
) -> Panel:
    """A horizontal bar a series, as of now."""
    color = "thresholds" if colors else "palette-classic"
    defaults = _defaults(unit, limits, color={"mode": color}, thresholds=colors or steps((None, "blue")))
    body = {
        "targets": _targets(queries, **_NOW),
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "options": {
            "displayMode": "basic",
            "orientation": "horizontal",
            "reduceOptions": _LAST,
            "showUnfilled": True,
            "valueMode": "color",
        },
    }
    return Panel("bargauge", title, description, width, height, body)


def _joined(label: str, names: Sequence[str]) -> list[Json]:
    """Transformations that make one row a value of ``label``, one column a query."""
    columns = {f"Value #{chr(ord('A') + number)}": name for number, name in enumerate(names)}
    # A query that alone has an answer has no letter; which of several it was is not said.
    columns |= {"Value": names[0] if len(names) == 1 else "value"}
    order = [label, *columns]
    return [
        {"id": "joinByField", "options": {"byField": label, "mode": "outer"}},
        {"id": "filterFieldsByName", "options": {"include": {"names": order}}},
        {
            "id": "organize",
            "options": {
                "excludeByName": {},
                "indexByName": {name: number for number, name in enumerate(order)},
                "renameByName": columns,
            },
        },
    ]


def table(
    title: str,
    description: str,
    label: str,
    queries: Sequence[Query],
    unit: str,
    *,
    overrides: Sequence[Json] = (),
    sort: tuple[str, bool] | None = None,
    width: int = 24,
    height: int = 9,
) -> Panel:
    """A row a value of ``label``, a column a query, named by its legend; ``sort``: which column, whether descending."""
    column, descending = sort or (label, False)
    body = {
        "targets": _targets(queries, **_TABLE),
        "fieldConfig": {
            "defaults": _defaults(unit, None, custom={"align": "auto", "cellOptions": {"type": "auto"}}),
            "overrides": list(overrides),
        },
        "transformations": _joined(label, [query.legend for query in queries]),
        "options": {"showHeader": True, "cellHeight": "sm", "sortBy": [{"displayName": column, "desc": descending}]},
    }
    return Panel("table", title, description, width, height, body)


def barchart(
    title: str,
    description: str,
    label: str,
    queries: Sequence[Query],
    unit: str,
    *,
    limits: tuple[float, float] | None = None,
    width: int = 12,
    height: int = 9,
) -> Panel:
    """A group of bars a value of ``label``, in it a bar a query."""
    custom = {"lineWidth": 1, "fillOpacity": 80}
    body = {
        "targets": _targets(queries, **_TABLE),
        "fieldConfig": {
            "defaults": _defaults(unit, limits, color={"mode": "palette-classic"}, custom=custom),
            "overrides": [],
        },
        "transformations": _joined(label, [query.legend for query in queries]),
        "options": {
            "xField": label,
            "orientation": "horizontal",
            "stacking": "none",
            "showValue": "auto",
            "groupWidth": 0.7,
            "barWidth": 0.9,
            "legend": _LEGEND,
            "tooltip": _TOOLTIP,
        },
    }
    return Panel("barchart", title, description, width, height, body)


def matrix(
    title: str,
    description: str,
    row: str,
    column: str,
    expression: str,
    unit: str,
    *,
    cell_link: Json | None = None,
    width: int = 12,
    height: int = 9,
) -> Panel:
    """A row a value of one label, a column a value of another; the darker a cell, the more."""
    cell = {"type": "color-background", "mode": "gradient"}
    defaults = _defaults(unit, None, color={"mode": "continuous-YlRd"}, custom={"align": "auto", "cellOptions": cell})
    defaults["min"] = 0
    if cell_link is not None:
        defaults["links"] = [cell_link]
    grouping = {"rowField": row, "columnField": column, "valueField": "Value", "emptyValue": "null"}
    body = {
        "targets": _targets([Query(expression)], **_TABLE),
        "fieldConfig": {
            "defaults": defaults,
            "overrides": [override(f"{row}\\{column}", custom__cellOptions={"type": "auto"}, links=[])],
        },
        "transformations": [{"id": "groupingToMatrix", "options": grouping}],
        "options": {"showHeader": True, "cellHeight": "sm"},
    }
    return Panel("table", title, description, width, height, body)


def heatmap(title: str, description: str, expression: str, unit: str, *, width: int = 24, height: int = 9) -> Panel:
    """The buckets of a histogram over time, with exemplars: points that lead to a trace."""
    body = {
        "targets": [
            {**target, "format": "heatmap", "exemplar": True}
            for target in _targets([Query(expression, "{{le}}")], **_OVER_TIME)
        ],
        "fieldConfig": {"defaults": {"custom": {"hideFrom": {"legend": False, "tooltip": False, "viz": False}}}},
        "options": {
            "calculate": False,
            "cellGap": 1,
            "color": {"mode": "scheme", "scheme": "Oranges", "steps": 64, "exponent": 0.5, "scale": "exponential"},
            "exemplars": {"color": "rgba(255,0,255,0.7)"},
            "filterValues": {"le": 1e-9},
            "legend": {"show": True},
            "rowsFrame": {"layout": "auto"},
            "tooltip": {"mode": "single", "yHistogram": False},
            "yAxis": {"axisPlacement": "left", "unit": unit},
        },
    }
    return Panel("heatmap", title, description, width, height, body)


def states(title: str, description: str, query: Query, unit: str, colors: Json, *, height: int = 9) -> Panel:
    """A line a series that changes its colour with the value."""
    custom = {"fillOpacity": 80, "lineWidth": 0}
    body = {
        # Some hundred steps: a shorter one would often hold no run at all.
        "maxDataPoints": 100,
        "targets": _targets([query], **_OVER_TIME),
        "fieldConfig": {
            "defaults": _defaults(unit, (0, 1), color={"mode": "thresholds"}, thresholds=colors, custom=custom),
            "overrides": [],
        },
        "options": {
            "alignValue": "center",
            "mergeValues": True,
            "rowHeight": 0.9,
            "showValue": "never",
            "legend": _LEGEND,
            "tooltip": {"mode": "single", "sort": "none"},
        },
    }
    return Panel("state-timeline", title, description, 24, height, body)
