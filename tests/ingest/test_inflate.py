import gzip
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aem_monitor.errors import DecodeError, TooLargeError
from aem_monitor.ingest.inflate import gunzip

# Without the time of its making, which would be in the names of tests: each worker must find the same ones.
_GZIP = gzip.compress(b"x", mtime=0)


@given(st.lists(st.binary(max_size=300_000), min_size=1, max_size=3))
def test_one_or_several_members_come_out_whole(parts: list[bytes]) -> None:
    assert gunzip(b"".join(map(gzip.compress, parts)), 2**20) == b"".join(parts)


@pytest.mark.parametrize("size", [0, 1, 2**16, 2**18 - 1, 2**18, 2**18 + 1, 3 * 2**18])
def test_output_of_any_size_comes_out_whole(size: int) -> None:
    assert len(gunzip(gzip.compress(bytes(size)), size)) == size


def test_no_bytes_are_an_empty_body() -> None:
    assert gunzip(b"", 10) == b""


def test_the_limit_counts_what_comes_out() -> None:
    with pytest.raises(TooLargeError, match="limit of 999 bytes after decompression"):
        gunzip(gzip.compress(bytes(1000)), 999)


def test_a_bomb_stops_early() -> None:
    bomb = gzip.compress(bytes(200 * 2**20), compresslevel=1)
    tracemalloc.start()
    try:
        with pytest.raises(TooLargeError):
            gunzip(bomb, 2**20)
        assert tracemalloc.get_traced_memory()[1] < 4 * 2**20
    finally:
        tracemalloc.stop()


def test_a_bomb_of_many_members_stops_early() -> None:
    with pytest.raises(TooLargeError):
        gunzip(gzip.compress(bytes(2**16)) * 100, 2**20)


def test_a_body_cut_at_any_byte_is_refused() -> None:
    body = gzip.compress(b"resource spans")
    for size in range(1, len(body)):
        with pytest.raises(DecodeError) as caught:
            gunzip(body[:size], 100)
        assert caught.value.reason == "malformed"


@pytest.mark.parametrize(
    "body",
    [b"plain", zlib.compress(b"zlib, not gzip"), _GZIP + b"garbage", _GZIP[:-1] + b"?"],
)
def test_what_is_not_gzip_is_refused(body: bytes) -> None:
    with pytest.raises(DecodeError):
        gunzip(body, 100)
