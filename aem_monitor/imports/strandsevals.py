"""Strands Evals experiments: cases with an input, an expected output and an expected trajectory.

Read as ``strands_evals.Experiment.to_file`` writes them, or as a bare list of cases. A trajectory holds names of tools,
or calls as the package's own extractors list them (``name``, ``input``, ``tool_result``). Names alone say nothing of
arguments: they become end states, which any arguments reach. Source: pypi.org/project/strands-agents-evals.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from aem_monitor.bootstrap.recorded import RecordedCall, RecordedExchange
from aem_monitor.bootstrap.sheet import DraftTurn, Sheet
from aem_monitor.conventions.results import unwrap
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
from aem_monitor.imports.recorded import drafted_sheet
from aem_monitor.model.conversation import NOT_CAPTURED
from aem_monitor.scoring.scorers import EmbeddedScorer, Scorer

NOTE: Final = "imported from a Strands Evals experiment"
_NAMES: Final = ("name", "tool_name", "tool")
_ARGUMENTS: Final = ("input", "args", "arguments", "parameters", "tool_input")
_CASE: Final = frozenset(
    {
        "name",
        "session_id",
        "input",
        "expected_output",
        "expected_assertion",
        "expected_trajectory",
        "expected_interactions",
        "expected_environment_state",
        "metadata",
    }
)
_JUDGED_BY_TOOL: Final = "ToolCalled"
_JUDGED_BY_TEXT: Final = "Contains"


@dataclass(slots=True)
class _Evaluators:
    """What an experiment's evaluators ask of every case: tools, texts, rubrics, and the names of all others."""

    tools: list[str] = field(default_factory=list)
    mentions: list[str] = field(default_factory=list)
    rubrics: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Trajectory:
    calls: list[RecordedCall] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def read(files: Sequence[Path]) -> Iterator[Imported]:
    """The cases of all files."""
    scorer = EmbeddedScorer()
    for path in files:
        cases, evaluators = _experiment(path)
        for number, case in enumerate(cases, start=1):
            identity = str(case.get("name") or number)
            name = words(f"strands-{path.stem}-{identity}")
            try:
                yield _dialog(case, name, f"{NOTE}, {path.name} case {identity}", evaluators, scorer)
            except FormError as error:
                yield Imported(name, problem=f"{path}: case {identity}: {error}")


def _experiment(path: Path) -> tuple[list[Mapping[str, Any]], _Evaluators]:
    whole = parsed(content(path), str(path))
    cases = whole.get("cases") if isinstance(whole, Mapping) else whole
    if not isinstance(cases, list) or not all(isinstance(case, Mapping) and "input" in case for case in cases):
        raise UsageError(f"{path}: no list of cases with an input; a Strands Evals experiment is expected")
    listed = whole.get("evaluators") or [] if isinstance(whole, Mapping) else []
    if not isinstance(listed, list) or not all(isinstance(one, Mapping) for one in listed):
        raise UsageError(f"{path}: evaluators is not a list of objects")
    return cases, _evaluators(listed)


def _evaluators(listed: Sequence[Mapping[str, Any]]) -> _Evaluators:
    found = _Evaluators()
    for one in listed:
        kind = str(one.get("evaluator_type"))
        if kind == _JUDGED_BY_TOOL and isinstance(one.get("tool_name"), str):
            found.tools.append(one["tool_name"])
        elif kind == _JUDGED_BY_TEXT and isinstance(one.get("value"), str):
            found.mentions.append(one["value"])
        elif one.get("rubric"):
            found.rubrics.append(f"{kind}: {shown(one['rubric'])}")
        else:
            found.others.append(kind)
    return found


def _dialog(case: Mapping[str, Any], name: str, note: str, evaluators: _Evaluators, scorer: Scorer) -> Imported:
    said = case["input"]
    if not isinstance(said, str) or not said.strip():
        raise FormError("its input is no text, and a dialog is known by what the user says")
    trajectory = _trajectory(case.get("expected_trajectory"))
    remarks, missing = _about(case, evaluators)
    names = list(dict.fromkeys([*trajectory.names, *evaluators.tools]))
    if names:
        remarks.append(
            "Only the names of these tools are known: any successful call of them will do, in any order. Write Tool "
            f"turns for them to have arguments judged, and take away extra_calls: ignore: {', '.join(names)}"
        )
    if len(names) < len(trajectory.names) + len(evaluators.tools):
        missing.append("how often a tool is called that is listed more than once by its name alone")
    reply, goal = case.get("expected_output"), _goal(case)
    if reply is not None and (goal is not None or not isinstance(reply, str)):
        remarks.append(f"The expected output: {shown(reply)}")
        missing.append("the expected output, which is no text" if goal is None else "the expected output as a reply")
        reply = None
    if goal is not None:
        remarks += [f"What the user wants: {shown(goal)}", *trajectory.remarks]
        gold = Calls([GoldCall(call.tool, call.args or {}) for call in trajectory.calls], evaluators.mentions)
        sheet = open_sheet(name, note, remarks, gold, frozenset(), said)
    else:
        exchange = RecordedExchange(said, tuple(trajectory.calls), reply or None, tuple(trajectory.remarks))
        sheet = drafted_sheet(name, note, [exchange], scorer, None, remarks)
        _demand(sheet, evaluators.mentions)
    if not (trajectory.calls or reply or names or evaluators.mentions):
        missing.append(NOTHING_EXPECTED)
    if names:
        sheet.top["extra_calls"] = "ignore"
        sheet.rest["outcome"] = [{"tool_id": tool} for tool in names]
    return Imported(name, sheet, missing=tuple(missing))


def _trajectory(listed: Any) -> _Trajectory:
    """The calls and bare names of a trajectory, in its order. Raises ``FormError`` for what is neither."""
    found = _Trajectory()
    if listed is not None and not isinstance(listed, list):
        raise FormError("expected_trajectory is not a list")
    for number, step in enumerate(listed or ()):
        where = f"expected_trajectory[{number}]"
        if isinstance(step, str) and step:
            found.names.append(step)
            continue
        name = next((step[key] for key in _NAMES if key in step), None) if isinstance(step, Mapping) else None
        if not isinstance(name, str) or not name:
            raise FormError(f"{where} is neither the name of a tool nor a call with a name")
        args = next((step[key] for key in _ARGUMENTS if step.get(key) is not None), None)
        if args is None:
            found.names.append(name)
        elif not isinstance(args, Mapping):
            raise FormError(f"the arguments of {name} in {where} are not an object")
        elif step.get("is_error") is True:
            found.remarks.append(f"A failed attempt at {name} left out: it changed nothing.")
        else:
            given = step.get("tool_result")
            result = unwrap(given, blocks=True).value if given is not None else NOT_CAPTURED
            found.calls.append(RecordedCall(name, None, dict(args), result, number))
    return found


def _about(case: Mapping[str, Any], evaluators: _Evaluators) -> tuple[list[str], list[str]]:
    """What comments say of a case, and what they alone hold."""
    asserted = case.get("expected_assertion")
    texts = [*([asserted] if asserted else []), *evaluators.rubrics]
    remarks = [f"Asserted in words, for a person to turn into turns: {shown(text)}" for text in texts]
    missing = [f"{len(texts)} assertions in words"] if texts else []
    interactions = case.get("expected_interactions")
    if interactions:
        remarks.append(
            f"Expected between agents, which a dialog of user and agent does not have: {shown(interactions)}"
        )
        missing.append("the interactions between agents")
    states = case.get("expected_environment_state")
    if states:
        remarks.append(f"Expected of the environment; if a call reads it, write outcome: {shown(states)}")
        missing.append("the environment's state at the end")
    if evaluators.others:
        missing.append(f"the evaluators {', '.join(sorted(set(evaluators.others)))}, which have no counterpart here")
    unknown = [key for key, item in case.items() if key not in _CASE and item not in (None, [], {}, "")]
    missing += [f"{key}, a key that a plain case does not have" for key in unknown]
    return remarks, missing


def _goal(case: Mapping[str, Any]) -> str | None:
    """What a simulated user is after: the package's simulator takes it from this place and says what it likes."""
    metadata = case.get("metadata")
    goal = metadata.get("task_description") if isinstance(metadata, Mapping) else None
    return goal if isinstance(goal, str) and goal else None


def _demand(sheet: Sheet, mentions: Sequence[str]) -> None:
    """Demand texts of the reply, which is made where the case has none."""
    if not mentions:
        return
    reply = next((turn for turn in sheet.turns if turn.form["turn"] == "Agent"), None)
    if reply is None:
        number = max((turn.number or 0 for turn in sheet.turns), default=0) + 1
        reply = DraftTurn({"turn_no": number, "turn": "Agent"})
        sheet.turns.append(reply)
    known = reply.form.get("must_mention", [])
    reply.form["must_mention"] = [*known, *(text for text in mentions if text not in known)]
