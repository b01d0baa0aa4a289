"""What becomes of messages that cannot be used."""

from collections.abc import Callable, Iterable
from typing import Protocol

from aem_monitor.ingest.batch import Partition
from aem_monitor.ingest.kafka_connection import Message


class Poison(Protocol):
    """Where the Kafka source brings messages that cannot be decoded, or that the engine cannot take in."""

    def start(self) -> None:
        """Begin. Raises ``ConfigError`` for what cannot work at all."""

    def usable(self, message: Message) -> None:
        """A message is not poison."""

    def take(self, message: Message, cause: str, error: str, settled: Callable[[], None]) -> bool:
        """Take a message that cannot be decoded; ``settled`` is called, from any thread, when it may be forgotten.

        False when it is one too many: then it is not taken, and the source has to stop.
        """

    def take_back(self, message: Message, error: str, settled: Callable[[], None]) -> bool:
        """The same for one that was usable, and that the engine could not take in because of a defect. Any thread."""

    def forget(self, partitions: Iterable[Partition]) -> None:
        """The partitions are no longer this replica's, or begin again."""

    @property
    def keeps(self) -> bool:
        """Whether messages have to stay at hand until the engine has taken them in."""

    @property
    def stalled(self) -> bool:
        """Whether nothing more should be read for now."""

    @property
    def stopped(self) -> bool:
        """Whether there were too many of them: nothing more may be read or committed."""

    def problem(self) -> str | None:
        """What is wrong, in a sentence; None when nothing is."""

    def close(self, timeout: float) -> None:
        """Settle what is under way, within ``timeout`` seconds, and end."""


class PassedOver:
    """Nothing becomes of them: they are passed over, however many there are."""

    keeps = False
    stalled = False
    stopped = False

    def start(self) -> None:
        """Nothing to begin."""

    def usable(self, message: Message) -> None:
        """Nothing to note."""

    def take(self, message: Message, cause: str, error: str, settled: Callable[[], None]) -> bool:  # noqa: ARG002
        """Pass it over."""
        settled()
        return True

    def take_back(self, message: Message, error: str, settled: Callable[[], None]) -> bool:  # noqa: ARG002
        """Pass it over."""
        settled()
        return True

    def forget(self, partitions: Iterable[Partition]) -> None:
        """Nothing to forget."""

    def problem(self) -> str | None:
        """None."""
        return None

    def close(self, timeout: float) -> None:
        """Nothing to end."""
