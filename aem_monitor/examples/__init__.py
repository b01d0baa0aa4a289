"""Golden dialogs that ship with aem-monitor: what the demo plays, and patterns to begin one's own with."""

from pathlib import Path


def example_dialogs() -> Path:
    """The directory of the example dialogs, for ``load_dialogs`` and ``replay --golden``."""
    return Path(__file__).parent
