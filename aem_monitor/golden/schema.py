"""The JSON Schemas (draft 2020-12) of golden dialogs and of their regression cases, for editors and other tools.

The schema says what the form is; that references resolve, numbers rise and a dialog is ordered is for the loader.
"""

import json
from typing import Any, Final

from pydantic import BaseModel

from aem_monitor.golden.cases import CasesForm
from aem_monitor.golden.form import DialogForm

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def golden_schema() -> dict[str, Any]:
    """The schema of a golden dialog as a JSON value."""
    return _schema(DialogForm, "Golden dialog")


def cases_schema() -> dict[str, Any]:
    """The schema of a case file as a JSON value."""
    return _schema(CasesForm, "Regression cases of golden dialogs")


def schema_text(schema: dict[str, Any]) -> str:
    """A schema as the file that is published: indented, with a final newline."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _schema(form: type[BaseModel], title: str) -> dict[str, Any]:
    schema = form.model_json_schema(by_alias=True)
    definitions = schema.pop("$defs")
    return {
        "$schema": DIALECT,
        "title": title,
        "description": schema.pop("description"),
        **{key: value for key, value in schema.items() if key != "title"},
        "$defs": dict(sorted(definitions.items())),
    }
