"""Calls by which a framework answers: what the model fills in is the reply, and no tool was called."""

import re
from collections.abc import Sequence
from typing import Final

from aem_monitor.assembly.names import folded
from aem_monitor.assembly.settings import AssemblySettings
from aem_monitor.conventions.jsontext import canonical, parse_nested
from aem_monitor.model.conversation import ToolCall

_TAKEN: Final = re.compile(r"Returning structured response: |Successfully validated .+ structured output$")
"""What LangChain and Strands report to the model as the result of a call that they took for the answer."""


def without_answers(
    calls: Sequence[ToolCall], reply: str | None, settings: AssemblySettings
) -> tuple[tuple[ToolCall, ...], ToolCall | None]:
    """The calls without those by which a framework answers, and the last answer among them.

    Such a tool has a name of its own, or that of the schema which the answer has to follow. The latter is known in the
    last step, where the result says what became of it or a ``reply`` that no model wrote repeats what was filled in;
    earlier attempts are those that failed.
    """
    names = {folded(name) for name in settings.answer_tools}
    own = [call for call in calls if not call.nested]
    taken = [call for call in own if call.round == own[-1].round and _is_taken(call, reply)]
    schemas = {folded(call.name) for call in taken}
    kept: list[ToolCall] = []
    answer: ToolCall | None = None
    for call in calls:
        name = folded(call.name)
        if call.nested or not (name in names or call in taken or (name in schemas and call.error is not None)):
            kept.append(call)
        else:
            answer = call
    return tuple(kept), answer


def answer_text(answer: ToolCall | None, settings: AssemblySettings) -> tuple[str | None, bool]:
    """What an answering call says, and whether it was cut: the text in an answer tool's only argument, else all."""
    if answer is None or not answer.arguments:
        return None, False
    found = dict(answer.arguments)
    if folded(answer.name) in {folded(name) for name in settings.answer_tools}:
        values = list(found.values())
        value = found.get("answer", values[0] if len(values) == 1 else found)
        return (value if isinstance(value, str) else canonical(value)), answer.arguments_truncated
    return canonical(found), answer.arguments_truncated


def _is_taken(call: ToolCall, reply: str | None) -> bool:
    if isinstance(call.result, str) and _TAKEN.match(call.result):
        return True
    if not call.arguments or reply is None or not reply.lstrip().startswith("{"):
        return False
    said = parse_nested(reply)
    return not said.truncated and canonical(said.value) == canonical(dict(call.arguments))
