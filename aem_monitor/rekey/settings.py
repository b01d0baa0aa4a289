"""What ``rekey`` has to know."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

WithoutId: TypeAlias = Literal["agent", "trace"]


@dataclass(frozen=True, slots=True)
class RekeySettings:
    """See ``deploy/docs/configuration.md``, section ``rekey``, for what these mean to an operator. Times in seconds.

    ``targets`` names the topic to write to for each one that is read. ``max_age`` bounds the wait for traces that go
    on and on.
    """

    targets: Mapping[str, str] = field(default_factory=dict)
    wait: float = 10.0
    wait_without_id: float = 60.0
    max_age: float = 600.0
    max_traces: int = 50_000
    max_bytes: int = 256 * 2**20
    max_message_bytes: int = 900_000
    without_id: WithoutId = "agent"
    remembered_traces: int = 200_000
