"""Gzip bodies from outside, decompressed without trusting what they claim to hold."""

import zlib
from collections.abc import Iterator
from typing import Final

from aem_monitor.errors import DecodeError, TooLargeError

_INPUT: Final = 2**16
_PIECE: Final = 2**18
_GZIP: Final = 16 + zlib.MAX_WBITS


def gunzip(body: bytes, max_bytes: int) -> bytes:
    """Decompress a gzip body of one or several members.

    Output comes in pieces of at most 256 KiB, so that a bomb costs no more than the limit and one piece; input goes in
    in pieces of 64 KiB, because zlib copies what it leaves over.

    Raises:
        TooLargeError: more than ``max_bytes`` come out.
        DecodeError: not gzip, damaged, or cut short (``malformed``).
    """
    pieces: list[bytes] = []
    size = 0
    member = zlib.decompressobj(_GZIP)
    inside = False
    for at in range(0, len(body), _INPUT):
        waiting = body[at : at + _INPUT]
        while waiting:
            for piece in _inflate(member, waiting):
                size += len(piece)
                if size > max_bytes:
                    raise TooLargeError(
                        f"body is over the limit of {max_bytes} bytes after decompression; "
                        "send smaller batches or raise the limit"
                    )
                pieces.append(piece)
            inside = not member.eof
            waiting = b"" if inside else member.unused_data
            if not inside:
                member = zlib.decompressobj(_GZIP)
    if inside:
        raise DecodeError(f"gzip body of {len(body)} bytes is cut short")
    return b"".join(pieces)


def _inflate(member: "zlib._Decompress", data: bytes) -> Iterator[bytes]:
    while True:
        try:
            piece = member.decompress(data, _PIECE)
        except zlib.error as error:
            raise DecodeError(f"not a gzip body: {error}") from error
        yield piece
        data = member.unconsumed_tail
        if member.eof or (not data and len(piece) < _PIECE):
            return
