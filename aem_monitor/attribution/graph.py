"""What a golden dialog itself says about its dependencies: declared, referenced, and proven by its values.

Computed once per dialog and version, from the dialog alone. A *lift* ties one expected value to the place in an earlier
golden result that it was taken from, so that a run's own value can stand in for it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from typing import Final

from aem_monitor.golden.dialog import AgentTurn, Dialog, ToolTurn, UserTurn
from aem_monitor.golden.reference import JSONPath, Reference, references_in, spoken
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.scoring.responses import facts
from aem_monitor.scoring.values import Fact, ValueContext, occurrences, trivial
from aem_monitor.scoring.values.forms import NameForm
from aem_monitor.scoring.values.words import tokens

_MOST_FILLINGS: Final = 64
"""Fillings of one text that are tried: more come about only where one value stands at many places of a result."""

_TELLING: Final = re.compile(r"(?=[^a-z]).{4,200}\Z|\d{3,}\Z")
"""Values of results that a text has from there if it has them word for word: names, which begin with a capital, and
what begins with a digit or a sign. Words such as "delivered" stand in texts for reasons of their own."""


@dataclass(frozen=True, slots=True)
class Lift:
    """A value of a later turn that golden turn ``turn_no`` returned, at one of ``paths`` of its result.

    ``explicit`` lifts are references of the author, the others are proven by equal values.
    """

    turn_no: int
    paths: tuple[JSONPath, ...]
    explicit: bool


@dataclass(frozen=True, slots=True)
class Echo:
    """An expected argument or mention that equals the golden argument at ``path`` of an earlier turn it depends on."""

    turn_no: int
    path: JSONPath


@dataclass(frozen=True, slots=True)
class Hole:
    """A part of a text, from ``start`` to ``end``, that is lifted. ``golden``: its golden form, None if not known."""

    start: int
    end: int
    golden: str | None
    lifts: tuple[Lift, ...]


@dataclass(frozen=True, slots=True)
class Template:
    """An expected text into which values of earlier results are woven: "Meeting ID: 4711", "1319.43 - 302.67".

    Where the run's own result is another one, so is the text that is expected; where an earlier turn failed, the text
    may inherit that turn's real values.
    """

    text: str
    holes: tuple[Hole, ...]

    def filled(self, parts: Sequence[str]) -> str:
        """The text with ``parts`` in its holes."""
        out, at = "", 0
        for hole, part in zip(self.holes, parts, strict=True):
            out += self.text[at : hole.start] + part
            at = hole.end
        return out + self.text[at:]

    def fillings(self, choices: Callable[[Hole], Sequence[tuple[str, int | None]]]) -> Iterator[tuple[str, set[int]]]:
        """Texts that come about from what each hole may hold, each with the turns named beside the parts taken."""
        for chosen in islice(product(*map(choices, self.holes)), _MOST_FILLINGS):
            yield self.filled([part for part, _ in chosen]), {turn for _, turn in chosen if turn is not None}


@dataclass(frozen=True, slots=True)
class TurnLinks:
    """How one golden turn hangs on earlier ones.

    ``declared`` are the turns that the author names, in ``depends_on`` or by reference; ``proven`` those found by
    values. ``lifts``, ``templates`` and ``echoes`` are keyed by the place of a leaf in the arguments; a text has lifts
    where it is lifted as a whole or written with references, a template where parts of it are. ``text_lifts`` belong
    to facts of the reference reply, ``mention_lifts`` and ``mention_echoes`` to the mentions, all by position.
    """

    declared: frozenset[int] = frozenset()
    proven: frozenset[int] = frozenset()
    lifts: Mapping[JSONPath, tuple[Lift, ...]] = field(default_factory=dict)
    templates: Mapping[JSONPath, Template] = field(default_factory=dict)
    echoes: Mapping[JSONPath, tuple[Echo, ...]] = field(default_factory=dict)
    text_lifts: tuple[tuple[Fact, tuple[Lift, ...]], ...] = ()
    mention_lifts: tuple[tuple[Lift, ...], ...] = ()
    mention_echoes: tuple[tuple[Echo, ...], ...] = ()

    @property
    def depends_on(self) -> tuple[int, ...]:
        """All earlier turns that this one hangs on, rising."""
        return tuple(sorted(self.declared | self.proven))


def links_of(dialog: Dialog, context: ValueContext) -> dict[int, TurnLinks]:
    """The links of every numbered turn of a dialog."""
    linked: dict[int, TurnLinks] = {}
    said: list[str] = []
    earlier: list[ToolTurn] = []
    for turn in dialog.turns:
        if isinstance(turn, UserTurn):
            said.append(turn.text)
            continue
        finder = _Finder(dialog, tuple(earlier), tuple(said), frozenset(turn.dependencies), context)
        if isinstance(turn, ToolTurn):
            linked[turn.turn_no] = finder.action(turn)
            earlier.append(turn)
        else:
            linked[turn.turn_no] = finder.reply(turn)
    return linked


@dataclass(frozen=True, slots=True)
class _Finder:
    dialog: Dialog
    earlier: tuple[ToolTurn, ...]
    said: tuple[str, ...]
    declared: frozenset[int]
    context: ValueContext

    def action(self, turn: ToolTurn) -> TurnLinks:
        lifts: dict[JSONPath, tuple[Lift, ...]] = {}
        templates: dict[JSONPath, Template] = {}
        echoes: dict[JSONPath, tuple[Echo, ...]] = {}
        for path, value in leaves(turn.args):
            found = self.lifts(value)
            if found:
                lifts[path] = found
            if isinstance(value, str) and (template := self.template(value, found)).holes:
                templates[path] = template
            same = self.echoes(value)
            if same:
                echoes[path] = same
        proven = {lift.turn_no for found in lifts.values() for lift in found}
        proven |= {lift.turn_no for one in templates.values() for hole in one.holes for lift in hole.lifts}
        return TurnLinks(self.declared, frozenset(proven - self.declared), lifts, templates, echoes)

    def reply(self, turn: AgentTurn) -> TurnLinks:
        text = tuple(self.lifted_parts(turn.response)) if turn.response else ()
        mentions = tuple(self.lifts(mention) for mention in turn.must_mention)
        proven = {lift.turn_no for _, found in text for lift in found}
        proven |= {lift.turn_no for found in mentions for lift in found}
        return TurnLinks(
            self.declared,
            frozenset(proven - self.declared),
            text_lifts=text,
            mention_lifts=mentions,
            mention_echoes=tuple(self.echoes(mention) for mention in turn.must_mention),
        )

    def lifts(self, value: JSON) -> tuple[Lift, ...]:
        """Where ``value`` was taken from. A value that the user said is the user's, unless the author refers to it."""
        if isinstance(value, str) and "${" in value:
            return tuple(_explicit(reference) for reference in references_in(value))
        if trivial(value) or any(occurrences(value, text, self.context) for text in self.said):
            return ()
        found = [
            Lift(turn.turn_no, paths, explicit=False)
            for turn in self.earlier
            if turn.has_result and (paths := tuple(occurrences(value, turn.result, self.context)))
        ]
        declared = [lift for lift in found if lift.turn_no in self.declared]
        return tuple(declared or found)

    def lifted_parts(self, text: str) -> list[tuple[Fact, tuple[Lift, ...]]]:
        """The facts of a text that are lifted, in order, and what results hold word for word and no fact is.

        "Electric Kettle and Mechanical Keyboard" reads as one name; two results, or two entries of one, are in it.
        """
        found = [(fact, lifts) for fact in facts(text, self.context) if (lifts := self.lifts(fact.text))]
        for fact in self._verbatim(text):
            if not any(fact.start < other.end and other.start < fact.end for other, _ in found):
                lifts = self.lifts(fact.text)
                found += [(fact, lifts)] if lifts else []
        return sorted(found, key=lambda part: part[0].start)

    def _verbatim(self, text: str) -> list[Fact]:
        """Names and identifiers of earlier results that stand in a text, the longest first."""
        values = {
            str(value)
            for turn in self.earlier
            if turn.has_result
            for _, value in leaves(turn.result)
            if not isinstance(value, bool) and _TELLING.match(str(value)) and str(value) in text
        }
        return [
            Fact("name", value, match.start(), match.end(), NameForm(tokens(value)))
            for value in sorted(values, key=lambda value: (-len(value), value))
            for match in re.finditer(rf"(?<![\w.-]){re.escape(value)}(?![\w-]|\.\d)", text)
        ]

    def template(self, text: str, whole: tuple[Lift, ...]) -> Template:
        """The parts of a text that are lifted, references and values. One that is lifted as a whole has none."""
        holes: list[Hole] = []
        at = 0
        for reference in references_in(text):
            start = text.index(reference.text, at)
            at = start + len(reference.text)
            holes.append(Hole(start, at, self._golden(reference.text), (_explicit(reference),)))
        if (whole and not holes) or (len(holes) == 1 and (holes[0].start, holes[0].end) == (0, len(text))):
            return Template(text, ())
        for fact, lifts in self.lifted_parts(text):
            if not any(fact.start < hole.end and hole.start < fact.end for hole in holes):
                holes.append(Hole(fact.start, fact.end, fact.text, lifts))
        return Template(text, tuple(sorted(holes, key=lambda hole: hole.start)))

    def _golden(self, reference: str) -> str | None:
        try:
            return spoken(self.dialog.golden_form(reference))
        except LookupError:
            return None

    def echoes(self, value: JSON) -> tuple[Echo, ...]:
        if trivial(value):
            return ()
        return tuple(
            Echo(turn.turn_no, path)
            for turn in self.earlier
            if turn.turn_no in self.declared
            for path in occurrences(value, turn.args, self.context)
        )


def _explicit(reference: Reference) -> Lift:
    return Lift(reference.turn_no, (reference.path,), explicit=True)


def leaves(value: JSON, at: JSONPath = ()) -> list[tuple[JSONPath, JSON]]:
    """All leaves of a JSON tree with their places; an empty object or list is a leaf."""
    if isinstance(value, Mapping) and value:
        return [leaf for key, item in value.items() for leaf in leaves(item, (*at, key))]
    if isinstance(value, list | tuple) and value:
        return [leaf for index, item in enumerate(value) for leaf in leaves(item, (*at, index))]
    return [(at, value)]
