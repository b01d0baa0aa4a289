"""A letter holds the message as it was, and says where it stood."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aem_monitor import __version__
from aem_monitor.deadletters.letter import (
    Letter,
    Origin,
    headers_of_letter,
    headers_of_replay,
    read_letter,
    without_value,
)
from aem_monitor.ingest.kafka_publisher import Headers
from tests.deadletters.messages import Message


@dataclass
class Written:
    """A message of the dead-letter topic."""

    headers: Headers
    partition: int = 2
    offset: int = 7
    timestamp: int = 1_790_000_009_000
    key: bytes | None = b"key"
    value: bytes | None = b"\xff poison"


def letter(message: Message, cause: str = "malformed", error: str = "what is wrong") -> Letter:
    found = read_letter(Written(headers_of_letter(message, cause, error, "group")))
    assert found is not None
    return found


def test_a_letter_says_where_its_message_stood_and_what_was_wrong() -> None:
    headers = headers_of_letter(Message(offset=42, topic="spans", partition=3), "malformed", "no protobuf", "monitors")
    assert headers == [
        ("aem.dlq.topic", b"spans"),
        ("aem.dlq.partition", b"3"),
        ("aem.dlq.offset", b"42"),
        ("aem.dlq.timestamp", b"1790000000123"),
        ("aem.dlq.cause", b"malformed"),
        ("aem.dlq.error", b"no protobuf"),
        ("aem.dlq.group", b"monitors"),
        ("aem.dlq.version", __version__.encode()),
    ]


def test_a_letter_is_read_as_it_was_written() -> None:
    message = Message(offset=42, partition=3, headers=[("traceparent", b"\xff\x00"), ("traceparent", b"2")])
    assert letter(message) == Letter(
        partition=2,
        offset=7,
        written_at=1_790_000_009_000,
        origin=Origin("spans", 3, 42, 1_790_000_000_123),
        cause="malformed",
        error="what is wrong",
        group="group",
        version=__version__,
        replays=0,
        key=b"key",
        value=b"\xff poison",
        headers=[("traceparent", b"\xff\x00"), ("traceparent", b"2")],
    )


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8"), max_size=20) | st.just("aem.dlq.topic"), st.none() | st.binary()
        )
    ),
    st.text(st.characters(codec="utf-8")),
)
def test_headers_of_the_message_are_kept_and_none_of_ours_is_taken_for_one(
    headers: list[tuple[str, bytes | None]], error: str
) -> None:
    found = letter(Message(headers=headers), error=error)
    own = [(name, value or b"") for name, value in headers if not name.startswith("aem.dlq.")]
    assert found.headers == own
    assert found.origin.topic == "spans"
    assert found.error == error[:500]


def test_each_replay_is_counted_through_further_letters() -> None:
    message = Message(headers=[("own", b"1")])
    for count in (1, 2, 3):
        again = headers_of_replay(letter(message))
        assert again == [("own", b"1"), ("aem.dlq.replays", str(count).encode())]
        message = Message(headers=again)
    assert letter(message).replays == 3


@pytest.mark.parametrize("count", [b"-1", b"many", b"\xff", b"", b"9" * 5000, "²".encode()])
def test_a_count_that_is_none_counts_as_no_replay(count: bytes) -> None:
    assert letter(Message(headers=[("aem.dlq.replays", count)])).replays == 0


def test_a_letter_without_its_value_says_how_large_that_was() -> None:
    headers = without_value(headers_of_letter(Message(), "malformed", "", "group"), 2_000_000)
    found = read_letter(Written(headers, value=b""))
    assert found is not None
    assert found.left_out == found.size == 2_000_000


def test_a_cause_of_another_version_is_other() -> None:
    assert letter(Message(), cause="a cause of tomorrow").cause == "other"


@pytest.mark.parametrize("missing", ["topic", "partition", "offset", "cause"])
def test_a_message_that_is_no_letter_is_none(missing: str) -> None:
    headers = headers_of_letter(Message(), "malformed", "", "group")
    assert read_letter(Written([header for header in headers if header[0] != f"aem.dlq.{missing}"])) is None


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["topic", "partition", "offset", "cause", "replays", "left_out", "timestamp"]).map(
                "aem.dlq.{}".format
            ),
            st.none() | st.binary() | st.sampled_from([b"1", b"spans", b"malformed"]),
        )
    )
)
def test_whatever_stands_in_the_headers_is_read_or_is_no_letter(headers: list[tuple[str, bytes]]) -> None:
    found = read_letter(Written(headers))
    assert found is None or (found.origin.topic and found.replays >= 0)
