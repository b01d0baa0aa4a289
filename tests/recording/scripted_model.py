"""A model provider that plays a script, so that the real agent loop around it can be recorded without a model."""

import asyncio
import json
import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from strands.models.model import Model

Results: TypeAlias = Mapping[str, Any]
"""By tool name the latest result that the model has been given in this conversation."""


@dataclass(frozen=True)
class Call:
    """A tool call; arguments may be computed from results."""

    name: str
    arguments: Callable[[Results], dict[str, Any]]


@dataclass(frozen=True)
class Say:
    """A reply, computed from results."""

    text: Callable[[Results], str]


Step: TypeAlias = tuple[Call, ...] | Say
"""What the model answers when it is asked once: calls, made side by side, or a reply."""


@dataclass(frozen=True)
class Exchange:
    """What the user says, and the model's answers one after the other."""

    user: str
    steps: tuple[Step, ...]


@dataclass
class ScriptedModel(Model):
    """Answers step by step, at the pace of a model that streams.

    ``model_id`` becomes ``gen_ai.request.model``. The pause before an answer grows with its length, and is drawn with a
    seed of its own, so that recordings differ only in ids and times.
    """

    model_id: str
    pace: random.Random
    steps: list[Step] = field(default_factory=list)

    @property
    def config(self) -> dict[str, Any]:
        """Where the framework looks for the model's name."""
        return {"model_id": self.model_id}

    def update_config(self, **model_config: Any) -> None:
        """Nothing can be changed."""

    def get_config(self) -> dict[str, Any]:
        """The model's name."""
        return self.config

    def structured_output(self, *_: Any, **__: Any) -> AsyncGenerator[dict[str, Any], None]:
        """Not used by the recorded conversations."""
        raise NotImplementedError

    async def stream(self, messages: Any, *_: Any, **__: Any) -> AsyncIterator[Any]:
        """Play the next step."""
        step = self.steps.pop(0)
        results = results_in(messages)
        said = step.text(results) if isinstance(step, Say) else ""
        calls = step if isinstance(step, tuple) else ()
        await asyncio.sleep(self.pace.uniform(0.15, 0.35))
        yield {"messageStart": {"role": "assistant"}}
        written = len(said)
        if said:
            yield {"contentBlockStart": {"start": {}}}
            for word in said.split(" "):
                yield {"contentBlockDelta": {"delta": {"text": word if word is said else f"{word} "}}}
                await asyncio.sleep(self.pace.uniform(0.002, 0.006))
            yield {"contentBlockStop": {}}
        for call in calls:
            arguments = json.dumps(call.arguments(results))
            written += len(arguments)
            number = f"call_{self.pace.getrandbits(64):016x}"
            yield {"contentBlockStart": {"start": {"toolUse": {"name": call.name, "toolUseId": number}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": arguments}}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if calls else "end_turn"}}
        read = sum(len(json.dumps(message)) for message in messages) // 4
        usage = {"inputTokens": read, "outputTokens": written // 4 + 1, "totalTokens": read + written // 4 + 1}
        yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 0}}}


def results_in(messages: Any) -> dict[str, Any]:
    """By tool name the latest successful result in a message history; JSON texts decoded."""
    names: dict[str, str] = {}
    results: dict[str, Any] = {}
    for message in messages:
        for block in message["content"]:
            if "toolUse" in block:
                names[block["toolUse"]["toolUseId"]] = block["toolUse"]["name"]
            if "toolResult" in block and block["toolResult"]["status"] == "success":
                text = "".join(part.get("text", "") for part in block["toolResult"]["content"])
                results[names[block["toolResult"]["toolUseId"]]] = json.loads(text)
    return results
