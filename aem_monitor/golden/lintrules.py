"""Rules of ``golden lint`` about what a dialog says and leaves out. ``lint`` has the table of all rules."""

from collections.abc import Callable, Iterator
from typing import Final

from aem_monitor.document import KeyPath, key_path
from aem_monitor.golden.dialog import AgentTurn, Dialog, ToolTurn
from aem_monitor.golden.knownvalues import known_from
from aem_monitor.golden.linting import Remark, Rules, Semantics, named, shown
from aem_monitor.golden.matchers import Ignore, Parallel
from aem_monitor.golden.messages import normalise
from aem_monitor.golden.reference import references_in, texts_of
from aem_monitor.model.conversation import NOT_CAPTURED


def _draft(dialog: Dialog, _: Semantics) -> Iterator[Remark]:
    if dialog.draft:
        message = "a draft: its runs enter no quality metric, gate or alert until review: {status: human}"
        yield Remark(dialog.name, ("review",), "hint", message)


def _unreachable(dialog: Dialog, _: Semantics) -> Iterator[Remark]:
    if not dialog.first_user:
        message = "no first message is known: only spans that name the dialog (aem.dialog.id) are recognised"
        yield Remark(dialog.name, ("recognise",), "hint", message)


def _nothing_expected(dialog: Dialog, _: Semantics) -> Iterator[Remark]:
    if not any(not (isinstance(turn, ToolTurn) and turn.presence != "required") for turn in dialog.scored_turns):
        message = "no turn is required: a run in which nothing happens passes"
        yield Remark(dialog.name, ("turns",), "hint", message)
    for turn in dialog.scored_turns:
        if isinstance(turn, AgentTurn):
            for position, wanted in enumerate(turn.must_mention):
                if not wanted.strip():
                    at: KeyPath = ("turns", turn.index, "must_mention", position)
                    yield Remark(dialog.name, at, "warning", "an empty mention is always said; remove it")
            if not any(text.strip() for text in (turn.response or "", *turn.must_mention, *turn.must_not_mention)):
                message = f"turn {turn.turn_no} has no reference text and no mentions: nothing of the reply is judged"
                yield Remark(dialog.name, ("turns", turn.index), "warning", message)
        if (
            isinstance(turn, ToolTurn)
            and turn.args
            and all(isinstance(turn.match.get(name), Ignore) for name in turn.args)
        ):
            message = f"every argument of turn {turn.turn_no} is ignored: any call of {turn.tool_id} passes"
            yield Remark(dialog.name, ("turns", turn.index, "match"), "warning", message)


def _forbidden_but_expected(dialog: Dialog, _: Semantics) -> Iterator[Remark]:
    forbidden = {
        (turn.tool_id, turn.action) for turn in _calls(dialog) if turn.presence == "forbidden" and not turn.args
    }
    for turn in _calls(dialog):
        if turn.presence == "forbidden":
            continue
        at: KeyPath = ("turns", turn.index)
        for place, call in ((at, turn), *(((*at, "alternates", n), one) for n, one in enumerate(turn.alternates))):
            if dialog.forbids(call.tool_id, call.action) or (call.tool_id, call.action) in forbidden:
                message = f"turn {turn.turn_no} expects {named(call.tool_id, call.action)}, which the dialog forbids"
                yield Remark(dialog.name, place, "error", message)
    for number, state in enumerate(dialog.outcome):
        if dialog.forbids(state.tool_id, state.action):
            message = f"the outcome asks for {named(state.tool_id, state.action)}, which the dialog forbids"
            yield Remark(dialog.name, ("outcome", number), "error", message)


def _calls(dialog: Dialog) -> Iterator[ToolTurn]:
    return (turn for turn in dialog.scored_turns if isinstance(turn, ToolTurn))


def _contradictory_mentions(dialog: Dialog, _: Semantics) -> Iterator[Remark]:
    for turn in dialog.scored_turns:
        if not isinstance(turn, AgentTurn):
            continue
        for position, unwanted in enumerate(turn.must_not_mention):
            wanted = next((text for text in turn.must_mention if _within(unwanted, text)), None)
            if wanted is not None and unwanted.strip():
                message = f"{unwanted} must not be said, but {wanted} must: no reply passes"
                yield Remark(dialog.name, ("turns", turn.index, "must_not_mention", position), "error", message)


def _within(words: str, text: str) -> bool:
    return f" {normalise(words)} " in f" {normalise(text)} "


def _unused_tool_entry(dialog: Dialog, _: Semantics) -> Iterator[Remark]:
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
            yield Remark(dialog.name, at, "warning", f"the entry of {tool} says nothing; remove it")
        elif tool not in tools and not rules.optional_args and dialog.extra_calls != "ignore_read_only":
            message = f"no turn expects {tool}, and with extra_calls: {dialog.extra_calls} it makes no odds what reads"
            yield Remark(dialog.name, at, "hint", message)
        for action in rules.optional_args:
            if (tool, action) not in expected:
                message = f"no turn expects {named(tool, action)}: its optional arguments are never used"
                yield Remark(dialog.name, (*at, "optional_args"), "warning", message)
        plain = rules.reads and tool in tools and not rules.reads_all
        if plain and {action for name, action in expected if name == tool} == {None} and None not in rules.reads:
            message = (
                f"read_only lists actions, but the dialog calls {tool} without one; read_only: true if it only reads"
            )
            yield Remark(dialog.name, (*at, "read_only"), "warning", message)


def _optional_but_given(dialog: Dialog, _: Semantics) -> Iterator[Remark]:
    for turn in dialog.scored_turns:
        if not isinstance(turn, ToolTurn):
            continue
        optional = dialog.optional_args(turn.tool_id, turn.action)
        for name in (name for name in turn.args if name in optional):
            default = optional[name]
            if default is NOT_CAPTURED or default != turn.args[name]:
                message = f"turn {turn.turn_no} gives {name}, which is optional: a call without it passes as well"
                yield Remark(dialog.name, ("turns", turn.index, "gold_turn", "args", name), "warning", message)


def _mention_not_in_reference(dialog: Dialog, semantics: Semantics) -> Iterator[Remark]:
    for turn in dialog.scored_turns:
        if not isinstance(turn, AgentTurn) or turn.response is None or not turn.response.strip():
            continue
        text = _golden_text(dialog, turn.response)
        for position, wanted in enumerate(turn.must_mention):
            said = _golden_text(dialog, wanted)
            if text is None or said is None or _says(text, said, semantics.mentions):
                continue
            text_said = wanted if said == wanted else f"{wanted} ({said})"
            message = f"{text_said} is not said in the turn's own reference text; correct one of the two"
            yield Remark(dialog.name, ("turns", turn.index, "must_mention", position), "warning", message)
        for position, unwanted in enumerate(turn.must_not_mention):
            if text is not None and _within(unwanted, text):
                message = f"{unwanted} must not be said, but the turn's own reference text says it"
                yield Remark(dialog.name, ("turns", turn.index, "must_not_mention", position), "error", message)


def _says(text: str, wanted: str, mentions: Callable[[str, str], bool] | None) -> bool:
    if _within(wanted, text):
        return True
    if mentions is not None:
        return mentions(text, wanted)
    return any(char.isdigit() for char in wanted)  # may be said in another form, which words alone do not tell


def _golden_text(dialog: Dialog, text: str) -> str | None:
    try:
        return str(dialog.golden_form(text))
    except LookupError:
        return None


def _undeclared_dependency(dialog: Dialog, _: Semantics) -> Iterator[Remark]:
    for known in known_from(dialog):
        reference = f"${{{known.turn_no}.{key_path(('result', *known.path))}}}"
        message = (
            f"{shown(known.value)} is what turn {known.turn_no} returned, but the turn does not depend on it; "
            f"write {reference}, or add {known.turn_no} to depends_on"
        )
        yield Remark(dialog.name, known.place, "warning", message)


def _reference_without_result(dialog: Dialog, _: Semantics) -> Iterator[Remark]:
    for turn in dialog.scored_turns:
        references = turn.references if isinstance(turn, AgentTurn) else tuple(item for _, item in turn.references)
        for number in sorted({item.turn_no for item in references}):
            upstream = dialog.by_number[number]
            if isinstance(upstream, ToolTurn) and not upstream.has_result:
                message = (
                    f"turn {turn.turn_no} refers to the result of turn {number}, which has none: without it the value "
                    "cannot be judged when that turn fails"
                )
                yield Remark(dialog.name, ("turns", upstream.index), "warning", message)


def _looks_like_reference(dialog: Dialog, _: Semantics) -> Iterator[Remark]:
    for turn in dialog.scored_turns:
        at: KeyPath = ("turns", turn.index)
        if isinstance(turn, ToolTurn):
            texts = [((*at, "gold_turn", "args", *place), text) for place, text in texts_of(turn.args)]
            for _place, text in texts_of(turn.result):
                if references_in(text):
                    message = f"a reference in the result of turn {turn.turn_no} stays text; results are data"
                    yield Remark(dialog.name, (*at, "result"), "warning", message)
        else:
            texts = [((*at, "gold_turn", "response"), turn.response or "")]
            texts += [((*at, "must_mention", position), text) for position, text in enumerate(turn.must_mention)]
        for place, text in texts:
            if text.count("${") > len(references_in(text)):
                message = "${ begins no reference here and stays text; a reference is ${n.result.name}"
                yield Remark(dialog.name, place, "warning", message)


def _order_tag(dialog: Dialog, _: Semantics) -> Iterator[Remark]:
    for exchange in dialog.exchanges:
        for turn in exchange.turns:
            at: KeyPath = ("turns", turn.index, "tags")
            if isinstance(turn, AgentTurn) and any(tag.startswith("OrderInvariant") for tag in turn.tags):
                yield Remark(dialog.name, at, "warning", "OrderInvariant tags are for calls; a reply comes last anyway")
            if not isinstance(turn, ToolTurn):
                continue
            for tag in sorted(turn.order_tags):
                if sum(tag in other.order_tags for other in exchange.tools) == 1:
                    message = f"{tag} stands on one turn of its exchange only and orders nothing"
                    yield Remark(dialog.name, at, "hint", message)


def _uneven_lists(dialog: Dialog, _: Semantics) -> Iterator[Remark]:
    for turn in dialog.scored_turns:
        if not isinstance(turn, ToolTurn):
            continue
        for name, matcher in turn.match.items():
            if isinstance(matcher, Parallel):
                lists = [turn.args[other] for other in (name, *matcher.parallel)]
                if len({len(found) for found in lists if isinstance(found, list)}) > 1:
                    message = f"{name} and {', '.join(matcher.parallel)} are not equally long: they form no rows"
                    yield Remark(dialog.name, ("turns", turn.index, "match", name), "warning", message)


def _skipped(dialog: Dialog, _: Semantics) -> Iterator[Remark]:
    for turn in dialog.scored_turns:
        if turn.skip:
            yield Remark(dialog.name, ("turns", turn.index, "skip"), "hint", f"turn {turn.turn_no} is not scored")


DIALOG_RULES: Final[Rules] = {
    "draft": _draft,
    "unreachable": _unreachable,
    "nothing-expected": _nothing_expected,
    "forbidden-but-expected": _forbidden_but_expected,
    "contradictory-mentions": _contradictory_mentions,
    "unused-tool-entry": _unused_tool_entry,
    "optional-but-given": _optional_but_given,
    "mention-not-in-reference": _mention_not_in_reference,
    "undeclared-dependency": _undeclared_dependency,
    "reference-without-result": _reference_without_result,
    "looks-like-reference": _looks_like_reference,
    "order-tag": _order_tag,
    "uneven-lists": _uneven_lists,
    "skipped": _skipped,
}
"""Rules about one dialog, by code."""
