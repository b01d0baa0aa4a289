"""Golden dialogs that ship with aem-monitor, with recorded traces: for the demo and the docs, and to start from."""

from pathlib import Path


def example_dialogs() -> Path:
    """The directory of the example dialogs, for ``load_dialogs`` and ``replay --golden``."""
    return Path(__file__).parent / "golden"


def example_traces() -> Path:
    """The directory of what one agent exported while it played them: a folder a release, a file a dialog."""
    return Path(__file__).parent / "traces"
