"""The daemon's store, for commands that read it or add to it beside the daemon."""

import os
import socket
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy.engine import make_url

from aem_monitor.build import build_pipeline, build_registry
from aem_monitor.config.load import load_config
from aem_monitor.config.root import Config
from aem_monitor.config.settings import keeping, pipeline_settings, span_mappings
from aem_monitor.errors import UsageError
from aem_monitor.experts.build import build_expert
from aem_monitor.golden.load import Dialogs, load_dialogs
from aem_monitor.pipeline import Pipeline
from aem_monitor.store import Store
from aem_monitor.store.beside import StoreBesideDaemon


def add_store_argument(parser: ArgumentParser) -> None:
    """Add ``--config``."""
    parser.add_argument(
        "--config",
        metavar="FILE",
        type=Path,
        default=None,
        help="the daemon's configuration: its store, golden dialogs and scoring; every key can also come from the "
        "environment",
    )


def configuration(arguments: Namespace) -> Config:
    """What ``--config`` and the environment say. Raises ``ConfigError``."""
    return load_config(arguments.config, dict(os.environ))


def open_store(config: Config) -> Store:
    """The store that is there already; it may be in use by the daemon. Raises ``UsageError`` or ``StoreError``."""
    url = make_url(config.store.url)
    if url.get_backend_name() == "sqlite":
        if url.database in (None, "", ":memory:"):
            raise UsageError("store.url is a database in memory: nothing of the daemon is in it for another process")
        if not Path(str(url.database)).exists():
            raise UsageError(
                f"{url.database}: there is no store; name the daemon's configuration with --config, and mind that a "
                "relative store.url counts from the working directory"
            )
    return StoreBesideDaemon(config.store.url, config.store.replica or socket.gethostname(), keeping(config))


@dataclass(frozen=True, slots=True)
class Judging:
    """The daemon's rules and dialogs. ``expert`` names the scorer whose stored answers count."""

    pipeline: Pipeline
    dialogs: Dialogs
    expert: str | None


def judging(config: Config) -> Judging:
    """Raises ``UsageError``, ``ConfigError`` or ``GoldenError``."""
    if not config.golden.paths:
        raise UsageError("golden.paths: no golden dialogs are named; give the daemon's configuration with --config")
    dialogs = load_dialogs(config.golden.paths)
    settings = pipeline_settings(config)
    expert = build_expert(config.experts)
    if expert is not None:
        settings = replace(settings, scoring=replace(settings.scoring, expert=expert.name))
    pipeline = build_pipeline(dialogs, settings, build_registry(span_mappings(config)))
    return Judging(pipeline, dialogs, None if expert is None else expert.name)
