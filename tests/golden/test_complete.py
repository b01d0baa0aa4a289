"""One file with every key of the format, as YAML and as JSON."""

import json
from dataclasses import fields
from pathlib import Path

import jsonschema

from aem_monitor.golden.dialog import AgentTurn, Dialog, ToolTurn
from aem_monitor.golden.lint import lint
from aem_monitor.golden.load import Dialogs, parse_dialog
from aem_monitor.golden.schema import golden_schema
from aem_monitor.yamlfile import read_yaml

FILE = Path(__file__).parent / "complete.yaml"
VALUE = read_yaml(FILE).value


def load(content: bytes, name: str) -> Dialog:
    found = parse_dialog(content, name)
    assert isinstance(found, tuple), [str(fault) for fault in found]
    return found[0]


def test_it_loads_the_same_from_yaml_and_json() -> None:
    assert load(FILE.read_bytes(), "a.yaml") == load(json.dumps(VALUE, indent=1).encode(), "a.json")


def test_it_uses_every_key_of_the_form() -> None:
    used: set[str] = set()

    def collect(value: object) -> None:
        if isinstance(value, dict):
            used.update(value)
            for item in value.values():
                collect(item)
        if isinstance(value, list):
            for item in value:
                collect(item)

    collect(VALUE)
    schema = golden_schema()
    properties = [schema["properties"], *(definition.get("properties", {}) for definition in schema["$defs"].values())]
    assert {name for names in properties for name in names} - used == {"rel"}


def test_the_published_schema_accepts_it_and_lint_finds_no_fault() -> None:
    jsonschema.Draft202012Validator(golden_schema()).validate(VALUE)
    dialog = load(FILE.read_bytes(), "a.yaml")
    findings = lint(Dialogs({dialog.name: dialog}))
    assert [finding.code for finding in findings] == ["skipped"]


def test_nothing_that_was_written_is_lost() -> None:
    dialog = load(FILE.read_bytes(), "a.yaml")
    plain = {field.name: field.default for kind in (ToolTurn, AgentTurn) for field in fields(kind)}
    changed = {
        name for turn in dialog.scored_turns for name in plain if getattr(turn, name, plain[name]) != plain[name]
    }
    assert changed == set(plain)
    assert not dialog.draft
    assert dialog.read_only("now", None)
    assert dialog.optional_args("orders", "Find") == {"limit": 100}
    assert set(dialog.optional_args("orders", "Exchange")) == {"note"}
    assert set(dialog.optional_args("now", None)) == {"zone"}
    assert dialog.forbids("refunds", "Any")
    assert dialog.dependencies(6) == (2,)
