"""What ``aem-monitor rekey`` refuses before it reads anything."""

from pathlib import Path

import pytest

from aem_monitor.cli.main import main
from aem_monitor.config.load import load_config
from aem_monitor.config.rekeying import (
    read_by_the_monitor,
    rekey_kafka_settings,
    rekey_settings,
    restricting_attributes,
)
from aem_monitor.examples import example_dialogs

KAFKA = "ingest: {kafka: {bootstrap_servers: ['b:9092'], client: {security_protocol: SSL}, group_instance_id: one}}\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "aem-monitor.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("", [], "aem-monitor.yaml: ingest.kafka: rekey needs the brokers"),
        (KAFKA + "rekey: {group_id: aem-monitor}\n", [], "rekey.group_id: 'aem-monitor' is the monitor's own"),
        (KAFKA, ["--to", "otlp_spans"], "--to: topic 'otlp_spans' is the one that is read"),
        (
            KAFKA + "rekey: {topics: [{name: a, to: b}, {name: c, to: d}]}\n",
            ["--to", "e"],
            "--to: 2 topics are read; say where each goes in rekey.topics",
        ),
        (KAFKA + "golden: {paths: [absent]}\n", [], "absent"),
    ],
    ids=["no brokers", "the monitor's group", "to itself", "to one of two", "no such dialogs"],
)
def test_what_cannot_work_is_said_with_its_place(
    text: str, arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rekey", "--config", str(written(tmp_path, text)), *arguments]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.out == ""


@pytest.mark.parametrize("command", [["rekey"], ["dlq", "replay"]])
@pytest.mark.parametrize("name", ["", "a b", "..", "x" * 250])
def test_what_is_no_topic_is_refused(
    command: list[str], name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, "--config", str(written(tmp_path, KAFKA)), "--to", name]) == 2
    assert f"argument --to: {name!r} is no name of a topic" in capsys.readouterr().err


def test_it_reads_as_the_monitor_does_but_as_a_group_of_its_own(tmp_path: Path) -> None:
    path = written(tmp_path, KAFKA + "rekey: {topics: [{name: a, to: b}]}\n")
    settings = rekey_kafka_settings(load_config(path, {}), path)
    assert settings.group_id == "aem-monitor-rekey"
    assert settings.group_instance_id is None
    assert [topic.name for topic in settings.topics] == ["a"]
    assert settings.client == {"security_protocol": "SSL", "ssl_check_hostname": True}


def test_the_target_of_the_command_line_takes_the_place_of_the_configured_one(tmp_path: Path) -> None:
    config = load_config(written(tmp_path, KAFKA), {})
    assert rekey_settings(config, None).targets == {"otlp_spans": "otlp_spans_by_conversation"}
    assert rekey_settings(config, "elsewhere").targets == {"otlp_spans": "elsewhere"}


def test_a_monitor_that_reads_the_same_topic_is_noticed(tmp_path: Path) -> None:
    default = load_config(written(tmp_path, KAFKA), {})
    assert read_by_the_monitor(default, rekey_settings(default, None)) == ["otlp_spans"]
    text = "ingest: {kafka: {bootstrap_servers: ['b:9092'], topics: [{name: otlp_spans_by_conversation}]}}\n"
    right = load_config(written(tmp_path, text), {})
    assert read_by_the_monitor(right, rekey_settings(right, None)) == []


def test_attributes_that_restrict_recognition_are_its_business_too(tmp_path: Path) -> None:
    text = f"recognise: {{where: {{deployment.name: canary}}}}\ngolden: {{paths: ['{example_dialogs()}']}}\n"
    assert "deployment.name" in restricting_attributes(load_config(written(tmp_path, text), {}))
    alone = "recognise: {where: {team: canary}}\n"
    assert restricting_attributes(load_config(written(tmp_path, alone), {})) == {"team"}
