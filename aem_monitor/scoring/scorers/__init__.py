"""Scorers: plug-ins that say how alike two texts are."""

from aem_monitor.scoring.scorers.base import Scorer
from aem_monitor.scoring.scorers.embedded import EmbeddedScorer

__all__ = ["EmbeddedScorer", "Scorer"]
