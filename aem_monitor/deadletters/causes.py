"""Bounded words about dead letters, for headers, metric labels and the command line."""

from enum import StrEnum
from typing import Final

from aem_monitor.ingest.causes import Refused

OTHER: Final = "other"

CAUSES: Final = (
    Refused.MALFORMED.value,
    Refused.TOO_LARGE.value,
    Refused.UNSUPPORTED_ENCODING.value,
    Refused.INTERNAL.value,
    OTHER,
)
"""Why a message became one. ``internal`` is a defect of the program; ``other`` is for letters of other versions."""


class Kept(StrEnum):
    """What a letter holds of its message; ``nothing`` where there is no letter."""

    MESSAGE = "message"
    HEADERS = "headers"
    NOTHING = "nothing"


class Bound(StrEnum):
    """What there were too many of on a partition: bad messages in a row, or among the last ones."""

    RUN = "run"
    RATIO = "ratio"


def cause_of(word: str) -> str:
    """The word if it is a cause, else ``other``."""
    return word if word in CAUSES else OTHER
