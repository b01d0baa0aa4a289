"""What tests read of the dashboards."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from grafana.build import DEFAULT, files

Json = dict[str, Any]

DASHBOARDS: Final[dict[str, Json]] = {
    name.removesuffix(".json"): json.loads(text) for name, text in files(DEFAULT).items()
}

_SELECTOR = re.compile(r"\b(aem_[a-z0-9_]+)\{([^}]*)\}")


@dataclass(frozen=True, slots=True)
class Target:
    """One query of a panel."""

    dashboard: str
    panel: str
    ref: str
    expression: str
    document: Json

    def __str__(self) -> str:
        return f"{self.dashboard} / {self.panel} / {self.ref}"

    @property
    def metrics(self) -> set[str]:
        """The names it selects."""
        return {name for name, _ in selectors(self.expression)}


def panels(uid: str) -> list[Json]:
    """The panels of a dashboard, without its rows."""
    return [panel for panel in DASHBOARDS[uid]["panels"] if panel["type"] != "row"]


def targets(uid: str) -> Iterator[Target]:
    """The queries of a dashboard."""
    for panel in panels(uid):
        for target in panel["targets"]:
            yield Target(uid, panel["title"], target["refId"], target["expr"], target)


def selectors(expression: str) -> list[tuple[str, str]]:
    """Metric names with their matchers."""
    return _SELECTOR.findall(expression)
