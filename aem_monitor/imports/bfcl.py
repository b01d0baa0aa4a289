"""BFCL multi-turn sets: questions, possible answers and function documents, each a file of JSON lines, joined by id.

The expected calls are written as Python calls; they are parsed, never run. Source: github.com/ShishirPatil/gorilla,
folder berkeley-function-call-leaderboard, Apache-2.0.
"""

import ast
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from aem_monitor.bootstrap.definitions import ToolDefinition
from aem_monitor.bootstrap.recorded import RecordedCall, RecordedExchange
from aem_monitor.errors import UsageError
from aem_monitor.imports.base import Imported, json_lines, words
from aem_monitor.imports.recorded import drafted_sheet
from aem_monitor.model.conversation import NOT_CAPTURED
from aem_monitor.scoring.scorers import EmbeddedScorer

NOTE: Final = "imported from BFCL multi-turn (ShishirPatil/gorilla, Apache-2.0)"
NEW_FUNCTIONS: Final = "I have updated some more functions you can choose from. What about now?"
"""What the benchmark's user says in a turn that only hands a withheld function over."""


@dataclass(slots=True)
class _Set:
    questions: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    answers: dict[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    functions: dict[str, ToolDefinition] = field(default_factory=dict)


def read(files: Sequence[Path]) -> Iterator[Imported]:
    """The dialogs that have a question and an answer. Positional arguments need the function documents."""
    known = _Set()
    for path in files:
        for number, line in json_lines(path):
            _add(known, line, f"{path}:{number}")
    if not known.questions or not known.answers:
        missing = "questions" if known.answers else "possible answers"
        raise UsageError(f"bfcl: no {missing} in these files; give the set's file and that of possible_answer together")
    scorer = EmbeddedScorer()
    for identity, entry in known.questions.items():
        name = words(f"bfcl-{identity}")
        if identity not in known.answers:
            yield Imported(name, problem=f"{identity} has no possible answer")
            continue
        try:
            exchanges = _exchanges(entry, known.answers[identity], known.functions)
            used = {call.tool for exchange in exchanges for call in exchange.calls}
            definitions = {tool: known.functions[tool] for tool in used if tool in known.functions}
            sheet = drafted_sheet(name, f"{NOTE}, {identity}", exchanges, scorer, definitions)
        except ValueError as error:
            yield Imported(name, problem=f"{identity}: {error}")
            continue
        yield Imported(name, sheet)


def _add(known: _Set, line: Mapping[str, Any], where: str) -> None:
    if "question" in line:
        known.questions[str(line.get("id"))] = line
    elif "ground_truth" in line:
        known.answers[str(line.get("id"))] = line["ground_truth"]
    elif "parameters" in line and "name" in line:
        parameters = line["parameters"]
        if not isinstance(parameters, Mapping) or not isinstance(parameters.get("properties", {}), Mapping):
            raise UsageError(f"{where}: the parameters of {line['name']} are not an object schema")
        known.functions[str(line["name"])] = ToolDefinition(
            name=str(line["name"]),
            description=_purpose(str(line.get("description", ""))),
            parameters=parameters.get("properties", {}),
            required=frozenset(str(name) for name in parameters.get("required") or ()),
        )
    else:
        raise UsageError(f"{where}: neither a question, a possible answer nor a function document of BFCL")


def _purpose(description: str) -> str:
    """Every function's description begins with that of its class; what follows is its own."""
    return description.rpartition("Tool description: ")[2]


def _exchanges(
    entry: Mapping[str, Any], answers: Sequence[Sequence[str]], functions: Mapping[str, ToolDefinition]
) -> list[RecordedExchange]:
    questions = entry["question"]
    if not all(isinstance(turn, list) for turn in (*_turns(questions, "question"), *_turns(answers, "ground_truth"))):
        raise ValueError("turns that are not lists of messages and of calls; only the multi-turn sets are read")
    if len(questions) != len(answers):
        raise ValueError(f"{len(questions)} turns, but answers for {len(answers)}")
    found = []
    for messages, calls in zip(questions, answers, strict=True):
        told = [one for one in messages if isinstance(one, Mapping) and one.get("role") == "user"]
        said = "\n".join(str(one.get("content", "")) for one in told)
        made = tuple(_call(text, functions, rank) for rank, text in enumerate(calls))
        found.append(RecordedExchange(said or NEW_FUNCTIONS, made, None))
    return found


def _turns(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{name} is not a list of turns")
    return value


def _call(text: Any, functions: Mapping[str, ToolDefinition], rank: int) -> RecordedCall:
    if not isinstance(text, str):
        raise ValueError(f"{text!r}: not a call")
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"{text}: not a call") from error
    if not isinstance(node, ast.Call):
        raise ValueError(f"{text}: not a call")
    name = ast.unparse(node.func)
    try:
        args = {keyword.arg: ast.literal_eval(keyword.value) for keyword in node.keywords if keyword.arg}
        positional = [ast.literal_eval(value) for value in node.args]
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"{text}: an argument is not a literal") from error
    if positional:
        if name not in functions:
            raise ValueError(f"{text}: a positional argument; give the function documents (multi_turn_func_doc) too")
        names = list(functions[name].parameters)
        args = dict(zip(names, positional, strict=False)) | args
    return RecordedCall(name, None, {arg: _plain(value) for arg, value in args.items()}, NOT_CAPTURED, rank)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list | set):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if (isinstance(value, float) and not math.isfinite(value)) or isinstance(value, bytes | complex):
        raise ValueError(f"{value!r}: not a value of JSON")
    return value
