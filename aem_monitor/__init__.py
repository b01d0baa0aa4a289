"""aem-monitor: turn-level correctness of tool-calling agents, from their trace spans."""

__version__ = "0.1.0"
