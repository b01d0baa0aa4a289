"""What the rules of ``golden lint`` are made of: what a rule gives, and what it may ask about words and values."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal, TypeAlias

from aem_monitor.document import KeyPath
from aem_monitor.golden.dialog import Dialog
from aem_monitor.golden.messages import Similarity
from aem_monitor.model.jsonvalue import JSON

Severity: TypeAlias = Literal["error", "warning", "hint"]
"""It cannot work; it is probably not what was meant; it is worth knowing."""


@dataclass(frozen=True, slots=True)
class Remark:
    """What a rule found at a place of a dialog's file."""

    dialog: str
    path: KeyPath
    severity: Severity
    message: str


@dataclass(frozen=True, slots=True)
class Semantics:
    """How scoring reads words and values; rules that need what is not given keep quiet, or look at words alone.

    ``mentions(text, wanted)``: whether a text says what is wanted in any equivalent form. ``unsupported(text,
    sources, reference_date)``: the facts of a text that none of the sources holds, each with whether it is an amount,
    which an agent may have worked out. ``identifier(text)``: whether it is an opaque name. ``reads_as(text, kind)``:
    whether it is a ``date``, ``time`` or ``datetime`` and nothing else. ``similarity`` is that of user messages.
    ``today`` is the day against which a reference date is old.
    """

    mentions: Callable[[str, str], bool] | None = None
    unsupported: Callable[[str, Sequence[JSON], date | None], Sequence[tuple[str, bool]]] | None = None
    identifier: Callable[[str], bool] | None = None
    reads_as: Callable[[str, str], bool] | None = None
    similarity: Similarity | None = None
    today: date | None = None


DialogRule: TypeAlias = Callable[[Dialog, Semantics], Iterator[Remark]]
Place: TypeAlias = Callable[[str, KeyPath], str]
"""``place(dialog, path)``: ``file:line``."""

SetRule: TypeAlias = Callable[[Sequence[Dialog], Place, Semantics], Iterator[Remark]]
Rules: TypeAlias = Mapping[str, DialogRule]


def shown(value: JSON, widest: int = 40) -> str:
    """A value in a message."""
    text = str(value)
    return text if len(text) <= widest else f"{text[: widest - 3]}..."


def named(tool: str, action: str | None) -> str:
    """A call's name: ``tool.action``."""
    return tool if action is None else f"{tool}.{action}"
