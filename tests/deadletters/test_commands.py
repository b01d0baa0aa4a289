"""What ``dlq`` lists and gives back, letter by letter, on a real broker."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaProducer

from aem_monitor.cli.main import main
from aem_monitor.deadletters.letter import headers_of_letter, without_value
from aem_monitor.ingest.kafka_publisher import Headers
from tests.deadletters.messages import Message
from tests.deadletters.running import read_all
from tests.services.kafka import KafkaBroker

pytestmark = pytest.mark.service

Capture = pytest.CaptureFixture[str]


class Dead:
    """A topic of letters that were written to it by hand, and a monitor's configuration."""

    def __init__(self, broker: KafkaBroker, topic: str, folder: Path, capsys: Capture) -> None:
        self.broker, self.topic = broker, topic
        self.source = f"{topic}.spans"
        self.group = f"{topic}.group"
        self._capsys = capsys
        broker.create_topic(self.source, partitions=3)
        document = {
            "bootstrap_servers": [broker.bootstrap],
            "group_id": self.group,
            "topics": [{"name": self.source}],
            "dead_letters": {"topic": topic, "max_replays": 2},
        }
        self._config = folder / "aem-monitor.yaml"
        self._config.write_text(json.dumps({"ingest": {"kafka": document}}))

    def write(self, offset: int, cause: str = "malformed", group: str | None = None, **message: Any) -> None:
        given = Message(offset, **{"topic": self.source, "partition": offset % 3, **message})
        self.put(headers_of_letter(given, cause, "no protobuf", group or self.group), given.key, given.value)

    def put(self, headers: Headers, key: bytes | None, value: bytes | None) -> None:
        producer = KafkaProducer(bootstrap_servers=self.broker.bootstrap)
        try:
            producer.send(self.topic, value, key, list(headers)).get(30)
        finally:
            producer.close()

    def dlq(self, *words: str) -> tuple[int, list[dict[str, Any]], str]:
        code = main(["dlq", *words, "--config", str(self._config), "--format", "json"])
        captured = self._capsys.readouterr()
        return code, [json.loads(line) for line in captured.out.splitlines()], captured.err

    def table(self, *words: str) -> str:
        assert main(["dlq", *words, "--config", str(self._config)]) == 0
        return self._capsys.readouterr().out

    def replay(self, *words: str) -> tuple[int, dict[tuple[str | None, str], int]]:
        code, lines, _ = self.dlq("replay", *words)
        return code, {(line["cause"], line["fate"]): line["letters"] for line in lines}

    def given_back(self, topic: str | None = None) -> list[tuple[int, bytes | None, bytes, Headers]]:
        records = read_all(self.broker, topic or self.source)
        return [(record.partition, record.key, record.value, record.headers) for record in records]


@pytest.fixture
def dead(kafka_broker: KafkaBroker, dead_topic: str, tmp_path: Path, capsys: Capture) -> Dead:
    return Dead(kafka_broker, dead_topic, tmp_path, capsys)


def test_letters_are_listed_without_their_content(dead: Dead) -> None:
    dead.write(4, key=b"conversation-1", value=b"\xff secret")
    dead.write(5, cause="too_large")
    code, letters, said = dead.dlq("inspect")
    assert code == 0
    assert "2 of 2 dead letters shown" in said
    assert letters[0] == {
        "partition": 0,
        "offset": 0,
        "written_at": letters[0]["written_at"],
        "origin": {"topic": dead.source, "partition": 1, "offset": 4, "timestamp": 1_790_000_000.123},
        "cause": "malformed",
        "error": "no protobuf",
        "bytes": 8,
        "value_left_out": False,
        "replays": 0,
        "replayed": False,
        "group": dead.group,
        "version": letters[0]["version"],
    }
    assert abs(letters[0]["written_at"] - time.time()) < 3600
    table = dead.table("inspect", "--cause", "too_large")
    assert f"{dead.source}/2/5" in table
    assert "malformed" not in table
    assert dead.broker.committed(dead.group) == {}
    assert dead.broker.committed(f"{dead.group}-dlq-replay") == {}


def test_content_is_shown_when_asked_for(dead: Dead) -> None:
    dead.write(1, key=b"conversation-1", value=b"\xff")
    dead.write(2, key=None, value="für".encode())
    _, letters, _ = dead.dlq("inspect", "--show-content")
    contents = [[letter[name] for name in ("key", "key_encoding", "value", "value_encoding")] for letter in letters]
    assert contents == [["conversation-1", "utf-8", "/w==", "base64"], [None, None, "für", "utf-8"]]
    assert "conversation-1" in dead.table("inspect", "--show-content")


def test_the_newest_are_listed_where_there_are_more_than_the_limit(dead: Dead) -> None:
    for offset in range(5):
        dead.write(offset)
    _, letters, said = dead.dlq("inspect", "--limit", "2")
    assert [letter["origin"]["offset"] for letter in letters] == [3, 4]
    assert "2 of 5 dead letters shown" in said


def test_messages_go_back_with_key_headers_and_partition(dead: Dead) -> None:
    dead.write(4, key=b"conversation-1", value=b"one", headers=[("traceparent", b"00-1")])
    dead.write(5, key=None, value=b"two")
    assert dead.replay() == (0, {("malformed", "replayed"): 2})
    assert dead.given_back() == [
        (1, b"conversation-1", b"one", [("traceparent", b"00-1"), ("aem.dlq.replays", b"1")]),
        (2, None, b"two", [("aem.dlq.replays", b"1")]),
    ]


def test_a_second_replay_begins_after_the_first_for_each_cause(dead: Dead) -> None:
    dead.write(0)
    dead.write(1, cause="too_large")
    dead.write(2)
    assert dead.replay("--cause", "malformed") == (0, {("malformed", "replayed"): 2})
    assert [letter["replayed"] for letter in dead.dlq("inspect")[1]] == [True, False, True]
    dead.write(3)
    assert dead.replay() == (0, {("malformed", "replayed"): 1, ("too_large", "replayed"): 1})
    assert dead.replay() == (0, {})
    assert len(dead.given_back()) == 4


def test_a_rehearsal_does_nothing(dead: Dead) -> None:
    dead.write(0)
    for _ in range(2):
        assert dead.replay("--dry-run") == (0, {("malformed", "replayed"): 1})
    assert dead.given_back() == []
    assert "given back" in dead.table("replay", "--dry-run")


def test_what_cannot_or_must_not_be_given_back_is_counted_and_left(dead: Dead) -> None:
    dead.write(0, headers=[("aem.dlq.replays", b"2")])
    dead.write(1, topic="billing")
    dead.write(2, group="another monitor")
    dead.put(without_value(headers_of_letter(Message(3, dead.source), "malformed", "", dead.group), 10**7), None, b"")
    dead.put([("own", b"1")], None, b"no letter")
    left = {
        ("malformed", "too_often"): 1,
        ("malformed", "other_topic"): 1,
        ("malformed", "other_group"): 1,
        ("malformed", "without_value"): 1,
        (None, "no_letter"): 1,
    }
    assert dead.replay("--dry-run") == (1, left)
    assert dead.replay() == (1, left)
    assert dead.given_back() == []
    assert dead.replay() == (0, {})
    assert "1 messages of topic" in dead.dlq("inspect")[2]


def test_another_topic_may_take_them(dead: Dead) -> None:
    dead.write(0, key=b"conversation-1", topic="billing")
    missing = f"{dead.topic}.missing"
    code, lines, said = dead.dlq("replay", "--to", missing)
    assert (code, lines) == (1, [])
    assert f"Kafka topic {missing} does not exist" in said
    target = f"{dead.topic}.target"
    dead.broker.create_topic(target)
    assert dead.replay("--to", target) == (0, {("malformed", "replayed"): 1})
    assert [key for _, key, _, _ in dead.given_back(target)] == [b"conversation-1"]


def test_a_missing_dead_letter_topic_is_said(dead: Dead) -> None:
    admin = dead.broker.admin()
    admin.delete_topics([dead.topic])
    admin.close()
    code, lines, said = dead.dlq("inspect")
    assert (code, lines) == (1, [])
    assert f"Kafka topic {dead.topic} (ingest.kafka.dead_letters.topic)" in said


def test_an_empty_topic_is_no_fault(dead: Dead) -> None:
    assert dead.dlq("inspect")[:2] == (0, [])
    assert dead.replay() == (0, {})


def test_a_partition_that_is_gone_leaves_the_choice_to_the_key(dead: Dead) -> None:
    dead.write(0, partition=7, key=b"conversation-1")
    assert dead.replay() == (0, {("malformed", "replayed"): 1})
    assert len(dead.given_back()) == 1
