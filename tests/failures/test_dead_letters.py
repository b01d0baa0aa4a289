"""Poison among good messages, read by daemons that are killed, and given back once it can be read."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.deadletters.running import POISON
from tests.failures.doomed import LETTER_POINTS
from tests.failures.letter_kills import killed, letters_in
from tests.failures.oracle import Quiet
from tests.failures.running import Disturbed, eventually
from tests.failures.workload import Message, Workload
from tests.services.kafka import KafkaBroker

pytestmark = pytest.mark.service


@pytest.fixture
def dead_topic(kafka_broker: KafkaBroker) -> str:
    name = f"dead.{uuid4().hex[:8]}"
    kafka_broker.create_topic(name)
    return name


@pytest.fixture
def disturbed(kafka_broker: KafkaBroker, dead_topic: str, tmp_path: Path) -> Iterator[Disturbed]:
    one = Disturbed(kafka_broker, tmp_path, dead_letters={"topic": dead_topic, "max_run": 10, "max_replays": 2})
    yield one
    one.close()


def dlq(disturbed: Disturbed, *words: str) -> tuple[int, list[dict[str, Any]], str]:
    """Exit code, what was written as JSON, and what was said."""
    command = [sys.executable, "-m", "aem_monitor", "dlq", *words, "--config", str(disturbed.daemon.config)]
    done = subprocess.run([*command, "--format", "json"], capture_output=True, text=True, timeout=120)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def test_processes_that_die_between_letter_and_commit_lose_neither(
    kafka_broker: KafkaBroker, tmp_path: Path, plays: Workload, undisturbed: Quiet
) -> None:
    found = killed(kafka_broker, tmp_path, plays, [(point, nth) for nth, point in enumerate(LETTER_POINTS, start=1)])
    assert found.deaths >= 3
    assert found.quiet == undisturbed
    assert found.wrong == ""


def test_what_a_defect_keeps_the_engine_from_taking_in_is_kept(
    disturbed: Disturbed, dead_topic: str, plays: Workload
) -> None:
    values = [message.value for message in plays.messages[:3]]
    disturbed.produce([Message(0.0, 0, value) for value in values])
    disturbed.daemon.start("tests.failures.afflicted", "defective_engine")
    eventually(lambda: letters_in(disturbed.broker, dead_topic), disturbed.state)
    disturbed.daemon.close()
    (letter,) = letters_in(disturbed.broker, dead_topic)
    assert (letter.origin.offset, letter.cause, letter.value) == (1, "internal", values[1])
    assert letter.error == "ZeroDivisionError while the engine took it in"


def test_a_wrong_topic_is_not_drained_and_the_daemon_says_so(disturbed: Disturbed, dead_topic: str) -> None:
    disturbed.produce([Message(0.0, 0, POISON)] * 1000)
    disturbed.daemon.start()
    eventually(lambda: 'aem_monitor_kafka_stopped{cause="run"} 1.0' in disturbed.daemon.scrape(), disturbed.state)
    assert disturbed.daemon.get("/-/ready") == 503
    said = disturbed.daemon.problems()
    assert "more than 10 in a row" in said
    assert "has not been able to receive" not in said, "brokers are not to blame"
    assert 'aem_monitor_source_up{source="kafka"} 0.0' in disturbed.daemon.scrape()
    assert disturbed.daemon.stop() == 0
    assert len(letters_in(disturbed.broker, dead_topic)) == 10
    assert disturbed.broker.committed(disturbed.group).get((disturbed.topic, 0), 0) <= 10


def test_what_a_wrong_setting_made_of_good_messages_is_given_back_and_scored(
    kafka_broker: KafkaBroker,
    dead_topic: str,
    tmp_path: Path,
    plays: Workload,
    undisturbed: Quiet,
) -> None:
    disturbed = Disturbed(kafka_broker, tmp_path, dead_letters={"topic": dead_topic, "max_run": 1000, "max_ratio": 1.0})
    disturbed.produce(plays.messages)
    set_encoding(disturbed, "otlp_json")
    disturbed.daemon.start()
    eventually(disturbed.done, disturbed.state)
    assert disturbed.daemon.stop() == 0
    set_encoding(disturbed, "auto")

    code, listed, said = dlq(disturbed, "inspect", "--limit", "3")
    assert (code, len(listed)) == (0, 3)
    assert f"3 of {len(plays.messages)} dead letters shown" in said
    assert not {"key", "value"} & listed[0].keys()
    assert not listed[0]["replayed"]
    count = {"cause": "malformed", "fate": "replayed", "letters": len(plays.messages)}
    assert dlq(disturbed, "replay", "--dry-run")[:2] == (0, [{**count, "dry_run": True}])
    assert dlq(disturbed, "replay", "--cause", "too_large")[:2] == (0, [])
    assert dlq(disturbed, "replay")[:2] == (0, [{**count, "dry_run": False}])
    assert dlq(disturbed, "replay")[:2] == (0, [])
    assert {letter["replayed"] for letter in dlq(disturbed, "inspect")[1]} == {True}
    assert disturbed.finish() == undisturbed
    assert len(letters_in(kafka_broker, dead_topic)) == len(plays.messages)


def set_encoding(disturbed: Disturbed, encoding: str) -> None:
    document = json.loads(disturbed.daemon.config.read_text())
    document["ingest"]["kafka"]["topics"][0]["encoding"] = encoding
    disturbed.daemon.config.write_text(json.dumps(document))


def test_what_fails_again_and_again_is_given_back_only_so_often(disturbed: Disturbed, dead_topic: str) -> None:
    disturbed.produce([Message(0.0, 1, POISON)])
    disturbed.daemon.start()
    for replays in range(3):
        eventually(lambda: len(letters_in(disturbed.broker, dead_topic)) == replays + 1, disturbed.state)  # noqa: B023
        code, counts, _ = dlq(disturbed, "replay")
        fate = "too_often" if replays == 2 else "replayed"
        assert (code, [(one["fate"], one["letters"]) for one in counts]) == (int(replays == 2), [(fate, 1)])
    eventually(disturbed.done, disturbed.state)
    assert disturbed.daemon.stop() == 0
    letters = letters_in(disturbed.broker, dead_topic)
    assert [letter.replays for letter in sorted(letters, key=lambda letter: letter.written_at)] == [0, 1, 2]
    # Given back to the partition that it came from, where the rest of its conversation is.
    assert {(letter.origin.topic, letter.origin.partition) for letter in letters} == {(disturbed.topic, 1)}
