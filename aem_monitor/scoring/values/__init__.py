"""Typed comparison of values: normal forms, guards, similarity last."""

from aem_monitor.scoring.values.compare import compare_values
from aem_monitor.scoring.values.context import KINDS, Comparison, ValueContext
from aem_monitor.scoring.values.forms import Agreement, Fact
from aem_monitor.scoring.values.occurrence import Path, occurrences, trivial

__all__ = [
    "KINDS",
    "Agreement",
    "Comparison",
    "Fact",
    "Path",
    "ValueContext",
    "compare_values",
    "occurrences",
    "trivial",
]
