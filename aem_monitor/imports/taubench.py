"""tau-bench task files (``tasks_test.py`` and the like): Python source with literal ``Task`` and ``Action`` calls.

The source is parsed, never run. A task has the actions of its annotator and the outputs that the agent must give; the
user is simulated, so that the dialogs are open. Source: github.com/sierra-research/tau-bench, MIT.
"""

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from aem_monitor.errors import UsageError
from aem_monitor.imports.base import Calls, GoldCall, Imported, content, open_sheet, words

NOTE: Final = "imported from tau-bench (sierra-research/tau-bench, MIT)"
FREE_TOOLS: Final = frozenset({"calculate", "think", "transfer_to_human_agents"})
"""Tools that leave the database as it is, which is all that the benchmark grades."""
FREE_ARGUMENTS: Final = frozenset(
    {("calculate", "expression"), ("think", "thought"), ("transfer_to_human_agents", "summary")}
)
"""Arguments in the agent's own words, which no two good runs share."""


def read(files: Sequence[Path]) -> Iterator[Imported]:
    """The tasks of all files."""
    for path in files:
        try:
            tree = ast.parse(content(path), str(path))
        except (SyntaxError, ValueError, RecursionError) as error:
            raise UsageError(f"{path}: not Python source: {error}") from error
        tasks = [node for node in ast.walk(tree) if _calls(node, "Task")]
        if not tasks:
            raise UsageError(f"{path}: no Task(..) in it; a tau-bench task file is expected")
        prefix = words(f"tau-bench-{path.parent.name}-{path.stem.removeprefix('tasks_')}")
        for index, node in enumerate(sorted(tasks, key=lambda task: task.lineno)):  # type: ignore[attr-defined]
            yield _task(node, f"{prefix}-{index}", path)


def _task(node: ast.AST, name: str, path: Path) -> Imported:
    assert isinstance(node, ast.Call)
    fields = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
    where = f"{path}:{node.lineno}"
    try:
        actions = fields["actions"]
        assert isinstance(actions, ast.List)
        calls = [_action(action) for action in actions.elts]
        outputs = _literal(fields["outputs"]) if "outputs" in fields else []
        instruction = _literal(fields["instruction"]) if "instruction" in fields else ""
    except (KeyError, ValueError, AssertionError, TypeError, RecursionError) as error:
        return Imported(name, problem=f"{where}: a task that is not written out in literals ({error})")
    remarks = [f"What the user wants: {instruction}"] if instruction else []
    gold = Calls(calls, [str(output) for output in outputs])
    return Imported(name, open_sheet(name, f"{NOTE}, {path.name} line {node.lineno}", remarks, gold, FREE_TOOLS))


def _action(node: ast.AST) -> GoldCall:
    if not isinstance(node, ast.Call) or not _calls(node, "Action"):
        raise ValueError("an action is not an Action(..)")
    fields = {keyword.arg: _literal(keyword.value) for keyword in node.keywords if keyword.arg}
    name = str(fields["name"])
    args: dict[str, Any] = dict(fields.get("kwargs", fields.get("arguments", {})))
    return GoldCall(name, args, frozenset(arg for arg in args if (name, arg) in FREE_ARGUMENTS))


def _calls(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _literal(node: ast.AST) -> Any:
    return ast.literal_eval(node)
