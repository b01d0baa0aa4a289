"""Inputs and outputs of whole functions, as tracing SDKs record them: ``{"args", "kwargs"}``, ``{"inputs": {..}}``,
completion objects, message lists, or plain text. What the user or the agent said is somewhere inside.

A wrong text is worse than none: where it is not clear which parameter the user wrote, nothing is read, and the model's
own input tells what the user said.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from aem_monitor.conventions.jsontext import parse, parse_nested, redacted, to_json
from aem_monitor.conventions.messages import (
    NO_MESSAGES,
    Message,
    Messages,
    Role,
    mark_cut,
    read_messages,
    without_cut_end,
)
from aem_monitor.conventions.parts import TextPart
from aem_monitor.model.jsonvalue import JSON, AttributeValue

_MAX_WRAPPERS: Final = 6
_WRAPPERS: Final = ("inputs", "outputs", "input", "output", "kwargs", "state", "update", "message", "response")
_USER_KEYS: Final = (
    *("user_input", "user_message", "user_msg", "user_query", "user_prompt", "message", "question", "query"),
    *("input", "text", "prompt", "task"),
)
_REPLY_KEYS: Final = (
    *("raw", "response", "answer", "final_output", "final_answer", "reply", "result", "output", "output_text"),
    *("content", "text", "message"),
)
_SPEAKERS: Final = frozenset({"user", "human", "system", "assistant", "ai", "placeholder"})
_NEVER_SPOKEN: Final = re.compile(
    r"(?:^|_)(?:id|ids|uuid|key|model|session|thread|conversation|user|customer|locale|lang|language|tenant|version"
    r"|mode|channel|agent|name|system|instructions?|system_prompt|system_message)$",
    re.IGNORECASE,
)
_OBJECT_TEXT: Final = re.compile(r"<.{1,200} at 0x[0-9a-f]{4,16}>|(?:[A-Z][a-z0-9]{1,40}){2,8}", re.DOTALL)


def opened(value: AttributeValue) -> tuple[JSON, bool]:
    """An attribute's value, read when it is JSON text, and whether it was cut; None where content was taken away."""
    plain = to_json(value)
    if not isinstance(plain, str):
        return plain, False
    if redacted(plain):
        return None, False
    parsed = parse_nested(plain)
    return parsed.value, parsed.truncated


def spoken(value: AttributeValue, role: Role) -> Messages:
    """What an input (``role`` USER) or an output (ASSISTANT) says, as messages; none when nothing is recognised.

    JSON is read one level deep: a text that was written as JSON may itself be JSON, and is what was said. Reprs of
    Python objects are no messages.
    """
    plain, cut = to_json(value), False
    if isinstance(plain, str) and plain.lstrip()[:1] in ("{", "[", '"') and not redacted(plain):
        parsed = parse(plain)
        plain, cut = without_cut_end(parsed.value) if parsed.truncated else parsed.value, parsed.truncated
    items = _said(None if plain == "null" else plain, role, _MAX_WRAPPERS).items
    return Messages((*items[:-1], mark_cut(items[-1])), cut) if cut and items else Messages(items, cut)


def provider_output(value: JSON) -> Messages:
    """What a model's provider answered, in its own object or a list of them: a chat completion, LangChain's
    generations, or a response of OpenAI's Responses with its ``output`` items; none for any other value."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        found = NO_MESSAGES
        for item in value:
            found += provider_output(item) if isinstance(item, Mapping) else NO_MESSAGES
        return found
    if not isinstance(value, Mapping):
        return NO_MESSAGES
    if "choices" in value or "generations" in value:
        return _completion(value, Role.ASSISTANT, _MAX_WRAPPERS)
    items = _listed(value.get("output"))
    if not items or not all(isinstance(item, Mapping) and isinstance(item.get("type"), str) for item in items):
        return NO_MESSAGES
    return read_messages(items, Role.ASSISTANT)


def _said(value: JSON, role: Role, depth: int) -> Messages:
    if isinstance(value, str):
        return _text(value, role)
    if isinstance(value, Mapping):
        return _from_object(value, role, depth)
    if isinstance(value, Sequence) and value:
        return _from_list(value, role)
    return NO_MESSAGES


def _text(value: str, role: Role) -> Messages:
    if not value.strip() or redacted(value) or _OBJECT_TEXT.fullmatch(value.strip()):
        return NO_MESSAGES
    return Messages((Message(role, (TextPart(value),)),))


def _from_list(value: Sequence[JSON], role: Role) -> Messages:
    """Messages, also LangChain's pairs ``["user", text]`` and LlamaIndex's blocks; texts among them are reprs of
    objects."""
    usable = [_message(item) for item in value if not isinstance(item, str)]
    return read_messages(usable, role) if usable else NO_MESSAGES


def _message(item: JSON) -> JSON:
    if isinstance(item, Mapping) and "blocks" in item and "role" in item:
        return _llama_message(item)
    if isinstance(item, Sequence) and not isinstance(item, str) and len(item) == 2:
        speaker, said = item
        if isinstance(speaker, str) and speaker in _SPEAKERS and isinstance(said, str):
            return {"role": speaker, "content": said}
    return item


def _llama_message(message: Mapping[str, JSON]) -> JSON:
    """``{"role", "blocks": [{"block_type", ..}], "additional_kwargs": {"tool_calls", "tool_call_id"}}``"""
    more = message.get("additional_kwargs")
    kept = {key: more.get(key) for key in ("tool_calls", "tool_call_id")} if isinstance(more, Mapping) else {}
    texts: list[JSON] = []
    calls: list[JSON] = []
    for block in _listed(message["blocks"]):
        if isinstance(block, Mapping) and block.get("block_type") == "tool_call":
            known = {"id": block.get("tool_call_id"), "name": block.get("tool_name")}
            calls.append({**known, "arguments": block.get("tool_kwargs")})
        elif isinstance(block, Mapping) and isinstance(block.get("text"), str):
            texts.append({"type": "text", "text": block["text"]})
    return {**kept, **({"tool_calls": calls} if calls else {}), "role": message["role"], "content": texts or None}


def _from_object(value: Mapping[str, JSON], role: Role, depth: int) -> Messages:
    if depth == 0:
        return NO_MESSAGES
    messages = value.get("messages")
    if isinstance(messages, Sequence) and not isinstance(messages, str) and messages:
        return _from_list(messages, role)
    if "blocks" in value and "role" in value:
        return read_messages(_llama_message(value), role)
    if "role" in value or "lc" in value or "parts" in value or _is_langchain(value):
        return read_messages(value, role)
    if "choices" in value or "generations" in value:
        return _completion(value, role, depth)
    if isinstance(value.get("kwargs"), Mapping) and isinstance(value.get("args"), Sequence):
        return _parameters(_listed(value["args"]), value["kwargs"], role, depth)
    for key in _WRAPPERS:
        inner = value.get(key)
        if isinstance(inner, Mapping) or (isinstance(inner, Sequence) and not isinstance(inner, str)):
            found = _said(inner, role, depth - 1)
            if found:
                return found
    if role is Role.USER:
        return _parameters((), value, role, depth)
    return next((_text(str(value[key]), role) for key in _REPLY_KEYS if isinstance(value.get(key), str)), NO_MESSAGES)


def _is_langchain(value: Mapping[str, JSON]) -> bool:
    return value.get("type") in ("human", "ai", "AIMessageChunk", "HumanMessage") and "content" in value


def _completion(value: Mapping[str, JSON], role: Role, depth: int) -> Messages:
    """The first choice of a chat completion, or LangChain's first generation ``[[{"message", "text"}]]``."""
    choices = _listed(value.get("choices")) or _listed(value.get("generations"))
    first = next(iter(choices), None)
    if isinstance(first, Sequence) and not isinstance(first, str):
        first = next(iter(first), None)
    if not isinstance(first, Mapping):
        return NO_MESSAGES
    found = _said(first.get("message") or first.get("text"), role, depth - 1)
    info = first.get("generation_info")
    reason = first.get("finish_reason") or (info.get("finish_reason") if isinstance(info, Mapping) else None)
    if not found or not isinstance(reason, str):
        return found
    last = found.items[-1]
    return Messages((*found.items[:-1], Message(last.role, last.parts, reason)), found.truncated)


def _parameters(args: Sequence[JSON], named: JSON, role: Role, depth: int) -> Messages:
    """What the user said among a function's parameters.

    A parameter with a telling name goes first, else a message list that ends with the user, else the only text, or the
    only one of several texts that has more than one word.
    """
    parameters = named if isinstance(named, Mapping) else {}
    for key in _USER_KEYS:
        if isinstance(parameters.get(key), str):
            found = _text(str(parameters[key]), role)
            if found:
                return found
    others = [value for key, value in parameters.items() if not _NEVER_SPOKEN.search(key)]
    values = [*args, *others]
    lists = [found for value in values if not isinstance(value, str) and (found := _said(value, role, depth - 1))]
    current = next((found for found in lists if found.items[-1].role is role), None)
    if current is not None:
        return current
    texts = [value for value in values if isinstance(value, str) and _text(value, role)]
    sentences = [value for value in texts if len(value.split()) > 1]
    if len(sentences) == 1:
        return _text(sentences[0], role)
    return _text(texts[0], role) if len(texts) == 1 and not lists else NO_MESSAGES


def _listed(value: JSON) -> Sequence[JSON]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()
