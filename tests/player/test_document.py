"""The written reference of the player's file is that of its form."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from aem_monitor.player import document
from aem_monitor.player.form import RunForm

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads(document.json_schema_text())
PAGE = (ROOT / "deploy/docs/canary-run.md").read_text(encoding="utf-8")
EXAMPLES = [text for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL) if "\nagent:" in text]


def test_the_committed_files_are_up_to_date() -> None:
    assert (ROOT / document.REFERENCE).read_text(encoding="utf-8") == document.reference()
    assert (ROOT / document.SCHEMA).read_text(encoding="utf-8") == document.json_schema_text()


@pytest.mark.parametrize("text", EXAMPLES)
def test_the_examples_of_the_page_can_be_used(text: str) -> None:
    value: Any = yaml.safe_load(text)
    jsonschema.validate(value, SCHEMA)
    RunForm.model_validate(value)


def test_the_schema_refuses_what_the_form_refuses() -> None:
    assert len(EXAMPLES) == 2
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**yaml.safe_load(EXAMPLES[0]), "playy": {}}, SCHEMA)
