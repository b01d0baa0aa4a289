"""Environment variables that override the configuration file."""

from pathlib import Path

import pytest

from aem_monitor.config.environment import variables
from aem_monitor.config.load import load_config
from aem_monitor.config.root import Config
from aem_monitor.errors import ConfigError


def test_a_variable_sets_the_key_that_it_names(tmp_path: Path) -> None:
    path = tmp_path / "aem.yaml"
    path.write_text("store: {url: sqlite:///file.db, retention: 7d}\nscoring: {threshold: 0.4}\n")
    config = load_config(
        path,
        {
            "AEM_MONITOR__STORE__URL": "postgresql://db/aem",
            "AEM_MONITOR__SCORING__BAND": "0.2",
            "AEM_MONITOR__INGEST__OTLP_HTTP__ENABLED": "false",
            "AEM_MONITOR__ASSEMBLY__IDLE": "90s",
            "AEM_MONITOR__METRICS__LISTEN": "127.0.0.1:9999",
            "AEM_MONITOR__ASSEMBLY__PENDING__MAX_BYTES": "1GiB",
        },
    )
    assert config.store.url == "postgresql://db/aem"
    assert config.store.retention == 7 * 86400
    assert (config.scoring.threshold, config.scoring.band) == (0.4, 0.2)
    assert not config.ingest.otlp_http.enabled
    assert config.assembly.idle == 90
    assert config.metrics.listen.port == 9999
    assert config.assembly.pending.max_bytes == 2**30


def test_variables_alone_can_switch_kafka_on() -> None:
    config = load_config(
        None,
        {
            "AEM_MONITOR__INGEST__KAFKA__BOOTSTRAP_SERVERS": "a:9092, b:9092",
            "AEM_MONITOR__INGEST__KAFKA__TOPICS": '[{"name": "spans"}, {"name": "logs", "signal": "logs"}]',
            "AEM_MONITOR__INGEST__KAFKA__CLIENT__SECURITY_PROTOCOL": "SASL_SSL",
            "AEM_MONITOR__INGEST__KAFKA__CLIENT__SASL_MECHANISM": "PLAIN",
            "AEM_MONITOR__INGEST__KAFKA__CLIENT__SASL_PLAIN_USERNAME": "aem",
            "AEM_MONITOR__INGEST__KAFKA__CLIENT__SASL_PLAIN_PASSWORD": "12345",
        },
    )
    kafka = config.ingest.kafka
    assert kafka is not None
    assert kafka.bootstrap_servers == ("a:9092", "b:9092")
    assert [topic.name for topic in kafka.topics] == ["spans", "logs"]
    assert kafka.client.sasl_plain_password is not None
    assert kafka.client.sasl_plain_password.get_secret_value() == "12345"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("any", "any"),
        ("null", None),
        ('{"deployment.name": "canary"}', {"deployment.name": ("canary",)}),
        ("{deployment.name: [canary, shadow]}", {"deployment.name": ("canary", "shadow")}),
    ],
)
def test_a_mapping_is_written_as_json_or_yaml(written: str, read: object) -> None:
    assert load_config(None, {"AEM_MONITOR__RECOGNISE__WHERE": written}).recognise.where == read


def test_lists_are_written_with_commas_or_as_json() -> None:
    for written in ("a.id, b.id", '["a.id", "b.id"]'):
        assert load_config(None, {"AEM_MONITOR__ASSEMBLY__CONVERSATION_ID": written}).assembly.conversation_id == (
            "a.id",
            "b.id",
        )


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("AEM_MONITOR__STORE__URI", "x", "names no key of the configuration; correct or unset it; did you mean"),
        ("AEM_MONITOR__STORE", "{}", "names no key of the configuration"),
        ("AEM_MONITOR__store__url", "x", "names no key of the configuration"),
        ("AEM_MONITOR__SCORING__BAND", "wide", "scoring.band: must be a valid number, not 'wide'"),
        ("AEM_MONITOR__SCORING__BAND", "", "scoring.band: must be a valid number, not ''"),
        ("AEM_MONITOR__INGEST__OTLP_HTTP__ENABLED", "yes", "ingest.otlp_http.enabled: must be a valid boolean"),
        ("AEM_MONITOR__INGEST__OTLP_HTTP__ENABLED", "1", "ingest.otlp_http.enabled: must be a valid boolean"),
        ("AEM_MONITOR__INGEST__QUEUE__BATCHES", "2.5", "ingest.queue.batches: must be a valid integer"),
        ("AEM_MONITOR__METRICS__LISTEN", "0.0.0.0:1", "metrics.listen: 0.0.0.0:1 can be reached from other machines"),
        ("AEM_MONITOR__RECOGNISE__WHERE", "{a: [", "not valid YAML"),
        ("AEM_MONITOR__GOLDEN__PATHS", "[1]", "golden.paths[0]: "),
    ],
)
def test_a_variable_that_cannot_be_used_is_named(variable: str, value: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(None, {variable: value})
    assert str(caught.value).startswith(f"environment variable {variable}:")
    assert message in str(caught.value)


def test_variables_of_others_are_left_alone() -> None:
    assert load_config(None, {"AEM_MONITOR_HOME": "x", "AEM_MONITOR": "y", "PATH": "z"}) == Config()


def test_faults_of_file_and_environment_are_reported_together(tmp_path: Path) -> None:
    path = tmp_path / "aem.yaml"
    path.write_text("log: {level: loud}\n")
    with pytest.raises(ConfigError) as caught:
        load_config(path, {"AEM_MONITOR__STORE__URI": "x", "AEM_MONITOR__SCORING__BAND": "wide"})
    assert len(str(caught.value).splitlines()) == 3


def test_an_override_does_not_hide_a_fault_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "aem.yaml"
    path.write_text("store: sqlite:///x.db\n")
    with pytest.raises(ConfigError, match=r"aem\.yaml:1: store: must be a mapping of keys to values"):
        load_config(path, {"AEM_MONITOR__STORE__RETENTION": "7d"})


def test_every_plain_key_has_a_variable() -> None:
    known = variables(Config)
    assert known["AEM_MONITOR__INGEST__KAFKA__CLIENT__SSL_CAFILE"][0] == ("ingest", "kafka", "client", "ssl_cafile")
    assert len(known) == len({path for path, _ in known.values()})


def test_a_variable_with_one_underscore_or_in_small_letters_is_told_from_what_others_set() -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(None, {"AEM_MONITOR_METRICS__LISTEN": "127.0.0.1:1", "AEM_MONITOR__assembly__idle": "1m"})
    assert "AEM_MONITOR_METRICS__LISTEN: sets nothing; did you mean 'AEM_MONITOR__METRICS__LISTEN'?" in str(
        caught.value
    )
    assert "did you mean 'AEM_MONITOR__ASSEMBLY__IDLE'?" in str(caught.value)
    of_kubernetes = {"AEM_MONITOR_SERVICE_HOST": "10.0.0.1", "AEM_MONITOR_PORT": "tcp://10.0.0.1:21464"}
    assert load_config(None, of_kubernetes) == Config()
