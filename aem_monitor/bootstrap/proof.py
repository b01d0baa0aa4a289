"""Where the values of a script come from: what the same code finds that later traces blame through a dialog.

Every recording is read as the dialog that it literally is, and ``attribution.graph`` links it. A place that holds a
value in every recording that has it is a proof; a single recording proves where only one place holds the value, or
where the value is an identifier.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from aem_monitor.attribution.graph import Lift, TurnLinks, leaves, links_of
from aem_monitor.bootstrap.matching import identifies
from aem_monitor.bootstrap.recorded import RecordedCall
from aem_monitor.bootstrap.script import Scene
from aem_monitor.golden.dialog import Dialog, ToolTurn, UserTurn
from aem_monitor.golden.load import dialog_from
from aem_monitor.golden.reference import JSONPath, Reference, parse_reference, references_in, resolve, spoken
from aem_monitor.model.conversation import NOT_CAPTURED, Captured
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.scoring.responses import facts
from aem_monitor.scoring.values import Fact, ValueContext, occurrences, trivial

Place = tuple[int, JSONPath]
"""A turn's number and a path in its result."""

_LONGEST: Final = 200
_DIGITS_OF_A_NAME: Final = 2
_WORDS: Final = frozenset({"name", "quoted"})
"""Kinds of facts that are words, if they are no identifiers: they stand in texts for other reasons than having been
returned."""


def spelled(place: Place) -> str:
    """A place as a reference."""
    number, path = place
    steps = (f"[{step}]" if isinstance(step, int) else _named(step) for step in path)
    return f"${{{number}.result{''.join(steps)}}}"


def _named(step: str) -> str:
    return f'["{step}"]' if re.search(r'[.\[\]{}"]', step) else f".{step}"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where one value comes from. ``places`` hold exactly the value; ``turns`` hold it at all, rising.

    ``identifier``: all the places are fields for identifiers. Such a value names one thing wherever it stands, so that
    any of the places will do. ``keyed``: a place that holds it is below a key which is data itself, where no reference
    can lead.
    """

    places: tuple[Place, ...] = ()
    turns: tuple[int, ...] = ()
    identifier: bool = False
    keyed: bool = False

    @property
    def proven(self) -> Place | None:
        """The one place, of an identifier the first one; or None."""
        return self.places[0] if len(self.places) == 1 or (self.places and self.identifier) else None


@dataclass(frozen=True, slots=True)
class Numbering:
    """Turn numbers of a script: of each step and reply by (scene, step), a reply's step being -1."""

    of: Mapping[tuple[int, int], int]

    @classmethod
    def rising(cls, scenes: Sequence[Scene]) -> "Numbering":
        """From 1, without gaps."""
        return cls({key: number for number, key in enumerate(_numbered(scenes), start=1)})

    @classmethod
    def keeping(cls, scenes: Sequence[Scene], known: Mapping[tuple[int, int], int]) -> "Numbering | None":
        """The numbers that some turns have already; others take free ones in between. None where these do not do."""
        of: dict[tuple[int, int], int] = {}
        last = 0
        for key in _numbered(scenes):
            number = known.get(key, last + 1)
            if number <= last:
                return None
            of[key] = last = number
        return cls(of)


def _numbered(scenes: Sequence[Scene]) -> Iterator[tuple[int, int]]:
    """Steps and replies in the order of the script."""
    for number, scene in enumerate(scenes):
        yield from ((number, at) for at in range(len(scene.steps)))
        if scene.replies or scene.written_reply is not None:
            yield number, -1


@dataclass(slots=True)
class Proofs:
    """What is proven. ``arguments`` by turn and place of a leaf, ``facts`` by turn and recording.

    ``texts`` are arguments that hold values of results inside a longer text, written with references.
    """

    arguments: dict[int, dict[JSONPath, Origin]] = field(default_factory=dict)
    texts: dict[int, dict[JSONPath, str]] = field(default_factory=dict)
    facts: dict[tuple[int, int], list[tuple[Fact, Origin]]] = field(default_factory=dict)


def proofs_of(scenes: Sequence[Scene], numbering: Numbering, runs: Mapping[int, ValueContext]) -> Proofs:
    """The proofs of a script over all its recordings, each with the context of its own day."""
    proofs = Proofs()
    found: dict[int, dict[JSONPath, list[Origin]]] = {}
    golden = {
        numbering.of[number, at]: step.first.result
        for number, scene in enumerate(scenes)
        for at, step in enumerate(scene.steps)
    }
    for run, context in runs.items():
        dialog = dialog_from(literal(scenes, numbering, run), f"recording {run + 1}")
        links = links_of(dialog, context)
        for turn_no, linked in links.items():
            turn = dialog.by_number[turn_no]
            if isinstance(turn, ToolTurn):
                for path, value in leaves(turn.args):
                    origin = _origin(dialog, value, linked.lifts.get(path, ()), context)
                    found.setdefault(turn_no, {}).setdefault(path, []).append(origin)
                    if isinstance(value, str) and not origin.places:
                        written = _with_references(dialog, turn, value, context)
                        if written != value:
                            proofs.texts.setdefault(turn_no, {}).setdefault(path, written)
            else:
                proofs.facts[turn_no, run] = _facts(dialog, linked, context)
    for turn_no, by_path in found.items():
        proofs.arguments[turn_no] = {path: _written(_common(origins), golden) for path, origins in by_path.items()}
    proofs.texts = {
        turn_no: {path: text for path, text in by_path.items() if _all_there(text, golden)}
        for turn_no, by_path in proofs.texts.items()
    }
    proofs.facts = {
        key: [(fact, _written(origin, golden)) for fact, origin in found_facts]
        for key, found_facts in proofs.facts.items()
    }
    return proofs


def literal(scenes: Sequence[Scene], numbering: Numbering, run: int) -> dict[str, Any]:
    """One recording as the dialog that repeats it word for word."""
    turns: list[dict[str, Any]] = []
    for number, scene in enumerate(scenes):
        turns.append({"turn": "User", "text": scene.user})
        for at, step in enumerate(scene.steps):
            call = step.calls.get(run)
            if call is not None:
                turn = {"turn_no": numbering.of[number, at], "turn": "Tool", "gold_turn": gold_call(call)}
                if call.result is not NOT_CAPTURED:
                    turn["result"] = call.result
                turns.append(turn)
        if run in scene.replies:
            turns.append(
                {
                    "turn_no": numbering.of[number, -1],
                    "turn": "Agent",
                    "gold_turn": {"response": scene.replies[run]},
                }
            )
    return {"dialog": "recording", "turns": turns}


def gold_call(call: RecordedCall) -> dict[str, Any]:
    """The ``gold_turn`` of a recorded call."""
    gold: dict[str, Any] = {"tool_id": call.tool}
    if call.action is not None:
        gold["action"] = call.action
    if call.args:
        gold["args"] = dict(call.args)
    return gold


def _with_references(dialog: Dialog, turn: ToolTurn, text: str, context: ValueContext) -> str:
    """A text with references in the place of values that one earlier result holds just so, and that no user said."""
    said = [other.text for other in dialog.turns if isinstance(other, UserTurn) and other.index < turn.index]
    earlier = [
        other
        for other in dialog.scored_turns
        if isinstance(other, ToolTurn) and other.has_result and other.turn_no < turn.turn_no
    ]
    for fact in reversed(facts(text, context)) if earlier else ():
        value = fact.text
        if value == text or trivial(value) or any(occurrences(value, one, context) for one in said):
            continue
        lifts = [
            Lift(other.turn_no, paths, explicit=False)
            for other in earlier
            if (paths := tuple(occurrences(value, other.result, context)))
        ]
        origin = _origin(dialog, value, lifts, context)
        if fact.kind in _WORDS and not origin.identifier:
            continue
        proven = origin.proven
        if proven is not None and spoken(dialog.golden_value(Reference(*proven, ""))) == value:
            text = text[: fact.start] + spelled(proven) + text[fact.end :]
    return text


def _facts(dialog: Dialog, linked: TurnLinks, context: ValueContext) -> list[tuple[Fact, Origin]]:
    return [(fact, _origin(dialog, fact.text, lifts, context)) for fact, lifts in linked.text_lifts]


def _origin(dialog: Dialog, value: JSON, lifts: Sequence[Lift], context: ValueContext) -> Origin:
    """The places that hold the value and nothing else; of calls that were repeated word for word the first one's."""
    places: list[Place] = []
    seen: set[tuple[str, JSONPath]] = set()
    keyed = False
    for lift in lifts:
        turn = dialog.by_number[lift.turn_no]
        if not isinstance(turn, ToolTurn):
            continue
        same_call = f"{turn.tool_id}\x1f{turn.action}\x1f{turn.args!r}"
        for path in lift.paths:
            try:
                held = resolve(path, turn.result)
            except LookupError:
                continue  # inside a text that holds JSON: a reference cannot go there
            if any(isinstance(step, str) and _names_a_value(step) for step in path):
                keyed = True  # the key is data itself: another run has another one
                continue
            if (same_call, path) not in seen and _equal(value, held, context) and _writable((lift.turn_no, path)):
                seen.add((same_call, path))
                # A result that gives back what the call was given is not where the value comes from.
                if not occurrences(value, turn.args, context):
                    places.append((lift.turn_no, path))
    identifier = isinstance(value, str) and all(identifies(_field(path), value) for _, path in places)
    return Origin(tuple(places), tuple(sorted({lift.turn_no for lift in lifts})), identifier, keyed)


def _field(path: JSONPath) -> str:
    """The name of the field that a place is or is an entry of."""
    return next((step for step in reversed(path) if isinstance(step, str)), "")


def _equal(value: JSON, held: JSON, context: ValueContext) -> bool:
    if isinstance(held, str) and len(held) > _LONGEST:
        return False
    if value == held and type(value) is type(held):
        return True
    # Elsewhere than in the value as a whole: an entry of a list that is written as JSON text is not the text.
    return () in occurrences(held, value, context)


def _names_a_value(key: str) -> bool:
    """Whether an object's key is an identifier rather than the name of a field ("address_1")."""
    return sum(char.isdigit() for char in key) > _DIGITS_OF_A_NAME


def _writable(place: Place) -> bool:
    """Whether a reference can spell the place."""
    read = parse_reference(spelled(place))
    return read is not None and (read.turn_no, read.path) == place


def _written(origin: Origin, golden: Mapping[int, Captured]) -> Origin:
    """Without places that the golden results, those of the first recording that made each call, do not have."""
    places = tuple(place for place in origin.places if _is_there(place, golden))
    return replace(origin, places=places)


def _all_there(text: str, golden: Mapping[int, Captured]) -> bool:
    return all(_is_there((reference.turn_no, reference.path), golden) for reference in references_in(text))


def _is_there(place: Place, golden: Mapping[int, Captured]) -> bool:
    result = golden.get(place[0], NOT_CAPTURED)
    if result is NOT_CAPTURED:
        return True
    try:
        resolve(place[1], result)
    except LookupError:
        return False
    return True


def _common(origins: Sequence[Origin]) -> Origin:
    """What all recordings agree on."""
    first, *rest = origins
    places = [place for place in first.places if all(place in other.places for other in rest)]
    turns = {number for origin in origins for number in origin.turns}
    identifier, keyed = all(one.identifier for one in origins), any(one.keyed for one in origins)
    return Origin(tuple(places), tuple(sorted(turns)), identifier, keyed)
