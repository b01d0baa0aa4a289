"""A conversation as the JSON object that ``replay --conversations`` prints."""

from collections.abc import Iterator

from aem_monitor.model.conversation import NOT_CAPTURED, Conversation, Exchange, ToolCall
from aem_monitor.model.jsonvalue import JSON


def conversation_object(conversation: Conversation) -> dict[str, JSON]:
    """``{"conversation_id", "release", "agent", "turns": [..]}``; what was not captured has no key.

    Every exchange begins with a ``user`` and ends with a ``response`` turn, whether or not their texts are known.
    Hand-offs are left out, calls inside a tool call are marked ``nested``.
    """
    turns = [turn for exchange in conversation.exchanges for turn in _turns(exchange)]
    found: dict[str, JSON] = {
        "conversation_id": conversation.conversation_id,
        "release": conversation.release,
        "agent": conversation.agent,
        "turns": turns,
    }
    if conversation.aliases:
        found["aliases"] = list(conversation.aliases)
    if conversation.model is not None:
        found["model"] = conversation.model
    return found


def _turns(exchange: Exchange) -> Iterator[dict[str, JSON]]:
    yield _spoken("user", exchange.user.text, truncated=exchange.user.truncated)
    for call in exchange.calls:
        if not call.handoff:
            yield _call(call)
    response = exchange.response
    if response is None:
        yield {"kind": "response"}
        return
    turn = _spoken("response", response.text, truncated=response.truncated)
    if response.error is not None:
        turn["error"] = response.error or "error"
    yield turn


def _spoken(kind: str, text: str | None, *, truncated: bool) -> dict[str, JSON]:
    turn: dict[str, JSON] = {"kind": kind}
    if text is not None:
        turn["text"] = text
    if truncated:
        turn["truncated"] = True
    return turn


def _call(call: ToolCall) -> dict[str, JSON]:
    turn: dict[str, JSON] = {"kind": "tool", "tool": call.tool}
    if call.action is not None:
        turn["action"] = call.action
    if call.arguments is not None:
        turn["args"] = dict(call.arguments)
    if call.result is not NOT_CAPTURED:
        turn["result"] = call.result
    if call.error is not None:
        turn["error"] = call.error or "error"
    if call.arguments_truncated or call.result_truncated:
        turn["truncated"] = True
    if call.nested:
        turn["nested"] = True
    return turn
