"""The table of formats that ``golden import`` reads."""

from collections.abc import Mapping
from typing import Final

from aem_monitor.imports import adk, annotated, apibank, bfcl, strandsevals, tau2, taubench
from aem_monitor.imports.base import Format

FORMATS: Final[Mapping[str, Format]] = {
    "adk": adk.read,
    "annotated": annotated.read,
    "api-bank": apibank.read,
    "bfcl": bfcl.read,
    "strands-evals": strandsevals.read,
    "tau-bench": taubench.read,
    "tau2": tau2.read,
}
"""By the name that the command line knows."""
