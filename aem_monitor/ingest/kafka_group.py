"""What a rebalance changes: which partitions are lost, which are gained, which must be read again."""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from kafka import ConsumerRebalanceListener

from aem_monitor.ingest.batch import Partition


@dataclass(frozen=True, slots=True)
class Revoked:
    """The group rebalances: nothing of the present assignment may be delivered until the new one is known."""


@dataclass(frozen=True, slots=True)
class Assigned:
    """The full new assignment, with the group's generation."""

    partitions: frozenset[Partition]
    generation: int


@dataclass(frozen=True, slots=True)
class Lost:
    """The group has thrown this member out; its partitions may have other owners already."""


GroupEvent: TypeAlias = Revoked | Assigned | Lost


@dataclass(frozen=True, slots=True)
class OwnershipChange:
    """Outcome of a rebalance. ``rewound`` partitions are lost and gained at once, and their position is not valid."""

    lost: frozenset[Partition] = frozenset()
    gained: frozenset[Partition] = frozenset()
    rewound: frozenset[Partition] = frozenset()


class GroupEvents(ConsumerRebalanceListener):  # type: ignore[misc]
    """Notes what kafka-python reports about the group, in order.

    Its callbacks run on the client's own IO thread, where blocking calls of the consumer (commit, position) raise and
    a queue that is full would stop the heartbeats. So they only take notes; the polling thread acts on them.
    """

    def __init__(self, generation: Callable[[], int]) -> None:
        self._generation = generation
        self._noted: deque[GroupEvent] = deque()

    def on_partitions_revoked(self, revoked: Iterable[Any]) -> None:  # noqa: ARG002  the library's signature
        """A rebalance begins (eager protocol: everything is revoked, though most of it may come back)."""
        self._noted.append(Revoked())

    def on_partitions_assigned(self, assigned: Iterable[Any]) -> None:
        """A rebalance is complete."""
        partitions = frozenset((place.topic, place.partition) for place in assigned)
        self._noted.append(Assigned(partitions, self._generation()))

    def on_partitions_lost(self, lost: Iterable[Any]) -> None:  # noqa: ARG002  the library's signature
        """The membership was lost."""
        self._noted.append(Lost())

    def take(self) -> GroupEvent | None:
        """The next event, oldest first; None when there is none."""
        return self._noted.popleft() if self._noted else None


class Ownership:
    """Which partitions this member owns, over rebalances.

    The eager protocol revokes all partitions whenever anything changes in the group. Those that come back in the very
    next generation were nobody else's in between, and kafka-python keeps their positions, so for them nothing has
    changed: what is under way on them continues. If a generation was missed, another member may have owned and
    committed them: they are then lost and gained, and their kept position is no longer the right one.
    """

    def __init__(self) -> None:
        self.partitions: frozenset[Partition] = frozenset()
        self.joined = False
        self._generation: int | None = None

    def apply(self, event: GroupEvent) -> OwnershipChange:
        """Take note of an event and say what it changes."""
        match event:
            case Revoked():
                self.joined = False
                return OwnershipChange()
            case Lost():
                return self.forget()
            case Assigned(partitions, generation):
                return self._assign(partitions, generation)

    def _assign(self, partitions: frozenset[Partition], generation: int) -> OwnershipChange:
        before = self.partitions
        kept = before & partitions
        unbroken = self._generation is not None and generation == self._generation + 1
        self.partitions, self._generation, self.joined = partitions, generation, True
        if unbroken:
            return OwnershipChange(lost=before - kept, gained=partitions - kept)
        return OwnershipChange(lost=before, gained=partitions, rewound=kept)

    def forget(self) -> OwnershipChange:
        """Own nothing any more."""
        lost = self.partitions
        self.partitions, self.joined, self._generation = frozenset(), False, None
        return OwnershipChange(lost=lost)
