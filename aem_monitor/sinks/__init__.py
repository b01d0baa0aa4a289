"""Sinks: where final verdicts go beside the store."""
