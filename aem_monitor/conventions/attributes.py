"""Attribute look-ups and failure texts that every convention needs."""

from collections.abc import Mapping, Sequence
from typing import Final

from aem_monitor.conventions.jsontext import parse_nested, to_json
from aem_monitor.model.jsonvalue import JSON, Attributes, AttributeValue
from aem_monitor.model.span import Span, StatusCode

_EXCEPTION_EVENTS: Final = frozenset({"exception", "gen_ai.client.operation.exception"})


def text(attributes: Attributes, *names: str) -> str | None:
    """The first of these attributes that is a text with something in it; numbers count as text."""
    for name in names:
        value = attributes.get(name)
        if isinstance(value, str):
            if value:
                return value
        elif isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
    return None


def texts(value: AttributeValue) -> tuple[str, ...]:
    """A list of texts, also from JSON text or a single text (``gen_ai.response.finish_reasons`` comes in all three)."""
    plain: JSON = to_json(value)
    if isinstance(plain, str):
        plain = parse_nested(plain).value
    if isinstance(plain, str):
        return (plain,) if plain else ()
    if isinstance(plain, Sequence):
        return tuple(item for item in plain if isinstance(item, str) and item)
    return ()


def metadata(attributes: Attributes) -> Mapping[str, str | None]:
    """The texts of a ``metadata`` attribute that holds a JSON object, as attributes ``metadata.NAME``."""
    value = to_json(attributes.get("metadata"))
    if isinstance(value, str):
        value = parse_nested(value).value
    if not isinstance(value, Mapping):
        return {}
    return {f"metadata.{key}": item for key, item in value.items() if isinstance(item, str) and item}


def failure(span: Span) -> str | None:
    """Why the span failed, in its own words, or None when nothing says that it failed.

    It failed if its status is ERROR or ``error.type`` is set. The text is the exception's message, else the status
    message, else the exception's or error's type. Instrumentations may put a whole stack trace into the status
    message, which is why the exception goes first.
    """
    error_type = text(span.attributes, "error.type")
    if span.status_code is not StatusCode.ERROR and error_type is None:
        return None
    exception: Mapping[str, AttributeValue] = next(
        (event.attributes for event in reversed(span.events) if event.name in _EXCEPTION_EVENTS), {}
    )
    return (
        text(exception, "exception.message")
        or span.status_message
        or text(span.attributes, "error.message", "exception.message")
        or text(exception, "exception.type")
        or error_type
        or ""
    )
