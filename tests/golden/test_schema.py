import json
from pathlib import Path

import jsonschema
import pytest

from aem_monitor.examples import example_dialogs
from aem_monitor.golden.cases import is_case_file
from aem_monitor.golden.schema import DIALECT, golden_schema, golden_schema_text
from aem_monitor.yamlfile import read_yaml
from tests.golden.regenerate import BAD, SCHEMA


def errors(path: Path) -> list[str]:
    validator = jsonschema.Draft202012Validator(golden_schema())
    return [error.message for error in validator.iter_errors(read_yaml(path).value)]


def test_the_published_schema_is_the_generated_one() -> None:
    assert SCHEMA.read_text(encoding="utf-8") == golden_schema_text(), "run python -m tests.golden.regenerate"


def test_the_schema_is_a_valid_one_of_its_dialect() -> None:
    schema = json.loads(golden_schema_text())
    assert schema["$schema"] == DIALECT
    jsonschema.Draft202012Validator.check_schema(schema)


EXAMPLES = sorted(path for path in example_dialogs().glob("*.yaml") if not is_case_file(path.name))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_examples_are_valid(path: Path) -> None:
    assert errors(path) == []


@pytest.mark.parametrize(
    "name",
    [
        "unknown-key.yaml",
        "unknown-key-in-turn.yaml",
        "key-of-another-turn.yaml",
        "unknown-turn-kind.yaml",
        "turn-number-missing.yaml",
        "matcher-unknown.yaml",
        "matcher-two-at-once.yaml",
        "matcher-without-effect.yaml",
        "matcher-any-of-empty.yaml",
        "alternate-unknown-key.yaml",
        "outcome-of-wrong-form.yaml",
        "presence-unknown.yaml",
        "where-empty.yaml",
        "where-nested.yaml",
    ],
)
def test_faults_of_form_are_faults_of_the_schema(name: str) -> None:
    assert errors(BAD / name)
