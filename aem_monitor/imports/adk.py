"""Google ADK eval sets (``*.evalset.json``, ``*.test.json``): conversations with the expected calls and responses.

Read in the form of ``google.adk.evaluation.eval_set.EvalSet``, in snake_case and camelCase, and in the two forms before
it: a list of sessions (``name``, ``data``), and a list of the queries of one. A scenario for a simulated user has only
its first message: the dialog is open. Source: github.com/google/adk-python, google/adk/evaluation.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from aem_monitor.assembly import AssemblySettings
from aem_monitor.bootstrap.recorded import RecordedCall, RecordedExchange
from aem_monitor.conventions.results import unwrap
from aem_monitor.errors import UsageError
from aem_monitor.imports.base import NOTHING_EXPECTED, FormError, Imported, content, parsed, sheet_of, shown, words
from aem_monitor.imports.recorded import drafted_sheet
from aem_monitor.model.conversation import NOT_CAPTURED, Captured
from aem_monitor.scoring.scorers import EmbeddedScorer, Scorer

NOTE: Final = "imported from a Google ADK eval set"
_TRANSFER: Final = "transfer_to_agent"
_SUFFIX: Final = re.compile(r"(\.evalset|\.test)?\.json$")
_CASE: Final = frozenset(
    {
        "eval_id",
        "conversation",
        "conversation_scenario",
        "session_input",
        "creation_timestamp",
        "rubrics",
        "final_session_state",
    }
)
_INVOCATION: Final = frozenset(
    {
        "invocation_id",
        "user_content",
        "final_response",
        "intermediate_data",
        "creation_timestamp",
        "duration",
        "model_duration",
        "tool_duration",
        "rubrics",
        "app_details",
        "query",
        "reference",
        "expected_tool_use",
        "expected_intermediate_agent_responses",
    }
)
"""Keys of an invocation, with those of the earlier forms, which are also met inside the present one."""


def read(files: Sequence[Path]) -> Iterator[Imported]:
    """The cases of all files."""
    scorer = EmbeddedScorer()
    for path in files:
        for number, case in enumerate(_cases(path), start=1):
            identity = str(_of(case, "eval_id") or number)
            name = _name(path, identity)
            try:
                yield _dialog(case, name, f"{NOTE}, {path.name} case {identity}", scorer)
            except FormError as error:
                yield Imported(name, problem=f"{path}: case {identity}: {error}")


def _cases(path: Path) -> list[Mapping[str, Any]]:
    """The cases in the present form. Raises ``UsageError`` for a file of another kind."""
    whole = parsed(content(path), str(path))
    if isinstance(whole, Mapping):
        cases = _of(whole, "eval_cases")
        if not isinstance(cases, list):
            raise UsageError(f"{path}: no list eval_cases; an ADK eval set is expected")
    elif isinstance(whole, list) and any(isinstance(one, Mapping) and "query" in one for one in whole):
        cases = [{"eval_id": _SUFFIX.sub("", path.name), "conversation": whole}]
    elif isinstance(whole, list) and all(isinstance(one, Mapping) and "data" in one for one in whole):
        cases = [_session(one) for one in whole]
    else:
        raise UsageError(f"{path}: neither an ADK eval set nor a list of sessions (name, data) or of queries")
    for number, case in enumerate(cases, start=1):
        if not isinstance(case, Mapping):
            raise UsageError(f"{path}: eval_cases[{number - 1}] is not an object")
    return cases


def _session(session: Mapping[str, Any]) -> Mapping[str, Any]:
    """A session of the earlier form as a case of the present one; keys of neither are kept and so get named."""
    known = {"eval_id": session.get("name"), "conversation": session["data"], "session_input": None}
    rest = {key: item for key, item in session.items() if key not in ("name", "data", "initial_session")}
    return {**rest, **known, "session_input": session.get("initial_session")}


def _name(path: Path, identity: str) -> str:
    """By file and case. Cases converted from old files have their file's path for an id, of which its end will do."""
    stem = _SUFFIX.sub("", path.name)
    case = _SUFFIX.sub("", identity.rstrip("/").rpartition("/")[2])
    return words(f"adk-{stem}" if case == stem else f"adk-{stem}-{case}")


def _dialog(case: Mapping[str, Any], name: str, note: str, scorer: Scorer) -> Imported:
    remarks, missing = _about(case)
    missing += _unknown(case, _CASE, "the case")
    conversation, scenario = _of(case, "conversation"), _of(case, "conversation_scenario")
    if conversation is None and isinstance(scenario, Mapping):
        return _scenario(scenario, name, note, remarks, missing)
    if not isinstance(conversation, list) or not conversation:
        raise FormError("neither a conversation nor a conversation_scenario")
    exchanges = []
    for number, invocation in enumerate(conversation, start=1):
        where = f"conversation[{number - 1}]"
        if not isinstance(invocation, Mapping):
            raise FormError(f"{where} is not an object")
        exchanges.append(_exchange(invocation, where))
        told = [f"Asserted in words of exchange {number}: {text}" for text in _rubrics(invocation)]
        remarks += told
        missing += [*([f"{len(told)} rubrics of {where}"] if told else []), *_unread(invocation, where)]
    if not any(exchange.calls or exchange.reply for exchange in exchanges):
        missing.append(NOTHING_EXPECTED)
    sheet = drafted_sheet(name, note, exchanges, scorer, None, remarks)
    return Imported(name, sheet, missing=tuple(missing))


def _about(case: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """What comments say of a whole case, and what they alone hold."""
    remarks = [f"Asserted in words, for a person to turn into turns: {text}" for text in _rubrics(case)]
    missing = [f"{len(remarks)} rubrics"] if remarks else []
    state = _of(_of(case, "session_input"), "state")
    if state:
        remarks.append(f"The session begins with this state, which whoever plays the dialog has to set: {shown(state)}")
        missing.append("the session's state at the beginning")
    final = _of(case, "final_session_state")
    if final:
        remarks.append(f"The session's state at the end: {shown(final)}")
        missing.append("the session's state at the end")
    return remarks, missing


def _scenario(scenario: Mapping[str, Any], name: str, note: str, remarks: list[str], missing: list[str]) -> Imported:
    """A simulated user goes by a plan after the first message: nothing is expected yet, and nobody knows his words."""
    begins = _of(scenario, "starting_prompt")
    if not isinstance(begins, str) or not begins.strip():
        raise FormError("conversation_scenario has no starting_prompt")
    told = [f"What the user wants: {shown(_of(scenario, 'conversation_plan') or 'not said')}"]
    persona = _of(scenario, "user_persona")
    if persona:
        told.append(f"Who the user is: {shown(_of(persona, 'id') or persona)}")
    told.append("Nothing is expected yet: write the calls that a run has to make, and what has to be said.")
    sheet = sheet_of(name, note, [*told, *remarks], [], None, begins)
    return Imported(name, sheet, missing=(NOTHING_EXPECTED, *missing))


def _exchange(invocation: Mapping[str, Any], where: str) -> RecordedExchange:
    said = _said(invocation, "query", "user_content")
    if not said:
        raise FormError(f"{where}.user_content has no text, and a dialog is known by what the user says")
    remarks: list[str] = []
    calls = []
    for rank, (call, result) in enumerate(_calls_of(invocation, where)):
        one = _call(call, result, rank, where, remarks)
        if one is not None:
            calls.append(one)
    return RecordedExchange(
        said, tuple(calls), _said(invocation, "reference", "final_response") or None, tuple(remarks)
    )


def _call(call: Mapping[str, Any], result: Captured, rank: int, where: str, remarks: list[str]) -> RecordedCall | None:
    """The call as a turn; hand-offs, answers given through a tool, and failed attempts are none."""
    name, args = call.get("name", call.get("tool_name")), call.get("args", call.get("tool_input"))
    if not isinstance(name, str) or not name:
        raise FormError(f"a tool use of {where} has no name")
    if args is not None and not isinstance(args, Mapping):
        raise FormError(f"the arguments of {name} in {where} are not an object")
    if name == _TRANSFER:
        remarks.append(f"A hand-off to {dict(args or {}).get('agent_name', 'another agent')} left out: it is no turn.")
        return None
    if name in AssemblySettings().answer_tools:
        remarks.append(f"{name} left out: through it the agent answers. What it has to say: {shown(dict(args or {}))}")
        return None
    value = unwrap(result)
    if isinstance(value.value, Mapping) and value.value.keys() == {"result"}:
        value = unwrap(value.value["result"])
    if value.failed or (isinstance(value.value, str) and value.value.startswith(AssemblySettings().error_prefixes)):
        remarks.append(f"A failed attempt at {name} left out: it changed nothing.")
        return None
    return RecordedCall(name, None, dict(args or {}), value.value, rank)


def _calls_of(invocation: Mapping[str, Any], where: str) -> list[tuple[Mapping[str, Any], Captured]]:
    """Calls with their results, paired by id, else by name in order."""
    data = _of(invocation, "intermediate_data")
    if data is None:
        calls, results = _objects(invocation, "expected_tool_use", where), []
    elif not isinstance(data, Mapping):
        raise FormError(f"{where}.intermediate_data is not an object")
    elif _of(data, "invocation_events") is not None:
        parts = [
            part
            for event in _objects(data, "invocation_events", where)
            for part in _objects(_of(event, "content"), "parts", where)
        ]
        calls = [call for part in parts if isinstance(call := _of(part, "function_call"), Mapping)]
        results = [result for part in parts if isinstance(result := _of(part, "function_response"), Mapping)]
    else:
        calls, results = _objects(data, "tool_uses", where), _objects(data, "tool_responses", where)
    return [(call, _result_of(call, results)) for call in calls]


def _result_of(call: Mapping[str, Any], results: list[Mapping[str, Any]]) -> Captured:
    key = "id" if call.get("id") else "name"
    found = next((one for one in results if call.get(key) is not None and one.get(key) == call[key]), None)
    if found is None:
        found = {"response": call.get("mock_tool_output", NOT_CAPTURED)}
    else:
        results.remove(found)
    response: Captured = found.get("response", NOT_CAPTURED)
    return response


def _unread(invocation: Mapping[str, Any], where: str) -> list[str]:
    data = _of(invocation, "intermediate_data")
    between = _of(data, "intermediate_responses")
    between = between or _of(invocation, "expected_intermediate_agent_responses")
    found = [f"{len(between)} intermediate responses of {where}"] if isinstance(between, list) and between else []
    parts = _parts(invocation, "user_content")
    if any(not isinstance(_of(part, "text"), str) for part in parts):
        found.append(f"what is not text in {where}.user_content")
    return found + _unknown(invocation, _INVOCATION, where)


def _unknown(form: Mapping[str, Any], known: frozenset[str], where: str) -> list[str]:
    names = [name for name, item in form.items() if _snake(name) not in known and item not in (None, [], {}, "")]
    return [f"{name} of {where}, a key that ADK's own form does not have" for name in names]


def _rubrics(form: Mapping[str, Any]) -> list[str]:
    rubrics = _of(form, "rubrics")
    listed = rubrics if isinstance(rubrics, list) else []
    return [str(text) for one in listed if (text := _of(_of(one, "rubric_content"), "text_property"))]


def _said(invocation: Mapping[str, Any], old: str, new: str) -> str:
    """The words of a content, without the model's thoughts."""
    plain = invocation.get(old)
    if isinstance(plain, str) and _of(invocation, new) is None:
        return plain.strip()
    told = [part for part in _parts(invocation, new) if not part.get("thought")]
    return "\n".join(text for part in told if isinstance(text := _of(part, "text"), str)).strip()


def _parts(invocation: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    parts = _of(_of(invocation, name), "parts")
    return [part for part in parts if isinstance(part, Mapping)] if isinstance(parts, list) else []


def _objects(form: Any, name: str, where: str) -> list[Mapping[str, Any]]:
    items = _of(form, name)
    if items is None:
        return []
    if not isinstance(items, list) or not all(isinstance(item, Mapping) for item in items):
        raise FormError(f"{name} in {where} is not a list of objects")
    return list(items)


def _of(form: Any, name: str) -> Any:
    """A field by its name in snake_case or in camelCase; None also where ``form`` is no object."""
    if not isinstance(form, Mapping):
        return None
    head, *rest = name.split("_")
    return form.get(name, form.get(head + "".join(word.capitalize() for word in rest)))


def _snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", name)
