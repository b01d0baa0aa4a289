"""Records come out as they went in, and damage costs what it hits and no more."""

from hypothesis import given
from hypothesis import strategies as st

from aem_monitor.journal.record import Damage, Record, decode, encode

MARKER = bytes(range(8))

records = st.builds(
    Record,
    index=st.integers(0, 2**32 - 1),
    received_at=st.floats(0, 2**33),
    head=st.binary(max_size=40),
    body=st.binary(max_size=200) | st.just(MARKER) | st.just(MARKER * 3 + b"\x00" * 40),
)


def read(data: bytes) -> tuple[list[Record], list[Damage]]:
    found = list(decode(data, MARKER))
    whole = [one for one in found if isinstance(one, Record)]
    return whole, [one for one in found if isinstance(one, Damage)]


@given(st.lists(records, max_size=8))
def test_what_was_written_is_read(written: list[Record]) -> None:
    assert read(b"".join(encode(record, MARKER) for record in written)) == (written, [])


def test_a_file_that_ends_at_any_byte_loses_the_last_record_only() -> None:
    first, second, last = (Record(number, 1.0, b"head", bytes([number]) * 9) for number in range(3))
    whole = encode(first, MARKER) + encode(second, MARKER)
    torn = encode(last, MARKER)
    for length in range(1, len(torn)):
        found, damage = read(whole + torn[:length])
        assert found == [first, second], length
        assert damage == [Damage(len(whole), len(whole) + length, tail=True)], length


@given(st.lists(records, min_size=1, max_size=6), st.data())
def test_a_bit_that_flips_costs_the_record_that_it_is_in(written: list[Record], data: st.DataObject) -> None:
    pieces = [encode(record, MARKER) for record in written]
    hit = data.draw(st.integers(0, len(pieces) - 1))
    at = data.draw(st.integers(0, len(pieces[hit]) - 1))
    flipped = bytearray(pieces[hit])
    flipped[at] ^= 1 << data.draw(st.integers(0, 7))
    start = sum(map(len, pieces[:hit]))
    found, damage = read(b"".join([*pieces[:hit], bytes(flipped), *pieces[hit + 1 :]]))
    assert found == written[:hit] + written[hit + 1 :]
    assert damage == [Damage(start, start + len(flipped), tail=hit == len(pieces) - 1)]


@given(st.lists(records, min_size=2, max_size=5), st.binary(min_size=1, max_size=100))
def test_foreign_bytes_between_records_are_passed_over(written: list[Record], foreign: bytes) -> None:
    pieces = [encode(record, MARKER) for record in written]
    found, damage = read(pieces[0] + foreign + b"".join(pieces[1:]))
    assert found == written
    assert damage == [Damage(len(pieces[0]), len(pieces[0]) + len(foreign), tail=False)]


@given(st.binary(max_size=300))
def test_any_bytes_are_damage_and_never_an_error(data: bytes) -> None:
    found, damage = read(data)
    assert found == []
    assert damage == ([Damage(0, len(data), tail=True)] if data else [])


def test_a_body_cannot_pretend_to_be_a_record_of_another_segment() -> None:
    """Behind damage, reading looks for the marker of its own file, which a sender cannot know."""
    forged = encode(Record(7, 1.0, b"", b"forged"), b"\xff" * 8)
    carrier = bytearray(encode(Record(0, 1.0, b"", forged), MARKER))
    carrier[9] ^= 1
    after = Record(1, 2.0, b"", b"after")
    found, _ = read(bytes(carrier) + encode(after, MARKER))
    assert found == [after]
