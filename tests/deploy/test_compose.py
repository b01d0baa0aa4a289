"""The Compose files: valid, and in agreement with what they mount, with each other and with the daemon's defaults."""

import json
import re
import subprocess
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from aem_monitor import __version__
from aem_monitor.config.load import load_config
from aem_monitor.config.root import Config
from aem_monitor.golden.load import load_dialogs
from tests.deploy.files import COMPOSE, compose, documents, seconds

every = pytest.mark.parametrize("path", COMPOSE, ids=lambda path: path.parent.name)

(WHOLE,) = (path for path in COMPOSE if path.parent.name == "whole")


def binds(path: Path, service: str) -> dict[str, Path]:
    """Targets and sources of what a service mounts from the project, no variable being set."""
    found = {}
    for volume in compose(path)["services"][service].get("volumes", []):
        source, target = re.sub(r"\$\{[A-Z]+:-([^}]+)\}", r"\1", volume).split(":")[:2]
        if source.startswith("."):
            found[target] = (path.parent / source).resolve()
    return found


def config_of(path: Path, tmp_path: Path) -> Config:
    """The daemon's configuration, its golden dialogs where they will be mounted from."""
    mounted = binds(path, "aem-monitor")
    text = mounted["/etc/aem-monitor/aem-monitor.yaml"].read_text()
    assert "/etc/golden" in text
    copy = tmp_path / "aem-monitor.yaml"
    copy.write_text(text.replace("/etc/golden", str(mounted["/etc/golden"])))
    return load_config(copy, {})


@every
def test_it_is_valid(path: Path) -> None:
    schema = json.loads((files("check_jsonschema") / "builtin_schemas/vendor/compose-spec.json").read_text())
    Draft7Validator.check_schema(schema)
    assert [error.message for error in Draft7Validator(schema).iter_errors(compose(path))] == []


@every
def test_images_are_pinned_and_ours_is_this_version(path: Path) -> None:
    for name, service in compose(path)["services"].items():
        tag = service["image"].partition(":")[2]
        assert re.fullmatch(r"v?\d+\.\d+\.\d+", tag), name
    assert compose(path)["services"]["aem-monitor"]["image"] == f"aem-monitor:{__version__}"


@every
def test_what_is_built_is_there(path: Path) -> None:
    build = compose(path)["services"]["aem-monitor"]["build"]
    assert (path.parent / build["context"] / build["dockerfile"]).is_file()


@every
def test_what_is_mounted_from_the_project_is_there_and_read_only(path: Path) -> None:
    for name, service in compose(path)["services"].items():
        assert all(source.exists() for source in binds(path, name).values()), name
        assert all(volume.endswith(":ro") for volume in service.get("volumes", []) if volume.startswith((".", "$")))


@every
def test_named_volumes_and_secrets_are_declared_and_used(path: Path) -> None:
    document = compose(path)
    used = {
        volume.split(":")[0]
        for service in document["services"].values()
        for volume in service.get("volumes", [])
        if not volume.startswith((".", "$"))
    }
    assert used == set(document["volumes"])
    secrets = {secret for service in document["services"].values() for secret in service.get("secrets", [])}
    assert secrets == set(document.get("secrets", {}))


@every
def test_services_give_up_privileges(path: Path) -> None:
    for name, service in compose(path)["services"].items():
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
    assert compose(path)["services"]["aem-monitor"]["read_only"] is True


@every
def test_everything_is_published_on_loopback_only(path: Path) -> None:
    for service in compose(path)["services"].values():
        for port in service.get("ports", []):
            host, published, target = port.rsplit(":", 2)
            assert (host, published) == ("127.0.0.1", target)


@every
def test_the_daemon_accepts_its_configuration_and_has_dialogs(path: Path, tmp_path: Path) -> None:
    config = config_of(path, tmp_path)
    assert len(load_dialogs(config.golden.paths)) > 0
    assert config.store.replica, "a container's host name changes, and with it the name of the totals"
    assert config.store.url.startswith("sqlite:////var/lib/aem-monitor/")


@every
def test_the_daemon_listens_where_it_is_published_and_scraped(path: Path, tmp_path: Path) -> None:
    config, service = config_of(path, tmp_path), compose(path)["services"]["aem-monitor"]
    listening = {config.metrics.listen.port}
    listening |= {
        listener.listen.port for listener in (config.ingest.otlp_http, config.ingest.otlp_grpc) if listener.enabled
    }
    assert {int(port.rsplit(":", 1)[1]) for port in service["ports"]} == listening
    (prometheus,) = documents(path.parent / "prometheus.yaml")
    (job,) = prometheus["scrape_configs"]
    assert job["static_configs"] == [{"targets": [f"aem-monitor:{config.metrics.listen.port}"]}]
    assert config.metrics.listen.port == Config().metrics.listen.port, "the image's health check asks there"


@every
def test_there_is_time_to_drain(path: Path, tmp_path: Path) -> None:
    service = compose(path)["services"]["aem-monitor"]
    assert seconds(service["stop_grace_period"]) > config_of(path, tmp_path).shutdown.grace


@every
@pytest.mark.service
def test_prometheus_accepts_its_configuration(path: Path, tmp_path: Path, promtool: Path) -> None:
    text = (path.parent / "prometheus.yaml").read_text()
    folder = binds(path, "prometheus")["/etc/prometheus/aem-monitor"]
    copy = tmp_path / "prometheus.yaml"
    copy.write_text(text.replace("/etc/prometheus/aem-monitor", str(folder)))
    done = subprocess.run([promtool, "check", "config", copy], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rules = {file for pattern in documents(copy)[0]["rule_files"] for file in folder.glob(Path(pattern).name)}
    assert rules == set(folder.glob("*.yaml"))


def collector() -> Mapping[str, Any]:
    (document,) = documents(binds(WHOLE, "collector")["/etc/otelcol/config.yaml"])
    return document


def topic_settings() -> tuple[set[str], dict[str, int]]:
    """Names of the topics that the set-up makes, and their numeric settings."""
    (script,) = compose(WHOLE)["services"]["topics"]["command"]
    names = re.search(r"for topic in ([\w ]+);", script)
    assert names
    return set(names[1].split()), {key: int(value) for key, value in re.findall(r"--config ([a-z.]+)=(\d+)", script)}


def test_collector_kafka_and_daemon_mean_the_same_topics(tmp_path: Path) -> None:
    exporter, kafka = collector()["exporters"]["kafka"], config_of(WHOLE, tmp_path).ingest.kafka
    assert kafka is not None
    written = {(signal, exporter[signal]["topic"], exporter[signal]["encoding"]) for signal in ("traces", "logs")}
    assert written == {(topic.signal, topic.name, topic.encoding) for topic in kafka.topics}
    assert {topic.name for topic in kafka.topics} == topic_settings()[0]
    broker = compose(WHOLE)["services"]["kafka"]["environment"]
    for servers in (exporter["brokers"], list(kafka.bootstrap_servers)):
        assert f"PLAINTEXT://{servers[0]}" == broker["KAFKA_ADVERTISED_LISTENERS"]


def test_a_message_that_the_collector_sends_is_one_that_the_topic_takes_and_the_daemon_remembers(
    tmp_path: Path,
) -> None:
    settings = topic_settings()[1]
    assert collector()["exporters"]["kafka"]["producer"]["max_message_bytes"] < settings["max.message.bytes"]
    assert settings["retention.ms"] / 1000 < config_of(WHOLE, tmp_path).store.retention


def test_all_that_is_sent_goes_through_the_collector() -> None:
    pipelines = collector()["service"]["pipelines"]
    assert set(pipelines) == {"traces", "logs"}
    for pipeline in pipelines.values():
        for section, names in pipeline.items():
            assert set(names) <= set(collector()[section])
    protocols = collector()["receivers"]["otlp"]["protocols"].values()
    ports = {protocol["endpoint"].rsplit(":", 1)[1] for protocol in protocols}
    assert ports == {port.rsplit(":", 1)[1] for port in compose(WHOLE)["services"]["collector"]["ports"]}


def test_prometheus_sends_alerts_to_the_alertmanager_that_runs() -> None:
    (prometheus,) = documents(WHOLE.parent / "prometheus.yaml")
    (manager,) = prometheus["alerting"]["alertmanagers"]
    (port,) = compose(WHOLE)["services"]["alertmanager"]["ports"]
    assert manager["static_configs"] == [{"targets": [f"alertmanager:{port.rsplit(':', 1)[1]}"]}]


def test_files_that_programs_are_told_to_read_are_mounted() -> None:
    for name, service in compose(WHOLE)["services"].items():
        mounted = binds(WHOLE, name)
        for word in service.get("command", []):
            option, _, file = word.partition("=")
            if option not in ("--config", "--config.file"):
                continue
            places = [
                source / Path(file).relative_to(target) for target, source in mounted.items() if file.startswith(target)
            ]
            assert any(place.is_file() for place in places), word


def test_grafana_finds_its_dashboards_and_its_data() -> None:
    mounted = binds(WHOLE, "grafana")
    provisioning = mounted["/etc/grafana/provisioning"]
    providers = [
        provider
        for path in sorted((provisioning / "dashboards").glob("*.y*ml"))
        for provider in documents(path)[0]["providers"]
    ]
    assert providers
    assert all(list(mounted[provider["options"]["path"]].glob("*.json")) for provider in providers)
    sources = [
        source
        for path in sorted((provisioning / "datasources").glob("*.y*ml"))
        for source in documents(path)[0]["datasources"]
    ]
    assert "http://prometheus:9090" in {source["url"] for source in sources}
