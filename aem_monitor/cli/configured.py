"""What commands over files take from the daemon's configuration: how spans are read, joined and scored."""

import os
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aem_monitor.build import PipelineSettings, build_prefilter, build_registry
from aem_monitor.cli.progress import progress_bar
from aem_monitor.config.load import load_config
from aem_monitor.config.settings import limits, pipeline_settings, span_mappings
from aem_monitor.conventions.registry import Registry
from aem_monitor.ingest.batch import Decoded
from aem_monitor.ingest.files import read_files
from aem_monitor.ingest.limits import Limits
from aem_monitor.pipeline import Pipeline


@dataclass(frozen=True, slots=True)
class Configured:
    """The parts of a configuration that have a meaning without a daemon."""

    registry: Registry
    settings: PipelineSettings
    limits: Limits
    golden: Sequence[Path] = ()

    def read(self, paths: Sequence[Path], pipeline: Pipeline) -> Iterator[Decoded]:
        """What OTLP files hold for a pipeline, with a progress bar. Raises ``UsageError``."""
        keep = build_prefilter(self.registry, self.settings.assembly, pipeline.recogniser.attributes)
        with progress_bar("reading") as report:
            yield from read_files(paths, self.limits, keep, report)


def add_config_argument(parser: ArgumentParser) -> None:
    """Add ``--config``."""
    parser.add_argument(
        "--config",
        metavar="FILE",
        type=Path,
        default=None,
        help="the daemon's configuration: its conventions, assembly, scoring and limits hold, and its golden dialogs "
        "where none are named; dialogs are recognised without its recognise.where",
    )


def configured(path: Path | None) -> Configured:
    """What ``path`` and the environment say; without a file the defaults, whatever the environment says.

    Who replays a file has chosen its conversations, so that recognition by words needs no restriction. Raises
    ``ConfigError``.
    """
    config = load_config(path, dict(os.environ) if path is not None else {})
    return Configured(
        registry=build_registry(span_mappings(config)),
        settings=replace(pipeline_settings(config), where=None, require_where=False),
        limits=limits(config),
        golden=config.golden.paths,
    )
