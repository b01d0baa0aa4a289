"""OTLP files: what the collector's file exporter writes, and what people save by hand.

``.json`` is one document (also several, one after the other), ``.jsonl`` one request a line, ``.pb`` protobuf requests
laid end to end; each also gzipped, as ``.gz``. A ``.pb`` file cannot say what it holds: ``NAME.logs.pb`` is read as
logs, every other one as traces.
"""

import gzip
import os
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, Final, TypeAlias, cast

from aem_monitor.errors import DecodeError, UsageError
from aem_monitor.ingest.batch import Decoded
from aem_monitor.ingest.lenient_json import JsonSyntaxError, documents_in, parse_lenient
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.otlp_json import decode_document
from aem_monitor.ingest.otlp_proto import BLOCK, decode_logs_proto, decode_traces_proto
from aem_monitor.ingest.prefilter import Prefilter
from aem_monitor.ingest.wire import LENGTH, FieldTally, TooManyFieldsError, WireError, fields, read_varint

Progress: TypeAlias = Callable[[int, int], None]
"""``progress(done, total)`` in bytes on disk."""

SUFFIXES: Final = (".json", ".jsonl", ".pb", ".json.gz", ".jsonl.gz", ".pb.gz")

_CHUNK: Final = 2**20
_PROTO_BATCH: Final = 16 * 2**20
"""Bytes of a ``.pb`` file that are decoded at once."""

_KEYS: Final = frozenset(
    ("resourceSpans", "resource_spans", "resourceLogs", "resource_logs", "resourceMetrics", "resource_metrics")
)
_READ_ERRORS: Final = (OSError, EOFError, zlib.error)


@dataclass(frozen=True, slots=True)
class _Found:
    """A file to read; ``named`` on the command line, or found in a directory that was."""

    path: Path
    named: bool
    size: int


def read_files(
    paths: Sequence[Path], limits: Limits, keep: Prefilter, progress: Progress | None = None
) -> Iterator[Decoded]:
    """Decode files and all OTLP files in directories, in the order given and by name within a directory.

    The size and count limits of ``limits`` hold for one line of a ``.jsonl`` file only; other documents may be as
    large as memory. JSON files of a directory that are no OTLP at all (sidecars) are left out.

    Raises:
        UsageError: a path is missing, of unknown type, or holds what cannot be read; the message names file and line.
    """
    files = _find(paths)
    total = sum(file.size for file in files)
    done = 0
    unbounded = replace(limits, max_body_bytes=sys.maxsize, max_spans=sys.maxsize)
    for file in files:
        for decoded, position in _read(file, limits, unbounded, keep):
            if progress is not None:
                progress(done + position, total)
            yield decoded
        done += file.size
        if progress is not None:
            progress(done, total)


def _find(paths: Sequence[Path]) -> list[_Found]:
    files: list[_Found] = []
    for path in paths:
        try:
            if not path.is_dir():
                if not path.name.endswith(SUFFIXES):
                    raise UsageError(f"{path}: not an OTLP file; expected one of {', '.join(SUFFIXES)}")
                files.append(_Found(path, True, path.stat().st_size))
                continue
            found = sorted(
                Path(folder, name)
                for folder, _, names in os.walk(path)
                for name in names
                if name.endswith(SUFFIXES) and not name.startswith(".")
            )
            if not found:
                raise UsageError(f"{path}: no OTLP file in this directory; expected {', '.join(SUFFIXES)}")
            files += (_Found(file, False, file.stat().st_size) for file in found)
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror or error}") from error
    return files


def _read(file: _Found, limits: Limits, unbounded: Limits, keep: Prefilter) -> Iterator[tuple[Decoded, int]]:
    """The decoded parts of one file, each with the position reached on disk."""
    name = file.path.name.removesuffix(".gz")
    try:
        with file.path.open("rb") as raw:
            stream = cast("IO[bytes]", gzip.GzipFile(fileobj=raw) if file.path.name.endswith(".gz") else raw)
            if name.endswith(".jsonl"):
                parts = _read_lines(file, stream, replace(unbounded, max_body_bytes=limits.max_body_bytes), keep)
            elif name.endswith(".json"):
                parts = _read_document(file, stream, unbounded, keep)
            else:
                parts = _read_proto(file, stream, unbounded, keep)
            for decoded in parts:
                yield decoded, raw.tell()
    except _READ_ERRORS as error:
        raise UsageError(f"{file.path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error


def _read_lines(file: _Found, stream: IO[bytes], limits: Limits, keep: Prefilter) -> Iterator[Decoded]:
    number = 0
    while line := stream.readline(limits.max_body_bytes + 1):
        number += 1
        if len(line) > limits.max_body_bytes:
            raise UsageError(f"{file.path}:{number}: line of more than {limits.max_body_bytes} bytes")
        if line.strip():
            yield from _decode_text(file, line, number, limits, keep)


def _read_document(file: _Found, stream: IO[bytes], limits: Limits, keep: Prefilter) -> Iterator[Decoded]:
    text = stream.read()
    altered: Counter[str] = Counter()
    try:
        document = parse_lenient(text, altered)
    except JsonSyntaxError as error:
        if not error.more_follows:
            raise _syntax_error(file, 1, error) from error
    else:
        yield from _decode_value(file, document, text, 1, limits, keep, altered)
        return
    line = 1
    for start, end in documents_in(text):
        yield from _decode_text(file, text[start:end], line, limits, keep)
        line += text.count(b"\n", start, end)


def _decode_text(file: _Found, text: bytes, line: int, limits: Limits, keep: Prefilter) -> Iterator[Decoded]:
    altered: Counter[str] = Counter()
    try:
        document = parse_lenient(text, altered)
    except JsonSyntaxError as error:
        raise _syntax_error(file, line, error) from error
    yield from _decode_value(file, document, text, line, limits, keep, altered)


def _decode_value(
    file: _Found, document: Any, text: bytes, line: int, limits: Limits, keep: Prefilter, altered: Counter[str]
) -> Iterator[Decoded]:
    if not _is_otlp(document):
        if file.named:
            raise UsageError(
                f"{file.path}:{line}: not an OTLP export request: neither resourceSpans nor resourceLogs in it"
            )
        return
    try:
        decoded = decode_document(document, keep.in_bytes(text), limits, keep, altered)
    except DecodeError as error:
        raise UsageError(f"{file.path}:{line}: {error}") from error
    yield decoded


def _syntax_error(file: _Found, line: int, error: JsonSyntaxError) -> UsageError:
    return UsageError(f"{file.path}:{line + error.line - 1}: not JSON: {error.problem}")


def _is_otlp(document: Any) -> bool:
    """Whether a document claims to be an export request: an empty one does, a scalar does not."""
    if isinstance(document, list):
        return all(map(_is_otlp, document))
    return isinstance(document, dict) and (not document or not _KEYS.isdisjoint(document))


def _read_proto(file: _Found, stream: IO[bytes], limits: Limits, keep: Prefilter) -> Iterator[Decoded]:
    """Decode whole top-level fields, some megabytes at a time: end to end, requests are one long message.

    A file that holds something, but no block, is no OTLP: told of one that was named, as of JSON.
    """
    decode = decode_logs_proto if ".logs." in file.path.name else decode_traces_proto
    waiting = b""
    at = 0
    more = True
    is_otlp = False
    while more:
        piece = _read_fully(stream, _PROTO_BATCH)
        more = len(piece) == _PROTO_BATCH
        waiting += piece
        cut = len(waiting) if not more else _whole_fields(file, waiting, at)
        if not cut:
            continue
        try:
            decoded = decode(waiting[:cut], limits, keep)
        except DecodeError as error:
            raise UsageError(f"{file.path}: bytes {at} to {at + cut}: {error}") from error
        is_otlp = is_otlp or any(field[:2] == (BLOCK, LENGTH) for field in fields(waiting, 0, cut))
        yield decoded
        waiting = waiting[cut:]
        at += cut
    if at and not is_otlp and file.named:
        raise UsageError(f"{file.path}: not an OTLP export request: no resource spans or resource logs in it")


def _read_fully(stream: IO[bytes], size: int) -> bytes:
    pieces: list[bytes] = []
    missing = size
    while missing and (piece := stream.read(min(missing, _CHUNK))):
        pieces.append(piece)
        missing -= len(piece)
    return b"".join(pieces)


def _whole_fields(file: _Found, data: bytes, offset: int) -> int:
    """How many bytes of ``data`` are complete top-level fields."""
    at = 0
    tally = FieldTally()
    try:
        for number, wire_type, _, stop in fields(data, 0, len(data)):
            at = stop
            if number == BLOCK and wire_type == LENGTH:
                tally.known += 1
            else:
                tally.other()
    except TooManyFieldsError as error:
        raise UsageError(f"{file.path}: bytes {offset} to {offset + at}: not OTLP in protobuf: {error}") from error
    except WireError as error:
        # Less than a field is left, or its bytes are wrong: only its end would tell.
        if len(data) - at > 20 and not _field_may_continue(data, at):
            raise UsageError(f"{file.path}: byte {offset + at}: {error}") from error
    return at


def _field_may_continue(data: bytes, at: int) -> bool:
    try:
        tag, _ = read_varint(data, at, len(data))
    except WireError:
        return False
    return tag & 7 == LENGTH
