"""Data on standard output."""

import json
import sys
from collections.abc import Mapping
from typing import Any

import orjson

from aem_monitor.strictjson import strict_json


def write_json_line(value: Mapping[str, Any]) -> None:
    """One JSON object and a newline."""
    try:
        text = orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:
        # Tools return integers over 64 bits and halves of characters, which it does not write.
        text = strict_json(value)
    sys.stdout.write(f"{text}\n")


def write_json(value: Any) -> None:
    """One JSON value over several lines, for people."""
    try:
        text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except TypeError:
        # Halves of characters, in names from agents, which it does not write.
        text = json.dumps(value, indent=2)
    sys.stdout.write(f"{text}\n")


def write_text(text: str) -> None:
    """Text as it is."""
    sys.stdout.write(text)
