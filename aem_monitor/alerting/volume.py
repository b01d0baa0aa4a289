"""How many runs an agent has in thirty days, from what it had of late."""

from typing import Final

from pydantic import BaseModel, ConfigDict

_DAY: Final = 86400.0
_DAYS: Final = 8
_HOUR: Final = 3600.0
_LEAST: Final = 1000.0
"""Runs in thirty days that are assumed at least: a threshold for fewer would rest on next to nothing."""


class Volume(BaseModel):
    """Runs by day, of the last eight."""

    model_config = ConfigDict(extra="forbid")

    first_at: float | None = None
    days: dict[int, int] = {}

    def add(self, at: float) -> None:
        """Count a run."""
        self.first_at = at if self.first_at is None else self.first_at
        day = int(at // _DAY)
        self.days[day] = self.days.get(day, 0) + 1
        for old in [one for one in self.days if one <= day - _DAYS]:
            del self.days[old]

    def in_thirty_days(self, now: float) -> float:
        """The runs that thirty days like these would have."""
        if self.first_at is None:
            return _LEAST
        since = max(self.first_at, (now // _DAY - _DAYS + 1) * _DAY)
        return max(_LEAST, sum(self.days.values()) / max(now - since, _HOUR) * 30 * _DAY)
