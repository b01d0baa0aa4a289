"""The type of decoded JSON and of OpenTelemetry attribute values."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

JSON: TypeAlias = "bool | int | float | str | Sequence[JSON] | Mapping[str, JSON] | None"
"""A decoded JSON value. Read-only by convention; never mutate one that you did not build."""

AttributeValue: TypeAlias = (
    "bool | int | float | str | bytes | Sequence[AttributeValue] | Mapping[str, AttributeValue] | None"
)
"""An OpenTelemetry AnyValue, decoded: JSON plus bytes."""

Attributes: TypeAlias = Mapping[str, AttributeValue]
