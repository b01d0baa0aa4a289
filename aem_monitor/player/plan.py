"""Everything that a run of the player needs to know, read and checked before the first play."""

import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from aem_monitor.config.secrets import read_secret
from aem_monitor.config.sinks import HEADER_VALUE
from aem_monitor.document import Document
from aem_monitor.errors import ConfigError, DocumentError
from aem_monitor.httpclient import show_certificate, tls_context
from aem_monitor.player.agent import ChatCompletions, Dialect, JsonOverHttp, pointer
from aem_monitor.player.client import Client
from aem_monitor.player.form import AgentForm, OtlpForm, PlayForm, ResetForm, RunForm
from aem_monitor.yamlfile import explain, read_yaml


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where requests go. ``url`` and ``headers`` may have places of a template."""

    url: str
    client: Client
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Reset:
    """What puts the agent's world back before a play: a URL, or a command in ``folder`` with ``timeout`` seconds."""

    endpoint: Endpoint | None = None
    command: tuple[str, ...] = ()
    folder: Path = Path()
    timeout: float = 30.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What is played against whom. ``reset`` is None where nothing puts the agent's world back."""

    dialogs: tuple[Path, ...]
    agent: Endpoint
    dialect: Dialect
    otlp: Endpoint
    reset: Reset | None
    play: PlayForm


def read_plan(path: Path, changes: Mapping[Sequence[str], Any], environ: Mapping[str, str]) -> Plan:
    """The plan of a file. ``changes`` are values of the command line by key path, which go before the file's.

    Raises ``ConfigError`` with every fault on a line of its own: ``file:line: key.path: what is wrong, what to do``.
    """
    try:
        document = read_yaml(path)
    except DocumentError as error:
        raise ConfigError("\n".join(error.faults)) from error
    if not isinstance(document.value, dict):
        raise ConfigError(f"{document.where(())}: must be a mapping of keys to values: dialogs, agent, otlp, ...")
    document = _changed(document, changes)
    try:
        form = RunForm.model_validate(document.value)
    except ValidationError as error:
        raise ConfigError("\n".join(explain(error, document, RunForm))) from error
    folder = path.parent
    return Plan(
        dialogs=tuple(folder / one for one in form.dialogs),
        agent=_endpoint(form.agent, form.agent.url, "agent", folder, environ),
        dialect=_dialect(form.agent),
        otlp=_endpoint(form.otlp, form.otlp.endpoint, "otlp", folder, environ),
        reset=_reset(form.reset, folder, environ),
        play=form.play,
    )


def _changed(document: Document, changes: Mapping[Sequence[str], Any]) -> Document:
    value = document.value
    for path, new in changes.items():
        value = _put(value, path, new)
    return document.with_origins(value, {tuple(path): "command line" for path in changes})


def _put(value: Any, path: Sequence[str], new: Any) -> Any:
    """A copy of ``value`` with ``new`` at ``path``; what is no mapping on the way there is a fault of the file, and
    stays."""
    if not path:
        return new
    below = {} if value is None else value
    return {**below, path[0]: _put(below.get(path[0]), path[1:], new)} if isinstance(below, dict) else below


def _dialect(form: AgentForm) -> Dialect:
    if form.http is not None:
        return JsonOverHttp(form.http.body, pointer(form.http.reply))
    assert form.openai is not None
    return ChatCompletions(form.openai.model, form.openai.history == "player", form.openai.body)


def _endpoint(
    form: AgentForm | OtlpForm | ResetForm, url: str, key: str, folder: Path, environ: Mapping[str, str]
) -> Endpoint:
    headers = {name: value.get_secret_value() for name, value in form.headers.items()}
    if form.authorization_file is not None:
        place = f"{key}.authorization_file"
        headers["Authorization"] = _secret(read_secret(folder / form.authorization_file, place), place)
    if form.authorization_env is not None:
        place = f"{key}.authorization_env"
        if form.authorization_env not in environ:
            raise ConfigError(f"{place}: the environment variable {form.authorization_env} is not set")
        headers["Authorization"] = _secret(environ[form.authorization_env], place)
    tls = _tls(form, key, folder) if url.startswith("https:") else None
    return Endpoint(url, Client(form.timeout, tls), headers)


def _tls(form: AgentForm | OtlpForm | ResetForm, key: str, folder: Path) -> ssl.SSLContext:
    context = tls_context(None if form.cafile is None else folder / form.cafile, f"{key}.cafile")
    if form.certfile is not None:
        keyfile = None if form.keyfile is None else folder / form.keyfile
        show_certificate(context, folder / form.certfile, keyfile, f"{key}.certfile")
    return context


def _secret(text: str, key: str) -> str:
    if not HEADER_VALUE.fullmatch(text):
        raise ConfigError(f"{key}: must hold printable ASCII on one line, such as Bearer ...")
    return text


def _reset(form: ResetForm, folder: Path, environ: Mapping[str, str]) -> Reset | None:
    if form.url is not None:
        return Reset(_endpoint(form, form.url, "reset", folder, environ), timeout=form.timeout)
    if form.command is not None:
        return Reset(command=form.command, folder=folder, timeout=form.timeout)
    return None
