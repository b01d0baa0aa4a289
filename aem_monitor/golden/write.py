"""Golden dialogs as files for people: block YAML with comments.

PyYAML writes no comments, and a draft is little use without the reasons for what it proposes. What is written reads
back as the same value by ``yamlfile`` and by any YAML 1.1 or 1.2 reader: whatever one of them would take for something
other than text (``no``, ``19:30``, ``2026-11-02``, ``007``) is quoted.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from aem_monitor.golden.reference import JSONPath
from aem_monitor.model.jsonvalue import JSON

Comments: TypeAlias = Mapping[JSONPath, Sequence[str]]
"""Lines of comment before the key or list item at a place; ``()`` is the head of the file."""

_PLAIN: Final = re.compile(r"[A-Za-z$_/(<+.][^\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]*")
_UNSAFE: Final = re.compile(r": |:$| #|^\s|\s$|^[.+]|^\.\.\.|^---|^<<$|^=$")
_LOOKS_LIKE_MORE: Final = re.compile(
    r"(?:y|n|yes|no|on|off|true|false|null|nan|inf|none|~)|[-+]?\.?(?:inf|nan)|[-+]?[\d.][\d_.,:eExXoOa-fA-F+-]*",
    re.IGNORECASE,
)
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_UNPRINTABLE: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ufeff\ud800-\udfff\ufffe\uffff]")
_PRINTABLE: Final = re.compile(r"[^\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]*")
_WIDTH: Final = 100
"""Comments are wrapped to this many characters beside their indentation."""


def write_yaml(value: JSON, comments: Comments | None = None) -> str:
    """The text of a file, ending in a newline. Numbers that JSON does not have are written as text."""
    lines = [*_comment((comments or {}).get((), ()), 0), *_block(value, (), 0, comments or {})]
    return "\n".join(lines) + "\n"


def _block(value: JSON, path: JSONPath, indent: int, comments: Comments) -> Iterator[str]:
    pad = "  " * indent
    if isinstance(value, Mapping) and value:
        for name, item in value.items():
            at = (*path, name)
            yield from _comment(comments.get(at, ()), indent)
            yield from _entry(f"{pad}{_key(name)}:", item, at, indent + 1, comments)
    elif isinstance(value, Sequence) and not isinstance(value, str) and value:
        for index, item in enumerate(value):
            at = (*path, index)
            yield from _comment(comments.get(at, ()), indent)
            if _nested(item):
                body = list(_block(item, at, indent + 1, comments))
                # What is said about the first key of an item goes before the dash: nothing may part the two.
                leading = next(n for n, line in enumerate(body) if not line.lstrip().startswith("#"))
                yield from (f"{pad}{line.lstrip()}" for line in body[:leading])
                yield f"{pad}- {body[leading].lstrip()}"
                yield from body[leading + 1 :]
            else:
                yield from _entry(f"{pad}-", item, at, indent + 1, comments)
    else:
        yield f"{pad}{_scalar(value)}"


def _entry(head: str, item: JSON, at: JSONPath, indent: int, comments: Comments) -> Iterator[str]:
    if _nested(item):
        yield head
        yield from _block(item, at, indent, comments)
    elif isinstance(item, str) and _as_lines(item):
        pad = "  " * indent
        ends = item.endswith("\n")
        yield f"{head} {'|' if ends else '|-'}"
        for line in (item[:-1] if ends else item).split("\n"):
            yield f"{pad}{line}" if line else ""
    else:
        yield f"{head} {_scalar(item)}"


def _nested(value: JSON) -> bool:
    return isinstance(value, Mapping | Sequence) and not isinstance(value, str) and bool(value)


def _as_lines(text: str) -> bool:
    """Whether a text of several lines can stand as a literal block without losing a character."""
    if "\n" not in text or not _PRINTABLE.fullmatch(text):
        return False
    lines = text.split("\n")
    if not lines[0] or lines[0][0] in " \t" or text.endswith("\n\n"):
        return False
    return all(line == line.rstrip() and not line.startswith("\t") for line in lines)


def _key(name: str) -> str:
    if _PLAIN_KEY.fullmatch(name) and not _LOOKS_LIKE_MORE.fullmatch(name):
        return name
    return _quoted(name)


def _scalar(value: JSON) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return _quoted(str(value))
    if isinstance(value, int | float):
        return json.dumps(value)
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) and not _UNSAFE.search(value) and not _LOOKS_LIKE_MORE.fullmatch(value)
        return value if plain else _quoted(value)
    return "{}" if isinstance(value, Mapping) else "[]"


def _quoted(text: str) -> str:
    """Double quotes and JSON's escapes, which YAML shares; characters that YAML does not print are escaped."""
    return re.sub(
        r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]",
        lambda found: f"\\u{ord(found[0]):04x}",
        json.dumps(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), ensure_ascii=False),
    )


def _comment(lines: Sequence[str], indent: int) -> Iterator[str]:
    pad = "  " * indent
    for line in lines:
        # What YAML does not print, and no encoding holds, has no escape in a comment.
        for part in _wrapped(" ".join(_UNPRINTABLE.sub("\ufffd", line).split())):
            yield f"{pad}# {part}"


def _wrapped(text: str) -> Iterator[str]:
    while len(text) > _WIDTH:
        cut = text.rfind(" ", 0, _WIDTH)
        if cut <= 0:
            break
        yield text[:cut]
        text = text[cut + 1 :]
    yield text
