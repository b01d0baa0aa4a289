"""The shipped rules and routes with all their times shorter by one factor, so that a test need not wait for a week.

Nothing else is changed: windows, offsets, `for`, intervals, seconds that ages are held against, waits of groups. The
labels that name a window keep their names. What is left at its length is the way itself: a scrape, an evaluation and a
notification take as long as they take.
"""

import copy
import re
from collections.abc import Mapping
from typing import Any, Final

_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_DURATION: Final = re.compile(r"(?:\d+(?:ms|[smhdw]))+")
_PART: Final = re.compile(r"(\d+)(ms|[smhdw])")
_RANGE: Final = re.compile(r"(?<=\[)[^\]]+(?=\])|(?<=offset )\S+")
_AGE: Final = re.compile(r"\b\d{3,}\b")
"""A number of seconds that an age is held against: three digits at least, so that the 7 of ``7 * 86400`` stays."""

_RULE_TIMES: Final = ("for", "keep_firing_for")
_ROUTE_TIMES: Final = ("group_wait", "group_interval", "repeat_interval")


def seconds(duration: str) -> float:
    """Seconds of a duration in Prometheus' notation, e.g. ``1h30m``."""
    if not _DURATION.fullmatch(duration):
        raise ValueError(f"{duration!r} is no duration")
    return sum(int(number) * _UNITS[unit] for number, unit in _PART.findall(duration))


def shorter(duration: str, factor: int) -> str:
    """The duration divided by ``factor``, in whole milliseconds, of which one is the least."""
    return f"{max(round(seconds(duration) * 1000 / factor), 1)}ms" if seconds(duration) else duration


def shorter_rules(document: Mapping[str, Any], factor: int) -> dict[str, Any]:
    """A file of recording or alerting rules. Groups that have no interval keep that of the server."""
    changed: dict[str, Any] = copy.deepcopy(dict(document))
    for group in changed["groups"]:
        _shorten(group, ("interval",), factor)
        for rule in group["rules"]:
            rule["expr"] = shorter_expression(rule["expr"], factor)
            _shorten(rule, _RULE_TIMES, factor)
            annotations = rule.get("annotations", {})
            for name, text in annotations.items():
                annotations[name] = _shorter_ranges(text, factor)
    return changed


def shorter_routes(document: Mapping[str, Any], factor: int) -> dict[str, Any]:
    """Alertmanager's configuration."""
    changed: dict[str, Any] = copy.deepcopy(dict(document))
    routes = [changed["route"]]
    while routes:
        route = routes.pop()
        _shorten(route, _ROUTE_TIMES, factor)
        routes += route.get("routes", ())
    return changed


def shorter_expression(expression: str, factor: int) -> str:
    """A PromQL expression. Seconds are recognised by ``time()``, from which ages are computed."""
    changed = _shorter_ranges(expression, factor)
    if "time()" not in expression:
        return changed
    start = changed.index("time()")  # numbers before it are no ages
    return changed[:start] + _AGE.sub(lambda found: f"{int(found[0]) / factor:g}", changed[start:])


def _shorter_ranges(text: str, factor: int) -> str:
    return _RANGE.sub(lambda found: _DURATION.sub(lambda one: shorter(one[0], factor), found[0]), text)


def _shorten(fields: dict[str, Any], names: tuple[str, ...], factor: int) -> None:
    for name in names:
        if name in fields:
            fields[name] = shorter(fields[name], factor)
