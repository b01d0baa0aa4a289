"""Verdicts as messages of a Kafka topic."""

from collections.abc import Sequence
from typing import Final, Protocol

from aem_monitor.errors import RefusedVerdictError, SinkError
from aem_monitor.ingest.kafka_publisher import Headers, Outcome, Record
from aem_monitor.metrics.increments import run_outcome
from aem_monitor.sinks.faults import KAFKA
from aem_monitor.sinks.line import line
from aem_monitor.store.records import RevisionKey, StoredRun

_CONFIRMED_WITHIN: Final = 5.0
"""Seconds that brokers are waited for at a time; short enough for a shutdown."""

_CLOSE: Final = 1.0


class Publish(Protocol):
    """Where verdicts are written; see ``ingest.kafka_publisher.Publisher``."""

    def put(self, record: Record[RevisionKey]) -> None:
        """Take a record."""

    def flush(self, timeout: float) -> list[Outcome[RevisionKey]]:
        """Wait for what is on its way; what became of it."""

    def close(self, timeout: float) -> None:
        """End."""


class KafkaTopic:
    """The sink ``kafka``: one message a verdict, with the run's id as its key, confirmed by all replicas in sync.

    What brokers have not confirmed in time stays on its way and is not sent a second time when it is offered again, so
    that an outage makes no repeats; the end of the process does.
    """

    name: Final = KAFKA

    def __init__(self, topic: str, publisher: Publish, confirmed_within: float = _CONFIRMED_WITHIN) -> None:
        self._topic = topic
        self._publisher = publisher
        self._confirmed_within = confirmed_within
        self._on_way: set[RevisionKey] = set()
        # What has been decided and not yet been told, and whether it was refused for its size.
        self._decided: dict[RevisionKey, bool] = {}

    def open(self) -> None:
        """Nothing: brokers that are away at the start keep no daemon from starting."""

    def take(self, verdicts: Sequence[StoredRun]) -> None:
        """Return when brokers have all. Raises ``SinkError``, ``RefusedVerdictError``."""
        offered = [_key(verdict) for verdict in verdicts]
        wanted = set(offered)
        self._decided = {key: refused for key, refused in self._decided.items() if key in wanted}
        for key, verdict in zip(offered, verdicts, strict=True):
            if key not in self._decided and key not in self._on_way:
                self._publisher.put(_record(self._topic, key, verdict))
                self._on_way.add(key)
        for outcome in self._publisher.flush(self._confirmed_within) if self._on_way else ():
            self._on_way.discard(outcome.record.tag)
            self._decided[outcome.record.tag] = outcome.refused
        for number, key in enumerate(offered):
            refused = self._decided.get(key)
            if refused is None:
                raise SinkError(
                    f"topic {self._topic} has not confirmed {len(offered) - number} verdicts within "
                    f"{self._confirmed_within:g} s; check that it exists and may be written, and the brokers",
                    reason="not_confirmed",
                    taken=number,
                )
            if refused:
                raise RefusedVerdictError(
                    f"topic {self._topic} takes no message of its size; raise its max.message.bytes",
                    reason="too_large",
                    taken=number,
                )

    def close(self) -> None:
        """End the client."""
        self._publisher.close(_CLOSE)


def _key(verdict: StoredRun) -> RevisionKey:
    result = verdict.result
    return RevisionKey(result.run_id, result.dialog_version, result.revision)


def _record(topic: str, key: RevisionKey, verdict: StoredRun) -> Record[RevisionKey]:
    return Record(topic, key.run_id.encode("ascii"), line(verdict).rstrip(b"\n"), headers_of(verdict), key)


def headers_of(verdict: StoredRun) -> Headers:
    """What readers choose by without looking inside: ``dialog``, ``release`` (where spans carry one), ``result`` (as in
    ``aem_runs_total``) and ``revision``; UTF-8."""
    result = verdict.result
    texts = {
        "dialog": result.dialog,
        "release": result.release,
        "result": run_outcome(result),
        "revision": str(result.revision),
    }
    return [(name, text.encode("utf-8", "replace")) for name, text in texts.items() if text is not None]
