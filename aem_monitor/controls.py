"""What steers a terminal or is no character, made visible: texts hold what agents, users, files and receivers said."""

import re
from typing import Final

_CONTROL: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
"""All but tab and newline; also what turns the direction of text around, what some readers take for a new line, and
halves of characters. What remains can be written in UTF-8 and in XML (1.0, section 2.2)."""


def visible(text: str) -> str:
    """The text with control characters as escapes. Tabs and newlines stay."""
    return _CONTROL.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
