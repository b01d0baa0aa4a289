"""Code, pages, rules and dashboards name only metrics that the catalogue has."""

import re
from pathlib import Path
from typing import Final

import pytest

from aem_monitor.metrics.catalogue import CATALOGUE, Kind

ROOT: Final = Path(__file__).parents[2]

FILES: Final = sorted(
    path
    for pattern in (
        "aem_monitor/**/*.py",
        "deploy/**/*.md",
        "deploy/**/*.yaml",
        "grafana/**/*.json",
        "README.md",
        "CHANGELOG.md",
    )
    for path in ROOT.glob(pattern)
)

SAMPLES: Final = {
    f"{name}{suffix}"
    for name, metric in CATALOGUE.items()
    for suffix in (("", "_bucket", "_sum", "_count") if metric.kind is Kind.HISTOGRAM else ("",))
}

OTHER_NAMES: Final = {"aem_monitor", "aem_write"}
"""The package, and a savepoint of the store."""


def named(text: str) -> set[str]:
    """What looks like the whole name of a metric: neither a part of a path or of a recorded series, nor the beginning
    of several."""
    found = re.findall(r"(?<![\w:./-])aem_[a-z0-9_]+\b(?![*:./(])", text)
    return {name for name in found if not name.endswith("_")} - OTHER_NAMES


def test_a_name_that_does_not_exist_is_found() -> None:
    text = "`aem_turn_total` aem_turns_total aem_monitor_journal_* job:aem_turns:ratio aem_monitor/metrics"
    assert named(text) - SAMPLES == {"aem_turn_total"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_names_only_metrics_that_exist(path: Path) -> None:
    assert named(path.read_text(encoding="utf-8")) - SAMPLES == set()
