"""Give messages back to the topics that they came from."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Protocol, TypeAlias

from aem_monitor.deadletters.causes import CAUSES
from aem_monitor.deadletters.letter import Letter, headers_of_replay, read_letter
from aem_monitor.deadletters.replayed import Replayed
from aem_monitor.deadletters.settings import DeadLetterSettings
from aem_monitor.deadletters.topic import DeadLetterTopic
from aem_monitor.errors import BrokerError
from aem_monitor.ingest.kafka_publisher import Outcome, Record

_AT_ONCE: Final = 500
"""Letters after which the position is committed: so many at most are given back twice after a crash."""

_FLUSH_SECONDS: Final = 30.0


class Fate(StrEnum):
    """What became of a letter in a replay."""

    REPLAYED = "replayed"
    TOO_OFTEN = "too_often"
    WITHOUT_VALUE = "without_value"
    OTHER_GROUP = "other_group"
    OTHER_TOPIC = "other_topic"
    REFUSED = "refused"
    NO_LETTER = "no_letter"


LEFT: Final = (Fate.TOO_OFTEN, Fate.WITHOUT_VALUE, Fate.OTHER_TOPIC, Fate.REFUSED)
"""Fates of letters of this group that were not given back."""

_Given: TypeAlias = Record[Letter]


class Publish(Protocol):
    """Where messages are given back; see ``ingest.kafka_publisher.Publisher``."""

    @property
    def unacknowledged(self) -> int:
        """Messages that no broker has confirmed."""

    def put(self, record: _Given) -> None:
        """Take a message."""

    def flush(self, timeout: float) -> list[Outcome[Letter]]:
        """What became of messages, after all are written or ``timeout`` seconds have passed."""


@dataclass(slots=True)
class Replay:
    """One replay. ``topics`` are those that may be written to: what a letter says of its origin may be anyone's word.

    ``to`` takes their place. ``done`` counts (cause, fate) of the letters that were looked at.
    """

    settings: DeadLetterSettings
    topics: frozenset[str]
    causes: Sequence[str] = CAUSES
    to: str | None = None
    done: Counter[tuple[str, Fate]] = field(default_factory=Counter)

    def rehearse(self, topic: DeadLetterTopic) -> None:
        """Count what ``run`` would do, and do nothing."""
        positions = topic.replayed()
        for record in topic.records(self._begins(positions)):
            self._look_at(record, positions)

    def run(self, topic: DeadLetterTopic, publisher: Publish) -> None:
        """Give back what has not been yet, and commit the position when brokers have confirmed it.

        Raises ``BrokerError``; what was given back after the last commit is given back again next time.
        """
        positions: Mapping[int, Replayed] = topic.replayed()
        partitions = {name: topic.partitions_of(name) for name in ([self.to] if self.to else sorted(self.topics))}
        reached: dict[int, int] = {}
        given = 0
        for record in topic.records(self._begins(positions)):
            reached[record.partition] = record.offset + 1
            letter = self._look_at(record, positions)
            if letter is not None:
                publisher.put(self._given(letter, partitions))
                given += 1
            if given == _AT_ONCE:
                given = 0
                positions = self._commit(topic, publisher, positions, reached)
        self._commit(topic, publisher, positions, reached)

    def _begins(self, positions: Mapping[int, Replayed]) -> dict[int, int]:
        return {partition: replayed.begin(self.causes) for partition, replayed in positions.items()}

    def _look_at(self, record: object, positions: Mapping[int, Replayed]) -> Letter | None:
        """The letter if it is to be given back; it is counted either way, unless it was replayed before."""
        letter = read_letter(record)
        if letter is None:
            self.done["", Fate.NO_LETTER] += 1
            return None
        if letter.cause not in self.causes or letter.offset < positions[letter.partition].of(letter.cause):
            return None
        fate = self._fate(letter)
        self.done[letter.cause, fate] += 1
        return letter if fate is Fate.REPLAYED else None

    def _fate(self, letter: Letter) -> Fate:
        if letter.group != self.settings.group:
            return Fate.OTHER_GROUP
        if letter.replays >= self.settings.max_replays:
            return Fate.TOO_OFTEN
        if letter.left_out is not None:
            return Fate.WITHOUT_VALUE
        return Fate.REPLAYED if self.to or letter.origin.topic in self.topics else Fate.OTHER_TOPIC

    def _given(self, letter: Letter, partitions: Mapping[str, frozenset[int]]) -> _Given:
        """To the partition that it came from, where the replica is that has the rest of its conversation."""
        target = self.to or letter.origin.topic
        if not partitions[target]:
            raise BrokerError(f"Kafka topic {target} does not exist; create it, or name another one with --to")
        same = self.to is None and letter.origin.partition in partitions[target]
        headers = headers_of_replay(letter)
        return Record(target, letter.key, letter.value, headers, letter, letter.origin.partition if same else None)

    def _commit(
        self, topic: DeadLetterTopic, publisher: Publish, positions: Mapping[int, Replayed], reached: Mapping[int, int]
    ) -> Mapping[int, Replayed]:
        for outcome in publisher.flush(_FLUSH_SECONDS):
            if outcome.refused:
                self.done[outcome.record.tag.cause, Fate.REPLAYED] -= 1
                self.done[outcome.record.tag.cause, Fate.REFUSED] += 1
        if publisher.unacknowledged:
            raise BrokerError(
                f"Kafka has not confirmed {publisher.unacknowledged} messages within {_FLUSH_SECONDS:.0f} s; the next "
                "replay gives them back again"
            )
        advanced = {
            partition: replayed.advanced(self.causes, reached.get(partition, 0))
            for partition, replayed in positions.items()
        }
        changed = {partition: replayed for partition, replayed in advanced.items() if replayed != positions[partition]}
        if changed:
            topic.keep(changed)
        return advanced
