"""``aem-monitor dlq`` where it has nothing to work with; what it does with letters is in ``tests/failures``."""

from pathlib import Path

import pytest

from aem_monitor.cli.main import main
from tests.services.process import free_port

Capture = pytest.CaptureFixture[str]


def config(folder: Path, kafka: str) -> str:
    path = folder / "aem-monitor.yaml"
    path.write_text(f"ingest: {{kafka: {kafka}}}\n")
    return str(path)


@pytest.mark.parametrize("action", ["inspect", "replay"])
@pytest.mark.parametrize("kafka", ["null", '{bootstrap_servers: ["nowhere:9092"]}'])
def test_without_a_topic_it_is_said_which_key_is_missing(
    action: str, kafka: str, tmp_path: Path, capsys: Capture
) -> None:
    path = config(tmp_path, kafka)
    assert main(["dlq", action, "--config", path]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"{path}: ingest.kafka.dead_letters.topic: dlq needs it" in captured.err


def test_brokers_that_do_not_answer_are_named(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aem_monitor.deadletters.topic._BOOTSTRAP_SECONDS", 0.5)
    nowhere = f"127.0.0.1:{free_port()}"
    path = config(tmp_path, f'{{bootstrap_servers: ["{nowhere}"], dead_letters: {{topic: dead}}}}')
    assert main(["dlq", "inspect", "--config", path]) == 1
    assert f"Kafka at {nowhere} does not answer" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["inspect", "--limit", "0"], "--limit: must be 1 or more"),
        (["replay", "--to", "dead"], "--to: topic 'dead' is the dead-letter topic itself"),
    ],
)
def test_what_makes_no_sense_is_refused(words: list[str], message: str, tmp_path: Path, capsys: Capture) -> None:
    path = config(tmp_path, '{bootstrap_servers: ["nowhere:9092"], dead_letters: {topic: dead}}')
    assert main(["dlq", *words, "--config", path]) == 2
    assert message in capsys.readouterr().err


def test_an_unknown_cause_is_refused_with_those_that_there_are(tmp_path: Path, capsys: Capture) -> None:
    path = config(tmp_path, '{bootstrap_servers: ["nowhere:9092"], dead_letters: {topic: dead}}')
    assert main(["dlq", "replay", "--config", path, "--cause", "bad_luck"]) == 2
    assert "unsupported_encoding" in capsys.readouterr().err
