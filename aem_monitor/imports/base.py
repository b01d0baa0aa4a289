"""What a format gives, and what formats share: reading lines, and a sheet from calls that were never recorded."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

from aem_monitor.bootstrap.definitions import ToolDefinition
from aem_monitor.bootstrap.sheet import DraftTurn, Sheet
from aem_monitor.bootstrap.tools import Toolbox
from aem_monitor.errors import UsageError
from aem_monitor.model.jsonvalue import JSON

MAX_BYTES: Final = 64 * 2**20
"""Largest file that is read: the largest one of the known sets has a tenth of it."""

NOTHING_EXPECTED: Final = "expected calls and replies: the case has none, and any run passes until you write some"
"""What is missing from a dialog of a case that holds only what the user says."""
_SHOWN: Final = 600
"""Characters of a value in a comment."""


@dataclass(frozen=True, slots=True)
class Imported:
    """One dialog. ``problem`` says why there is none; then ``sheet`` is None.

    ``missing`` names what the file has and a golden dialog has no place for, a sentence each.
    """

    name: str
    sheet: Sheet | None = None
    problem: str | None = None
    missing: tuple[str, ...] = ()


class FormError(ValueError):
    """One case of a file cannot be read; the message says where in it and why."""


class Format(Protocol):
    """Reads files of one format. Raises ``UsageError`` for a file that is not of it."""

    def __call__(self, files: Sequence[Path]) -> Iterable[Imported]: ...


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls that a run has to make in any order, and what has to be said: an open dialog, since the user is free."""

    calls: Sequence["GoldCall"]
    mentions: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class GoldCall:
    """An expected call with the arguments that are not compared."""

    name: str
    args: Mapping[str, JSON]
    ignored: frozenset[str] = field(default_factory=frozenset)


def open_sheet(
    name: str, note: str, remarks: Sequence[str], gold: Calls, free: frozenset[str], first_user: str | None = None
) -> Sheet:
    """An open dialog. ``free`` are tools that change nothing, whatever their names say."""
    called = {(call.name, None) for call in gold.calls}
    definitions = {tool: ToolDefinition(tool, read_only=True) for tool in free if (tool, None) in called}
    tools = Toolbox.of(called, definitions, lambda tool: (tool, None), {}, {})
    turns = []
    for number, call in enumerate(gold.calls, start=1):
        turn = DraftTurn({"turn_no": number, "turn": "Tool", "gold_turn": {"tool_id": call.name}})
        if call.args:
            turn.form["gold_turn"]["args"] = dict(call.args)
        match = {arg: {"ignore": True} for arg in call.args if arg in call.ignored}
        match |= _pairs(call.args)
        if match:
            turn.form["match"] = match
        turn.form["tags"] = ["OrderInvariant_calls"]
        if tools.reads((call.name, None)):
            turn.form["presence"] = "optional"
        turns.append(turn)
    if gold.mentions:
        turns.append(
            DraftTurn(
                {"turn_no": len(turns) + 1, "turn": "Agent", "must_mention": [str(text) for text in gold.mentions]}
            )
        )
    return sheet_of(name, note, remarks, turns, tools, first_user)


def sheet_of(
    name: str,
    note: str,
    remarks: Sequence[str],
    turns: list[DraftTurn],
    tools: Toolbox | None,
    first_user: str | None = None,
) -> Sheet:
    """A sheet with the head that every imported dialog has. ``first_user`` is how it is recognised, if it is known."""
    entries, notes = tools.entries({}) if tools is not None else ({}, {})
    head = [
        "Imported: confirm what calls change, add what replies must say, and set review: {status: human}.",
        *remarks,
    ]
    notes[()] = [*head, *notes.get((), ())]
    top: dict[str, Any] = {"dialog": name, "version": 1, "review": {"status": "draft", "note": note}}
    if first_user is not None:
        top["recognise"] = {"first_user": [first_user]}
    if entries:
        top["tools"] = entries
    top["extra_calls"] = "ignore_read_only"
    return Sheet(top, turns, {}, notes)


def _pairs(args: Mapping[str, JSON]) -> dict[str, Any]:
    """Lists that belong together entry by entry, known by their names (``item_ids``, ``new_item_ids``)."""
    return {
        name: {"parallel": [f"new_{name}"], "ignore_identity": True}
        for name, value in args.items()
        if isinstance(value, list) and isinstance(args.get(f"new_{name}"), list)
    }


def content(path: Path) -> str:
    """The text of a file. Raises ``UsageError``."""
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error
    if len(data) > MAX_BYTES:
        raise UsageError(f"{path}: larger than {MAX_BYTES} bytes; split it")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8") from error


def json_lines(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The objects of a file of JSON lines with their line numbers. Raises ``UsageError`` that names the line."""
    for number, line in enumerate(content(path).splitlines(), start=1):
        if not line.strip():
            continue
        value = parsed(line, f"{path}:{number}")
        if not isinstance(value, dict):
            raise UsageError(f"{path}:{number}: not a JSON object; this format has one a line")
        yield number, value


def parsed(text: str, where: str) -> Any:
    """A JSON text; ``NaN`` and numbers beyond all bounds are none. Raises ``UsageError``."""
    try:
        return json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where}: not JSON: {str(error)[:200]}") from error


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _no_number(text)


def shown(value: object) -> str:
    """A value in a comment, cut where it is long."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}.."


def words(text: str) -> str:
    """A text as part of a dialog's name."""
    return re.sub(r"[^\w.]+", "-", text).strip("-.").lower()[:120] or "dialog"
