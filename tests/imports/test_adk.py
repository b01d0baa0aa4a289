"""ADK eval sets become scripted dialogs: calls with results and references, replies; the rest is named."""

import json
from pathlib import Path
from typing import Any

import pytest

from aem_monitor.bootstrap.recorded import recording_of
from aem_monitor.golden.dialog import AgentTurn
from aem_monitor.model.conversation import NOT_CAPTURED, Exchange
from tests.bootstrap.drafting import passes
from tests.bootstrap.test_recordings import TRACES, conversations
from tests.imports.reading import DATA, args, imported, loaded, read, tools

SET = DATA / "adk" / "dice_and_tickets.evalset.json"
SESSIONS = DATA / "adk" / "sessions.evalset.json"


def said(text: str, role: str = "user") -> dict[str, Any]:
    return {"role": role, "parts": [{"text": text}]}


def write(folder: Path, value: object, name: str = "set.evalset.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(value))
    return path


def case(*invocations: object, **more: object) -> dict[str, Any]:
    return {"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": list(invocations), **more}]}


def test_calls_are_turns_with_the_results_that_belong_to_them() -> None:
    dialog, _ = imported("adk", SET)["adk-dice_and_tickets-roll_and_book"]
    assert [turn.tool_id for turn in tools(dialog)] == ["roll_die", "check_prime", "book"]
    assert args(tools(dialog)) == [{"sides": 17}, {"nums": ["${1.result}"]}, {"ticket": "T-1042", "name": "Dana Reed"}]
    assert [turn.result for turn in tools(dialog)] == [13, "13 are prime numbers.", {"booking": "B-7731"}]
    assert dialog.first_user == ("Roll a 17 sided die for me, then check whether it is prime.",)
    assert dialog.draft


def test_replies_are_without_thoughts_and_refer_to_results() -> None:
    dialog, _ = imported("adk", SET)["adk-dice_and_tickets-roll_and_book"]
    replies = [turn.response for turn in dialog.scored_turns if isinstance(turn, AgentTurn)]
    assert replies[1] == "Booking ${4.result.booking} is made for Dana Reed."


def test_hand_offs_and_failed_attempts_are_no_turns_and_said_in_the_file() -> None:
    _, text = imported("adk", SET)["adk-dice_and_tickets-roll_and_book"]
    assert "# A hand-off to booker left out" in text
    assert "# A failed attempt at book left out" in text


def test_what_a_dialog_has_no_place_for_is_named_and_kept_as_comments() -> None:
    one = read("adk", SET)[0]
    assert one.missing == (
        "1 rubrics",
        "the session's state at the beginning",
        "the session's state at the end",
        "1 intermediate responses of conversation[0]",
        "1 rubrics of conversation[1]",
    )
    text = loaded(one)[1]
    assert "# Asserted in words, for a person to turn into turns: No die is rolled twice." in text
    assert "# Asserted in words of exchange 2: The reply is polite." in text
    assert '{"today":' in text


def test_a_scenario_is_an_open_dialog_that_begins_with_its_prompt() -> None:
    scenario = read("adk", SET)[1]
    dialog, text = loaded(scenario)
    assert dialog.open
    assert dialog.first_user == ("I need a flight.",)
    assert "# What the user wants: Book the cheapest flight from SFO to LAX, then end." in text
    assert "# Who the user is: NOVICE" in text
    assert "any run passes until you write some" in scenario.missing[0]


def test_a_case_with_only_the_users_part_is_said_to_expect_nothing() -> None:
    only_user = read("adk", SET)[2]
    assert "expected calls and replies" in only_user.missing[0]
    assert loaded(only_user)[0].scored_turns == ()


def test_camel_case_reads_the_same(tmp_path: Path) -> None:
    def camel(value: Any) -> Any:
        if isinstance(value, list):
            return [camel(item) for item in value]
        if not isinstance(value, dict):
            return value
        free = {"args", "response", "state", "finalSessionState"}
        named = {to_camel(key): item for key, item in value.items()}
        return {key: item if key in free else camel(item) for key, item in named.items()}

    def to_camel(name: str) -> str:
        head, *rest = name.split("_")
        return head + "".join(word.capitalize() for word in rest)

    whole = json.loads(SET.read_text())
    path = write(tmp_path, camel(whole), SET.name)
    assert imported("adk", path) == imported("adk", SET)
    assert [one.missing for one in read("adk", path)] == [one.missing for one in read("adk", SET)]


def test_sessions_and_bare_queries_of_the_earlier_forms(tmp_path: Path) -> None:
    dialog, _ = imported("adk", SESSIONS)["adk-sessions-roll_17_sided_dice_twice"]
    queries = write(tmp_path, json.loads(SESSIONS.read_text())[0]["data"], "queries.test.json")
    bare, _ = imported("adk", queries)["adk-queries"]
    for one in (dialog, bare):
        assert [exchange.user.text for exchange in one.exchanges if exchange.user] == [
            "What can you do?",
            "Roll a 17 sided dice twice for me",
        ]
        assert args(tools(one)) == [{"sides": 17}, {"sides": 17}]


def test_earlier_keys_inside_the_present_form_are_read(tmp_path: Path) -> None:
    invocation = {
        "user_content": said("Roll."),
        "expected_tool_use": [{"tool_name": "roll_die", "tool_input": {"sides": 6}, "mock_tool_output": {"face": 4}}],
        "reference": "A four.",
    }
    ((dialog, _),) = imported("adk", write(tmp_path, case(invocation))).values()
    assert args(tools(dialog)) == [{"sides": 6}]
    assert tools(dialog)[0].result == {"face": 4}
    assert dialog.exchanges[0].replies[0].response == "A four."


def test_results_without_ids_belong_to_calls_of_their_name_in_order(tmp_path: Path) -> None:
    calls = [{"id": None, "name": "roll", "args": {}}, {"name": "ask", "args": {}}, {"name": "roll", "args": {}}]
    results = [{"name": "roll", "response": {"result": 3}}, {"name": "roll", "response": {"result": 5}}]
    data = {"tool_uses": calls, "tool_responses": results}
    path = write(tmp_path, case({"user_content": said("Go."), "intermediate_data": data}))
    ((dialog, _),) = imported("adk", path).values()
    assert [turn.result if turn.has_result else "none" for turn in tools(dialog)] == [3, "none", 5]


def test_a_case_that_was_named_by_a_path_is_called_by_its_end(tmp_path: Path) -> None:
    whole = case({"user_content": said("Hi.")}, eval_id="/home/u/eval/data/pretrip.test.json")
    assert list(imported("adk", write(tmp_path, whole, "pretrip.test.json"))) == ["adk-pretrip"]


def test_a_key_that_is_not_known_is_named(tmp_path: Path) -> None:
    whole = case({"user_content": said("Hi."), "expectedMood": "glad"}, weight=2)
    (one,) = read("adk", write(tmp_path, whole))
    assert "weight of the case, a key that ADK's own form does not have" in one.missing
    assert "expectedMood of conversation[0], a key that ADK's own form does not have" in one.missing


@pytest.mark.parametrize(
    ("invocation", "problem"),
    [
        ({"user_content": {"parts": [{"inline_data": {"data": "AA=="}}]}}, "conversation[0].user_content has no text"),
        ({"user_content": said("x"), "intermediate_data": []}, "conversation[0].intermediate_data is not an object"),
        ({"user_content": said("x"), "intermediate_data": {"tool_uses": [1]}}, "tool_uses in conversation[0] is not"),
        ({"user_content": said("x"), "intermediate_data": {"tool_uses": [{}]}}, "a tool use of conversation[0] has no"),
        (
            {"user_content": said("x"), "intermediate_data": {"tool_uses": [{"name": "f", "args": "y"}]}},
            "the arguments of f in conversation[0] are not an object",
        ),
        (3, "conversation[0] is not an object"),
    ],
)
def test_a_case_that_cannot_be_read_is_left_out_with_its_place(
    tmp_path: Path, invocation: object, problem: str
) -> None:
    whole = case(invocation)
    whole["eval_cases"].append({"eval_id": "good", "conversation": [{"user_content": said("Hi.")}]})
    path = write(tmp_path, whole)
    bad, good = read("adk", path)
    assert bad.sheet is None
    assert (bad.problem or "").startswith(f"{path}: case c: ")
    assert problem in (bad.problem or "")
    assert good.sheet is not None


def test_a_case_with_neither_conversation_nor_scenario_is_left_out(tmp_path: Path) -> None:
    (one,) = read("adk", write(tmp_path, {"eval_cases": [{"eval_id": "c"}]}))
    assert "neither a conversation nor a conversation_scenario" in (one.problem or "")


def invocation(exchange: Exchange) -> dict[str, Any]:
    """What an eval set says of an exchange as it was recorded."""
    made = [call for call in exchange.tool_turns if call.error is None]
    results = [
        {"id": str(number), "name": call.name, "response": {"result": call.result}}
        for number, call in enumerate(made)
        if call.result is not NOT_CAPTURED
    ]
    uses = [{"id": str(number), "name": call.name, "args": call.arguments} for number, call in enumerate(made)]
    return {
        "user_content": said(exchange.user.text or ""),
        "final_response": said((exchange.response.text if exchange.response else None) or "", "model"),
        "intermediate_data": {"tool_uses": uses, "tool_responses": results},
    }


@pytest.mark.parametrize(
    "name",
    ["copied-v2.5-calculator", "v1.14-refund", "v1.21-sales", "v2-genai-flights", "v2-genai-transfer"],
)
def test_an_agent_that_does_what_its_eval_set_says_passes(tmp_path: Path, name: str) -> None:
    for conversation in conversations(TRACES / "google-adk" / f"{name}.json"):
        path = write(tmp_path, case(*(invocation(exchange) for exchange in conversation.exchanges)))
        ((dialog, _),) = imported("adk", path).values()
        assert tools(dialog)
        assert passes(dialog, recording_of(conversation)) == [True]
