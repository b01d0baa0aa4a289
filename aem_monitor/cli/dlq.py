"""``aem-monitor dlq``: what lies in the dead-letter topic, and giving it back."""

import base64
import os
import sys
import time
from argparse import ArgumentParser, Namespace
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aem_monitor.cli.output import write_json_line
from aem_monitor.cli.tables import Column, print_table
from aem_monitor.cli.topic import topic_argument
from aem_monitor.config.ingest import Kafka
from aem_monitor.config.load import load_config
from aem_monitor.config.settings import dead_letter_settings, kafka_settings
from aem_monitor.deadletters.causes import CAUSES
from aem_monitor.deadletters.letter import Letter, read_letter
from aem_monitor.deadletters.replay import LEFT, Fate, Replay
from aem_monitor.deadletters.settings import DeadLetterSettings
from aem_monitor.deadletters.topic import DeadLetterTopic
from aem_monitor.errors import ConfigError, UsageError
from aem_monitor.ingest.kafka_publisher import Publisher
from aem_monitor.ingest.kafka_settings import KafkaSettings
from aem_monitor.model.jsonvalue import JSON

_CLOSE_SECONDS: Final = 5.0

_COLUMNS: Sequence[Column | str] = (
    *("letter", "origin", "cause"),
    Column("age", "right"),
    Column("bytes", "right"),
    Column("replays", "right"),
    *("replayed", "error"),
)

_FATES: Final[Mapping[Fate, str]] = {
    Fate.REPLAYED: "given back",
    Fate.TOO_OFTEN: "left: given back max_replays times already",
    Fate.WITHOUT_VALUE: "left: too large for the dead-letter topic, its value is not there",
    Fate.OTHER_TOPIC: "left: its topic is not one of ingest.kafka.topics; name one with --to",
    Fate.REFUSED: "left: too large for the topic",
    Fate.OTHER_GROUP: "passed over: of another consumer group",
    Fate.NO_LETTER: "passed over: no dead letter",
}


def configure(parser: ArgumentParser) -> None:
    """Add the actions."""
    parser.description = (
        "Messages that cannot be used lie in the topic that ingest.kafka.dead_letters names. `inspect` lists them "
        "without their content, `replay` gives them back to the topics that they came from, once what was wrong is "
        "mended."
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    inspect = actions.add_parser(
        "inspect", help="list dead letters", description="Lists the newest dead letters. Commits nothing anywhere."
    )
    _add_common(inspect)
    inspect.add_argument("--limit", metavar="N", type=int, default=50, help="at most so many, the newest (default: 50)")
    inspect.add_argument(
        "--show-content", action="store_true", help="also key and value: base64 where they are not UTF-8"
    )
    inspect.set_defaults(handler=_inspect)
    replay = actions.add_parser(
        "replay",
        help="give messages back to where they came from",
        description="Gives messages back, at least once, with their key, their headers and the partition that they "
        "came from, and goes on where the last replay of the same cause ended. Run one at a time. Exit code 0: done, "
        "1: some letters were left, or Kafka did not answer.",
    )
    _add_common(replay)
    replay.add_argument(
        "--to",
        metavar="TOPIC",
        type=topic_argument,
        help="topic to give them to, in place of those they came from",
    )
    replay.add_argument("--dry-run", action="store_true", help="count what would be done, and do nothing")
    replay.set_defaults(handler=_replay)


def _add_common(parser: ArgumentParser) -> None:
    parser.add_argument("--config", metavar="FILE", type=Path, required=True, help="configuration file of the monitor")
    parser.add_argument(
        "--cause", choices=CAUSES, action="append", help="of this cause only; may be repeated (default: all)"
    )
    parser.add_argument("--format", choices=("table", "json"), default="table", help="json: one object a line")


@dataclass(frozen=True, slots=True)
class _Setup:
    """Where dead letters lie, and how brokers are reached."""

    kafka: KafkaSettings
    letters: DeadLetterSettings

    def topic(self) -> DeadLetterTopic:
        """The topic, not opened. Its group shows how far it was replayed."""
        return DeadLetterTopic(self.kafka, self.letters.topic, f"{self.kafka.group_id}-dlq-replay")


def _setup(arguments: Namespace) -> _Setup:
    config = load_config(arguments.config, dict(os.environ))
    kafka: Kafka | None = config.ingest.kafka
    letters = None if kafka is None else dead_letter_settings(kafka)
    if kafka is None or letters is None:
        raise ConfigError(f"{arguments.config}: ingest.kafka.dead_letters.topic: dlq needs it; name the topic")
    return _Setup(kafka_settings(kafka), letters)


def _inspect(arguments: Namespace) -> int:
    if arguments.limit < 1:
        raise UsageError("--limit: must be 1 or more")
    setup = _setup(arguments)
    causes = arguments.cause or CAUSES
    found: deque[Letter] = deque(maxlen=arguments.limit)
    seen = others = 0
    with setup.topic() as topic:
        replayed = topic.replayed()
        for record in topic.records():
            letter = read_letter(record)
            others += letter is None
            if letter is not None and letter.cause in causes:
                seen += 1
                found.append(letter)
    letters = sorted(found, key=lambda letter: letter.written_at)
    now = time.time()
    done = {id(letter): letter.offset < replayed[letter.partition].of(letter.cause) for letter in letters}
    if arguments.format == "json":
        for letter in letters:
            write_json_line(_object(letter, done[id(letter)], arguments.show_content))
    elif letters:
        columns = [*_COLUMNS, "key", "value"] if arguments.show_content else _COLUMNS
        rows = [_row(letter, done[id(letter)], now) for letter in letters]
        contents = [_content(letter) if arguments.show_content else () for letter in letters]
        print_table(columns, [(*row, *content) for row, content in zip(rows, contents, strict=True)], sys.stdout)
    print(f"{len(letters)} of {seen} dead letters shown", file=sys.stderr)
    if others:
        print(f"{others} messages of topic {setup.letters.topic} are no dead letters", file=sys.stderr)
    return 0


def _row(letter: Letter, done: bool, now: float) -> tuple[object, ...]:
    origin = letter.origin
    return (
        f"{letter.partition}/{letter.offset}",
        f"{origin.topic}/{origin.partition}/{origin.offset}",
        letter.cause,
        _age(now - letter.written_at / 1000),
        letter.size,
        letter.replays,
        done,
        letter.error,
    )


def _age(seconds: float) -> str:
    for length, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f}{unit}"
    return f"{max(0.0, seconds):.0f}s"


def _content(letter: Letter) -> tuple[object, ...]:
    value = None if letter.left_out is not None else letter.value
    return tuple(None if content is None else _text(content)[0] for content in (letter.key, value))


def _text(content: bytes) -> tuple[str, str]:
    """The content as text, and in which encoding."""
    try:
        return content.decode(), "utf-8"
    except UnicodeDecodeError:
        return base64.b64encode(content).decode(), "base64"


def _object(letter: Letter, done: bool, content: bool) -> dict[str, JSON]:
    origin = letter.origin
    told: dict[str, JSON] = {
        "partition": letter.partition,
        "offset": letter.offset,
        "written_at": letter.written_at / 1000,
        "origin": {
            "topic": origin.topic,
            "partition": origin.partition,
            "offset": origin.offset,
            "timestamp": origin.timestamp / 1000,
        },
        "cause": letter.cause,
        "error": letter.error,
        "bytes": letter.size,
        "value_left_out": letter.left_out is not None,
        "replays": letter.replays,
        "replayed": done,
        "group": letter.group,
        "version": letter.version,
    }
    if content:
        for name, held in (("key", letter.key), ("value", None if letter.left_out is not None else letter.value)):
            text, encoding = (None, None) if held is None else _text(held)
            told[name] = text
            told[f"{name}_encoding"] = encoding
    return told


def _replay(arguments: Namespace) -> int:
    setup = _setup(arguments)
    if arguments.to == setup.letters.topic:
        raise UsageError(f"--to: topic {arguments.to!r} is the dead-letter topic itself")
    topics = frozenset(topic.name for topic in setup.kafka.topics)
    causes = tuple(dict.fromkeys(arguments.cause or CAUSES))
    replay = Replay(setup.letters, topics, causes, arguments.to)
    with setup.topic() as topic:
        if arguments.dry_run:
            replay.rehearse(topic)
        else:
            _run(replay, topic, setup.kafka)
    _report(replay, arguments)
    return 1 if any(replay.done[cause, fate] for cause in CAUSES for fate in LEFT) else 0


def _run(replay: Replay, topic: DeadLetterTopic, kafka: KafkaSettings) -> None:
    publisher: Publisher[Letter] = Publisher(kafka.bootstrap_servers, kafka.client, f"{kafka.client_id}-dlq-replay")
    try:
        replay.run(topic, publisher)
    finally:
        publisher.close(_CLOSE_SECONDS)


def _report(replay: Replay, arguments: Namespace) -> None:
    done = [(cause, fate, number) for (cause, fate), number in sorted(replay.done.items()) if number]
    if arguments.format == "json":
        for cause, fate, number in done:
            write_json_line(
                {"cause": cause or None, "fate": fate.value, "letters": number, "dry_run": arguments.dry_run}
            )
    elif done:
        print_table(
            ("cause", Column("letters", "right"), "would be" if arguments.dry_run else "were"),
            [(cause or None, number, _FATES[fate]) for cause, fate, number in done],
            sys.stdout,
        )
    else:
        print("nothing is to be replayed", file=sys.stderr)
