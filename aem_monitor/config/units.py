"""Values of the configuration that are written with a unit: durations, sizes, addresses to listen on."""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator, GetCoreSchemaHandler, PlainSerializer, WithJsonSchema
from pydantic_core import CoreSchema, core_schema

_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS: Mapping[str, float] = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_SIZE = re.compile(r"(\d+)\s*(B|KiB|MiB|GiB)")
_HOST = re.compile(r"[^\s\x00-\x1f\x7f\[\]]+")
_BYTES: Mapping[str, int] = {"GiB": 2**30, "MiB": 2**20, "KiB": 2**10, "B": 1}
_DURATION_FORM = 'a duration is written with its unit: "500ms", "30s", "10m", "1h30m", "30d"'
_SIZE_FORM = 'a size is written with its unit: "512KiB", "64MiB", "1GiB"'
_ADDRESS_FORM = 'an address is written "127.0.0.1:4318", "[::1]:4318" or "localhost:4318" (port 0: any free port)'


def parse_duration(value: Any) -> float:
    """Seconds of ``"1h30m"``. Raises ``ValueError`` for anything else, bare numbers (of which unit?) included."""
    if not isinstance(value, str):
        raise ValueError(_DURATION_FORM)
    parts = _DURATION_PART.findall(value)
    if not parts or "".join(number + unit for number, unit in parts) != value:
        raise ValueError(_DURATION_FORM)
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)


def format_duration(seconds: float) -> str:
    """The shortest writing of a duration: 5400 -> ``1h30m``."""
    rest = round(seconds * 1000)
    text = ""
    for unit, factor in _SECONDS.items():
        count, rest = divmod(rest, round(factor * 1000))
        if count:
            text += f"{count}{unit}"
    return text or "0s"


def parse_size(value: Any) -> int:
    """Bytes of ``"64MiB"``. Raises ``ValueError`` for anything else."""
    match = _SIZE.fullmatch(value) if isinstance(value, str) else None
    if not match:
        raise ValueError(_SIZE_FORM)
    return int(match[1]) * _BYTES[match[2]]


def format_size(size: int) -> str:
    """The shortest exact writing of a size: 67108864 -> ``64MiB``."""
    unit = next(unit for unit, factor in _BYTES.items() if size % factor == 0 and (size or unit == "B"))
    return f"{size // _BYTES[unit]}{unit}"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a listener binds: host (name or IP address, without brackets) and TCP port; port 0 takes any free one."""

    host: str
    port: int

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host == "localhost" or _is_loopback(self.host)

    def overlaps(self, other: "Address") -> bool:
        """Whether both cannot be bound at once."""
        if self.port != other.port or self.port == 0:
            return False
        hosts = {_canonical(self.host), _canonical(other.host)}
        return len(hosts) == 1 or bool(hosts & {"0.0.0.0", "::", ""})  # noqa: S104 - compared, not bound

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            parse_address, serialization=core_schema.plain_serializer_function_ser_schema(str)
        )


def parse_address(value: Any) -> Address:
    """An address from its text. Raises ``ValueError``."""
    if isinstance(value, Address):
        return value
    host, colon, port = value.rpartition(":") if isinstance(value, str) else ("", "", "")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise ValueError(_ADDRESS_FORM)
    if not colon or not _HOST.fullmatch(host) or not port.isascii() or not port.isdigit():
        raise ValueError(_ADDRESS_FORM)
    if int(port) > 65535:
        raise ValueError(f"port {port} is over 65535")
    return Address(host, int(port))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _canonical(host: str) -> str:
    return "127.0.0.1" if host == "localhost" else host.lower()


Duration: TypeAlias = Annotated[
    float,
    BeforeValidator(parse_duration),
    PlainSerializer(format_duration),
    WithJsonSchema({"type": "string", "pattern": r"^(\d+(\.\d+)?(ms|s|m|h|d))+$"}),
]
"""Seconds; written with a unit."""

Size: TypeAlias = Annotated[
    int,
    BeforeValidator(parse_size),
    PlainSerializer(format_size),
    WithJsonSchema({"type": "string", "pattern": r"^\d+\s*(B|KiB|MiB|GiB)$"}),
]
"""Bytes; written with a unit."""

ListenAddress: TypeAlias = Annotated[
    Address, WithJsonSchema({"type": "string", "pattern": r"^(\[[0-9a-fA-F:.]+\]|[^:\[\]]+):\d+$"})
]
"""An address to listen on."""
