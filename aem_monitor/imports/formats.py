"""The table of formats that ``golden import`` reads."""

from collections.abc import Mapping
from typing import Final

from aem_monitor.imports import annotated, apibank, bfcl, tau2, taubench
from aem_monitor.imports.base import Format

FORMATS: Final[Mapping[str, Format]] = {
    "annotated": annotated.read,
    "api-bank": apibank.read,
    "bfcl": bfcl.read,
    "tau-bench": taubench.read,
    "tau2": tau2.read,
}
"""By the name that the command line knows."""
