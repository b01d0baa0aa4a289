"""A draft while it is being made: the dialog's content, and beside each part what has to be said about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aem_monitor.golden.reference import JSONPath, resolve
from aem_monitor.model.jsonvalue import JSON


@dataclass(slots=True)
class DraftTurn:
    """One turn as its file will have it. ``remarks`` stand before it, ``notes`` before its parts.

    ``place`` is where an existing dialog has the turn among its turns; what its author left to a default was meant.
    """

    form: dict[str, Any]
    remarks: list[str] = field(default_factory=list)
    notes: dict[JSONPath, list[str]] = field(default_factory=dict)
    place: int | None = None

    @property
    def written(self) -> bool:
        """Whether an existing dialog has the turn."""
        return self.place is not None

    @property
    def number(self) -> int | None:
        """Its ``turn_no``; a User turn has none."""
        found = self.form.get("turn_no")
        return found if isinstance(found, int) else None

    def note(self, path: JSONPath, text: str) -> None:
        """Say something once about a part of the turn."""
        said = self.notes.setdefault(path, [])
        if text not in said:
            said.append(text)

    def remark(self, text: str) -> None:
        """Say something once about the turn."""
        if text not in self.remarks:
            self.remarks.append(text)


@dataclass(slots=True)
class Sheet:
    """``top`` is everything before ``turns``, ``rest`` what follows; ``notes`` are about parts of either."""

    top: dict[str, Any]
    turns: list[DraftTurn]
    rest: dict[str, Any] = field(default_factory=dict)
    notes: dict[JSONPath, list[str]] = field(default_factory=dict)

    def value(self) -> dict[str, JSON]:
        """The dialog as a JSON value."""
        return {**self.top, "turns": [turn.form for turn in self.turns], **self.rest}

    def comments(self) -> Mapping[JSONPath, list[str]]:
        """The comments by place; what is said about a part that is gone is said about the turn."""
        found: dict[JSONPath, list[str]] = {path: list(lines) for path, lines in self.notes.items()}
        for index, turn in enumerate(self.turns):
            before = list(turn.remarks)
            for path, lines in turn.notes.items():
                if _has(turn.form, path):
                    found.setdefault(("turns", index, *path), []).extend(lines)
                else:
                    before += lines
            if before:
                found[("turns", index)] = before
        return found

    def places(self) -> dict[int, int]:
        """Where an existing dialog has the turns that it has, by their place here."""
        return {index: turn.place for index, turn in enumerate(self.turns) if turn.place is not None}

    def numbered(self) -> dict[int, DraftTurn]:
        """Tool and Agent turns by number."""
        return {turn.number: turn for turn in self.turns if turn.number is not None}


def _has(value: Any, path: JSONPath) -> bool:
    try:
        resolve(path, value)
    except LookupError:
        return False
    return True
