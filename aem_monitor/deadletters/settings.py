"""What dead letters go by."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DeadLetterSettings:
    """See ``deploy/docs/configuration.md``, section ``ingest.kafka.dead_letters``, for what these mean to an operator.

    ``group`` is the consumer group whose messages they are.
    """

    topic: str
    group: str
    max_ratio: float = 0.25
    window: int = 1000
    max_run: int = 100
    max_replays: int = 3
