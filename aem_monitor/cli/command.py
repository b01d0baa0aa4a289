"""What a command is, and the table of all of them."""

import gc
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol, TypeAlias, cast

Handler: TypeAlias = Callable[[Namespace], int]
"""Carries a command out and returns its exit code; faults are raised as ``AemMonitorError``."""


FAILED = 1
"""Exit code of what failed while running."""


class CommandModule(Protocol):
    """The module of a command."""

    def configure(self, parser: ArgumentParser) -> None:
        """Add the command's arguments, and its ``Handler`` with ``parser.set_defaults(handler=...)``."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command by name. Its module is imported only when the command is used: ``--help`` stays quick.

    ``failed`` is the exit code when it fails while running, another than 1 where programs act on 1 as an answer.
    """

    name: str
    summary: str
    module: str
    failed: int = FAILED

    def load(self) -> CommandModule:
        """Import the module."""
        if self.module not in sys.modules:
            _import_for_good(self.module)
        return cast("CommandModule", sys.modules[self.module])


def _import_for_good(module: str) -> None:
    """Import a module without searching what it makes for garbage: there is none, and it stays until the process ends.

    With all packages of ``run`` that is a quarter of the processor time of a start and an end.
    """
    gc.disable()
    try:
        import_module(module)
    finally:
        gc.freeze()
        gc.enable()


COMMANDS: tuple[Command, ...] = (
    Command("demo", "show the monitor at work on recorded spans, on this machine", "aem_monitor.cli.demo"),
    Command("run", "run the monitor", "aem_monitor.cli.run"),
    Command("rekey", "publish spans in Kafka again, keyed by conversation", "aem_monitor.cli.rekey"),
    Command("dlq", "look at messages that could not be used, and give them back", "aem_monitor.cli.dlq"),
    Command("replay", "score the conversations in OTLP files", "aem_monitor.cli.replay"),
    Command("explain", "say for every span of OTLP files what it was taken for, and why", "aem_monitor.cli.explain"),
    Command("score", "score annotated dialogs, gold and prediction side by side", "aem_monitor.cli.score"),
    Command("config", "check a configuration file, or print its JSON Schema", "aem_monitor.cli.config"),
    Command("golden", "check, draft, import, compare and test golden dialogs", "aem_monitor.cli.golden"),
    Command("calibrate", "measure scores against human labels and choose thresholds", "aem_monitor.cli.calibrate"),
    Command("rescore", "judge stored conversations by other versions of their dialogs", "aem_monitor.cli.rescore"),
    Command("review", "decide what scoring was not sure of, and make cases of the answers", "aem_monitor.cli.review"),
    Command("alerts", "list incidents of built-in alerting, and try its receivers", "aem_monitor.cli.alerts"),
    Command("canary", "say whether a new release is worse: go, stop or wait", "aem_monitor.cli.canary", failed=2),
    Command("compare", "compare values and replies, JSON lines in and out", "aem_monitor.cli.compare"),
)
"""All commands, in the order in which `--help` lists them."""
