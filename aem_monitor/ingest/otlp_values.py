"""Single values of OTLP JSON, read as leniently as emitters write them.

The OTLP specification ("JSON Protobuf Encoding") asks for lowerCamelCase keys, hexadecimal ids, integer enums and
int64 as decimal strings; plain protobuf printers write base64 ids and enum names, others snake_case keys and numbers.
"""

import base64
import binascii
import math
from collections import Counter
from sys import intern
from typing import Any, Final

from aem_monitor.errors import DecodeError
from aem_monitor.ingest.causes import Altered
from aem_monitor.ingest.limits import Limits
from aem_monitor.model.jsonvalue import AttributeValue
from aem_monitor.model.span import StatusCode

_HEX: Final = frozenset("0123456789abcdefABCDEF")
_KINDS: Final = {"UNSPECIFIED": 0, "INTERNAL": 1, "SERVER": 2, "CLIENT": 3, "PRODUCER": 4, "CONSUMER": 5}
_STATUSES: Final = {"UNSET": StatusCode.UNSET, "OK": StatusCode.OK, "ERROR": StatusCode.ERROR}
_INT64: Final = 2**63


def field(holder: dict[str, Any], camel: str, snake: str) -> Any:
    """A member by its lowerCamelCase or its snake_case name; None when missing or null."""
    found = holder.get(camel)
    return holder.get(snake) if found is None else found


def members(holder: dict[str, Any], camel: str, snake: str, where: str) -> list[Any]:
    """A list member, empty when missing or null. Raises DecodeError for anything else."""
    found = field(holder, camel, snake)
    if found is None:
        return []
    if not isinstance(found, list):
        raise DecodeError(f"{where}.{camel} is {type(found).__name__}, expected a list")
    return found


def mapping(value: Any, where: str) -> dict[str, Any]:
    """An object, empty for null. Raises DecodeError for anything else."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise DecodeError(f"{where} is {type(value).__name__}, expected an object")
    return value


def identifier(value: Any, size: int) -> str | None:
    """A trace (16 bytes) or span id (8 bytes) in lower-case hex; None when empty, all zeros or unreadable.

    Told apart by length: hex has two characters a byte, base64 four for three bytes, with or without padding.
    """
    if not isinstance(value, str):
        return None
    if len(value) == 2 * size and _HEX.issuperset(value):
        found = value.lower()
    elif len(value) == 4 * -(-size // 3) or len(value) == -(-4 * size // 3):
        raw = _base64(value)
        if raw is None or len(raw) != size:
            return None
        found = raw.hex()
    else:
        return None
    return found if found.strip("0") else None


def nanoseconds(value: Any) -> int:
    """A time; 0, OTLP's unknown, for what is none and for times past the year 2262, which no int64 holds."""
    number = integer(value)
    return number if number is not None and 0 <= number < _INT64 else 0


def integer(value: Any) -> int | None:
    """An int64 given as number or as decimal string, also in exponent form; None for what is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    try:
        if isinstance(value, str):
            # No 64-bit integer is longer; Python refuses to parse thousands of digits anyway.
            return int(value) if len(value) <= 20 else None
        if isinstance(value, float) and value.is_integer():
            return int(value)
    except ValueError:
        number = double(value)
        return int(number) if number is not None and number.is_integer() else None
    return None


def uint32(value: Any) -> int:
    """A count; 0 for what is none."""
    number = integer(value)
    return number if number is not None and 0 <= number < 2**32 else 0


def double(value: Any) -> float | None:
    """A double given as number or as string, ``NaN`` and ``Infinity`` included; None for what is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float | str):
        try:
            return float(value)
        except ValueError:
            return None
        except OverflowError:
            return math.inf
    return None


def span_kind(value: Any) -> int:
    """A span kind by number or name (``SPAN_KIND_SERVER``, ``server``); 0 when unknown."""
    if isinstance(value, str) and not value.isdigit():
        return _KINDS.get(value.upper().removeprefix("SPAN_KIND_"), 0)
    number = integer(value)
    return number if number is not None and 0 <= number <= 5 else 0


def status_code(value: Any) -> StatusCode:
    """A status by number or name (``STATUS_CODE_ERROR``, ``error``); UNSET when unknown."""
    if isinstance(value, str) and not value.isdigit():
        return _STATUSES.get(value.upper().removeprefix("STATUS_CODE_"), StatusCode.UNSET)
    number = integer(value)
    return StatusCode(number) if number in (0, 1, 2) else StatusCode.UNSET


def _base64(text: str) -> bytes | None:
    standard = text.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


class JsonValues:
    """Attribute values within the limits; ``altered`` counts what was cut or could not be read."""

    def __init__(self, limits: Limits, altered: Counter[str]) -> None:
        self._altered = altered
        self._max_chars = limits.max_attribute_chars
        self._max_depth = limits.max_depth
        self._max_entries = limits.max_attributes

    def text(self, value: Any) -> str:
        """A string within the length limit; a number in its place is spelled out, null is empty."""
        if value is None:
            return ""
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        if not isinstance(value, str):
            self._altered[Altered.UNREADABLE_VALUE] += 1
            return ""
        if len(value) <= self._max_chars:
            return value
        self._altered[Altered.STRING_CUT] += 1
        return value[: self._max_chars]

    def bounded(self, items: list[Any], limit: int | None = None) -> list[Any]:
        """The items within the limit."""
        most = self._max_entries if limit is None else limit
        if len(items) <= most:
            return items
        self._altered[Altered.TOO_MANY] += 1
        return items[:most]

    def attributes(self, pairs: list[Any], depth: int = 1) -> dict[str, AttributeValue]:
        """The attributes of a KeyValue list; the last of equal keys wins. Equal keys of spans are one object."""
        decoded: dict[str, AttributeValue] = {}
        longest = self._max_chars
        for pair in self.bounded(pairs):
            if not isinstance(pair, dict) or not isinstance(key := pair.get("key", ""), str):
                self._altered[Altered.UNREADABLE_VALUE] += 1
                continue
            key = intern(key) if len(key) <= longest else self.text(key)
            value = pair.get("value")
            # The common case in line, a text: this loop is where decoding spends its time.
            if isinstance(value, dict) and isinstance(text := value.get("stringValue"), str) and len(text) <= longest:
                decoded[key] = text
            else:
                decoded[key] = self.value(value, depth)
        return decoded

    def value(self, value: Any, depth: int = 1) -> AttributeValue:
        """An AnyValue. A bare scalar in its place is taken as it is; null, ``{}`` and the unreadable are None."""
        if isinstance(value, str):
            return self.text(value)
        if value is None or isinstance(value, bool | float):
            return value
        if isinstance(value, int):
            return self._int(value, depth)
        if isinstance(value, list):
            return self._array(value, depth)
        for name, content in value.items():
            if content is not None and (read := _READERS.get(name)) is not None:
                return read(self, content, depth)
        return None

    def _array(self, items: Any, depth: int) -> AttributeValue:
        if depth > self._max_depth:
            self._altered[Altered.TOO_DEEP] += 1
            return None
        if isinstance(items, dict):
            items = items.get("values")
        if items is None:
            return []
        if not isinstance(items, list):
            return self._unreadable()
        return [self.value(item, depth + 1) for item in self.bounded(items)]

    def _map(self, pairs: Any, depth: int) -> AttributeValue:
        if depth > self._max_depth:
            self._altered[Altered.TOO_DEEP] += 1
            return None
        if isinstance(pairs, dict):
            pairs = pairs.get("values")
        if pairs is None:
            return {}
        return self.attributes(pairs, depth + 1) if isinstance(pairs, list) else self._unreadable()

    def _string(self, content: Any, _depth: int) -> AttributeValue:
        return self.text(content)

    def _bool(self, content: Any, _depth: int) -> AttributeValue:
        if isinstance(content, bool):
            return content
        return {"true": True, "false": False}.get(content) if isinstance(content, str) else self._unreadable()

    def _int(self, content: Any, _depth: int) -> AttributeValue:
        number = integer(content)
        # Wider than int64 nothing that stores or encodes it downstream would take it.
        return number if number is not None and -_INT64 <= number < _INT64 else self._unreadable()

    def _double(self, content: Any, _depth: int) -> AttributeValue:
        number = double(content)
        return self._unreadable() if number is None else number

    def _bytes(self, content: Any, _depth: int) -> AttributeValue:
        raw = _base64(content) if isinstance(content, str) else None
        if raw is None:
            return self._unreadable()
        if len(raw) > self._max_chars:
            self._altered[Altered.STRING_CUT] += 1
        return raw[: self._max_chars]

    def _unreadable(self) -> AttributeValue:
        self._altered[Altered.UNREADABLE_VALUE] += 1
        return None


_READERS: Final = {
    "stringValue": JsonValues._string,  # noqa: SLF001 - the table of this class
    "string_value": JsonValues._string,  # noqa: SLF001
    "intValue": JsonValues._int,  # noqa: SLF001
    "int_value": JsonValues._int,  # noqa: SLF001
    "boolValue": JsonValues._bool,  # noqa: SLF001
    "bool_value": JsonValues._bool,  # noqa: SLF001
    "doubleValue": JsonValues._double,  # noqa: SLF001
    "double_value": JsonValues._double,  # noqa: SLF001
    "arrayValue": JsonValues._array,  # noqa: SLF001
    "array_value": JsonValues._array,  # noqa: SLF001
    "kvlistValue": JsonValues._map,  # noqa: SLF001
    "kvlist_value": JsonValues._map,  # noqa: SLF001
    "bytesValue": JsonValues._bytes,  # noqa: SLF001
    "bytes_value": JsonValues._bytes,  # noqa: SLF001
}
