"""Golden dialogs as scoring reads them: frozen, plain attributes, all that can be known beforehand worked out."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Final, Literal, TypeAlias

from aem_monitor.golden.form import (
    AgentTurnForm,
    CallForm,
    DialogForm,
    OtherCallForm,
    ReplyForm,
    ToolTurnForm,
    UserTurnForm,
    VariantForm,
)
from aem_monitor.golden.matchers import Matcher
from aem_monitor.golden.reference import JSONPath, Reference, fill, references_in, references_of, resolve
from aem_monitor.golden.toolrules import ToolRules, tool_rules
from aem_monitor.model.conversation import Captured
from aem_monitor.model.jsonvalue import JSON

Presence: TypeAlias = Literal["required", "optional", "forbidden"]
ExtraCalls: TypeAlias = Literal["fail", "ignore_read_only", "ignore"]

ORDER_TAG: Final = re.compile(r"OrderInvariant_[\w.-]+")
"""The only tags that mean something to scoring; every other tag is a label of the author's."""


@dataclass(frozen=True, slots=True)
class UserTurn:
    """What the user says. ``index`` is its place in the file's ``turns``, as for the other turns."""

    text: str
    index: int


@dataclass(frozen=True, slots=True)
class ToolTurn:
    """An expected call.

    ``result`` is only meaningful with ``has_result``; a golden ``null`` is None. ``depends_on`` is what the author
    declared, ``references`` what stands in ``args`` (place, reference), ``dependencies`` the two together, rising.
    ``match`` is keyed by argument name or dotted path. ``order_tags`` are the tags that let turns of one exchange come
    in any order, ``tags`` are all. ``alternates`` are whole turns that may stand in this one's place. ``weight`` counts
    in the weighted mean only, ``critical`` where a rule gates. A turn with ``skip`` is aligned, so that its call is no
    extra one and later turns can build on it, but not scored.
    """

    turn_no: int
    index: int
    tool_id: str
    action: str | None
    args: Mapping[str, JSON]
    result: JSON = None
    has_result: bool = False
    depends_on: tuple[int, ...] = ()
    references: tuple[tuple[JSONPath, Reference], ...] = ()
    dependencies: tuple[int, ...] = ()
    match: Mapping[str, Matcher] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    order_tags: frozenset[str] = frozenset()
    presence: Presence = "required"
    alternates: tuple["ToolTurn", ...] = ()
    threshold: float | None = None
    weight: float = 1.0
    critical: bool = False
    skip: bool = False


@dataclass(frozen=True, slots=True)
class AgentTurn:
    """An expected reply. ``response`` is None when only the mentions count.

    ``references`` are those of the reference text and of the mentions. ``thresholds`` are least shares of right claims
    by sub-metric (completeness, truthfulness), where the turn says any.
    """

    turn_no: int
    index: int
    response: str | None
    must_mention: tuple[str, ...] = ()
    must_not_mention: tuple[str, ...] = ()
    depends_on: tuple[int, ...] = ()
    references: tuple[Reference, ...] = ()
    dependencies: tuple[int, ...] = ()
    tags: tuple[str, ...] = ()
    alternates: tuple["AgentTurn", ...] = ()
    thresholds: Mapping[str, float] = field(default_factory=dict)
    weight: float = 1.0
    critical: bool = False
    skip: bool = False


ScoredTurn: TypeAlias = ToolTurn | AgentTurn


@dataclass(frozen=True, slots=True)
class GoldenExchange:
    """A user message and the turns up to the next one. ``user`` is None in an open dialog, which has one exchange."""

    user: UserTurn | None
    turns: tuple[ScoredTurn, ...]

    @property
    def tools(self) -> tuple[ToolTurn, ...]:
        """The expected calls, forbidden ones included."""
        return tuple(turn for turn in self.turns if isinstance(turn, ToolTurn))

    @property
    def replies(self) -> tuple[AgentTurn, ...]:
        """The expected replies: at most one in a scripted dialog."""
        return tuple(turn for turn in self.turns if isinstance(turn, AgentTurn))


@dataclass(frozen=True, slots=True)
class Review:
    """Who vouches for the dialog."""

    draft: bool
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Recognise:
    """How a run is recognised without an id: spellings of the first message, and attributes that must be there.

    ``where`` maps attribute names to the values any of which will do; ``"any"`` lifts the restriction on purpose, None
    leaves it to the configured default.
    """

    first_user: tuple[str, ...] = ()
    where: Mapping[str, tuple[JSON, ...]] | Literal["any"] | None = None


@dataclass(frozen=True, slots=True)
class Forbidden:
    """A call that must never happen; ``action`` None means any action of the tool."""

    tool_id: str
    action: str | None = None


@dataclass(frozen=True, slots=True)
class EndState:
    """What must be true at the end: a successful call with these arguments, the last of which returned ``result``.

    ``result`` is only meaningful with ``has_result``; of objects only the keys given count.
    """

    tool_id: str
    action: str | None
    args: Mapping[str, JSON]
    result: JSON = None
    has_result: bool = False


_NO_ARGS: Final[Mapping[str, Captured]] = {}


@dataclass(frozen=True, slots=True)
class Dialog:
    """One golden dialog of one version. ``turns`` has every turn of the file in its order."""

    name: str
    version: int
    agent: str | None
    review: Review
    recognise: Recognise
    reference_date: date | None
    tools: Mapping[str, ToolRules]
    extra_calls: ExtraCalls
    turns: tuple[UserTurn | ScoredTurn, ...]
    forbidden: tuple[Forbidden, ...]
    exchanges: tuple[GoldenExchange, ...]
    by_number: Mapping[int, ScoredTurn]
    outcome: tuple[EndState, ...] = ()
    choices: Mapping[int, int] = field(default_factory=dict)
    variant: str | None = None
    variants: tuple["Dialog", ...] = ()

    @property
    def paths(self) -> tuple["Dialog", ...]:
        """The path as listed, then its variants. All have the same user turns."""
        return (self, *self.variants)

    def choosing(self, choices: Mapping[int, int]) -> "Dialog":
        """This path with other turns: turn number to the place in its ``alternates``, from 0."""
        turns = tuple(
            turn.alternates[choices[turn.turn_no]]
            if not isinstance(turn, UserTurn) and turn.turn_no in choices
            else turn
            for turn in self.turns
        )
        return replace(self, turns=turns, exchanges=_exchanges(turns), by_number=_by_number(turns), choices=choices)

    @property
    def tool_ids(self) -> frozenset[str]:
        """Every tool that some path expects or forbids."""
        named = {item.tool_id for item in self.forbidden}
        for path in self.paths:
            for turn in path.by_number.values():
                if isinstance(turn, ToolTurn):
                    named.update(one.tool_id for one in (turn, *turn.alternates))
        return frozenset(named)

    @property
    def draft(self) -> bool:
        """Whether its runs stay out of every quality metric, gate and alert."""
        return self.review.draft

    @property
    def open(self) -> bool:
        """Whether the user's messages are free: no User turn at all."""
        return not any(isinstance(turn, UserTurn) for turn in self.turns)

    @property
    def scored_turns(self) -> tuple[ScoredTurn, ...]:
        """All numbered turns in the order of the file."""
        return tuple(self.by_number.values())

    @property
    def first_user(self) -> tuple[str, ...]:
        """Texts that start a run of this dialog: the listed spellings and the first golden User turn."""
        opening = next((turn.text for turn in self.turns if isinstance(turn, UserTurn)), None)
        if opening is None or opening in self.recognise.first_user:
            return self.recognise.first_user
        return (*self.recognise.first_user, opening)

    def read_only(self, tool: str, action: str | None) -> bool:
        """Whether the call changes nothing; tools that the dialog does not list count as writes."""
        rules = self.tools.get(tool)
        return rules is not None and (rules.reads_all or action in rules.reads)

    def optional_args(self, tool: str, action: str | None) -> Mapping[str, Captured]:
        """Arguments that a call may leave out, with their defaults (``NOT_CAPTURED``: no default)."""
        rules = self.tools.get(tool)
        return rules.optional_args.get(action, _NO_ARGS) if rules else _NO_ARGS

    def forbids(self, tool: str, action: str | None) -> bool:
        """Whether the dialog's own ``forbidden`` list names the call; forbidden turns are judged as turns."""
        return any(item.tool_id == tool and item.action in (None, action) for item in self.forbidden)

    def dependencies(self, turn_no: int) -> tuple[int, ...]:
        """The earlier turns that a turn declares or refers to, rising."""
        return self.by_number[turn_no].dependencies

    def ancestors(self, turn_no: int) -> tuple[int, ...]:
        """All earlier turns that a turn rests on, over any number of steps, rising."""
        seen: set[int] = set()
        waiting = list(self.dependencies(turn_no))
        while waiting:
            number = waiting.pop()
            if number not in seen:
                seen.add(number)
                waiting.extend(self.dependencies(number))
        return tuple(sorted(seen))

    def golden_value(self, reference: Reference) -> JSON:
        """What the reference is in the golden run. Raises ``LookupError`` if the golden result is not given."""
        turn = self.by_number.get(reference.turn_no)
        if not isinstance(turn, ToolTurn) or not turn.has_result:
            raise LookupError(f"turn {reference.turn_no} has no golden result")
        return resolve(reference.path, turn.result)

    def golden_form(self, value: JSON) -> JSON:
        """``value`` with its references replaced by what they are in the golden run. Raises as ``golden_value``."""
        return fill(value, self.golden_value)


def dialog_of(form: DialogForm) -> Dialog:
    """The dialog of a form that ``check.faults_of`` found nothing wrong with."""
    turns = tuple(_turn(turn, index) for index, turn in enumerate(form.turns))
    main = Dialog(
        name=form.dialog,
        version=form.version,
        agent=form.agent,
        review=Review(draft=form.review.status == "draft", note=form.review.note),
        recognise=Recognise(
            first_user=form.recognise.first_user,
            where=form.recognise.where,
        ),
        reference_date=form.reference_date,
        tools=tool_rules(form),
        extra_calls=form.extra_calls,
        turns=turns,
        forbidden=tuple(Forbidden(item.tool_id, item.action) for item in form.forbidden),
        exchanges=_exchanges(turns),
        by_number=_by_number(turns),
        outcome=tuple(
            EndState(one.tool_id, one.action, one.args, one.result, "result" in one.model_fields_set)
            for one in form.outcome
        ),
    )
    return replace(main, variants=tuple(_variant(main, one) for one in form.variants))


def _variant(main: Dialog, form: VariantForm) -> Dialog:
    turns = tuple(_turn(turn, index) for index, turn in enumerate(form.turns))
    return replace(main, turns=turns, exchanges=_exchanges(turns), by_number=_by_number(turns), variant=form.name)


def _by_number(turns: Iterable[UserTurn | ScoredTurn]) -> dict[int, ScoredTurn]:
    return {turn.turn_no: turn for turn in turns if not isinstance(turn, UserTurn)}


def _turn(form: UserTurnForm | ToolTurnForm | AgentTurnForm, index: int) -> UserTurn | ScoredTurn:
    if isinstance(form, UserTurnForm):
        return UserTurn(form.text, index)
    others = [alternate_form(form, place) for place in range(len(form.alternates))]
    if isinstance(form, ToolTurnForm):
        calls = tuple(_tool_turn(other, index) for other in others if isinstance(other, ToolTurnForm))
        return replace(_tool_turn(form, index), alternates=calls)
    replies = tuple(_agent_turn(other, index) for other in others if isinstance(other, AgentTurnForm))
    return replace(_agent_turn(form, index), alternates=replies)


def alternate_form(form: ToolTurnForm | AgentTurnForm, place: int) -> ToolTurnForm | AgentTurnForm:
    """The turn with one of its alternates in its place."""
    other = form.alternates[place]
    given = other.model_fields_set
    if isinstance(other, OtherCallForm):
        call = CallForm(tool_id=other.tool_id, action=other.action, args=other.args)
        changed: dict[str, object] = {"gold_turn": call, "match": other.match, "alternates": (), "effect": None}
        changed |= {"result": other.result} if "result" in given else {}
    else:
        changed = {"gold_turn": ReplyForm(response=other.response), "alternates": ()}
        changed |= {"must_mention": other.must_mention} if "must_mention" in given else {}
    return form.model_copy(update=changed)


def _tool_turn(form: ToolTurnForm, index: int) -> ToolTurn:
    places = tuple(references_of(form.gold_turn.args))
    return ToolTurn(
        turn_no=form.turn_no,
        index=index,
        tool_id=form.gold_turn.tool_id,
        action=form.gold_turn.action,
        args=form.gold_turn.args,
        result=form.result,
        has_result="result" in form.model_fields_set,
        depends_on=form.depends_on,
        references=places,
        dependencies=_rising(form.depends_on, (reference for _, reference in places)),
        match=form.match,
        tags=form.tags,
        order_tags=frozenset(tag for tag in form.tags if ORDER_TAG.fullmatch(tag)),
        presence=form.presence,
        threshold=form.threshold,
        weight=form.weight,
        critical=form.critical,
        skip=form.skip,
    )


def _agent_turn(form: AgentTurnForm, index: int) -> AgentTurn:
    response = form.gold_turn.response if form.gold_turn else None
    texts = (response or "", *form.must_mention)
    references = tuple(reference for text in texts for reference in references_in(text))
    return AgentTurn(
        turn_no=form.turn_no,
        index=index,
        response=response,
        must_mention=form.must_mention,
        must_not_mention=form.must_not_mention,
        depends_on=form.depends_on,
        references=references,
        dependencies=_rising(form.depends_on, references),
        tags=form.tags,
        thresholds=form.thresholds.model_dump(exclude_none=True) if form.thresholds else {},
        weight=form.weight,
        critical=form.critical,
        skip=form.skip,
    )


def _rising(declared: Iterable[int], references: Iterable[Reference]) -> tuple[int, ...]:
    return tuple(sorted({*declared, *(reference.turn_no for reference in references)}))


def _exchanges(turns: tuple[UserTurn | ScoredTurn, ...]) -> tuple[GoldenExchange, ...]:
    out: list[GoldenExchange] = []
    user: UserTurn | None = None
    scored: list[ScoredTurn] = []
    for turn in turns:
        if not isinstance(turn, UserTurn):
            scored.append(turn)
            continue
        if user is not None or scored:
            out.append(GoldenExchange(user, tuple(scored)))
        user, scored = turn, []
    out.append(GoldenExchange(user, tuple(scored)))
    return tuple(out)
