"""A recording gives the same conversations through every door, and those are the ones that its sidecar describes."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from uuid import uuid4

import grpc
import pytest

from aem_monitor.assembly.render import conversation_object
from aem_monitor.ingest.batch import Decoded
from aem_monitor.ingest.kafka_settings import KafkaSettings, KafkaTopic, Signal
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.prefilter import Prefilter
from aem_monitor.model.conversation import Conversation
from aem_monitor.model.jsonvalue import JSON
from tests.assembly.recordings import REGISTRY, SETTINGS, assembled, differences, load, recordings, sidecar_of
from tests.end_to_end.requests import (
    Recording,
    Request,
    encoded_json,
    encoded_proto,
    gzipped,
    one_item_each,
    recording,
)
from tests.ingest.kafka_engine import Queue, running, wait_until
from tests.ingest.receiver import LOGS, PROTOBUF, TRACES, GrpcReceiver, Receiver
from tests.services.kafka import KafkaBroker

KEEP = Prefilter([*REGISTRY.markers, *SETTINGS.markers])
RECORDINGS = [recording(path) for path in recordings()]
WITH_LOGS = [one for one in RECORDINGS if one.logs]
JSON_TYPE = "application/json"
SIGNALS: tuple[Signal, ...] = ("traces", "logs")


def conversations(parts: Sequence[Decoded]) -> list[Conversation]:
    spans = [span for part in parts for span in part.spans]
    return assembled(spans, [record for part in parts for record in part.logs])


def shown(found: Sequence[Conversation]) -> list[dict[str, JSON]]:
    return [conversation_object(one) for one in found]


def as_read(one: Recording, *logs: Path) -> list[dict[str, JSON]]:
    """What the reading of the recording's own file gives."""
    return shown(assembled(*load(one.path, *logs)))


def check(one: Recording, parts: Sequence[Decoded]) -> None:
    """The spans alone give what the sidecar says, which is what their file gives."""
    found = conversations(parts)
    assert differences(sidecar_of(one.path), found) == []
    assert shown(found) == as_read(one)


def check_with_logs(one: Recording, parts: Sequence[Decoded]) -> None:
    """With the log records the texts are there too."""
    beside = one.path.with_name(one.path.name.replace(".json", ".logs.json"))
    found = shown(conversations(parts))
    assert found == as_read(one, beside)
    assert found != as_read(one)


def cut(requests: Sequence[Request], each: bool) -> Sequence[Request]:
    return one_item_each(requests) if each else requests


def test_there_are_recordings_with_and_without_log_records() -> None:
    assert len(RECORDINGS) >= 40
    assert WITH_LOGS


@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".pb", ".json.gz", ".jsonl.gz", ".pb.gz"])
@pytest.mark.parametrize("each", [False, True], ids=["as recorded", "one span a request"])
def test_files(tmp_path: Path, suffix: str, each: bool) -> None:
    for one in RECORDINGS:
        check(one, read_back(write(tmp_path, one.traces, suffix, each)))
    for one in WITH_LOGS:
        trace = write(tmp_path, one.traces, suffix, each)
        check_with_logs(one, [*read_back(trace), *read_back(write(tmp_path, one.logs, f".logs{suffix}", each))])


def write(folder: Path, requests: Sequence[Request], suffix: str, each: bool) -> Path:
    """The requests in one file: documents one after the other, one a line, or messages laid end to end."""
    encode, between = (encoded_proto, b"") if ".pb" in suffix else (encoded_json, b"\n")
    body = between.join(map(encode, cut(requests, each)))
    path = folder / f"recording{suffix}"
    path.write_bytes(gzipped(body) if suffix.endswith(".gz") else body)
    return path


def read_back(path: Path) -> list[Decoded]:
    spans, logs = load(path)
    return [Decoded(spans=tuple(spans), logs=tuple(logs))]


@pytest.fixture(scope="module")
def http() -> Iterator[Receiver]:
    running_source = Receiver(Limits(), KEEP)
    yield running_source
    running_source.close()


@pytest.mark.parametrize("content_type", [JSON_TYPE, PROTOBUF])
@pytest.mark.parametrize("encoding", ["identity", "gzip"])
@pytest.mark.parametrize("each", [False, True], ids=["as recorded", "one span a request"])
def test_otlp_http(http: Receiver, content_type: str, encoding: str, each: bool) -> None:
    def post(requests: Sequence[Request], path: str) -> None:
        for request in cut(requests, each):
            body = encoded_json(request) if content_type == JSON_TYPE else encoded_proto(request)
            body = gzipped(body) if encoding == "gzip" else body
            assert http.post(body, content_type, path, Content_Encoding=encoding).status_code == 200

    for one in RECORDINGS:
        http.batches.clear()
        post(one.traces, "/v1/traces")
        check(one, [batch.decoded for batch in http.batches])
        if one.logs:
            post(one.logs, "/v1/logs")
            check_with_logs(one, [batch.decoded for batch in http.batches])
    assert not http.counted


@pytest.fixture(scope="module")
def otlp_grpc() -> Iterator[GrpcReceiver]:
    running_source = GrpcReceiver(Limits(), KEEP)
    yield running_source
    running_source.close()


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
@pytest.mark.parametrize("each", [False, True], ids=["as recorded", "one span a request"])
def test_otlp_grpc(otlp_grpc: GrpcReceiver, compression: grpc.Compression, each: bool) -> None:
    for one in RECORDINGS:
        otlp_grpc.batches.clear()
        for request in cut(one.traces, each):
            assert otlp_grpc.export(encoded_proto(request), TRACES, compression) == b""
        check(one, [batch.decoded for batch in otlp_grpc.batches])
        if one.logs:
            for request in cut(one.logs, each):
                assert otlp_grpc.export(encoded_proto(request), LOGS, compression) == b""
            check_with_logs(one, [batch.decoded for batch in otlp_grpc.batches])
    assert not otlp_grpc.counted


@pytest.mark.service
@pytest.mark.parametrize("each", [False, True], ids=["as recorded", "one span a message"])
def test_kafka(kafka_broker: KafkaBroker, each: bool) -> None:
    """All recordings through one consumer: both encodings, named and found out, and the topics of log records."""
    unique = uuid4().hex[:8]
    topics: dict[KafkaTopic, Callable[[Request], bytes]] = {}
    for signal in SIGNALS:
        topics[KafkaTopic(f"{signal}.json.{unique}", signal, "otlp_json")] = encoded_json
        topics[KafkaTopic(f"{signal}.proto.{unique}", signal, "otlp_proto")] = encoded_proto
        topics[KafkaTopic(f"{signal}.any_json.{unique}", signal)] = encoded_json
        topics[KafkaTopic(f"{signal}.any_proto.{unique}", signal)] = encoded_proto
    owner: dict[tuple[str, int], Recording] = {}
    for topic, encode in topics.items():
        kafka_broker.create_topic(topic.name)
        sent = [
            (one, encode(request))
            for one in RECORDINGS
            for request in cut(one.traces if topic.signal == "traces" else one.logs, each)
        ]
        offsets = kafka_broker.produce(topic.name, *(body for _, body in sent), compression="gzip")
        owner.update({(topic.name, offset): one for offset, (one, _) in zip(offsets, sent, strict=True)})
    queue = Queue()
    settings = KafkaSettings((kafka_broker.bootstrap,), tuple(topics), f"doors.{unique}", max_poll_interval_seconds=30)
    with running(settings, queue, keep=KEEP):
        wait_until(lambda: len(queue.batches) >= len(owner), "all messages")
    received: dict[tuple[str, str], list[Decoded]] = defaultdict(list)
    for batch in queue.batches:
        assert batch.position is not None
        one = owner[batch.position.topic, batch.position.offset]
        received[batch.position.topic, one.name].append(batch.decoded)
    for topic in topics:
        for one in RECORDINGS if topic.signal == "traces" else ():
            check(one, received[topic.name, one.name])
        for one in WITH_LOGS if topic.signal == "logs" else ():
            trace_topic = topic.name.replace("logs.", "traces.", 1)
            check_with_logs(one, received[trace_topic, one.name] + received[topic.name, one.name])
