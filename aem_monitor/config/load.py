"""From a file and the environment to a checked configuration."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from aem_monitor.config.environment import overrides
from aem_monitor.config.root import Config
from aem_monitor.config.section import Section
from aem_monitor.config.sinks import Sinks
from aem_monitor.document import Document, KeyPath
from aem_monitor.errors import ConfigError, DocumentError
from aem_monitor.yamlfile import explain, read_yaml

AnySection = TypeVar("AnySection", bound=Section)


def load_config(path: Path | None, environ: Mapping[str, str]) -> Config:
    """The configuration of ``path`` (None: the defaults) with the overrides of ``environ``.

    Relative paths of golden dialogs, certificates and secrets count from the file's folder. Raises ``ConfigError`` with
    every fault on a line of its own: ``file:line: key.path: what is wrong, what to do``.
    """
    document = Document("defaults", {}) if path is None else _read(path)
    value = {} if document.value is None else document.value
    if not isinstance(value, dict):
        raise ConfigError(
            f"{document.where(())}: the configuration must be a mapping of sections, not a list or a text"
        )
    merged, origins, faults = overrides(Config, value, environ)
    document = document.with_origins(merged, origins)
    config: Config | None = None
    try:
        config = Config.model_validate(merged)
    except ValidationError as error:
        faults = [*explain(error, document, Config), *faults]
    if faults or config is None:
        raise ConfigError("\n".join(faults))
    return _from_folder(config, path.parent if path else Path())


def require_golden(config: Config, path: Path | None) -> None:
    """Raises ``ConfigError`` where no golden dialogs are named: the daemon would have nothing to recognise."""
    if not config.golden.paths:
        raise ConfigError(
            f"{path or 'defaults'}: golden.paths: no golden dialogs are named; list their files or folders "
            "(`aem-monitor demo` shows the daemon with dialogs of its own)"
        )


def _read(path: Path) -> Document:
    try:
        return read_yaml(path)
    except DocumentError as error:
        raise ConfigError("\n".join(error.faults)) from error


def _from_folder(config: Config, folder: Path) -> Config:
    """The same configuration with relative paths joined to the folder of its file."""
    golden = config.golden.model_copy(update={"paths": tuple(folder / one for one in config.golden.paths)})
    update: dict[str, Any] = {"golden": golden}
    if config.scoring.calibration is not None:
        calibration = folder / config.scoring.calibration
        update["scoring"] = config.scoring.model_copy(update={"calibration": calibration})
    experts = config.experts
    if experts.judge is not None and experts.judge.api_key_file is not None:
        judge = experts.judge.model_copy(update={"api_key_file": folder / experts.judge.api_key_file})
        update["experts"] = experts.model_copy(update={"judge": judge})
    if experts.sentence is not None:
        sentence = experts.sentence.model_copy(update={"model": folder / experts.sentence.model})
        update["experts"] = experts.model_copy(update={"sentence": sentence})
    update["sinks"] = _sinks_from_folder(config.sinks, folder)
    told = config.alerting.receivers
    files = {name: _files_from_folder(getattr(told, name), folder) for name in told.names}
    update["alerting"] = config.alerting.model_copy(update={"receivers": told.model_copy(update=files)})
    journal = config.ingest.otlp_journal
    if journal.path is not None:
        journal = journal.model_copy(update={"path": folder / journal.path})
    kafka = config.ingest.kafka
    if kafka is not None:
        kafka = kafka.model_copy(update={"client": _files_from_folder(kafka.client, folder)})
    update["ingest"] = config.ingest.model_copy(update={"kafka": kafka, "otlp_journal": journal})
    return config.model_copy(update=update)


def _sinks_from_folder(sinks: Sinks, folder: Path) -> Sinks:
    on = {name: _files_from_folder(getattr(sinks, name), folder) for name in sinks.names}
    if sinks.kafka is not None:
        on["kafka"] = sinks.kafka.model_copy(update={"client": _files_from_folder(sinks.kafka.client, folder)})
    return sinks.model_copy(update=on)


def _files_from_folder(section: AnySection, folder: Path) -> AnySection:
    """The same section with its own relative paths joined to the folder."""
    files = {name: folder / value for name, value in section if isinstance(value, Path)}
    return section.model_copy(update=files)


__all__ = ["Config", "KeyPath", "load_config", "require_golden"]
