"""``aem-monitor rekey``: publish spans again, keyed by conversation, until SIGTERM or SIGINT."""

import logging
import os
import signal
import threading
from argparse import ArgumentParser, Namespace
from pathlib import Path
from types import FrameType
from typing import Final

from aem_monitor.cli.logs import start_logging
from aem_monitor.cli.topic import topic_argument
from aem_monitor.config.load import load_config
from aem_monitor.config.rekeying import (
    read_by_the_monitor,
    rekey_kafka_settings,
    rekey_settings,
    restricting_attributes,
)
from aem_monitor.rekey.process import RekeyProcess

_LOG: Final = logging.getLogger(__name__)


def configure(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.description = (
        "Reads spans that are keyed by trace, or not at all, finds the conversation id of each trace, and publishes "
        "them keyed by it, so that several replicas of the monitor can share a topic. SIGTERM publishes what is known, "
        "commits and ends."
    )
    parser.add_argument(
        "--config",
        metavar="FILE",
        type=Path,
        required=True,
        help="configuration file of the monitor: the sections rekey and ingest.kafka say what is read and written",
    )
    parser.add_argument(
        "--to",
        metavar="TOPIC",
        type=topic_argument,
        default=None,
        help="topic to write to, where the configuration names one to read",
    )
    parser.set_defaults(handler=rekey)


def rekey(arguments: Namespace) -> int:
    """Carry the command out."""
    config = load_config(arguments.config, dict(os.environ))
    kafka = rekey_kafka_settings(config, arguments.config)
    settings = rekey_settings(config, arguments.to)
    start_logging(arguments.log_level or config.log.level, config.log.format)
    for topic in read_by_the_monitor(config, settings):
        _LOG.warning(
            "ingest.kafka.topics names %s, which is not keyed by conversation: have the monitor read %s instead",
            topic,
            settings.targets[topic],
        )
    process = RekeyProcess(config, kafka, settings, restricting_attributes(config))
    stop = threading.Event()

    def wake(_signal: int, _frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, wake)
    signal.signal(signal.SIGINT, wake)
    process.start()
    stop.wait()
    return 0 if process.stop() else 1
