"""From the value of one Kafka message to its parts, and from the parts of one trace to what is published."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from aem_monitor.errors import DecodeError
from aem_monitor.ingest.batch import Decoded
from aem_monitor.ingest.causes import Refused
from aem_monitor.ingest.kafka_message import decode_message, sniff
from aem_monitor.ingest.kafka_settings import KafkaTopic
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.prefilter import Prefilter
from aem_monitor.ingest.wire import WireError, fields
from aem_monitor.rekey.chunk import Chunk, Split
from aem_monitor.rekey.splitjson import split_json
from aem_monitor.rekey.splitproto import split_proto


def split_message(value: bytes, topic: KafkaTopic, limits: Limits) -> Split:
    """Cut a message of a topic by traces. Raises ``DecodeError``: it is not what the topic should hold."""
    encoding = sniff(value) if topic.encoding == "auto" else topic.encoding
    cut = split_json if encoding == "otlp_json" else split_proto
    return cut(value, topic, limits)


def check_form(value: bytes, topic: KafkaTopic, limits: Limits, keep: Prefilter) -> None:
    """Tell a message that holds nothing of an agent from one that nobody can read. Raises ``DecodeError``.

    Of protobuf the outermost fields are walked, which is what broken bytes and other encodings do not survive; each
    span of other traffic would cost more than all that is done with those of agents.
    """
    encoding = sniff(value) if topic.encoding == "auto" else topic.encoding
    if encoding == "otlp_json":
        decode_message(value, topic, limits, keep)
        return
    try:
        for _ in fields(value, 0, len(value)):
            pass
    except WireError as error:
        raise DecodeError(f"not protobuf: {error}", reason=Refused.MALFORMED) from error


def decode_chunk(chunk: Chunk, limits: Limits, keep: Prefilter) -> Decoded:
    """What the monitor will make of a part. Raises ``DecodeError``."""
    return decode_message(chunk.body, KafkaTopic(chunk.topic, chunk.signal, chunk.encoding), limits, keep)


def joined(chunks: Sequence[Chunk], max_bytes: int) -> Iterator[Chunk]:
    """Parts of one trace as few, of at most ``max_bytes``; one that is larger alone stays as it is.

    Spans that only link an agent to what called it are kept by the monitor beside the agent's in one message alone.
    Requests in protobuf laid end to end are one request; those in JSON stay apart.
    """
    ordered = sorted(chunks, key=lambda chunk: (chunk.topic, chunk.encoding))
    for (_, encoding), group in groupby(ordered, key=lambda chunk: (chunk.topic, chunk.encoding)):
        if encoding == "otlp_json":
            yield from group
            continue
        waiting: list[Chunk] = []
        size = 0
        for chunk in group:
            if waiting and size + len(chunk.body) > max_bytes:
                yield _concatenated(waiting)
                waiting, size = [], 0
            waiting.append(chunk)
            size += len(chunk.body)
        if waiting:
            yield _concatenated(waiting)


def _concatenated(chunks: Sequence[Chunk]) -> Chunk:
    if len(chunks) == 1:
        return chunks[0]
    first = chunks[0]
    return Chunk(
        trace_id=first.trace_id,
        topic=first.topic,
        signal=first.signal,
        encoding=first.encoding,
        body=b"".join(chunk.body for chunk in chunks),
        items=sum(chunk.items for chunk in chunks),
        links=tuple(link for chunk in chunks for link in chunk.links),
    )
