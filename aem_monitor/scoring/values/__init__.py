"""Typed comparison of values: normal forms, guards, similarity last."""

from aem_monitor.scoring.values.compare import compare_values
from aem_monitor.scoring.values.context import KINDS, Comparison, Leeway, ValueContext
from aem_monitor.scoring.values.counted import unit_said
from aem_monitor.scoring.values.forms import Agreement, Fact
from aem_monitor.scoring.values.kinds import reads_as
from aem_monitor.scoring.values.moments import compare_with_leeway
from aem_monitor.scoring.values.occurrence import Path, occurrences, trivial

__all__ = [
    "KINDS",
    "Agreement",
    "Comparison",
    "Fact",
    "Leeway",
    "Path",
    "ValueContext",
    "compare_values",
    "compare_with_leeway",
    "occurrences",
    "reads_as",
    "trivial",
    "unit_said",
]
