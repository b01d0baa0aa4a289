"""``aem-monitor run``: the daemon until SIGTERM or SIGINT; SIGHUP reloads."""

import os
import signal
import threading
from argparse import ArgumentParser, Namespace
from pathlib import Path
from types import FrameType

from aem_monitor.cli.logs import start_logging
from aem_monitor.daemon import Daemon, Setup


def configure(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.description = (
        "Runs the monitor: takes spans in over OTLP and Kafka, scores runs of golden dialogs, serves metrics. SIGHUP "
        "(or POST /-/reload on the admin listener) reads configuration and golden dialogs again, SIGTERM drains and "
        "ends."
    )
    parser.add_argument(
        "--config",
        metavar="FILE",
        type=Path,
        default=None,
        help="configuration file (YAML); every key can also come from the environment",
    )
    parser.set_defaults(handler=run)


def run(arguments: Namespace) -> int:
    """Carry the command out."""
    setup = Setup(arguments.config, dict(os.environ))
    config, dialogs = setup.load()
    start_logging(arguments.log_level or config.log.level, config.log.format)
    daemon = Daemon(setup, config, dialogs)
    wake = threading.Event()
    wanted = {"stop": False, "reload": False}

    def stop(_signal: int, _frame: FrameType | None) -> None:
        wanted["stop"] = True
        wake.set()

    def reload(_signal: int, _frame: FrameType | None) -> None:
        wanted["reload"] = True
        wake.set()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, reload)
    daemon.start()
    while not wanted["stop"]:
        wake.wait()
        wake.clear()
        if wanted["reload"]:
            wanted["reload"] = False
            daemon.reload()
    return 0 if daemon.stop() else 1
