"""Values of a golden dialog that an earlier golden result already holds, though no dependency says so."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from aem_monitor.golden.dialog import AgentTurn, Dialog, ToolTurn, UserTurn
from aem_monitor.golden.messages import normalise
from aem_monitor.golden.reference import JSONPath, references_in
from aem_monitor.model.jsonvalue import JSON

_SHORTEST_TEXT: Final = 3
_SMALLEST_INTEGER: Final = 100
"""Shorter texts and smaller whole numbers coincide by chance too often to prove anything."""


@dataclass(frozen=True, slots=True)
class KnownValue:
    """``value``, at ``place`` in the file, is what ``path`` in the golden result of turn ``turn_no`` holds."""

    place: JSONPath
    value: JSON
    turn_no: int
    path: JSONPath


def known_from(dialog: Dialog) -> Iterator[KnownValue]:
    """Values that come from a result the turn does not rest on, and from nowhere else before it.

    What the user said, or an earlier call already sent, may have come from there and is left out. Of several results
    that hold the value the latest is named.
    """
    said = ""
    sent: set[str] = set()
    results: list[tuple[ToolTurn, dict[str, tuple[JSON, JSONPath]]]] = []
    for turn in dialog.turns:
        if isinstance(turn, UserTurn):
            said += f" {normalise(turn.text)} "
            continue
        rests_on = set(dialog.ancestors(turn.turn_no))
        for place, key, value in _values(turn, results):
            holders = [(upstream, held[key]) for upstream, held in results if key in held]
            given = key in sent or f" {key} " in said
            if holders and not given and not any(upstream.turn_no in rests_on for upstream, _ in holders):
                upstream, (_, path) = holders[-1]
                yield KnownValue(place, value, upstream.turn_no, path)
        if isinstance(turn, ToolTurn):
            sent.update(key for _, key, _ in _leaves(turn.args, ()))
            if turn.has_result:
                results.append((turn, {key: (value, path) for path, key, value in _leaves(turn.result, ())}))


def _values(
    turn: ToolTurn | AgentTurn, results: Sequence[tuple[ToolTurn, Mapping[str, tuple[JSON, JSONPath]]]]
) -> Iterator[tuple[JSONPath, str, JSON]]:
    if isinstance(turn, ToolTurn):
        yield from _leaves(turn.args, ("turns", turn.index, "gold_turn", "args"))
        return
    place: JSONPath = ("turns", turn.index, "gold_turn", "response")
    text = f" {normalise(turn.response or '')} "
    seen = set()
    for _, held in results:
        for key, (value, _) in held.items():
            if key not in seen and re.search(r"\d", key) and f" {key} " in text:
                seen.add(key)
                yield place, key, value


def _leaves(value: JSON, at: JSONPath) -> Iterator[tuple[JSONPath, str, JSON]]:
    """(place, normal form, value) of every value that is not too common to prove anything."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _leaves(item, (*at, name))
    elif isinstance(value, str):
        key = normalise(value)
        if len(key) >= _SHORTEST_TEXT and not references_in(value):
            yield at, key, value
    elif isinstance(value, Sequence):
        for index, item in enumerate(value):
            yield from _leaves(item, (*at, index))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        number = float(value) if abs(value) < 2**53 else value
        if abs(value) >= _SMALLEST_INTEGER or number != int(number):
            yield at, str(int(number) if number == int(number) else number), value
