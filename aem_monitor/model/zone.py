"""Time zones by the names that people and spans write."""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_OFFSET: Final = re.compile(r"([+-])(\d{2}):?(\d{2})")


@lru_cache(maxsize=64)
def zone_named(name: str) -> tzinfo:
    """The zone: ``UTC``, ``+02:00``, or a name of the tz database. Raises ``ValueError``."""
    offset = _OFFSET.fullmatch(name)
    try:
        if offset:
            minutes = int(offset[2]) * 60 + int(offset[3])
            return timezone(timedelta(minutes=-minutes if offset[1] == "-" else minutes))
        return UTC if name == "UTC" else ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(
            f"{name} is no time zone: write UTC, an offset (+02:00) or a name of the tz database (Europe/Berlin)"
        ) from None


def offset_at(zone: str, local: datetime) -> int:
    """The offset of a zone from UTC at a local time without a zone, in seconds. Raises ``ValueError``."""
    found = zone_named(zone)
    offset = found.utcoffset(local.replace(tzinfo=found))
    return int(offset.total_seconds()) if offset is not None else 0
