"""What operations on a server's conversation tell about one exchange, beside the spans of its run."""

from dataclasses import dataclass
from enum import StrEnum

from aem_monitor.conventions.messages import NO_MESSAGES, Messages
from aem_monitor.conventions.parts import TextPart
from aem_monitor.model.conversation import UserMessage


class PartKind(StrEnum):
    """What a trace without the run itself tells of an exchange: what the user said before it, how it went on (polled,
    tool results submitted), or what was read from the server later."""

    ASKED = "asked"
    DURING = "during"
    READ = "read"


@dataclass(frozen=True, slots=True)
class Told:
    """What was told. ``calls`` hold calls and results in the order of the run's steps; a call without a name is one of
    which only the id is known. ``end_ns`` is the end of the last operation during the run, 0 without any."""

    user: UserMessage | None = None
    calls: Messages = NO_MESSAGES
    reply: TextPart | None = None
    error: str | None = None
    end_ns: int = 0


NOTHING_TOLD = Told()
