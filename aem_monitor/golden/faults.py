"""Faults of golden files, and what pydantic finds said in the words of the file."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from aem_monitor.document import Document, key_path
from aem_monitor.errors import DocumentError, GoldenError
from aem_monitor.golden.form import DialogForm
from aem_monitor.golden.matchers import MATCHER_NAMES
from aem_monitor.golden.reference import JSONPath
from aem_monitor.validation import did_you_mean, known_keys


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that keeps a golden file from being used. ``line`` counts from 1; 0: the file as a whole."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}" if self.line else f"{self.file}: {self.message}"


class DialogFaultsError(GoldenError):
    """One or many golden files cannot be used; the message has a line a fault."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("\n".join(str(fault) for fault in faults))
        self.faults = tuple(faults)


def fault_at(document: Document, path: JSONPath, message: str) -> Fault:
    """A fault of the value at ``path``."""
    shown = key_path(path)
    return Fault(document.name, document.line(path), f"{shown}: {message}" if shown else message)


def document_faults(error: DocumentError, file: str) -> list[Fault]:
    """The faults of a file that is not even YAML or JSON."""
    faults = []
    for text in error.faults:
        line, _, message = text.removeprefix(f"{file}:").partition(": ")
        faults.append(Fault(file, int(line), message) if line.isdigit() else Fault(file, 1, text))
    return faults


def form_faults(error: ValidationError, document: Document) -> list[Fault]:
    """What a pydantic error says, in the words of somebody who wrote the file; by rising line, without repetitions."""
    faults: dict[tuple[JSONPath, str], Fault] = {}
    for detail in error.errors(include_url=False):
        path = _place(detail["loc"], document.value)
        message = _message(detail, path)
        faults.setdefault((path, message), fault_at(document, path, message))
    return sorted(faults.values(), key=lambda fault: fault.line)


def _place(loc: tuple[str | int, ...], value: Any) -> JSONPath:
    """The part of pydantic's location that the document has; pydantic adds the names of union members."""
    path: list[str | int] = []
    for step in loc:
        in_object = isinstance(value, dict) and step in value
        in_list = isinstance(value, list) and isinstance(step, int) and step < len(value)
        if in_object or in_list:
            path.append(step)
            value = value[step]
    return tuple(path)


_KINDS: Final = {
    "string_type": "a text (in quotes)",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "an object with keys",
    "model_type": "an object with keys",
    "model_attributes_type": "an object with keys",
}


def _message(detail: ErrorDetails, path: JSONPath) -> str:
    kind = detail["type"]
    context: Mapping[str, Any] = detail.get("ctx") or {}
    given = _short(detail["input"])
    if kind == "missing":
        return f"the key {detail['loc'][-1]} is missing"
    if kind == "extra_forbidden":
        return _unknown_key(detail["loc"])
    if kind in ("union_tag_not_found", "union_tag_invalid"):
        return _without_tag(detail["input"], path)
    if kind == "literal_error":
        expected = str(context.get("expected"))
        return f"{given} is not {'true' if expected == 'True' else expected}"
    if kind == "value_error":
        return str(context.get("error"))
    if kind == "too_short":
        return "is empty; name at least one"
    if kind in ("string_pattern_mismatch", "string_too_short", "string_too_long"):
        return f"{given} is no name: 1 to 200 characters, no control characters"
    if kind == "greater_than_equal":
        return f"{given} is too small; at least {context.get('ge')}"
    if kind == "model_type" and not path and detail["input"] is None:
        return "the file is empty"
    if kind in _KINDS:
        return f"{given} is not {_KINDS[kind]}"
    return f"{given}: {detail['msg'][:1].lower()}{detail['msg'][1:]}"


def _unknown_key(loc: tuple[str | int, ...]) -> str:
    key = str(loc[-1])
    known = known_keys(DialogForm, loc[:-1])
    if key in known:
        return "this key belongs to another kind of turn; remove it"
    return f"unknown key{did_you_mean(key, known) or '; known here: ' + ', '.join(known)}"


def _without_tag(given: Any, path: JSONPath) -> str:
    if len(path) == 2 and path[0] == "turns":
        turn = given.get("turn") if isinstance(given, dict) else None
        return f"turn is {_short(turn)}; write User, Tool or Agent" if turn is not None else "the key turn is missing"
    return f"{_short(given)} is no matcher; write exactly one of {', '.join(MATCHER_NAMES)}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."
