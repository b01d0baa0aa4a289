"""The Kafka source, and the publisher behind letters and sinks, on listeners that ask who is there."""

import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import pytest
from kafka.errors import KafkaError

from aem_monitor.config.load import load_config
from aem_monitor.config.settings import kafka_settings
from aem_monitor.deadletters.topic import DeadLetterTopic
from aem_monitor.errors import BrokerError
from aem_monitor.ingest.kafka_client import reason
from aem_monitor.ingest.kafka_connection import KafkaConnection
from aem_monitor.ingest.kafka_publisher import Publisher, Record
from aem_monitor.ingest.kafka_settings import KafkaSettings
from tests.ingest.kafka_engine import Queue, message, running, said, wait_until
from tests.services.cache import ServiceUnavailableError
from tests.services.kafkatls import PASSWORD, USER, SecuredBroker

pytestmark = pytest.mark.service

TOPIC = "otlp_spans"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    try:
        broker = SecuredBroker(tmp_path_factory.mktemp("kafka"))
        broker.start()
    except ServiceUnavailableError as error:
        pytest.skip(str(error))
    try:
        broker.create_topic(TOPIC)
        broker.produce(TOPIC, message())
        yield broker
    finally:
        broker.close()


def _tls(broker: SecuredBroker, **other: Any) -> dict[str, Any]:
    files = {"ssl_cafile": broker.authority, "ssl_certfile": broker.certificate, "ssl_keyfile": broker.key}
    return {"security_protocol": "SSL", **{name: str(path) for name, path in files.items()}, **other}


def _sasl(broker: SecuredBroker, mechanism: str, **other: Any) -> dict[str, Any]:
    return {
        "security_protocol": "SASL_SSL",
        "ssl_cafile": str(broker.authority),
        "sasl_mechanism": mechanism,
        "sasl_plain_username": USER,
        "sasl_plain_password": PASSWORD,
        **other,
    }


def _settings(folder: Path, server: str, client: dict[str, Any]) -> KafkaSettings:
    path = folder / "aem-monitor.yaml"
    kafka = {"bootstrap_servers": [server], "topics": [{"name": TOPIC}], "group_id": folder.name, "client": client}
    path.write_text(json.dumps({"ingest": {"kafka": kafka}}), encoding="utf-8")
    chosen = load_config(path, {}).ingest.kafka
    assert chosen is not None
    return kafka_settings(chosen)


def _reads(settings: KafkaSettings) -> None:
    queue = Queue()
    with running(settings, queue) as source:
        wait_until(lambda: queue.batches, "the message", 60.0)
        wait_until(lambda: source.up, "up")


def test_a_client_is_known_by_its_certificate(broker: SecuredBroker, tmp_path: Path) -> None:
    _reads(_settings(tmp_path, broker.tls, _tls(broker)))


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_a_client_is_known_by_its_password(broker: SecuredBroker, tmp_path: Path, mechanism: str) -> None:
    _reads(_settings(tmp_path, broker.sasl, _sasl(broker, mechanism)))


def _stranger(broker: SecuredBroker) -> tuple[str, dict[str, Any]]:
    return broker.tls, _tls(broker, ssl_cafile=str(broker.stranger))


def _another_name(broker: SecuredBroker) -> tuple[str, dict[str, Any]]:
    return broker.tls.replace("localhost", "127.0.0.1"), _tls(broker)


def _no_certificate(broker: SecuredBroker) -> tuple[str, dict[str, Any]]:
    return broker.tls, {"security_protocol": "SSL", "ssl_cafile": str(broker.authority)}


def _wrong_password(broker: SecuredBroker) -> tuple[str, dict[str, Any]]:
    return broker.sasl, _sasl(broker, "SCRAM-SHA-512", sasl_plain_password="wrong")


def _no_tls(broker: SecuredBroker) -> tuple[str, dict[str, Any]]:
    return broker.sasl, {"security_protocol": "PLAINTEXT"}


def _tls_where_there_is_none(broker: SecuredBroker) -> tuple[str, dict[str, Any]]:
    return broker.bootstrap, _tls(broker)


_REFUSED: Final = {
    _stranger: "unable to get local issuer certificate",
    _another_name: "certificate is not valid for '127.0.0.1'",
    _no_certificate: "alert bad certificate",
    # A broker may hang up before its reason arrives, each time it is asked.
    _wrong_password: "invalid credentials with SASL mechanism SCRAM-SHA-512|socket disconnected",
    _no_tls: "Invalid frame length|socket disconnected",
    _tls_where_there_is_none: "Handshake failed",
}
_PATIENCE: Final = 10.0
"""Seconds that a client is given: its attempts end, whatever else this machine does."""


def test_one_that_is_not_let_in_says_why(broker: SecuredBroker, tmp_path: Path) -> None:
    def said_of(case: Callable[[SecuredBroker], tuple[str, dict[str, Any]]]) -> str:
        folder = tmp_path / case.__name__
        folder.mkdir()
        with pytest.raises(KafkaError) as caught:
            KafkaConnection(_settings(folder, *case(broker)), _PATIENCE)
        return reason(caught.value)

    with ThreadPoolExecutor(len(_REFUSED)) as pool:
        told = dict(zip(_REFUSED, pool.map(said_of, _REFUSED), strict=True))
    for case, why in _REFUSED.items():
        assert re.search(why, told[case]), case.__name__
        assert told[case].endswith("; check security_protocol, ssl_* and sasl_* of its client section")
        assert "wrong" not in told[case].replace("wrong version number", "")


def test_the_source_says_it_and_tries_again(
    broker: SecuredBroker, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server, client = _stranger(broker)
    with running(_settings(tmp_path, server, client), Queue()) as source:
        wait_until(lambda: said(caplog), "a complaint", 60.0)
        assert not source.up
    (line,) = said(caplog)
    assert line.startswith(f"Kafka at {server} cannot be read from (")
    assert line.endswith("; check security_protocol, ssl_* and sasl_* of its client section); retrying.")


def test_verdicts_and_letters_are_written_where_a_password_is_asked_for(broker: SecuredBroker) -> None:
    publisher: Publisher[int] = Publisher([broker.sasl], _sasl(broker, "SCRAM-SHA-512"), "aem-monitor")
    try:
        publisher.put(Record(TOPIC, b"key", b"value", (), 1))
        assert [outcome.record.tag for outcome in publisher.flush(60.0)] == [1]
    finally:
        publisher.close(5.0)


def test_a_publisher_that_is_not_let_in_says_why(broker: SecuredBroker, caplog: pytest.LogCaptureFixture) -> None:
    publisher: Publisher[int] = Publisher([broker.tls], _stranger(broker)[1], "aem-monitor")
    try:
        publisher.put(Record(TOPIC, b"key", b"value", (), 1))
        assert publisher.flush(1.0) == []
    finally:
        publisher.close(1.0)
    assert "unable to get local issuer certificate" in caplog.text
    assert "check security_protocol, ssl_* and sasl_* of its client section" in caplog.text


def test_letters_that_may_not_be_read_say_why(broker: SecuredBroker, tmp_path: Path) -> None:
    server, client = _stranger(broker)
    with (
        pytest.raises(BrokerError, match="unable to get local issuer certificate"),
        DeadLetterTopic(_settings(tmp_path, server, client), TOPIC, "letters"),
    ):
        pass
