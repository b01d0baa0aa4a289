"""What a dialog knows of its tools: which calls only read, and which arguments may be left out."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from aem_monitor.golden.form import DialogForm, ToolForm, ToolTurnForm
from aem_monitor.model.conversation import NOT_CAPTURED, Captured
from aem_monitor.model.jsonvalue import JSON


@dataclass(frozen=True, slots=True)
class ToolRules:
    """What is known of a tool. ``optional_args`` is keyed by action (None: a tool without actions), then by argument.

    The value of an optional argument is its default, ``NOT_CAPTURED`` where it has none.
    """

    reads_all: bool = False
    reads: frozenset[str | None] = frozenset()
    optional_args: Mapping[str | None, Mapping[str, Captured]] = field(default_factory=dict)


def tool_turns(form: DialogForm) -> list[ToolTurnForm]:
    """The expected calls of all paths."""
    paths = (form.turns, *(variant.turns for variant in form.variants))
    return [turn for turns in paths for turn in turns if isinstance(turn, ToolTurnForm)]


def actions_of(form: DialogForm, tool: str) -> tuple[frozenset[str], bool]:
    """The actions by which the dialog names a tool, and whether it also names it without one."""
    calls = [(call.tool_id, call.action) for turn in tool_turns(form) for call in (turn.gold_turn, *turn.alternates)]
    named = {action for name, action in calls if name == tool}
    named.update(item.action for item in form.forbidden if item.tool_id == tool and item.action is not None)
    rules = form.tools.get(tool)
    if rules and isinstance(rules.read_only, tuple):
        named.update(rules.read_only)
    return frozenset(action for action in named if action is not None), None in named


def optional_args_of(form: DialogForm, tool: str, rules: ToolForm) -> Mapping[str | None, Mapping[str, Captured]]:
    """The optional arguments of a tool per action. Raises ``ValueError`` that names the entry it cannot read.

    The two written forms (per action, or directly for a tool without actions) are told apart by how the dialog names
    the tool, and where that leaves it open by the shape: ``{default: ..}`` belongs to an argument.
    """
    written = rules.optional_args
    if isinstance(written, tuple):
        return {None: dict.fromkeys(written, NOT_CAPTURED)} if written else {}
    actions, without_action = actions_of(form, tool)
    out: dict[str | None, dict[str, Captured]] = {}
    for name, value in written.items():
        is_argument = isinstance(value, dict) and set(value) <= {"default"}
        if name in actions or (actions and not without_action) or (not is_argument and not without_action):
            out[name] = _optional(value, f"action {name}")
        else:
            out.setdefault(None, {}).update(_optional({name: value}, f"tool {tool}"))
    return out


def _optional(value: JSON, of: str) -> dict[str, Captured]:
    if isinstance(value, list | tuple):
        if not all(isinstance(name, str) for name in value):
            raise ValueError(f"the optional arguments of {of} are a list of names")
        return {str(name): NOT_CAPTURED for name in value}
    if not isinstance(value, Mapping):
        raise ValueError(f"the optional arguments of {of} are a list of names or a mapping of names to {{default: ..}}")
    out: dict[str, Captured] = {}
    for name, default in value.items():
        if not isinstance(default, Mapping) or not set(default) <= {"default"}:
            raise ValueError(f"{name}, an optional argument of {of}, is written {{default: value}} or {{}}")
        out[name] = default.get("default", NOT_CAPTURED)
    return out


def tool_rules(form: DialogForm) -> dict[str, ToolRules]:
    """The rules of every tool that the dialog lists or calls an ``effect: read`` of."""
    reads_all = {tool for tool, rules in form.tools.items() if rules.read_only is True}
    reads: dict[str, set[str | None]] = {
        tool: set(rules.read_only) for tool, rules in form.tools.items() if isinstance(rules.read_only, tuple)
    }
    for turn in tool_turns(form):
        if turn.effect == "read":
            reads.setdefault(turn.gold_turn.tool_id, set()).add(turn.gold_turn.action)
    return {
        tool: ToolRules(
            reads_all=tool in reads_all,
            reads=frozenset(reads.get(tool, ())),
            optional_args=optional_args_of(form, tool, form.tools[tool]) if tool in form.tools else {},
        )
        for tool in (*form.tools, *(tool for tool in reads if tool not in form.tools))
    }
