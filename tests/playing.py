"""Golden dialogs and conversations in few lines, for tests of what is made of them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aem_monitor.attribution.steps import Judge, ScoringSettings
from aem_monitor.golden.dialog import Dialog
from aem_monitor.golden.load import dialog_from
from aem_monitor.golden.messages import same_user_message
from aem_monitor.golden.play import Run, runs_of
from aem_monitor.model.conversation import (
    NOT_CAPTURED,
    Captured,
    Conversation,
    Exchange,
    Response,
    ToolCall,
    ToolSchema,
    UserMessage,
)
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.verdict import RunResult, TurnVerdict
from aem_monitor.scoring.scorers import EmbeddedScorer

SECOND = 10**9
SCORER = EmbeddedScorer()


def golden(turns: Sequence[Mapping[str, Any]], **top: Any) -> Dialog:
    """A reviewed dialog; ``turns`` as in a golden file."""
    return dialog_from({"dialog": "d", "version": 1, "review": {"status": "human"}, **top, "turns": list(turns)})


def user(text: str) -> dict[str, Any]:
    return {"turn": "User", "text": text}


def tool(number: int, name: str, args: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """An expected call; ``name`` is ``tool`` or ``tool.action``."""
    tool_id, _, action = name.partition(".")
    gold: dict[str, Any] = {"tool_id": tool_id, "args": dict(args or {})}
    if action:
        gold["action"] = action
    return {"turn_no": number, "turn": "Tool", "gold_turn": gold, **more}


def agent(number: int, response: str | None = None, **more: Any) -> dict[str, Any]:
    turn: dict[str, Any] = {"turn_no": number, "turn": "Agent", **more}
    if response is not None:
        turn["gold_turn"] = {"response": response}
    return turn


@dataclass(frozen=True, slots=True)
class Call:
    """A call that was made. ``args`` None: not captured."""

    name: str
    args: Mapping[str, JSON] | None = field(default_factory=dict)
    result: Captured = NOT_CAPTURED
    error: str | None = None
    round: int | None = None


def exchange(
    text: str | None,
    calls: Sequence[Call] = (),
    reply: str | None = None,
    *,
    at: int = 0,
    complete: bool = True,
    reply_error: str | None = None,
) -> Exchange:
    """One live exchange; calls come one second apart, the reply one second after the last. ``at`` in seconds."""
    made = []
    for index, call in enumerate(calls, start=1):
        name, _, action = call.name.partition(".")
        made.append(
            ToolCall(
                name=call.name,
                tool=name,
                action=action or None,
                arguments=call.args,
                result=call.result,
                error=call.error,
                start_ns=(at + index) * SECOND,
                end_ns=(at + index) * SECOND + SECOND // 2,
                trace_id=f"{at + 1:032x}",
                span_id=f"{at * 100 + index:016x}",
                round=index if call.round is None else call.round,
                release="1.0",
                model="m",
            )
        )
    end = (at + len(made) + 1) * SECOND
    response = None
    if reply is not None or reply_error is not None:
        response = Response(
            reply, end, f"{at + 1:032x}", f"{at * 100 + 99:016x}", reply_error, release="1.0", model="m"
        )
    return Exchange(
        user=UserMessage(text, at * SECOND),
        calls=tuple(made),
        response=response,
        start_ns=at * SECOND,
        end_ns=end,
        trace_ids=(f"{at + 1:032x}",),
        root_seen=complete,
        missing_parents=not complete,
    )


def conversation(*exchanges: Exchange, schemas: Mapping[str, JSON] | None = None) -> Conversation:
    """``schemas``: of the arguments of tools, by the names that calls give them."""
    return Conversation(
        key="c",
        conversation_id="c",
        agent="a",
        release="1.0",
        model="m",
        exchanges=exchanges,
        trace_ids=tuple(trace for one in exchanges for trace in one.trace_ids),
        first_ns=min(one.start_ns for one in exchanges),
        last_ns=max(one.end_ns for one in exchanges),
        tool_schemas=tuple(ToolSchema(name, json.dumps(schema)) for name, schema in (schemas or {}).items()),
    )


def runs(dialog: Dialog, *exchanges: Exchange, gap: int = 1800) -> list[Run]:
    return runs_of(conversation(*exchanges), dialog, same_user_message, gap * SECOND)


def judged(
    dialog: Dialog, *exchanges: Exchange, partial: bool = False, schemas: Mapping[str, JSON] | None = None
) -> RunResult:
    """The result of the one run that the exchanges are."""
    (run,) = runs_of(conversation(*exchanges, schemas=schemas), dialog, same_user_message, 1800 * SECOND)
    return Judge(SCORER, ScoringSettings()).plan(run, partial).result


def entry(result: RunResult, number: int | None) -> TurnVerdict:
    (found,) = [turn for turn in result.turns if turn.turn_no == number]
    return found


def words(result: RunResult) -> dict[int | None, str]:
    """Each entry in a word: pass, root REASON, cascade of ROOTS, or the cause of not scored."""
    return {turn.turn_no: _word(turn) for turn in result.turns}


def _word(turn: TurnVerdict) -> str:
    if turn.success is None:
        return str(turn.not_scored)
    if turn.success:
        return "pass"
    if turn.root_cause:
        return f"root {turn.failure_reason}" + (f" {turn.detail}" if turn.detail else "")
    return f"cascade of {', '.join(map(str, turn.blames))}"
