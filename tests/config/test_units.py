"""Durations, sizes and addresses as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aem_monitor.config.units import (
    Address,
    format_duration,
    format_size,
    parse_address,
    parse_duration,
    parse_size,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("500ms", 0.5), ("30s", 30), ("1.5s", 1.5), ("10m", 600), ("1h30m", 5400), ("30d", 2592000), ("0s", 0)],
)
def test_a_duration_has_a_unit(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "30", "s", "30 s", "-30s", "30S", "30sec", "1h 30m", "1e3s", "PT30S", 30, 30.0, None, True]
)
def test_what_has_none_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match="a duration is written with its unit"):
        parse_duration(text)


@given(st.integers(0, 10**12))
def test_a_duration_is_written_back_as_it_was(milliseconds: int) -> None:
    assert round(parse_duration(format_duration(milliseconds / 1000)) * 1000) == milliseconds


@given(st.integers(0, 2**50))
def test_a_size_is_written_back_as_it_was(size: int) -> None:
    assert parse_size(format_size(size)) == size


@pytest.mark.parametrize("text", ["64", "64MB", "64 mib", "-1MiB", "1.5MiB", "MiB", "", 64, None])
def test_a_size_is_binary_and_whole(text: object) -> None:
    with pytest.raises(ValueError, match="a size is written with its unit"):
        parse_size(text)


@pytest.mark.parametrize(
    ("text", "host", "port", "loopback"),
    [
        ("127.0.0.1:4318", "127.0.0.1", 4318, True),
        ("127.9.9.9:1", "127.9.9.9", 1, True),
        ("localhost:0", "localhost", 0, True),
        ("[::1]:4318", "::1", 4318, True),
        ("0.0.0.0:4318", "0.0.0.0", 4318, False),
        ("[::]:4318", "::", 4318, False),
        ("10.0.0.1:4318", "10.0.0.1", 4318, False),
        ("localhost.example.org:4318", "localhost.example.org", 4318, False),
    ],
)
def test_an_address_knows_who_can_reach_it(text: str, host: str, port: int, loopback: bool) -> None:
    address = parse_address(text)
    assert (address.host, address.port, address.loopback) == (host, port, loopback)
    assert str(address) == text


@pytest.mark.parametrize(
    "text",
    [
        "4318",
        ":4318",
        "localhost",
        "localhost:",
        "::1:4318",
        "a:b",
        "host:70000",
        "host:-1",
        4318,
        None,
        "h:²",
        "a b:1",
        "a\nb:1",
    ],
)
def test_what_is_no_address_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match=r"an address is written|over 65535"):
        parse_address(text)


@pytest.mark.parametrize(
    ("one", "other", "overlap"),
    [
        ("127.0.0.1:1", "127.0.0.1:1", True),
        ("127.0.0.1:1", "localhost:1", True),
        ("127.0.0.1:1", "0.0.0.0:1", True),
        ("[::1]:1", "[::]:1", True),
        ("127.0.0.1:1", "127.0.0.2:1", False),
        ("127.0.0.1:1", "127.0.0.1:2", False),
        ("127.0.0.1:0", "127.0.0.1:0", False),
    ],
)
def test_addresses_overlap_where_both_cannot_be_bound(one: str, other: str, overlap: bool) -> None:
    first, second = parse_address(one), parse_address(other)
    assert first.overlaps(second) is overlap
    assert second.overlaps(first) is overlap


def test_an_address_passes_as_itself() -> None:
    assert parse_address(Address("localhost", 1)) == Address("localhost", 1)
