"""How agents are spoken to: what a message is sent as, and where the reply stands in the answer."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import orjson

from aem_monitor.httpclient import one_line
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.player.client import Answer
from aem_monitor.player.faults import ExchangeError, Outcome
from aem_monitor.player.template import Values, filled
from aem_monitor.strictjson import json_bytes

_SHOWN_KEYS: Final = 10


class Dialect(Protocol):
    """One way to speak to an agent."""

    def request(self, values: Values) -> JSON:
        """The body of the request that says ``values.message``."""

    def reply(self, answer: JSON) -> str:
        """The reply in an answer. Raises ``ExchangeError``."""


@dataclass(frozen=True, slots=True)
class ChatCompletions:
    """OpenAI's chat completions, as many agents offer them. ``history``: whether to send what was said before; agents
    that keep it themselves are sent the new message alone. ``body`` are further fields."""

    model: str
    history: bool = True
    body: Mapping[str, JSON] = field(default_factory=dict)

    def request(self, values: Values) -> JSON:
        """One user message more than the last time, or that alone."""
        said = values.messages if self.history else []
        more = filled(self.body, values)
        assert isinstance(more, Mapping)
        return {
            "model": self.model,
            "stream": False,
            **more,
            "messages": [*said, {"role": "user", "content": values.message}],
        }

    def reply(self, answer: JSON) -> str:
        """The text of the first choice, or its refusal."""
        choices = answer.get("choices") if isinstance(answer, Mapping) else None
        first = choices[0] if isinstance(choices, list) and choices else None
        message = first.get("message") if isinstance(first, Mapping) else None
        if not isinstance(message, Mapping):
            raise _none(f"has no choices[0].message, as chat completions have{_keys(answer)}")
        said = _text(message.get("content"))
        if said is None and isinstance(message.get("refusal"), str):
            said = str(message["refusal"])
        if said is not None:
            return said
        if message.get("tool_calls"):
            raise _none("asks its caller to carry out tool calls: that is a model, and no agent that answers its user")
        raise _none("has no text in choices[0].message.content")


@dataclass(frozen=True, slots=True)
class JsonOverHttp:
    """Any JSON over HTTP. ``body`` is the request with places; ``reply_at`` the reply's place as a JSON pointer
    (RFC 6901), as its steps."""

    body: JSON
    reply_at: tuple[str, ...]

    def request(self, values: Values) -> JSON:
        """The body with its places filled."""
        return filled(self.body, values)

    def reply(self, answer: JSON) -> str:
        """The text at the pointer."""
        found = answer
        for number, step in enumerate(self.reply_at):
            below = _below(found, step)
            if below is _NOWHERE:
                at = pointer_text(self.reply_at[: number + 1])
                raise _none(f"has nothing at {at}{_keys(found)}; correct agent.http.reply")
            found = below
        said = _text(found)
        if said is None:
            raise _none(f"has no text at {pointer_text(self.reply_at) or 'its root'}; correct agent.http.reply")
        return said


def body_of(dialect: Dialect, values: Values) -> bytes:
    """The bytes of a request."""
    return json_bytes(dialect.request(values))


def reply_of(dialect: Dialect, answer: Answer) -> str:
    """The reply in an answer. Raises ``ExchangeError``."""
    if answer.content_type == "text/event-stream":
        message = "the answer is a stream of events; have the agent answer at once (no streaming)"
        raise ExchangeError(Outcome.UNREADABLE, message, answer.status)
    try:
        value = _json(answer.body)
    except (ValueError, RecursionError) as error:
        begins = one_line(answer.body[:60].decode("utf-8", "replace"))
        message = f"the answer ({answer.content_type}) is no JSON: it begins with {begins!r}"
        raise ExchangeError(Outcome.UNREADABLE, message, answer.status) from error
    try:
        return dialect.reply(value)
    except ExchangeError as error:
        raise ExchangeError(error.outcome, str(error), answer.status) from error


def pointer(text: str) -> tuple[str, ...]:
    """The steps of a JSON pointer. Raises ``ValueError`` for what is none (RFC 6901, section 3)."""
    if text and not text.startswith("/"):
        raise ValueError("a JSON pointer begins with a slash: /output/text")
    steps = text.split("/")[1:]
    if any("~" in step.replace("~0", "").replace("~1", "") for step in steps):
        raise ValueError("in a JSON pointer ~ is written ~0, and / in a name ~1")
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in steps)


def pointer_text(steps: tuple[str, ...]) -> str:
    """How a pointer is written."""
    return "".join(f"/{step.replace('~', '~0').replace('/', '~1')}" for step in steps)


def _json(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        # Models write halves of characters, and some servers a byte order mark; the standard library takes both.
        return json.loads(body.decode("utf-8-sig"))


_NOWHERE: Final[Any] = object()


def _below(value: JSON, step: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(step, _NOWHERE)
    if isinstance(value, list) and step.isascii() and step.isdecimal() and (step == "0" or step[0] != "0"):
        return value[int(step)] if int(step[:9]) < len(value) and len(step) < 9 else _NOWHERE
    return _NOWHERE


def _text(value: JSON) -> str | None:
    """A text, or the texts of a list of content parts."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return None
    parts = [part.get("text") for part in value if isinstance(part, Mapping) and isinstance(part.get("text"), str)]
    return "".join(str(part) for part in parts) if parts else None


def _keys(value: JSON) -> str:
    """What is there instead, by name only: contents may be anybody's."""
    if not isinstance(value, Mapping) or not value:
        return ""
    named = [one_line(key[:40]) for key in list(value)[:_SHOWN_KEYS]]
    return f" (it has {', '.join(named)})"


def _none(message: str) -> ExchangeError:
    return ExchangeError(Outcome.NO_REPLY, f"the answer {message}")
