"""The rules of ``golden lint``: each looks at one dialog, or at all together, and yields hints."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from aem_monitor.document import KeyPath, key_path
from aem_monitor.golden.dialog import AgentTurn, Dialog, ToolTurn, UserTurn
from aem_monitor.golden.knownvalues import known_from
from aem_monitor.golden.matchers import Ignore, Parallel
from aem_monitor.golden.messages import normalise
from aem_monitor.golden.reference import references_in, texts_of
from aem_monitor.model.conversation import NOT_CAPTURED

Severity: TypeAlias = Literal["error", "warning", "info"]
Mentions: TypeAlias = Callable[[str, str], bool]
"""``mentions(text, wanted)``: whether a text says what is wanted, in any equivalent form."""


@dataclass(frozen=True, slots=True)
class Hint:
    """What a rule found at a place of a dialog's file."""

    dialog: str
    path: KeyPath
    severity: Severity
    message: str


DialogRule: TypeAlias = Callable[[Dialog, Mentions | None], Iterator[Hint]]
SetRule: TypeAlias = Callable[[Sequence[Dialog], Callable[[str, KeyPath], str]], Iterator[Hint]]

_RELATIVE_DATE = re.compile(
    r"\b(today|tomorrow|tonight|yesterday|(next|last|this|coming)\s+(week|weekend|month|quarter|year|"
    r"(mon|tues|wednes|thurs|fri|satur|sun)day))\b",
    re.IGNORECASE,
)


def _draft(dialog: Dialog, _: Mentions | None) -> Iterator[Hint]:
    if dialog.draft:
        message = "a draft: its runs enter no quality metric, gate or alert until review: {status: human}"
        yield Hint(dialog.name, ("review",), "info", message)


def _unreachable(dialog: Dialog, _: Mentions | None) -> Iterator[Hint]:
    if not dialog.first_user:
        message = "no first message is known: only spans that name the dialog (aem.dialog.id) are recognised"
        yield Hint(dialog.name, ("recognise",), "info", message)


def _nothing_expected(dialog: Dialog, _: Mentions | None) -> Iterator[Hint]:
    if not any(not (isinstance(turn, ToolTurn) and turn.presence != "required") for turn in dialog.scored_turns):
        message = "no turn is required: a run in which nothing happens passes"
        yield Hint(dialog.name, ("turns",), "info", message)
    for turn in dialog.scored_turns:
        if isinstance(turn, AgentTurn):
            for position, wanted in enumerate(turn.must_mention):
                if not wanted.strip():
                    at: KeyPath = ("turns", turn.index, "must_mention", position)
                    yield Hint(dialog.name, at, "warning", "an empty mention is always said; remove it")
            if not any(text.strip() for text in (turn.response or "", *turn.must_mention, *turn.must_not_mention)):
                message = f"turn {turn.turn_no} has no reference text and no mentions: nothing of the reply is judged"
                yield Hint(dialog.name, ("turns", turn.index), "warning", message)
        if (
            isinstance(turn, ToolTurn)
            and turn.args
            and all(isinstance(turn.match.get(name), Ignore) for name in turn.args)
        ):
            message = f"every argument of turn {turn.turn_no} is ignored: any call of {turn.tool_id} passes"
            yield Hint(dialog.name, ("turns", turn.index, "match"), "warning", message)


def _forbidden_but_expected(dialog: Dialog, _: Mentions | None) -> Iterator[Hint]:
    for turn in dialog.scored_turns:
        if isinstance(turn, ToolTurn) and turn.presence != "forbidden" and dialog.forbids(turn.tool_id, turn.action):
            name = turn.tool_id if turn.action is None else f"{turn.tool_id}.{turn.action}"
            message = f"turn {turn.turn_no} expects {name}, which the dialog forbids"
            yield Hint(dialog.name, ("turns", turn.index), "error", message)


def _unused_tool_entry(dialog: Dialog, _: Mentions | None) -> Iterator[Hint]:
    expected = {
        (call.tool_id, call.action)
        for path in dialog.paths
        for turn in path.scored_turns
        if isinstance(turn, ToolTurn)
        for call in (turn, *turn.alternates)
    }
    tools = {tool for tool, _ in expected}
    for tool, rules in dialog.tools.items():
        at: KeyPath = ("tools", tool)
        if not (rules.reads_all or rules.reads or rules.optional_args):
            yield Hint(dialog.name, at, "warning", f"the entry of {tool} says nothing; remove it")
        for action in rules.optional_args:
            if (tool, action) not in expected:
                name = tool if action is None else f"{tool}.{action}"
                message = f"no turn expects {name}: its optional arguments are never used"
                yield Hint(dialog.name, (*at, "optional_args"), "warning", message)
        plain = rules.reads and tool in tools and not rules.reads_all
        if plain and {action for name, action in expected if name == tool} == {None} and None not in rules.reads:
            message = (
                f"read_only lists actions, but the dialog calls {tool} without one; read_only: true if it only reads"
            )
            yield Hint(dialog.name, (*at, "read_only"), "warning", message)


def _optional_but_given(dialog: Dialog, _: Mentions | None) -> Iterator[Hint]:
    for turn in dialog.scored_turns:
        if not isinstance(turn, ToolTurn):
            continue
        optional = dialog.optional_args(turn.tool_id, turn.action)
        for name in (name for name in turn.args if name in optional):
            default = optional[name]
            if default is NOT_CAPTURED or default != turn.args[name]:
                message = f"turn {turn.turn_no} gives {name}, which is optional: a call without it passes as well"
                yield Hint(dialog.name, ("turns", turn.index, "gold_turn", "args", name), "warning", message)


def _mention_not_in_reference(dialog: Dialog, mentions: Mentions | None) -> Iterator[Hint]:
    for turn in dialog.scored_turns:
        if not isinstance(turn, AgentTurn) or turn.response is None or not turn.response.strip():
            continue
        text = _golden_text(dialog, turn.response)
        for position, wanted in enumerate(turn.must_mention):
            said = _golden_text(dialog, wanted)
            if text is None or said is None or _says(text, said, mentions):
                continue
            shown = wanted if said == wanted else f"{wanted} ({said})"
            message = f"{shown} is not said in the turn's own reference text; correct one of the two"
            yield Hint(dialog.name, ("turns", turn.index, "must_mention", position), "warning", message)
        for position, unwanted in enumerate(turn.must_not_mention):
            if text is not None and f" {normalise(unwanted)} " in f" {normalise(text)} ":
                message = f"{unwanted} must not be said, but the turn's own reference text says it"
                yield Hint(dialog.name, ("turns", turn.index, "must_not_mention", position), "error", message)


def _says(text: str, wanted: str, mentions: Mentions | None) -> bool:
    if f" {normalise(wanted)} " in f" {normalise(text)} ":
        return True
    if mentions is not None:
        return mentions(text, wanted)
    return any(char.isdigit() for char in wanted)  # may be said in another form, which words alone do not tell


def _golden_text(dialog: Dialog, text: str) -> str | None:
    try:
        return str(dialog.golden_form(text))
    except LookupError:
        return None


def _undeclared_dependency(dialog: Dialog, _: Mentions | None) -> Iterator[Hint]:
    for known in known_from(dialog):
        value = known.value if len(str(known.value)) <= 40 else f"{str(known.value)[:37]}..."
        reference = f"${{{known.turn_no}.{key_path(('result', *known.path))}}}"
        message = (
            f"{value} is what turn {known.turn_no} returned, but the turn does not depend on it; "
            f"write {reference}, or add {known.turn_no} to depends_on"
        )
        yield Hint(dialog.name, known.place, "warning", message)


def _reference_without_result(dialog: Dialog, _: Mentions | None) -> Iterator[Hint]:
    for turn in dialog.scored_turns:
        references = turn.references if isinstance(turn, AgentTurn) else tuple(item for _, item in turn.references)
        for number in sorted({item.turn_no for item in references}):
            upstream = dialog.by_number[number]
            if isinstance(upstream, ToolTurn) and not upstream.has_result:
                message = (
                    f"turn {turn.turn_no} refers to the result of turn {number}, which has none: without it the value "
                    "cannot be judged when that turn fails"
                )
                yield Hint(dialog.name, ("turns", upstream.index), "warning", message)


def _looks_like_reference(dialog: Dialog, _: Mentions | None) -> Iterator[Hint]:
    for turn in dialog.scored_turns:
        at: KeyPath = ("turns", turn.index)
        if isinstance(turn, ToolTurn):
            texts = [((*at, "gold_turn", "args", *place), text) for place, text in texts_of(turn.args)]
            for _place, text in texts_of(turn.result):
                if references_in(text):
                    message = f"a reference in the result of turn {turn.turn_no} stays text; results are data"
                    yield Hint(dialog.name, (*at, "result"), "warning", message)
        else:
            texts = [((*at, "gold_turn", "response"), turn.response or "")]
            texts += [((*at, "must_mention", position), text) for position, text in enumerate(turn.must_mention)]
        for place, text in texts:
            if text.count("${") > len(references_in(text)):
                message = "${ begins no reference here and stays text; a reference is ${n.result.name}"
                yield Hint(dialog.name, place, "warning", message)


def _order_tag(dialog: Dialog, _: Mentions | None) -> Iterator[Hint]:
    for exchange in dialog.exchanges:
        for turn in exchange.turns:
            at: KeyPath = ("turns", turn.index, "tags")
            if isinstance(turn, AgentTurn) and any(tag.startswith("OrderInvariant") for tag in turn.tags):
                yield Hint(dialog.name, at, "warning", "OrderInvariant tags are for calls; a reply comes last anyway")
            if not isinstance(turn, ToolTurn):
                continue
            for tag in sorted(turn.order_tags):
                if sum(tag in other.order_tags for other in exchange.tools) == 1:
                    message = f"{tag} stands on one turn of its exchange only and orders nothing"
                    yield Hint(dialog.name, at, "info", message)


def _relative_date(dialog: Dialog, _: Mentions | None) -> Iterator[Hint]:
    if dialog.reference_date is not None:
        return
    for turn in dialog.scored_turns:
        if not isinstance(turn, ToolTurn):
            continue
        for place, text in texts_of(turn.args):
            found = _RELATIVE_DATE.search(text)
            if found and len(text) <= 60:
                message = f'"{found[0]}" counts from the day of each run; set reference_date if a fixed day is meant'
                yield Hint(dialog.name, ("turns", turn.index, "gold_turn", "args", *place), "warning", message)


def _uneven_lists(dialog: Dialog, _: Mentions | None) -> Iterator[Hint]:
    for turn in dialog.scored_turns:
        if not isinstance(turn, ToolTurn):
            continue
        for name, matcher in turn.match.items():
            if isinstance(matcher, Parallel):
                lists = [turn.args[other] for other in (name, *matcher.parallel)]
                if len({len(found) for found in lists if isinstance(found, list)}) > 1:
                    message = f"{name} and {', '.join(matcher.parallel)} are not equally long: they form no rows"
                    yield Hint(dialog.name, ("turns", turn.index, "match", name), "warning", message)


def _skipped(dialog: Dialog, _: Mentions | None) -> Iterator[Hint]:
    for turn in dialog.scored_turns:
        if turn.skip:
            yield Hint(dialog.name, ("turns", turn.index, "skip"), "info", f"turn {turn.turn_no} is not scored")


def _shared_first_message(dialogs: Sequence[Dialog], place: Callable[[str, KeyPath], str]) -> Iterator[Hint]:
    """One hint a dialog, about the first dialog before it that begins alike, preferably one with the same script."""
    first: dict[str, dict[str | None, dict[tuple[str, ...], Dialog]]] = {}
    for dialog in dialogs:
        script = _script(dialog)
        for message in dict.fromkeys(normalise(text) for text in dialog.first_user):
            by_agent = first.setdefault(message, {})
            agents = list(by_agent) if dialog.agent is None else [None, dialog.agent]
            before = [by_agent[agent] for agent in agents if agent in by_agent]
            same = next((scripts[script] for scripts in before if script in scripts), None)
            other = same or next((found for scripts in before for found in scripts.values()), None)
            if other is not None:
                if same is None:
                    effect = "until a later user message tells them apart, the outcome is ambiguous"
                else:
                    effect = "such runs are ambiguous and stay unrecognised unless spans name the dialog"
                where = place(other.name, ("recognise", "first_user"))
                text = f'"{message}" also starts {other.name} ({where}); {effect}'
                at: KeyPath = ("recognise", "first_user")
                yield Hint(dialog.name, at, "info" if same is None else "warning", text)
            by_agent.setdefault(dialog.agent, {}).setdefault(script, dialog)


def _script(dialog: Dialog) -> tuple[str, ...]:
    return tuple(normalise(turn.text) for turn in dialog.turns if isinstance(turn, UserTurn))[1:]


DIALOG_RULES: Final[Mapping[str, DialogRule]] = {
    "draft": _draft,
    "unreachable": _unreachable,
    "nothing-expected": _nothing_expected,
    "forbidden-but-expected": _forbidden_but_expected,
    "unused-tool-entry": _unused_tool_entry,
    "optional-but-given": _optional_but_given,
    "mention-not-in-reference": _mention_not_in_reference,
    "undeclared-dependency": _undeclared_dependency,
    "reference-without-result": _reference_without_result,
    "looks-like-reference": _looks_like_reference,
    "order-tag": _order_tag,
    "relative-date": _relative_date,
    "uneven-lists": _uneven_lists,
    "skipped": _skipped,
}
"""Rules about one dialog, by code."""

SET_RULES: Final[Mapping[str, SetRule]] = {"shared-first-message": _shared_first_message}
"""Rules about all dialogs together, by code."""
