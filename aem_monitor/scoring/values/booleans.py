"""Truth values as they are written and said."""

from typing import Final

_WORDS: Final = {
    **dict.fromkeys(("true", "yes", "y", "on", "enabled", "t", "yep", "yeah", "sure"), True),
    **dict.fromkeys(("false", "no", "n", "off", "disabled", "f", "nope"), False),
}


def parse_boolean(text: str) -> bool | None:
    """The truth value that a folded text spells; None if it spells none. Digits are left to the other side's type."""
    return _WORDS.get(text.strip(" ."))
