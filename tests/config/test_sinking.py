"""From the configuration to the sinks: which are on, and what of their secrets."""

import json
from pathlib import Path
from typing import Any

import pytest

from aem_monitor.config.load import load_config
from aem_monitor.config.root import Config
from aem_monitor.config.sinking import sinks
from aem_monitor.errors import ConfigError

KAFKA = {"bootstrap_servers": ["broker:9093"], "topic": "verdicts"}
ENDPOINT = "https://collector/v1/logs"


def configured(folder: Path, **chosen: Any) -> Config:
    path = folder / "aem-monitor.yaml"
    path.write_text(json.dumps({"sinks": chosen}))
    return load_config(path, {})


def test_none_is_on_by_default_and_each_has_the_name_of_its_section(tmp_path: Path) -> None:
    assert sinks(Config()) == ()
    config = configured(
        tmp_path, otlp={"endpoint": ENDPOINT}, kafka=KAFKA, json_lines={"path": str(tmp_path / "verdicts.jsonl")}
    )
    assert tuple(one.name for one in sinks(config)) == config.sinks.names == ("json_lines", "kafka", "otlp")


@pytest.mark.parametrize(
    ("chosen", "key"),
    [
        ({"otlp": {"endpoint": ENDPOINT, "authorization_file": "nowhere"}}, "sinks.otlp.authorization_file"),
        (
            {"kafka": {**KAFKA, "client": {"security_protocol": "SSL", "ssl_password_file": "nowhere"}}},
            "sinks.kafka.client.ssl_password_file",
        ),
    ],
)
def test_a_secret_that_cannot_be_read_is_refused_by_key_and_file(
    tmp_path: Path, chosen: dict[str, Any], key: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        sinks(configured(tmp_path, **chosen))
    assert str(caught.value).startswith(f"{key}: {tmp_path / 'nowhere'} cannot be read")


def test_a_secret_that_is_no_header_is_refused_and_not_shown(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("Bearer hunter2\nmore\n")
    config = configured(tmp_path, otlp={"endpoint": ENDPOINT, "authorization_file": "token"})
    with pytest.raises(ConfigError, match=r"authorization_file: .*token must hold printable ASCII") as caught:
        sinks(config)
    assert "hunter2" not in str(caught.value)
