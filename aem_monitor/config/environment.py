"""Overrides from environment variables: ``AEM_MONITOR__STORE__URL=...`` sets ``store.url``."""

import types
from collections.abc import Mapping
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from aem_monitor.document import KeyPath
from aem_monitor.errors import DocumentError
from aem_monitor.validation import did_you_mean
from aem_monitor.yamlfile import parse_document

PREFIX = "AEM_MONITOR__"


def overrides(
    model: type[BaseModel], value: Mapping[str, Any], environ: Mapping[str, str]
) -> tuple[dict[str, Any], dict[KeyPath, str], list[str]]:
    """``value`` with the overrides in place, the variable each overridden path came from, and faults.

    A variable holds a text, number or boolean as the file would; lists and mappings are written as JSON, lists of texts
    also separated by commas. A variable that names no key is a fault: a misspelt override must not be silent.
    """
    merged = _copy(value)
    origins: dict[KeyPath, str] = {}
    faults: list[str] = []
    known = variables(model)
    for name in sorted(environ):
        if not name.startswith(PREFIX):
            # Others may begin alike: Kubernetes sets AEM_MONITOR_PORT and the like for a service of that name.
            meant = name.upper().replace("AEM_MONITOR_", PREFIX, 1)
            if name.upper().startswith("AEM_MONITOR_") and meant in known:
                faults.append(f"environment variable {name}: sets nothing; did you mean '{meant}'?")
            continue
        origin = f"environment variable {name}"
        if name not in known:
            faults.append(
                f"{origin}: names no key of the configuration; correct or unset it{did_you_mean(name.upper(), known)}"
            )
            continue
        path, annotation = known[name]
        try:
            _put(merged, path, _typed(environ[name], annotation, origin))
        except DocumentError as error:
            faults += error.faults
            continue
        origins[path] = origin
    return merged, origins, faults


def variables(model: type[BaseModel]) -> dict[str, tuple[tuple[str, ...], Any]]:
    """Every variable that sets a key: its key path and the key's type, in the order of the model."""
    found: dict[str, tuple[tuple[str, ...], Any]] = {}
    for key, field in model.model_fields.items():
        section = section_of(field.annotation)
        if section is None:
            found[f"{PREFIX}{key.upper()}"] = ((key,), field.annotation)
            continue
        for name, (path, annotation) in variables(section).items():
            found[f"{PREFIX}{key.upper()}__{name.removeprefix(PREFIX)}"] = ((key, *path), annotation)
    return found


def section_of(annotation: Any) -> type[BaseModel] | None:
    """The section an annotation stands for, optional or not; None for a plain value."""
    for member in members_of(annotation):
        if isinstance(member, type) and issubclass(member, BaseModel):
            return member
    return None


def members_of(annotation: Any) -> list[Any]:
    """The alternatives of a union, through ``Annotated``; any other type as a list of one."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return members_of(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return [member for part in get_args(annotation) for member in members_of(part)]
    return [annotation]


def _typed(text: str, annotation: Any, origin: str) -> Any:
    """The value that ``text`` stands for where ``annotation`` is wanted; validation itself comes later."""
    members = members_of(annotation)
    if any(get_origin(member) is tuple for member in members):
        if text.lstrip().startswith("["):
            return parse_document(text.encode(), origin).value
        return [part.strip() for part in text.split(",") if part.strip()]
    if any(member in (bool, int, float) for member in members) and text != "":
        value = parse_document(text.encode(), origin).value
        return text if isinstance(value, dict | list) else value
    if any(get_origin(member) is dict for member in members) and text != "any":
        return parse_document(text.encode(), origin).value
    if text == "null" and type(None) in members:
        return None
    return text


def _put(target: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    """Set a value below ``target``; where the file has no mapping on the way, its own fault is reported instead."""
    for key in path[:-1]:
        if target.get(key) is None:
            target[key] = {}
        if not isinstance(target[key], dict):
            return
        target = target[key]
    target[path[-1]] = value


def _copy(value: Mapping[str, Any]) -> dict[str, Any]:
    """A copy whose mappings can be changed without touching the file's own."""
    return {key: _copy(member) if isinstance(member, dict) else member for key, member in value.items()}
