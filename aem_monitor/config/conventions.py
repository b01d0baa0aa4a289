"""Configuration of how spans of house-made instrumentation are read."""

import re
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from aem_monitor.config.section import Section
from aem_monitor.validation import KeyFaultError

_NAME = r"^[a-z0-9][a-z0-9_-]{0,39}$"
_EVENT = re.compile(r"event:[^:]+:.+")
_SOURCE_FORM = (
    "must be an attribute's name or a list of names, the first one found wins; also NAME.*, NAME#path.in.json, "
    "event:EVENT:NAME, resource:NAME, span:name"
)

Kind: TypeAlias = Literal["runner", "agent", "model", "tool", "step", "other"]
"""What a span stands for."""


def _sources(value: Any) -> Any:
    """Every source as a list, so that only one form is read later."""
    sources = [value] if isinstance(value, str) else value
    if not isinstance(sources, list | tuple) or not all(isinstance(one, str) for one in sources):
        raise ValueError(_SOURCE_FORM)
    for source in sources:
        if not source.partition("#")[0] or (source.startswith("event:") and not _EVENT.fullmatch(source)):
            raise ValueError(f"{source!r} names no place on a span; {_SOURCE_FORM}")
        if source.startswith("span:") and source.partition("#")[0] != "span:name":
            raise ValueError(f"{source!r} is not known; of the span itself there is only span:name")
    return tuple(sources)


Sources: TypeAlias = Annotated[
    tuple[str, ...],
    BeforeValidator(_sources),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
"""Places on a span, the best one first."""


def _conditions(value: Any) -> Any:
    if not isinstance(value, dict):
        raise ValueError('must be attributes with a value or a list of values, "*" for any: {app.kind: [llm, tool]}')
    lists = {key: wanted if isinstance(wanted, list | tuple) else [wanted] for key, wanted in value.items()}
    for key, wanted in lists.items():
        if not wanted or not all(isinstance(one, str | bool | int | float) for one in wanted):
            raise KeyFaultError(
                key, 'must be a text, number or boolean, or a list of them that is not empty; "*" for any'
            )
    return {key: tuple(_as_text(one) for one in wanted) for key, wanted in lists.items()}


def _as_text(value: str | bool | float) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


Conditions: TypeAlias = Annotated[
    dict[str, tuple[str, ...]], BeforeValidator(_conditions), WithJsonSchema({"type": "object"})
]
"""Attributes, each with the values any of which will do."""


class Detect(Section):
    """By what the spans are known: all of it must hold, `scope` or `attributes` must be given.

    Values may end in `*`; a value `*` alone asks only that the attribute is there.
    """

    scope: str | None = Field(
        None, min_length=2, description="Name of the instrumentation scope (the tracer); may end in `*`."
    )
    attributes: Conditions = Field({}, description="Span attributes with a value or a list of values.")
    resource: Conditions = Field({}, description="Resource attributes likewise.")

    @model_validator(mode="after")
    def _is_a_restriction(self) -> Self:
        if self.scope is None and not self.attributes:
            raise ValueError("give scope or attributes: without either every span of a service would be meant")
        return self


class KindOf(Section):
    """What kind of span it is, by a value on it; without `by` all spans are of the kind `default`.

    `runner`: around agents; `agent`: one agent's invocation; `model`: one model call; `tool`: one tool call; `step`:
    between them; `other`: no part of a turn.
    """

    by: str | None = Field(None, min_length=1, description="Place of the value: an attribute, or `span:name`.")
    values: dict[str, Kind] = Field({}, description="The kind of each value; values may end in `*`.")
    default: Kind = Field("step", description="The kind of spans with another value, or without any.")

    @model_validator(mode="after")
    def _values_have_a_place(self) -> Self:
        if self.values and self.by is None:
            raise KeyFaultError("values", "needs `by`, the attribute that has these values")
        return self


class FieldsOf(Section):
    """Where on a span everything is. What is not named is not read.

    Each is a place or a list of places, the first one found wins: an attribute's name; `NAME.*` for all attributes
    below it as one object; `NAME#path.to.value` inside JSON; `event:EVENT:NAME` of a span event; `resource:NAME`;
    `span:name`.
    """

    conversation_id: Sources = Field((), description="Id of the conversation.")
    agent: Sources = Field((), description="Name of the agent.")
    model: Sources = Field((), description="Name of the model.")
    user: Sources = Field((), description="What the user said, as text.")
    response: Sources = Field((), description="What the agent or model answered, as text.")
    input_messages: Sources = Field((), description="Messages that went in, as JSON; they go before `user`.")
    output_messages: Sources = Field((), description="Messages that came out, as JSON; they go before `response`.")
    finish_reason: Sources = Field((), description="Why a model stopped; `tool_calls` if it asks for tools.")
    tool: Sources = Field((), description="Name of the tool; without it the span's name.")
    action: Sources = Field((), description="The tool's action, where it has an attribute of its own.")
    call_id: Sources = Field((), description="Id of the call, by which spans and messages are paired.")
    arguments: Sources = Field((), description="Arguments of the call, an object or JSON.")
    result: Sources = Field((), description="What the tool returned.")
    error: Sources = Field((), description="Text or flag of a failure, beside status ERROR and `error.type`.")
    tool_definitions: Sources = Field((), description="Definitions of the agent's tools, with their JSON Schemas.")


class MappedSpans(Section):
    """How one house-made instrumentation writes spans. The first mapping that knows a span reads it."""

    name: str = Field(pattern=_NAME, description="Name of the convention: lower case, digits, `-` and `_`.")
    detect: Detect = Field(description="By what the spans are known.")
    kind: KindOf = Field(default_factory=KindOf)
    fields: FieldsOf = Field(default_factory=FieldsOf)


class Conventions(Section):
    """How spans are read. Known frameworks need nothing here; see [conventions](conventions.md)."""

    mappings: Annotated[tuple[MappedSpans, ...], Field(strict=False)] = Field(
        (),
        description="Mappings for house-made spans; they go before everything built in. Changes need a restart.",
    )

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        seen: set[str] = set()
        for number, mapping in enumerate(self.mappings):
            if mapping.name in seen:
                raise KeyFaultError(("mappings", number, "name"), f"{mapping.name!r} is used twice; rename one")
            seen.add(mapping.name)
        return self
