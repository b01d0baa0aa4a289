"""Writes the configuration's reference page, example file and JSON Schema from its models.

``python -m aem_monitor.config.document`` in the root of the repository; `make docs` does it.
"""

import json
import re
import sys
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, SecretStr
from pydantic.fields import FieldInfo

from aem_monitor.config.environment import PREFIX, members_of, section_of
from aem_monitor.config.root import Config
from aem_monitor.config.schema import DEFAULTS, OFF_BY_DEFAULT, json_schema_text, sections
from aem_monitor.config.units import Address, parse_duration, parse_size

REFERENCE = Path("deploy/docs/configuration.md")
EXAMPLE = Path("deploy/aem-monitor.example.yaml")
SCHEMA = Path("deploy/schemas/aem-monitor.schema.json")

_COMMENT_WIDTH = 96
_TYPE_NAMES: Mapping[Any, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "text",
    Address: "address",
    SecretStr: "secret",
    Path: "path",
    type(None): "null",
}
_PLAIN = re.compile(r"[A-Za-z][\w.-]*|\d+[A-Za-z]+")
_INTRODUCTION = f"""\
# Configuration

<!-- Written by `make docs` from aem_monitor/config; change it there. -->

`aem-monitor run --config FILE` reads one YAML (or JSON) file. Every key has a default, so an empty file is a valid
configuration; `run` needs `golden.paths` besides. `aem-monitor config check --config FILE` says what is wrong with a
file, each fault with its line, or prints the configuration in force.
[aem-monitor.example.yaml](../aem-monitor.example.yaml) holds every key with its default.

- **Unknown keys, duplicate keys, anchors and tags are refused.** Only `true` and `false` are booleans; dates and times
  are text.
- **Durations** are written `500ms`, `30s`, `10m`, `1h30m`, `30d`; **sizes** `512KiB`, `64MiB`, `1GiB`; **addresses**
  `127.0.0.1:4318` or `[::1]:4318`, where port 0 takes any free port.
- **Relative paths** of golden dialogs, certificates, secret files, the journal and the files of sinks count from the
  folder of the configuration file.
- **Environment variables** override the file: `{PREFIX}STORE__URL` sets `store.url`. Lists and mappings are
  written as JSON, lists of texts also separated by commas. A variable that begins with `{PREFIX}` and names no key
  is refused.
- **Listeners** are on loopback by default. One that other machines can reach needs `insecure: true` beside it as long
  as there is neither TLS nor authentication. Two listeners cannot share a port.
- **Reload** (SIGHUP, or `POST /-/reload` on the admin listener) reads the file and the golden dialogs again and swaps
  both, or keeps both and says what was wrong. `golden`, `assembly`, `recognise`, `scoring`, `shutdown` and
  `store.retention` hold from then on. Changes of `ingest`, `conventions`, `experts`, `store.url`, `store.replica`,
  `sinks`, `alerting`, `metrics`, `admin`, `web` and `log` need a restart, as do attributes in `assembly` and
  `recognise.where` that were in neither at the start; the answer names those that differ from what runs.
"""


def reference() -> str:
    """The reference page, Markdown."""
    parts = [_INTRODUCTION]
    for path, section, written in sections():
        parts.append(f"\n## `{'.'.join(path)}`\n\n{_about(section)}\n")
        plain = [key for key, field in section.model_fields.items() if section_of(field.annotation) is None]
        if plain:
            parts.append(key_table(section, written, plain))
    return "".join(parts)


def example() -> str:
    """The example file: every key with its default and its meaning; what is off by default as a comment."""
    lines = [
        "# Configuration of aem-monitor: every key with its default. Keep what you change, delete the rest.",
        "# Written by `make docs`; the reference page is deploy/docs/configuration.md.",
    ]
    lines += _example(Config, {**DEFAULTS, "golden": {"paths": ["golden"]}}, "")
    return "\n".join(lines) + "\n"


def key_table(section: type[BaseModel], written: Mapping[str, Any], keys: Iterable[str]) -> str:
    """The keys of a section with their defaults as the file writes them, Markdown."""
    rows = ["\n| key | type | default | meaning |\n|---|---|---|---|\n"]
    for key in keys:
        field = section.model_fields[key]
        default = "required" if field.is_required() else f"`{_inline(written[key])}`"
        cells = (f"`{key}`", type_name(field), default, field.description or "")
        rows.append(f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |\n")
    return "".join(rows)


def _about(section: type[BaseModel]) -> str:
    return " ".join((section.__doc__ or "").split())


def type_name(field: FieldInfo) -> str:
    """The type of a key in the words of the reference page."""
    for entry in field.metadata:
        if isinstance(entry, BeforeValidator) and entry.func is parse_duration:
            return "duration"
        if isinstance(entry, BeforeValidator) and entry.func is parse_size:
            return "size"
    return " or ".join(dict.fromkeys(_member_name(member) for member in members_of(field.annotation)))


def _member_name(member: Any) -> str:
    if get_origin(member) is Literal:
        return " or ".join(f"`{value}`" for value in get_args(member))
    if get_origin(member) is tuple:
        inner = members_of(get_args(member)[0])[0]
        return f"list of {_TYPE_NAMES.get(inner, 'mapping')}s"
    return _TYPE_NAMES.get(member, "mapping")


def _example(model: type[BaseModel], written: Mapping[str, Any], indent: str) -> list[str]:
    lines: list[str] = []
    for key, field in model.model_fields.items():
        section = section_of(field.annotation)
        if not indent:
            lines.append("")
        lines += _comment(_about(section) if section else field.description or "", indent)
        if section is None:
            lines.append(f"{indent}{key}: {_inline(written[key])}")
        elif section in OFF_BY_DEFAULT:
            written_out = [f"{key}:", *_example(section, OFF_BY_DEFAULT[section], "  ")]
            lines += [f"{indent}# {line}".rstrip() for line in written_out]
        else:
            lines += [f"{indent}{key}:", *_example(section, written[key], indent + "  ")]
    return lines


def _comment(text: str, indent: str) -> list[str]:
    return [f"{indent}# {line}" for line in textwrap.wrap(text, _COMMENT_WIDTH - len(indent), break_on_hyphens=False)]


def _inline(value: Any) -> str:
    """A value on one line, as JSON, texts without quotes where YAML needs none."""
    if isinstance(value, str) and _PLAIN.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=False)


def main(root: Path) -> int:
    """Write the three files below ``root``."""
    for path, text in ((REFERENCE, reference()), (EXAMPLE, example()), (SCHEMA, json_schema_text())):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path.cwd()))
