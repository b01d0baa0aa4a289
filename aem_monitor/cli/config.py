"""``aem-monitor config check`` and ``config schema``."""

import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from aem_monitor.cli.output import write_text
from aem_monitor.config.effective import effective_yaml
from aem_monitor.config.load import load_config
from aem_monitor.config.notifying import receivers
from aem_monitor.config.root import Config
from aem_monitor.config.schema import json_schema_text
from aem_monitor.config.settings import kafka_settings
from aem_monitor.config.sinking import sinks
from aem_monitor.errors import ConfigError, SinkError
from aem_monitor.experts.build import build_expert
from aem_monitor.golden.load import Dialogs, load_dialogs
from aem_monitor.sinks.jsonlines import JsonLines


def configure(parser: ArgumentParser) -> None:
    """Add the two actions."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    check = actions.add_parser(
        "check",
        help="say what is wrong with a configuration, or print the one in force",
        description="Reads the file, the environment, files of secrets and the golden dialogs as `run` would. "
        "Prints the configuration in force (without secrets) and the dialogs, or every fault with its line (exit code "
        "2).",
    )
    check.add_argument("--config", metavar="FILE", type=Path, help="configuration file (default: the defaults alone)")
    check.set_defaults(handler=_check)
    schema = actions.add_parser("schema", help="print the JSON Schema of the configuration file")
    schema.set_defaults(handler=_schema)


def _check(arguments: Namespace) -> int:
    config = load_config(arguments.config, os.environ)
    _read_files(config)
    dialogs = load_dialogs(config.golden.paths) if config.golden.paths else Dialogs()
    if not config.golden.paths:
        print("golden.paths names no golden dialogs; `run` will refuse to start", file=sys.stderr)
    write_text(effective_yaml(config))
    write_text(f"# golden dialogs: {len(dialogs)}\n")
    for dialog in dialogs:
        draft = ", draft" if dialog.review.draft else ""
        write_text(f"#   {dialog.name} (version {dialog.version}{draft})\n")
    return 0


def _read_files(config: Config) -> None:
    """Raises ``ConfigError`` for files that `run` could not use: secrets, authorities, a path for verdicts.

    Nothing is connected to, nothing is changed.
    """
    if config.ingest.kafka is not None:
        kafka_settings(config.ingest.kafka)
    for sink in sinks(config):
        if isinstance(sink, JsonLines):
            _check_path(sink)
    receivers(config)
    if config.experts.sentence is None:  # a model that takes seconds to load
        build_expert(config.experts)


def _check_path(sink: JsonLines) -> None:
    try:
        sink.check()
    except SinkError as error:
        raise ConfigError(f"sinks.json_lines: {error}") from error


def _schema(_: Namespace) -> int:
    write_text(json_schema_text())
    return 0
