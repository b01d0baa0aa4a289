"""Small ways to write golden dialogs and conversations in tests."""

from typing import Any

from aem_monitor.golden.dialog import Dialog
from aem_monitor.golden.load import dialog_from
from aem_monitor.model.conversation import Conversation, Exchange, UserMessage
from aem_monitor.model.jsonvalue import Attributes, AttributeValue


def user(text: str) -> dict[str, Any]:
    return {"turn": "User", "text": text}


def tool(turn_no: int, tool_id: str = "orders", action: str | None = "Find", **more: Any) -> dict[str, Any]:
    call: dict[str, Any] = {"tool_id": tool_id, "args": more.pop("args", {})}
    if action is not None:
        call["action"] = action
    return {"turn_no": turn_no, "turn": "Tool", "gold_turn": call, **more}


def agent(turn_no: int, response: str | None = None, **more: Any) -> dict[str, Any]:
    gold = {} if response is None else {"gold_turn": {"response": response}}
    return {"turn_no": turn_no, "turn": "Agent", **gold, **more}


def dialog(*turns: dict[str, Any], name: str = "d", **more: Any) -> Dialog:
    return dialog_from({"dialog": name, "review": {"status": "human"}, "turns": list(turns), **more})


def conversation(
    *texts: str | None,
    agent_name: str = "shop",
    dialog_ids: tuple[str, ...] = (),
    truncated: bool = False,
    **attributes: AttributeValue,
) -> Conversation:
    exchanges = tuple(
        Exchange(UserMessage(text, index, truncated=truncated), (), None, index, index + 1, ("t",))
        for index, text in enumerate(texts)
    )
    held: Attributes = {name.replace("__", "."): value for name, value in attributes.items()}
    return Conversation(
        key="c",
        conversation_id="c",
        agent=agent_name,
        release=None,
        model=None,
        exchanges=exchanges,
        trace_ids=("t",),
        first_ns=0,
        last_ns=1,
        dialog_ids=dialog_ids,
        attributes=held,
    )
