"""tau2-bench task files (``tasks.json``): evaluation criteria with actions, what to communicate, and assertions.

The user is simulated, so that the dialogs are open. Source: github.com/sierra-research/tau2-bench, MIT.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from aem_monitor.errors import UsageError
from aem_monitor.imports.base import Calls, GoldCall, Imported, content, open_sheet, parsed, words
from aem_monitor.imports.taubench import FREE_ARGUMENTS, FREE_TOOLS

NOTE: Final = "imported from tau2-bench (sierra-research/tau2-bench, MIT)"


def read(files: Sequence[Path]) -> Iterator[Imported]:
    """The tasks of all files."""
    for path in files:
        tasks = parsed(content(path), str(path))
        if not isinstance(tasks, list) or not all(isinstance(one, Mapping) and "id" in one for one in tasks):
            raise UsageError(f"{path}: not a list of tasks with an id; a tau2-bench tasks.json is expected")
        for task in tasks:
            name = words(f"tau2-{path.parent.name}-{task['id']}")
            yield _task(task, name, path)


def _task(task: Mapping[str, Any], name: str, path: Path) -> Imported:
    criteria = task.get("evaluation_criteria")
    if not isinstance(criteria, Mapping):
        return Imported(name, problem=f"{path}: task {task['id']} has no evaluation criteria")
    actions = [one for one in criteria.get("actions") or () if one.get("requestor", "assistant") == "assistant"]
    instructions = (task.get("user_scenario") or {}).get("instructions")
    remarks = [f"What the user wants: {_told(instructions)}"] if instructions else []
    remarks += [
        f"Asserted in words, for a person to turn into turns: {text}" for text in criteria.get("nl_assertions") or ()
    ]
    gold = Calls([_action(one) for one in actions], [str(text) for text in criteria.get("communicate_info") or ()])
    return Imported(name, open_sheet(name, f"{NOTE}, {path.name} task {task['id']}", remarks, gold, FREE_TOOLS))


def _action(action: Mapping[str, Any]) -> GoldCall:
    """``compare_args`` lists the arguments that count; without it all do."""
    name, args = str(action["name"]), dict(action.get("arguments") or {})
    counted = action.get("compare_args")
    ignored = {arg for arg in args if (name, arg) in FREE_ARGUMENTS or (counted is not None and arg not in counted)}
    return GoldCall(name, args, frozenset(ignored))


def _told(instructions: Any) -> str:
    if isinstance(instructions, Mapping):
        return " ".join(f"{text}" for text in instructions.values() if isinstance(text, str))
    return str(instructions)
