"""What a reload cannot carry out: it holds from the next start on."""

from collections.abc import Sequence
from typing import Final

from aem_monitor.config.root import Config
from aem_monitor.config.settings import assembly_settings
from aem_monitor.pipeline import Pipeline

FIXED: Final = ("ingest", "conventions", "experts", "store", "sinks", "alerting", "metrics", "admin", "web", "log")
"""Sections that are read when the daemon starts."""

LIVE: Final = frozenset({"store.retention"})
"""Keys of those sections that a reload does carry out."""


class Started:
    """What the running process was started with, whatever was loaded since."""

    def __init__(self, config: Config, pipeline: Pipeline) -> None:
        self._config = config
        self._let_pass = {"assembly": _markers(config), "recognise.where": frozenset(pipeline.recogniser.attributes)}

    def restart_needed(self, config: Config, pipeline: Pipeline) -> Sequence[str]:
        """Keys whose value is not the one that runs, and that a reload leaves so.

        Sources let pass what they were started for: spans without agent content, kept for an attribute that assembly
        reads or by which dialogs are restricted, are only kept for the attributes known at the start.
        """
        changed = []
        for name in FIXED:
            old, new = getattr(self._config, name), getattr(config, name)
            keys = [key for key in type(new).model_fields if getattr(old, key) != getattr(new, key)]
            changed += [f"{name}.{key}" for key in keys if f"{name}.{key}" not in LIVE]
        wanted = {"assembly": _markers(config), "recognise.where": frozenset(pipeline.recogniser.attributes)}
        known = frozenset[str]().union(*self._let_pass.values())
        changed += [f"{name} (new attributes)" for name, attributes in wanted.items() if not attributes <= known]
        return changed


def _markers(config: Config) -> frozenset[str]:
    return frozenset(assembly_settings(config).markers)
