"""Words for values: what comes from outside made safe to look at, times, shares."""

import json
import re
from datetime import UTC, datetime
from typing import Final

from aem_monitor.model.jsonvalue import JSON

LONGEST: Final = 4000
"""Characters of one value on a page; the API has the whole."""

_HIDDEN: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
"""Control characters, those that turn the direction of text around, and halves of surrogate pairs: each would make a
page show something else than what is there, or not be UTF-8."""

_MARKED_WHOLE: Final = 40
_STEPS: Final = ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


def visible(text: str) -> str:
    """The text with what cannot be seen written as an escape."""
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def cut(text: str, longest: int = LONGEST) -> str:
    """At most ``longest`` characters, and how many there are where that is not all."""
    return (
        text if len(text) <= longest else f"{text[:longest]}… ({len(text):,} characters, the first {longest:,} shown)"
    )


def value_text(value: JSON) -> str:
    """A value as people read it: texts as they are, all else as JSON."""
    if isinstance(value, str):
        return value if value.strip() == value and value else json.dumps(value, ensure_ascii=False)
    try:
        return json.dumps(value, ensure_ascii=False, default=dict)
    except (TypeError, ValueError):
        return repr(value)


def marked(one: str, other: str) -> tuple[str, str, str]:
    """``one`` cut into what it begins with like ``other``, what differs, and what it ends with like it.

    Long texts that have nothing in common are all different, which a mark over the whole would not make clearer.
    """
    shorter = min(len(one), len(other))
    begin = next((place for place in range(shorter) if one[place] != other[place]), shorter)
    left = shorter - begin
    end = next((place for place in range(left) if one[-1 - place] != other[-1 - place]), left)
    if not begin and not end and max(len(one), len(other)) > _MARKED_WHOLE:
        return one, "", ""
    return one[:begin], one[begin : len(one) - end], one[len(one) - end :]


def moment(seconds: float) -> str:
    """A time as ISO 8601 in UTC, to the second; as a number where no calendar has it."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, OSError, ValueError):
        return f"{seconds:.0f} s after 1970"


def ago(seconds: float) -> str:
    """How long ago, in its largest unit; clocks of other machines may be ahead."""
    if seconds < 1:
        return "just now"
    size, unit = next(step for step in _STEPS if seconds >= step[0])
    count = int(seconds // size)
    return f"{count} {unit}{'' if count == 1 else 's'} ago"


def took(seconds: float) -> str:
    """A latency to three digits, below a second in milliseconds."""
    return f"{seconds * 1000:.3g} ms" if seconds < 1 else f"{seconds:,.1f} s"


def percent(share: float | None) -> str:
    """A share with one decimal; a dash where there is none: unknown is not zero."""
    return "–" if share is None else f"{100 * share:.1f} %"


def words(name: str) -> str:
    """A name of a closed set (``prior_action_failed``) as words."""
    return name.replace("_", " ")
