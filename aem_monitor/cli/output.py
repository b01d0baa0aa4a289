"""Data on standard output."""

import sys
from collections.abc import Mapping
from typing import Any

import orjson


def write_json_line(value: Mapping[str, Any]) -> None:
    """One JSON object and a newline."""
    sys.stdout.write(orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_APPEND_NEWLINE).decode())


def write_json(value: Any) -> None:
    """One JSON value over several lines, for people."""
    sys.stdout.write(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode())


def write_text(text: str) -> None:
    """Text as it is."""
    sys.stdout.write(text)
