"""Pydantic's faults in the words of the person who wrote the file: where, which key, what to do."""

import difflib
import types
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from aem_monitor.document import Document, KeyPath, key_path

_SHOWN_VALUE = 60
_SECRET_WORDS = ("password", "secret", "token", "key")


class KeyFaultError(ValueError):
    """A fault that a validator of a whole mapping found in one of its keys (``key``, or a path below it)."""

    def __init__(self, key: str | KeyPath, message: str) -> None:
        super().__init__(message)
        self.path: KeyPath = (key,) if isinstance(key, str) else key


def explain(error: ValidationError, document: Document, model: type[BaseModel] | None = None) -> list[str]:
    """One text a fault, ``file:line: key.path: what is wrong, what to do``, in the order of the file.

    With ``model`` an unknown key is answered with the nearest known one. Values under keys that look secret are never
    repeated.
    """
    found: list[tuple[int, str]] = []
    for fault in error.errors(include_url=False):
        if fault["type"] == "too_short" and fault["ctx"]["actual_length"] < len(fault["input"]):
            # Pydantic counts the entries that are right; what is wrong with the others is said of each.
            continue
        path = document.locate(fault["loc"])
        cause = fault.get("ctx", {}).get("error")
        if fault["type"] == "missing":
            path = (*path, fault["loc"][-1])
        elif isinstance(cause, KeyFaultError):
            path = (*path, *cause.path)
        text = _message(fault, path, known_keys(model, fault["loc"][:-1]) if model else ())
        shown = key_path(path)
        line = document.line(path)
        found.append((line, f"{document.where(path)}: {shown}: {text}" if shown else f"{document.where(path)}: {text}"))
    found.sort(key=lambda item: item[0])
    return list(dict.fromkeys(text for _, text in found))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``; did you mean 'x'?`` where a known word is near, else nothing."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean {near[0]!r}?" if near else ""


def known_keys(model: type[BaseModel], path: Sequence[str | int]) -> tuple[str, ...]:
    """The keys that ``model`` allows at ``path``; components that validators add to a location are skipped."""
    current: list[Any] = [model]
    for component in path:
        below = [found for annotation in current for found in _step(annotation, component)]
        current = below or current
    names: dict[str, None] = {}
    for annotation in current:
        for member in _members(annotation):
            if _is_model(member):
                names.update(dict.fromkeys(field.alias or name for name, field in member.model_fields.items()))
    return tuple(names)


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _members(annotation: Any) -> list[Any]:
    """The alternatives of a union, through ``Annotated``."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _members(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return [member for part in get_args(annotation) for member in _members(part)]
    return [annotation]


def _step(annotation: Any, component: str | int) -> list[Any]:
    found: list[Any] = []
    for member in _members(annotation):
        arguments = get_args(member)
        if _is_model(member):
            found += [
                field.annotation for name, field in member.model_fields.items() if component in (name, field.alias)
            ]
        elif isinstance(component, int) and arguments:
            found.append(arguments[0])
        elif isinstance(component, str) and len(arguments) == 2:
            found.append(arguments[1])
    return found


def _message(fault: Any, path: KeyPath, known: Sequence[str]) -> str:
    kind: str = fault["type"]
    if kind == "extra_forbidden":
        return f"unknown key{_suggestion(path, known)}"
    if kind == "missing":
        return "required, but missing; add it"
    if kind in ("model_type", "model_attributes_type"):
        return f"must be a mapping of keys to values{_got(fault['input'], path)}"
    if kind == "path_type":
        return f"must be the path of a file or folder{_got(fault['input'], path)}"
    if kind in ("too_short", "string_too_short") and not fault["input"]:
        return "must not be empty"
    text: str = fault["msg"]
    if kind in ("value_error", "assertion_error"):
        return text.partition(", ")[2] or text
    text = text[0].lower() + text[1:]
    text = text.replace("input should be", "must be").replace("valid dictionary", "mapping of keys to values")
    text = text.replace("a valid tuple", "a list")
    return f"{text}{_got(fault.get('input'), path)}"


def _suggestion(path: KeyPath, known: Sequence[str]) -> str:
    if not known:
        return "; remove it or correct its spelling"
    near = did_you_mean(str(path[-1]) if path else "", known)
    return near or f"; known here: {', '.join(known)}"


def _got(value: object, path: KeyPath) -> str:
    if any(word in str(component).lower() for component in path for word in _SECRET_WORDS):
        return ""
    if value is None:
        return ", not empty"
    if isinstance(value, bool):
        return f", not {str(value).lower()}"
    if isinstance(value, (int, float)):
        return f", not {value}"
    if isinstance(value, str):
        return f", not {value!r}" if len(value) <= _SHOWN_VALUE else ""
    if isinstance(value, dict):
        return ", not a mapping"
    return ", not a list" if isinstance(value, list | tuple) else ""
