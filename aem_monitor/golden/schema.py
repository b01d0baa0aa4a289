"""The JSON Schema (draft 2020-12) of golden dialog files, for editors and other tools.

The schema says what the form is; that references resolve, numbers rise and a dialog is ordered is for the loader.
"""

import json
from typing import Any, Final

from aem_monitor.golden.form import DialogForm

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def golden_schema() -> dict[str, Any]:
    """The schema as a JSON value."""
    schema = DialogForm.model_json_schema(by_alias=True)
    definitions = schema.pop("$defs")
    return {
        "$schema": DIALECT,
        "title": "Golden dialog",
        "description": schema.pop("description"),
        **{key: value for key, value in schema.items() if key != "title"},
        "$defs": dict(sorted(definitions.items())),
    }


def golden_schema_text() -> str:
    """The schema as the file that is published: indented, with a final newline."""
    return json.dumps(golden_schema(), indent=2, ensure_ascii=False) + "\n"
