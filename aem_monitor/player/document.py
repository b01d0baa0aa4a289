"""Writes the reference page of the player's file and its JSON Schema from the form.

``python -m aem_monitor.player.document`` in the root of the repository; `make docs` does it.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from pydantic import BaseModel

from aem_monitor.config.document import key_table
from aem_monitor.config.environment import section_of
from aem_monitor.player.form import Http, OpenAI, RunForm

REFERENCE: Final = Path("deploy/docs/canary-run-file.md")
SCHEMA: Final = Path("deploy/schemas/canary-run.schema.json")

_DEFAULTS: Final[Mapping[str, Any]] = RunForm.model_validate(
    {"dialogs": ["golden"], "agent": {"url": "http://127.0.0.1:8000/v1/chat/completions", "openai": {}}}
).model_dump(mode="json")

_HTTP_DEFAULTS: Final[Mapping[str, Any]] = Http(body="{{ message }}", reply="").model_dump(mode="json")
_OFF: Final[Mapping[type[BaseModel], Mapping[str, Any]]] = {
    Http: _HTTP_DEFAULTS,
    OpenAI: OpenAI().model_dump(mode="json"),
}
"""Sections that are off until they are written, with what their keys default to then."""

_INTRODUCTION: Final = """\
# The file of `canary run`

<!-- Written by `make docs` from aem_monitor/player/form.py; change it there. -->

`aem-monitor canary run FILE` reads one YAML (or JSON) file; [playing golden dialogs](canary-run.md) explains it,
`deploy/schemas/canary-run.schema.json` is its JSON Schema. Unknown keys are faults. Durations are written `500ms`,
`30s`, `10m`, `1h30m`. Paths of files and folders count from the file's own folder.
"""

_Section: TypeAlias = tuple[tuple[str, ...], type[BaseModel], Mapping[str, Any]]


def _sections(path: tuple[str, ...], model: type[BaseModel], written: Mapping[str, Any]) -> Iterator[_Section]:
    yield path, model, written
    for key, field in model.model_fields.items():
        section = section_of(field.annotation)
        if section is not None:
            yield from _sections((*path, key), section, _OFF.get(section, written[key]))


def reference() -> str:
    """The reference page, Markdown."""
    parts = [_INTRODUCTION]
    for path, section, written in _sections((), RunForm, _DEFAULTS):
        plain = [key for key, field in section.model_fields.items() if section_of(field.annotation) is None]
        if path:
            parts.append(f"\n## `{'.'.join(path)}`\n\n{' '.join((section.__doc__ or '').split())}\n")
        parts.append(key_table(section, written, plain))
    return "".join(parts)


def json_schema_text() -> str:
    """The JSON Schema (draft 2020-12) of the file, defaults written as in the file."""
    schema = RunForm.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "aem-monitor canary run: what is played against which agent"
    for path, model, written in _sections((), RunForm, _DEFAULTS):
        described = schema["$defs"][model.__name__] if path else schema
        for key, property_ in described["properties"].items():
            if "default" in property_:
                property_["default"] = written[key]
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def main(root: Path) -> int:
    """Write both files below ``root``."""
    for path, text in ((REFERENCE, reference()), (SCHEMA, json_schema_text())):
        (root / path).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path.cwd()))
