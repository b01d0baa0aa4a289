"""tau2-bench task files (``tasks.json``): evaluation criteria with actions, what to communicate, and assertions.

The user is simulated, so that the dialogs are open. Source: github.com/sierra-research/tau2-bench, MIT.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from aem_monitor.errors import UsageError
from aem_monitor.imports.base import (
    NOTHING_EXPECTED,
    Calls,
    FormError,
    GoldCall,
    Imported,
    content,
    open_sheet,
    parsed,
    shown,
    words,
)
from aem_monitor.imports.taubench import FREE_ARGUMENTS, FREE_TOOLS

NOTE: Final = "imported from tau2-bench (sierra-research/tau2-bench, MIT)"


def read(files: Sequence[Path]) -> Iterator[Imported]:
    """The tasks of all files: lists of tasks, or one task a file as the banking domain keeps them."""
    for path in files:
        whole = parsed(content(path), str(path))
        tasks = [whole] if isinstance(whole, Mapping) and "evaluation_criteria" in whole else whole
        if not isinstance(tasks, list) or not all(isinstance(one, Mapping) and "id" in one for one in tasks):
            raise UsageError(f"{path}: not a list of tasks with an id; a tau2-bench tasks.json is expected")
        folder = path.absolute().parent
        domain = folder.parent.name if folder.name == "tasks" else folder.name
        for task in tasks:
            name = words(f"tau2-{domain}-{task['id']}")
            try:
                yield _task(task, name, path)
            except FormError as error:
                yield Imported(name, problem=f"{path}: task {task['id']}: {error}")


def _task(task: Mapping[str, Any], name: str, path: Path) -> Imported:
    criteria = task.get("evaluation_criteria")
    if not isinstance(criteria, Mapping):
        raise FormError("no evaluation criteria")
    actions = _listed(criteria, "actions")
    if not all(isinstance(one, Mapping) for one in actions):
        raise FormError("an action is not an object")
    own = [one for one in actions if one.get("requestor", "assistant") == "assistant"]
    scenario = task.get("user_scenario")
    instructions = scenario.get("instructions") if isinstance(scenario, Mapping) else None
    remarks = [f"What the user wants: {_told(instructions)}"] if instructions else []
    asserted = _listed(criteria, "nl_assertions")
    remarks += [f"Asserted in words, for a person to turn into turns: {text}" for text in asserted]
    gold = Calls([_action(one) for one in own], [str(text) for text in _listed(criteria, "communicate_info")])
    missing = [f"{len(asserted)} assertions in words"] if asserted else []
    if len(own) < len(actions):
        missing.append(f"{len(actions) - len(own)} actions of the user, on a device of his own")
    states = _listed(criteria, "env_assertions")
    if states:
        remarks.append(f"Asserted of the environment; if a call reads it, write outcome: {shown(states)}")
        missing.append(f"{len(states)} assertions of the environment's state")
    if any((task.get("initial_state") or {}).values() if isinstance(task.get("initial_state"), Mapping) else ()):
        remarks.append(f"The environment begins like this: {shown(task['initial_state'])}")
        missing.append("the environment's state at the beginning")
    if not gold.calls and not gold.mentions:
        missing.append(NOTHING_EXPECTED)
    sheet = open_sheet(name, f"{NOTE}, {path.name} task {task['id']}", remarks, gold, FREE_TOOLS)
    return Imported(name, sheet, missing=tuple(missing))


def _listed(criteria: Mapping[str, Any], name: str) -> list[Any]:
    items = criteria.get(name)
    if items is not None and not isinstance(items, list):
        raise FormError(f"evaluation_criteria.{name} is not a list")
    return items or []


def _action(action: Mapping[str, Any]) -> GoldCall:
    """``compare_args`` lists the arguments that count; without it all do."""
    name, args, counted = action.get("name"), action.get("arguments") or {}, action.get("compare_args")
    if not isinstance(name, str) or not name:
        raise FormError("an action has no name")
    if not isinstance(args, Mapping) or not isinstance(counted, list | None):
        raise FormError(f"the arguments of {name} are not an object, or its compare_args not a list")
    ignored = {arg for arg in args if (name, arg) in FREE_ARGUMENTS or (counted is not None and arg not in counted)}
    return GoldCall(name, dict(args), frozenset(ignored))


def _told(instructions: Any) -> str:
    if isinstance(instructions, Mapping):
        return " ".join(f"{text}" for text in instructions.values() if isinstance(text, str))
    return str(instructions)
