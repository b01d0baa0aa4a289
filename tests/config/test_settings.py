"""The configuration as the parts of the daemon receive it."""

from pathlib import Path

import pytest
import trustme
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)
from kafka import KafkaConsumer

from aem_monitor.assembly.settings import AssemblySettings
from aem_monitor.build import PipelineSettings
from aem_monitor.config.ingest import Kafka
from aem_monitor.config.load import load_config
from aem_monitor.config.root import Config
from aem_monitor.config.settings import (
    admin_hosts,
    assembly_settings,
    engine_settings,
    journal_settings,
    kafka_settings,
    limits,
    pipeline_settings,
)
from aem_monitor.engine.settings import EngineSettings
from aem_monitor.errors import ConfigError
from aem_monitor.ingest.kafka_settings import KafkaSettings
from aem_monitor.ingest.limits import Limits
from aem_monitor.journal.settings import JournalSettings


def test_the_defaults_of_the_file_are_those_of_the_parts() -> None:
    assert limits(Config()) == Limits()
    assert assembly_settings(Config()) == AssemblySettings()
    assert engine_settings(Config()) == EngineSettings()
    folder = journal_settings(Config())
    assert folder is not None
    assert folder == JournalSettings(folder.path)
    assert pipeline_settings(Config()) == PipelineSettings()
    expected = KafkaSettings(bootstrap_servers=("b:9092",))
    chosen = kafka_settings(Kafka(bootstrap_servers=("b:9092",)))
    assert {name: getattr(chosen, name) for name in KafkaSettings.__slots__ if name != "client"} == {
        name: getattr(expected, name) for name in KafkaSettings.__slots__ if name != "client"
    }


def test_chosen_client_settings_reach_the_client_and_secrets_come_from_their_files(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("hunter2 \r\n")
    trustme.CA().cert_pem.write_to_path(tmp_path / "ca.pem")
    path = tmp_path / "aem.yaml"
    path.write_text(
        "ingest:\n"
        "  kafka:\n"
        "    bootstrap_servers: [b:9093]\n"
        "    session_timeout: 10s\n"
        "    client:\n"
        "      security_protocol: SASL_SSL\n"
        "      ssl_cafile: ca.pem\n"
        "      sasl_mechanism: SCRAM-SHA-512\n"
        "      sasl_plain_username: aem\n"
        "      sasl_plain_password_file: password\n"
    )
    kafka = load_config(path, {}).ingest.kafka
    assert kafka is not None
    settings = kafka_settings(kafka)
    arguments = settings.consumer_arguments()
    assert arguments["sasl_plain_password"] == "hunter2 "
    assert arguments["ssl_cafile"] == str(tmp_path / "ca.pem")
    assert arguments["sasl_mechanism"] == "SCRAM-SHA-512"
    assert arguments["session_timeout_ms"] == 10_000
    assert set(arguments) <= set(KafkaConsumer.DEFAULT_CONFIG)
    assert "hunter2" not in repr(settings)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read: No such file"),
        (b"\n", "is empty"),
        (b"\xff", "not UTF-8"),
        (b"x" * 70_000, "longer than"),
    ],
)
def test_a_secret_that_cannot_be_read_is_refused_by_key_and_file(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    path = tmp_path / "password"
    if content is not None:
        path.write_bytes(content)
    kafka = Kafka.model_validate(
        {"bootstrap_servers": ["b:9093"], "client": {"security_protocol": "SSL", "ssl_password_file": str(path)}}
    )
    with pytest.raises(ConfigError, match=rf"ingest\.kafka\.client\.ssl_password_file: .*{message}"):
        kafka_settings(kafka)


@pytest.mark.parametrize(
    ("chosen", "place"),
    [
        ({"ssl_cafile": "nowhere.pem"}, "ssl_cafile: nowhere.pem cannot be used: .*No such file"),
        ({"ssl_cafile": "text"}, "ssl_cafile: text cannot be used: .*PEM|ssl_cafile: text cannot be used: .*no cert"),
        ({"ssl_certfile": "nowhere.pem"}, "ssl_certfile: nowhere.pem cannot be used with its private key"),
        ({"ssl_certfile": "ours.pem", "ssl_keyfile": "nowhere.pem"}, "ssl_keyfile: nowhere.pem cannot be used"),
        ({"ssl_certfile": "ours.pem", "ssl_keyfile": "theirs.key"}, "ssl_certfile: .* with its private key .*mismatch"),
        ({"ssl_certfile": "ours.pem", "ssl_keyfile": "locked.key"}, "ssl_certfile: .* with its private key"),
        (
            {"ssl_certfile": "ours.pem", "ssl_keyfile": "locked.key", "ssl_password": "wrong"},
            "ssl_certfile: .* with its private key",
        ),
    ],
)
def test_a_file_of_tls_that_cannot_be_used_is_refused_by_key_and_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: dict[str, str], place: str
) -> None:
    monkeypatch.chdir(tmp_path)
    authority = trustme.CA()
    ours, theirs = (authority.issue_cert("aem-monitor.example") for _ in range(2))
    ours.cert_chain_pems[0].write_to_path("ours.pem")
    ours.private_key_pem.write_to_path("ours.key")
    theirs.private_key_pem.write_to_path("theirs.key")
    key = load_pem_private_key(ours.private_key_pem.bytes(), None)
    locked = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"hunter2"))
    Path("locked.key").write_bytes(locked)
    Path("text").write_text("no certificate")

    def read(client: dict[str, str]) -> KafkaSettings:
        return kafka_settings(Kafka.model_validate({"bootstrap_servers": ["b:9093"], "client": client}))

    with pytest.raises(ConfigError, match=rf"^ingest\.kafka\.client\.({place})"):
        read({"security_protocol": "SSL", **chosen})
    # Accepted: files that are not used are not read, and these fit.
    read({"security_protocol": "PLAINTEXT", **chosen})
    for pair in ({"ssl_keyfile": "ours.key"}, {"ssl_keyfile": "locked.key", "ssl_password": "hunter2"}):
        read({"security_protocol": "SSL", "ssl_certfile": "ours.pem", **pair})


def _configured(tmp_path: Path, text: str) -> Config:
    path = tmp_path / "aem.yaml"
    path.write_text(text)
    return load_config(path, {})


def test_the_journal_is_beside_the_file_of_the_store_one_for_each_named_replica(tmp_path: Path) -> None:
    def path(store: str) -> Path:
        chosen = journal_settings(_configured(tmp_path, f"store: {{url: 'sqlite:///{tmp_path}/v.db'{store}}}\n"))
        assert chosen is not None
        return chosen.path

    assert path("") == tmp_path / "v.db-otlp", "whatever the host is called"
    one, other = path(", replica: one"), path(", replica: other")
    assert one.parent == other.parent == tmp_path
    assert one.name.startswith("v.db-otlp-")
    assert one != other


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "postgresql+psycopg://user@host/name"])
def test_where_the_store_is_no_file_a_journal_needs_a_path(tmp_path: Path, url: str) -> None:
    config = _configured(tmp_path, f"store: {{url: '{url}'}}\n")
    assert journal_settings(config) is None
    named = f"ingest: {{otlp_journal: {{path: here, fsync: 'off', max_bytes: 2GiB}}}}\nstore: {{url: '{url}'}}\n"
    chosen = journal_settings(_configured(tmp_path, named))
    assert chosen == JournalSettings(tmp_path / "here", max_bytes=2**31, fsync="off")


def test_without_a_receiver_only_a_journal_that_is_there_is_used(tmp_path: Path) -> None:
    ingest = "ingest: {otlp_http: {enabled: false}, otlp_journal: {path: here}}\n"
    assert journal_settings(_configured(tmp_path, ingest)) is None
    (tmp_path / "here").mkdir()
    assert journal_settings(_configured(tmp_path, ingest)) is not None, "what is in it is read to its end"
    off = _configured(tmp_path, "ingest: {otlp_journal: {path: here, enabled: false}}\n")
    assert journal_settings(off) is None


def test_on_loopback_the_admin_listener_has_the_name_that_people_reach_it_by() -> None:
    assert admin_hosts(Config()) == frozenset()
    web = {"external_url": "https://aem-monitor.example/aem"}
    assert admin_hosts(Config.model_validate({"web": web})) == frozenset({"aem-monitor.example"})
    others = {"listen": "0.0.0.0:21465", "insecure": True}
    assert admin_hosts(Config.model_validate({"web": web, "admin": others})) is None
