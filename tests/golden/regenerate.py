"""Writes what is generated and reviewed: ``python -m tests.golden.regenerate``, then read the difference.

The messages of the bad files (``messages.yaml`` in ``bad`` and ``bad_cases``) and the published JSON Schemas.
"""

from pathlib import Path

import yaml

from aem_monitor.errors import DocumentError
from aem_monitor.golden.cases import is_case_file, read_cases
from aem_monitor.golden.load import SUFFIXES, parse_dialog
from aem_monitor.golden.schema import cases_schema, golden_schema, schema_text

BAD = Path(__file__).parent / "bad"
MESSAGES = BAD / "messages.yaml"
BAD_CASES = Path(__file__).parent / "bad_cases"
CASE_MESSAGES = BAD_CASES / "messages.yaml"
SCHEMA = Path(__file__).parents[2] / "deploy" / "schemas" / "golden-dialog.schema.json"
CASES_SCHEMA = SCHEMA.with_name("golden-cases.schema.json")


def bad_files() -> list[Path]:
    return sorted(path for path in BAD.iterdir() if path.suffix in SUFFIXES and path != MESSAGES)


def messages_of(path: Path) -> list[str]:
    found = parse_dialog(path.read_bytes(), path.name)
    return [str(fault) for fault in found] if isinstance(found, list) else []


def bad_case_files() -> list[Path]:
    return sorted(path for path in BAD_CASES.iterdir() if is_case_file(path.name))


def case_messages_of(path: Path) -> list[str]:
    try:
        read_cases(path)
    except DocumentError as error:
        return [fault.replace(str(path), path.name) for fault in error.faults]
    return []


if __name__ == "__main__":
    messages = {path.name: messages_of(path) for path in bad_files()}
    MESSAGES.write_text(yaml.safe_dump(messages, width=1000, allow_unicode=True), encoding="utf-8")
    messages = {path.name: case_messages_of(path) for path in bad_case_files()}
    CASE_MESSAGES.write_text(yaml.safe_dump(messages, width=1000, allow_unicode=True), encoding="utf-8")
    SCHEMA.write_text(schema_text(golden_schema()), encoding="utf-8")
    CASES_SCHEMA.write_text(schema_text(cases_schema()), encoding="utf-8")
