import json
from pathlib import Path

import jsonschema
import pytest

from aem_monitor.examples import example_dialogs
from aem_monitor.golden.cases import is_case_file
from aem_monitor.golden.schema import DIALECT, cases_schema, golden_schema, schema_text
from aem_monitor.yamlfile import read_yaml
from tests.golden.regenerate import BAD, BAD_CASES, CASES_SCHEMA, SCHEMA


def errors(path: Path) -> list[str]:
    validator = jsonschema.Draft202012Validator(golden_schema())
    return [error.message for error in validator.iter_errors(read_yaml(path).value)]


def test_the_published_schema_is_the_generated_one() -> None:
    for path, schema in ((SCHEMA, golden_schema()), (CASES_SCHEMA, cases_schema())):
        assert path.read_text(encoding="utf-8") == schema_text(schema), "run python -m tests.golden.regenerate"


def test_the_schema_is_a_valid_one_of_its_dialect() -> None:
    for schema in (golden_schema(), cases_schema()):
        written = json.loads(schema_text(schema))
        assert written["$schema"] == DIALECT
        jsonschema.Draft202012Validator.check_schema(written)


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


def case_errors(path: Path) -> list[str]:
    validator = jsonschema.Draft202012Validator(cases_schema())
    return [error.message for error in validator.iter_errors(read_yaml(path).value)]


CASES = sorted(path for path in example_dialogs().iterdir() if is_case_file(path.name))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name)
def test_the_cases_of_the_examples_are_valid(path: Path) -> None:
    assert case_errors(path) == []


@pytest.mark.parametrize(
    "name",
    [
        "cases-missing.cases.yaml",
        "expect-missing.cases.yaml",
        "not-a-mapping.cases.yaml",
        "pass-as-text.cases.yaml",
        "traces-empty.cases.yaml",
        "unknown-key.cases.yaml",
        "unknown-reason.cases.yaml",
    ],
)
def test_faults_of_form_of_cases_are_faults_of_the_schema(name: str) -> None:
    assert case_errors(BAD_CASES / name)
