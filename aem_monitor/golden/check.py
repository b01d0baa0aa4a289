"""What a golden dialog must fulfil beyond the form of its fields. Pure; every fault is found, not only the first."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

import re2

from aem_monitor.document import key_path
from aem_monitor.golden.dialog import ORDER_TAG, alternate_form
from aem_monitor.golden.form import AgentTurnForm, DialogForm, ToolTurnForm, UserTurnForm
from aem_monitor.golden.matchers import (
    AnyOf,
    Day,
    Exact,
    FreeText,
    Identifier,
    Ignore,
    InAnyOrder,
    InOrder,
    Matcher,
    Member,
    Number,
    Parallel,
    Pattern,
    PointInTime,
    TimeOfDay,
)
from aem_monitor.golden.reference import (
    JSONPath,
    Reference,
    malformed_in,
    parse_reference,
    references_in,
    resolve,
    texts_of,
)
from aem_monitor.golden.toolrules import optional_args_of
from aem_monitor.model.jsonvalue import JSON


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong at a place of the document; the message says what, and what to do."""

    path: JSONPath
    message: str


class NoSuchArgumentError(LookupError):
    """A matcher names an argument that the expected call does not have."""


def argument_at(args: JSON, name: str) -> JSON:
    """The argument that a matcher's key names: an argument of that very name, else a dotted path into nested objects.

    A path goes through lists to each of their entries; the first one's value is given. A path into a value that is
    itself a reference gives that reference. Raises ``NoSuchArgumentError``.
    """
    if isinstance(args, Mapping) and name in args:
        return args[name]
    found = _below(args, name.split("."))
    if found is _NOTHING:
        raise NoSuchArgumentError(name)
    return cast("JSON", found)


_NOTHING: Final = object()
_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def _below(value: JSON, steps: Sequence[str]) -> object:
    if not steps or (isinstance(value, str) and parse_reference(value)):
        return value
    if isinstance(value, Mapping):
        return _below(value[steps[0]], steps[1:]) if steps[0] in value else _NOTHING
    if isinstance(value, Sequence) and not isinstance(value, str):
        found = (_below(entry, steps) for entry in value)
        return next((entry for entry in found if entry is not _NOTHING), _NOTHING)
    return _NOTHING


def faults_of(form: DialogForm) -> list[Problem]:
    """Everything that makes the dialog unusable, on any of its paths."""
    return [*_faults_of_path(form), *_tools(form), *_outcome(form), *_alternates(form, ()), *_variants(form)]


def _faults_of_path(form: DialogForm) -> list[Problem]:
    return [
        *_numbers(form),
        *_order(form),
        *_dependencies(form),
        *_references(form),
        *_matchers(form),
        *_tags(form),
    ]


def _variants(form: DialogForm) -> Iterator[Problem]:
    said = [turn.text for turn in form.turns if isinstance(turn, UserTurnForm)]
    names: set[str] = set()
    for place, variant in enumerate(form.variants):
        at: JSONPath = ("variants", place)
        if variant.name in names:
            yield Problem((*at, "name"), f"{variant.name} is taken; give every variant its own name")
        names.add(variant.name)
        if [turn.text for turn in variant.turns if isinstance(turn, UserTurnForm)] != said:
            yield Problem(
                (*at, "turns"), "the user says something else than in turns; a variant repeats the User turns"
            )
        path = form.model_copy(update={"turns": variant.turns})
        for problem in _faults_of_path(path):
            yield Problem((*at, *problem.path), problem.message)
        yield from _alternates(path, at)


def _alternates(form: DialogForm, prefix: JSONPath) -> Iterator[Problem]:
    """What is wrong only with an alternate in its turn's place, told at the alternate."""
    known = set(_faults_of_path(form)) if any(_others(turn) for turn in form.turns) else set()
    for index, turn in enumerate(form.turns):
        if isinstance(turn, UserTurnForm):
            continue
        if isinstance(turn, ToolTurnForm) and turn.alternates and turn.presence == "forbidden":
            yield Problem(
                (*prefix, "turns", index, "alternates"), "a forbidden call has no alternates; forbid them, too"
            )
        for place in range(len(turn.alternates)):
            turns = (*form.turns[:index], alternate_form(turn, place), *form.turns[index + 1 :])
            at: JSONPath = (*prefix, "turns", index, "alternates", place)
            for problem in _faults_of_path(form.model_copy(update={"turns": turns})):
                if problem in known:
                    continue
                own = problem.path[:2] == ("turns", index)
                inside = problem.path[3:] if problem.path[2:3] == ("gold_turn",) else problem.path[2:]
                where = "" if own else f"with it, {key_path(problem.path)}: "
                yield Problem((*at, *inside) if own else at, f"{where}{problem.message}")


def _others(turn: UserTurnForm | ToolTurnForm | AgentTurnForm) -> bool:
    return not isinstance(turn, UserTurnForm) and bool(turn.alternates)


def _outcome(form: DialogForm) -> Iterator[Problem]:
    for place, state in enumerate(form.outcome):
        values: dict[str, JSON] = {"args": state.args, "result": state.result}
        for where, text in texts_of(values, ("outcome", place)):
            yield from _unresolved(where, text, "outcome")


def _numbers(form: DialogForm) -> Iterator[Problem]:
    last: int | None = None
    for index, turn in enumerate(form.turns):
        if isinstance(turn, UserTurnForm):
            continue
        if last is not None and turn.turn_no == last:
            yield Problem(("turns", index, "turn_no"), f"{turn.turn_no} is taken; give every turn its own number")
        elif last is not None and turn.turn_no < last:
            yield Problem(("turns", index, "turn_no"), f"{turn.turn_no} follows {last}; turn numbers must rise")
        last = turn.turn_no if last is None else max(last, turn.turn_no)


def _order(form: DialogForm) -> Iterator[Problem]:
    users = [index for index, turn in enumerate(form.turns) if isinstance(turn, UserTurnForm)]
    if not users:
        return
    if users[0] != 0:
        yield Problem(
            ("turns", 0),
            "a scripted dialog begins with a User turn; move it to the front, or leave out all of them (open dialog)",
        )
    replied: int | None = None
    for index, turn in enumerate(form.turns):
        if isinstance(turn, UserTurnForm):
            replied = None
        elif replied is not None and isinstance(turn, AgentTurnForm):
            yield Problem(
                ("turns", index),
                f"a second reply (turn {turn.turn_no} after turn {replied}) to one user message; merge the two",
            )
        elif replied is not None:
            yield Problem(
                ("turns", index),
                f"turn {turn.turn_no} is a call after the reply of its exchange (turn {replied}); the reply comes last",
            )
        elif isinstance(turn, AgentTurnForm):
            replied = turn.turn_no


def _dependencies(form: DialogForm) -> Iterator[Problem]:
    numbers = {turn.turn_no: turn for turn in form.turns if not isinstance(turn, UserTurnForm)}
    for index, turn in enumerate(form.turns):
        if isinstance(turn, UserTurnForm):
            continue
        for position, number in enumerate(turn.depends_on):
            at: JSONPath = ("turns", index, "depends_on", position)
            upstream = numbers.get(number)
            if upstream is None:
                yield Problem(at, f"there is no turn {number}; name the turn_no of an earlier Tool or Agent turn")
            elif number >= turn.turn_no:
                yield Problem(at, f"turn {turn.turn_no} cannot depend on turn {number}; only on earlier turns")
            elif isinstance(upstream, ToolTurnForm) and upstream.presence == "forbidden":
                yield Problem(at, f"turn {number} is forbidden; nothing can depend on it")


def _references(form: DialogForm) -> Iterator[Problem]:
    numbers = {turn.turn_no: turn for turn in form.turns if not isinstance(turn, UserTurnForm)}
    for index, turn in enumerate(form.turns):
        at: JSONPath = ("turns", index)
        if isinstance(turn, UserTurnForm):
            yield from _unresolved((*at, "text"), turn.text, "what the user says")
            continue
        if isinstance(turn, ToolTurnForm):
            texts = [((*at, "gold_turn", "args", *place), text) for place, text in texts_of(turn.gold_turn.args)]
            for name, matcher in turn.match.items():
                if isinstance(matcher, AnyOf):
                    for place, text in texts_of(list(matcher.any_of), (*at, "match", name, "any_of")):
                        yield from _unresolved(place, text, "a matcher")
        else:
            texts = [((*at, "must_mention", position), text) for position, text in enumerate(turn.must_mention)]
            if turn.gold_turn:
                texts.append(((*at, "gold_turn", "response"), turn.gold_turn.response))
            for position, text in enumerate(turn.must_not_mention):
                yield from _unresolved((*at, "must_not_mention", position), text, "must_not_mention")
        for where, text in texts:
            for part in malformed_in(text):
                yield Problem(where, f"{part} is no reference; write ${{n.result.name}} or ${{n.result.rows[0].name}}")
            for reference in references_in(text):
                message = _dangling(reference, turn.turn_no, numbers.get(reference.turn_no))
                if message:
                    yield Problem(where, message)


def _dangling(reference: Reference, turn_no: int, upstream: ToolTurnForm | AgentTurnForm | None) -> str | None:
    if upstream is None:
        return f"{reference.text}: there is no turn {reference.turn_no}"
    if reference.turn_no >= turn_no:
        return f"{reference.text}: turn {turn_no} can only refer to earlier turns"
    if not isinstance(upstream, ToolTurnForm):
        return f"{reference.text}: turn {reference.turn_no} is a reply; only calls have results"
    if upstream.presence == "forbidden":
        return f"{reference.text}: turn {reference.turn_no} is forbidden and has no result"
    if "result" not in upstream.model_fields_set:
        return None
    try:
        resolve(reference.path, upstream.result)
    except LookupError as error:
        return f"{reference.text}: in the golden result of turn {reference.turn_no}, {error.args[0]}"
    return None


def _unresolved(at: JSONPath, text: str, where: str) -> Iterator[Problem]:
    for part in (*(reference.text for reference in references_in(text)), *malformed_in(text)):
        yield Problem(at, f"{part}: references are not resolved in {where}; write the value itself")


def _matchers(form: DialogForm) -> Iterator[Problem]:
    for index, turn in enumerate(form.turns):
        if not isinstance(turn, ToolTurnForm):
            continue
        args = turn.gold_turn.args
        for name, matcher in turn.match.items():
            at: JSONPath = ("turns", index, "match", name)
            try:
                value = argument_at(args, name)
            except NoSuchArgumentError:
                known = ", ".join(args) or "none"
                yield Problem(
                    at,
                    f"the call has no argument {name} (it has: {known}); an argument that may be there goes under "
                    "tools: .. optional_args",
                )
                continue
            yield from _wrong_kind(at, name, matcher, value)
            if isinstance(matcher, InAnyOrder | InOrder | Parallel) and not _may_be(value, list):
                yield Problem(at, f"the golden value of {name} is not a list")
            if isinstance(matcher, Number) and not _numeric(value):
                yield Problem(
                    at, f"the golden value of {name} is not a number; write it without unit or sign of currency"
                )
            if isinstance(matcher, Parallel):
                yield from _companions(at, args, name, matcher)
            for above in _above(name):
                if isinstance(turn.match.get(above), _OF_WHOLE_VALUES):
                    yield Problem(at, f"is never reached: the matcher of {above} is about the whole value; keep one")


_TEXTS: Final = (FreeText, Pattern, Day, TimeOfDay, PointInTime)
_OF_WHOLE_VALUES: Final = (*_TEXTS, Ignore, Exact, Number, Parallel, Identifier, Member)


def _wrong_kind(at: JSONPath, name: str, matcher: Matcher, value: JSON) -> Iterator[Problem]:
    """A golden value that its own matcher would refuse; references are left to the run."""
    if isinstance(value, str) and "${" in value:
        return
    if isinstance(matcher, _TEXTS) and not isinstance(value, str):
        yield Problem(at, f"the golden value of {name} is not a text")
    elif isinstance(matcher, Pattern) and isinstance(value, str) and re2.fullmatch(matcher.pattern, value) is None:
        yield Problem(at, f"the golden value of {name} does not match the pattern as a whole; correct one of them")
    elif isinstance(matcher, Member) and value not in matcher.enum:
        yield Problem(at, f"the golden value of {name} is none of the enum; add it")


def _above(name: str) -> Iterator[str]:
    """The names of all values that hold the one named."""
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


def _companions(at: JSONPath, args: Mapping[str, JSON], name: str, matcher: Parallel) -> Iterator[Problem]:
    if name not in args:
        yield Problem(at, "parallel is for arguments of the call, not for lists inside one")
        return
    for position, companion in enumerate(matcher.parallel):
        where: JSONPath = (*at, "parallel", position)
        other = args.get(companion)
        if companion == name:
            yield Problem(where, "a list cannot be its own companion")
        elif companion not in args:
            yield Problem(where, f"the call has no argument {companion}")
        elif not _may_be(other, list):
            yield Problem(where, f"the golden value of {companion} is not a list")


def _may_be(value: JSON, kind: type) -> bool:
    return isinstance(value, kind) or (isinstance(value, str) and bool(references_in(value)))


def _numeric(value: JSON) -> bool:
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, str):
        return bool(parse_reference(value) or _NUMBER.fullmatch(value.strip()))
    return isinstance(value, int | float)


def _tags(form: DialogForm) -> Iterator[Problem]:
    for index, turn in enumerate(form.turns):
        if isinstance(turn, UserTurnForm):
            continue
        for position, tag in enumerate(turn.tags):
            if tag.lower().replace("_", "").startswith("orderinvariant") and not ORDER_TAG.fullmatch(tag):
                yield Problem(
                    ("turns", index, "tags", position),
                    f"{tag} orders nothing; write OrderInvariant_ and a name, such as OrderInvariant_filter",
                )


def _tools(form: DialogForm) -> Iterator[Problem]:
    for tool, rules in form.tools.items():
        try:
            optional_args_of(form, tool, rules)
        except ValueError as error:
            yield Problem(("tools", tool, "optional_args"), str(error))
    stated: dict[tuple[str, str | None], str] = {}
    for at, turn in _tool_turns(form):
        if turn.effect is None:
            continue
        call = turn.gold_turn.tool_id, turn.gold_turn.action
        if stated.setdefault(call, turn.effect) != turn.effect:
            yield Problem((*at, "effect"), "another turn of the same tool and action states the opposite")
        listed = form.tools.get(call[0])
        reads = listed is not None and (
            listed.read_only is True or (isinstance(listed.read_only, tuple) and call[1] in listed.read_only)
        )
        if reads and turn.effect == "write":
            yield Problem((*at, "effect"), f"tools: {call[0]}: read_only says that this call only reads")


def _tool_turns(form: DialogForm) -> Iterator[tuple[JSONPath, ToolTurnForm]]:
    """The expected calls of all paths, and where they stand."""
    paths: list[tuple[JSONPath, Sequence[object]]] = [(("turns",), form.turns)]
    paths += [(("variants", place, "turns"), variant.turns) for place, variant in enumerate(form.variants)]
    for at, turns in paths:
        for index, turn in enumerate(turns):
            if isinstance(turn, ToolTurnForm):
                yield (*at, index), turn
