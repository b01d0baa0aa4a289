"""The generated documentation, and what of a configuration may be shown."""

from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator
from kafka import KafkaConsumer

from aem_monitor.config import document
from aem_monitor.config.effective import HIDDEN, effective, effective_yaml, hide_password
from aem_monitor.config.environment import section_of, variables
from aem_monitor.config.ingest import KafkaClient
from aem_monitor.config.load import load_config
from aem_monitor.config.root import Config, Golden
from aem_monitor.config.schema import json_schema, json_schema_text, sections

ROOT = Path(__file__).parents[2]


def test_the_committed_pages_are_what_the_models_say() -> None:
    """Run `make docs` where this fails."""
    assert (ROOT / document.REFERENCE).read_text() == document.reference()
    assert (ROOT / document.EXAMPLE).read_text() == document.example()
    assert (ROOT / document.SCHEMA).read_text() == json_schema_text()


def test_every_section_and_every_key_is_described() -> None:
    for path, section, _ in sections():
        assert section.__doc__, path
        for key, field in section.model_fields.items():
            assert section_of(field.annotation) or field.description, (*path, key)


def test_every_plain_key_stands_in_the_reference_and_in_the_example() -> None:
    reference, example = document.reference(), document.example()
    for path, _ in variables(Config).values():
        assert f"| `{path[-1]}` |" in reference
        assert f" {path[-1]}: " in example


def test_the_example_holds_the_defaults() -> None:
    config = load_config(ROOT / document.EXAMPLE, {})
    assert config.golden.paths == (ROOT / "deploy/golden",)
    assert config.model_copy(update={"golden": Golden()}) == Config()


def test_the_commented_part_of_the_example_is_a_configuration_too(tmp_path: Path) -> None:
    lines = document.example().splitlines()
    start = lines.index("  # kafka:")
    end = lines.index("  limits:")
    while lines[end - 1].startswith("  # ") and not lines[end - 1].startswith("  #  "):
        end -= 1
    uncommented = ["ingest:", *(f"  {line[4:]}" for line in lines[start:end])]
    path = tmp_path / "kafka.yaml"
    path.write_text("\n".join(uncommented))
    kafka = load_config(path, {}).ingest.kafka
    assert kafka is not None
    assert kafka.bootstrap_servers == ("localhost:9092",)


def test_the_schema_accepts_the_example_and_refuses_unknown_keys() -> None:
    schema = json_schema()
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    example = yaml.safe_load(document.example())
    assert list(validator.iter_errors(example)) == []
    assert list(validator.iter_errors({"stor": {}}))
    assert list(validator.iter_errors({"assembly": {"idle": "60"}}))


def test_the_effective_configuration_loads_again(tmp_path: Path) -> None:
    path = tmp_path / "effective.yaml"
    path.write_text(effective_yaml(Config()))
    assert load_config(path, {}) == Config()


def test_secrets_are_never_shown() -> None:
    config = load_config(
        None,
        {
            "AEM_MONITOR__STORE__URL": "postgresql://aem:hunter2@db/aem?sslpassword=hunter3&x=1",
            "AEM_MONITOR__INGEST__KAFKA__BOOTSTRAP_SERVERS": "b:9092",
            "AEM_MONITOR__INGEST__KAFKA__CLIENT__SECURITY_PROTOCOL": "SASL_SSL",
            "AEM_MONITOR__INGEST__KAFKA__CLIENT__SASL_MECHANISM": "PLAIN",
            "AEM_MONITOR__INGEST__KAFKA__CLIENT__SASL_PLAIN_USERNAME": "aem",
            "AEM_MONITOR__INGEST__KAFKA__CLIENT__SASL_PLAIN_PASSWORD": "hunter4",
            "AEM_MONITOR__INGEST__KAFKA__CLIENT__SSL_PASSWORD": "hunter5",
        },
    )
    text = effective_yaml(config)
    assert "hunter" not in text
    assert "hunter" not in repr(config.ingest)
    store = effective(config)["store"]
    assert isinstance(store, dict)
    assert store["url"] == f"postgresql://aem:{HIDDEN}@db/aem?sslpassword={HIDDEN}&x=1"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("sqlite:///aem-monitor.db", "sqlite:///aem-monitor.db"),
        ("sqlite:////var/lib/a@b.db", "sqlite:////var/lib/a@b.db"),
        ("postgresql://user@db/aem", "postgresql://user@db/aem"),
        ("postgresql+psycopg://user:p%40ss@db:5432/aem", f"postgresql+psycopg://user:{HIDDEN}@db:5432/aem"),
        ("postgresql://:secret@db/aem", f"postgresql://:{HIDDEN}@db/aem"),
        ("postgresql://user:p@ss/word@db/aem", f"postgresql://user:{HIDDEN}@db/aem"),
        ("postgresql://db/aem?user=u&password=p", f"postgresql://db/aem?user=u&password={HIDDEN}"),
    ],
)
def test_a_database_url_is_shown_without_its_password(url: str, shown: str) -> None:
    assert hide_password(url) == shown


def test_client_settings_are_settings_of_the_kafka_client() -> None:
    for name in KafkaClient.model_fields:
        assert name.removesuffix("_file") in KafkaConsumer.DEFAULT_CONFIG, name
