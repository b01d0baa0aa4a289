"""Content that is taken out before anything is stored, by rule.

What is taken out leaves a mark that names its kind (``[redacted:email]``, ``[redacted:number]``), so that a reader sees
that something was there and a later judgement counts it as not captured.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import re2

from aem_monitor.model.conversation import NOT_CAPTURED, Captured, Conversation, Exchange, ToolCall
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.verdict import Check, RunResult, TurnVerdict

_MARK: Final = re.compile(r"\[redacted:[\w-]+\]")


@dataclass(frozen=True, slots=True)
class Redaction:
    """``fields`` are names of arguments and of members of results, whose whole value is taken out at any depth (upper
    and lower case are one). ``patterns`` map a word for what is matched to a pattern (RE2), taken out of every text.
    """

    fields: frozenset[str] = frozenset()
    patterns: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, fields: Sequence[str] = (), patterns: Mapping[str, str] | None = None) -> "Redaction":
        """Raises ``ValueError`` for a pattern that RE2 cannot use."""
        compiled = {name: compiled_pattern(pattern) for name, pattern in (patterns or {}).items()}
        return cls(frozenset(name.casefold() for name in fields), compiled)

    def __bool__(self) -> bool:
        return bool(self.fields or self.patterns)

    def text(self, text: str) -> str:
        """A text without what the patterns match."""
        for name, pattern in self.patterns.items():
            mark = f"[redacted:{name}]"
            try:
                text = pattern.sub(lambda _, mark=mark: mark, text)
            except UnicodeEncodeError:
                # RE2 reads UTF-8, which has no lone surrogates; a text must not escape it because of one.
                whole = text.encode("utf-8", "replace").decode()
                text = pattern.sub(lambda _, mark=mark: mark, whole)
        return text

    def value(self, value: JSON) -> JSON:
        """A value without named members and matching texts; the names of members are texts, too."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {
                self.text(key): _mark(item) if self._named(key) else self.value(item) for key, item in value.items()
            }
        if isinstance(value, Sequence):
            return [self.value(item) for item in value]
        return value

    def result(self, result: RunResult) -> RunResult:
        """A result whose evidence may be stored."""
        return replace(result, turns=tuple(self._turn(turn) for turn in result.turns)) if self else result

    def conversation(self, conversation: Conversation) -> Conversation:
        """A conversation that may be stored."""
        if not self:
            return conversation
        return replace(conversation, exchanges=tuple(self._exchange(one) for one in conversation.exchanges))

    def _named(self, key: str) -> bool:
        return key.casefold() in self.fields

    def _turn(self, turn: TurnVerdict) -> TurnVerdict:
        checks = tuple(self._check(check) for check in turn.checks)
        return replace(turn, expected=self.value(turn.expected), actual=self.value(turn.actual), checks=checks)

    def _check(self, check: Check) -> Check:
        named = check.field is not None and any(self._named(step) for step in check.field.split("."))
        expected, actual = (
            _mark(item) if named and item is not None else self.value(item) for item in (check.expected, check.actual)
        )
        return replace(check, expected=expected, actual=actual)

    def _exchange(self, exchange: Exchange) -> Exchange:
        user, response = exchange.user, exchange.response
        if user.text is not None:
            user = replace(user, text=self.text(user.text))
        if response is not None:
            response = replace(response, text=self._optional(response.text), error=self._optional(response.error))
        return replace(exchange, user=user, response=response, calls=tuple(self._call(call) for call in exchange.calls))

    def _call(self, call: ToolCall) -> ToolCall:
        arguments = call.arguments
        if arguments is not None:
            redacted = self.value(arguments)
            arguments = redacted if isinstance(redacted, Mapping) else arguments
        result = call.result if call.result is NOT_CAPTURED else self.value(call.result)
        return replace(call, arguments=arguments, result=result, error=self._optional(call.error))

    def _optional(self, text: str | None) -> str | None:
        return None if text is None else self.text(text)


def compiled_pattern(pattern: str) -> Any:
    """Raises ``ValueError`` for a pattern that RE2 cannot use, or that matches everywhere."""
    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        cause = error.args[0] if error.args else ""
        said = cause.decode("utf-8", "replace") if isinstance(cause, bytes) else str(cause)
        raise ValueError(f"is no pattern that RE2 can use: {said}") from error
    if compiled.search(""):
        raise ValueError("matches the empty text, and so everywhere")
    return compiled


def as_captured(conversation: Conversation) -> Conversation:
    """A stored conversation as it may be judged: what was taken out was not captured.

    A text with a mark in it is not known, neither the user's nor the agent's; of arguments and results the rest is
    known, marked as cut.
    """
    return replace(conversation, exchanges=tuple(_captured(one) for one in conversation.exchanges))


def is_redacted(value: JSON) -> bool:
    """Whether anything was taken out of a value."""
    return _rest(value)[1]


def _captured(exchange: Exchange) -> Exchange:
    user, response = exchange.user, exchange.response
    if _marked(user.text):
        user = replace(user, text=None)
    if response is not None and _marked(response.text):
        response = replace(response, text=None)
    return replace(exchange, user=user, response=response, calls=tuple(_captured_call(call) for call in exchange.calls))


def _captured_call(call: ToolCall) -> ToolCall:
    if call.arguments is not None:
        arguments, cut = _rest(call.arguments)
        if cut and isinstance(arguments, Mapping):
            call = replace(call, arguments=arguments, arguments_truncated=True)
    if call.result is not NOT_CAPTURED:
        result, cut = _rest(call.result)
        if cut:
            call = replace(call, result=result, result_truncated=True)
    return call


def _rest(value: JSON) -> tuple[Captured, bool]:
    if isinstance(value, str):
        return (NOT_CAPTURED, True) if _marked(value) else (value, False)
    if isinstance(value, Mapping):
        members = {key: _rest(item) for key, item in value.items() if not _marked(key)}
        kept = {key: item for key, (item, _) in members.items() if item is not NOT_CAPTURED}
        return kept, len(members) < len(value) or any(cut for _, cut in members.values())
    if isinstance(value, Sequence):
        items = [_rest(item) for item in value]
        return [item for item, _ in items if item is not NOT_CAPTURED], any(cut for _, cut in items)
    return value, False


def _marked(text: str | None) -> bool:
    return text is not None and _MARK.search(text) is not None


def _mark(value: JSON) -> str:
    match value:
        case str() if _MARK.fullmatch(value):
            return value
        case bool():
            kind = "boolean"
        case int() | float():
            kind = "number"
        case str():
            kind = "string"
        case None:
            kind = "null"
        case Mapping():
            kind = "object"
        case _:
            kind = "array"
    return f"[redacted:{kind}]"
