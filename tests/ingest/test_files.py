import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from aem_monitor.errors import UsageError
from aem_monitor.ingest import files
from aem_monitor.ingest.batch import Decoded
from aem_monitor.ingest.files import read_files
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.prefilter import Prefilter
from tests.ingest.requests import DATA, EVERYTHING, LIMITS, SPAN, TRACE, add_span, agent_request, compliant_json

TRACES = DATA / "traces"


def read(*paths: Path, limits: Limits = LIMITS) -> list[Decoded]:
    return list(read_files(paths, limits, EVERYTHING))


def names(decoded: Sequence[Decoded]) -> list[str]:
    return [span.name for part in decoded for span in part.spans]


def request(name: str) -> dict[str, Any]:
    return compliant_json(agent_request(name=name))


def write(path: Path, content: bytes | str) -> Path:
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def fault(path: Path) -> str:
    with pytest.raises(UsageError) as caught:
        read(path)
    return str(caught.value)


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", json.dumps(request("one"), indent=2)),
        ("a.jsonl", json.dumps(request("one"))),
        ("a.pb", agent_request(name="one").SerializeToString()),
    ],
)
def test_every_form_is_read_plain_and_gzipped(tmp_path: Path, name: str, content: str | bytes, suffix: str) -> None:
    assert names(read(write(tmp_path / (name + suffix), content))) == ["one"]


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(request("a")) + "\n" + json.dumps(request("b")),
        json.dumps(request("a")) + json.dumps(request("b")),
        json.dumps(request("a"), indent=1) + "\n\n" + json.dumps(request("b"), indent=1) + "\n",
        json.dumps([request("a"), request("b")]),
    ],
    ids=["lines", "end to end", "indented", "list"],
)
def test_a_json_file_may_hold_several_documents(tmp_path: Path, content: str) -> None:
    assert names(read(write(tmp_path / "a.json", content))) == ["a", "b"]


def test_blank_lines_are_no_requests(tmp_path: Path) -> None:
    lines = ["", json.dumps(request("a")), "   ", json.dumps(request("b")), "", ""]
    assert names(read(write(tmp_path / "a.jsonl", "\r\n".join(lines)))) == ["a", "b"]


def test_spans_and_logs_of_one_file_are_read(tmp_path: Path) -> None:
    record = {"traceId": TRACE.hex(), "spanId": SPAN.hex(), "eventName": "gen_ai.choice"}
    document = {**request("a"), "resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}
    (decoded,) = read(write(tmp_path / "a.json", json.dumps(document)))
    assert (len(decoded.spans), len(decoded.logs)) == (1, 1)


def test_a_protobuf_file_named_logs_holds_logs(tmp_path: Path) -> None:
    message = ExportLogsServiceRequest()
    message.resource_logs.add().scope_logs.add().log_records.add(trace_id=TRACE, span_id=SPAN, event_name="e")
    (decoded,) = read(write(tmp_path / "a.logs.pb", message.SerializeToString()))
    assert [log.event_name for log in decoded.logs] == ["e"]


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_large_protobuf_file_is_decoded_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    monkeypatch.setattr(files, "_PROTO_BATCH", 300)
    message = ExportTraceServiceRequest()
    for number in range(40):
        add_span(message, name=f"{number}-" + "x" * (number * 20))
    parts = read(write(tmp_path / f"a.pb{suffix}", message.SerializeToString() * 2))
    assert len(parts) > 3
    expected = [block.scope_spans[0].spans[0].name for block in message.resource_spans]
    assert names(parts) == expected * 2


def test_directories_are_read_by_name_and_files_in_the_order_given(tmp_path: Path) -> None:
    folder = tmp_path / "traces"
    (folder / "b").mkdir(parents=True)
    write(folder / "b" / "x.json", json.dumps(request("second")))
    write(folder / "a.jsonl", json.dumps(request("first")))
    write(folder / ".hidden.json", "no json")
    write(folder / "notes.txt", "no json")
    last = write(tmp_path / "0.json", json.dumps(request("third")))
    assert names(read(folder, last)) == ["first", "second", "third"]


def test_json_that_is_no_otlp_is_left_out_of_a_directory_and_refused_by_name(tmp_path: Path) -> None:
    write(tmp_path / "a.json", json.dumps(request("one")))
    sidecar = write(tmp_path / "a.expected.json", '{"turns": []}')
    assert names(read(tmp_path)) == ["one"]
    assert fault(sidecar) == f"{sidecar}:1: not an OTLP export request: neither resourceSpans nor resourceLogs in it"


@pytest.mark.parametrize("document", ["{}", "[]", '{"resourceMetrics": []}', '{"resourceSpans": []}'])
def test_an_empty_request_is_fine(tmp_path: Path, document: str) -> None:
    assert names(read(write(tmp_path / "a.json", document))) == []


def test_a_bad_line_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", json.dumps(request("a")) + "\n\n{broken\n")
    assert fault(path).startswith(f"{path}:3: not JSON: ")


def test_a_truncated_last_line_is_an_error(tmp_path: Path) -> None:
    lines = json.dumps(request("a")) + "\n" + json.dumps(request("b"))
    path = write(tmp_path / "a.jsonl", lines[:-30])
    assert fault(path).startswith(f"{path}:2: not JSON: ")


def test_a_bad_line_within_an_indented_document_is_named(tmp_path: Path) -> None:
    lines = json.dumps(request("a"), indent=1).splitlines()
    lines[5] = "oops"
    path = write(tmp_path / "a.json", "\n".join(lines))
    assert fault(path).startswith(f"{path}:6: not JSON: ")


def test_a_bad_line_in_a_later_document_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", json.dumps(request("a"), indent=1) + '\n{"resourceSpans":\n nope}')
    first = len(json.dumps(request("a"), indent=1).splitlines())
    assert fault(path).startswith(f"{path}:{first + 2}: not JSON: ")


def test_a_request_of_the_wrong_shape_names_line_and_field(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{}\n{"resourceSpans": 3}\n')
    assert fault(path) == f"{path}:2: request.resourceSpans is int, expected a list"


@pytest.mark.parametrize("cut", [1, 7, 40])
def test_a_truncated_protobuf_file_is_an_error(tmp_path: Path, cut: int) -> None:
    path = write(tmp_path / "a.pb", agent_request().SerializeToString()[:-cut])
    assert fault(path).startswith(f"{path}: ")


def test_a_truncated_protobuf_file_read_in_parts_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_PROTO_BATCH", 100)
    path = write(tmp_path / "a.pb", agent_request().SerializeToString() * 9 + b"\x0a\xff\xff\xff\xff\x0fx")
    assert fault(path).startswith(f"{path}: bytes ")


def test_bytes_that_are_no_protobuf_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_PROTO_BATCH", 64)
    path = write(tmp_path / "a.pb", b"\x0b" * 500)
    assert "wire type 3" in fault(path)


@pytest.mark.parametrize("name", ["a.pb", "a.pb.gz", "a.logs.pb"])
@pytest.mark.parametrize("batch", [2**16, 2**24])
def test_a_protobuf_file_of_unknown_fields_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, batch: int
) -> None:
    monkeypatch.setattr(files, "_PROTO_BATCH", batch)
    path = write(tmp_path / name, b"\x1a\x09gen_ai.aa" + b"  " * 500_000)
    message = fault(path)
    assert message.startswith(f"{path}: bytes 0 to ")
    assert message.endswith("fields hold no spans or log records, more than any exporter writes")


def test_a_protobuf_file_without_a_block_is_left_out_of_a_directory_and_refused_by_name(tmp_path: Path) -> None:
    write(tmp_path / "a.json", json.dumps(request("one")))
    other = write(tmp_path / "b.pb", b"\x1a\x09gen_ai.aa")
    empty = write(tmp_path / "c.pb", b"")
    assert names(read(tmp_path)) == ["one"]
    assert names(read(empty)) == []
    assert fault(other) == f"{other}: not an OTLP export request: no resource spans or resource logs in it"


@pytest.mark.parametrize("name", ["a.json.gz", "a.jsonl.gz", "a.pb.gz"])
@pytest.mark.parametrize("damage", ["no gzip", "cut short", "flipped"])
def test_a_damaged_gzip_file_is_an_error(tmp_path: Path, name: str, damage: str) -> None:
    good = bytearray(gzip.compress(json.dumps(request("a")).encode()))
    if damage == "no gzip":
        good = bytearray(b"plain text")
    elif damage == "cut short":
        del good[-20:]
    else:
        good[len(good) // 2] ^= 0xFF
    path = tmp_path / name
    path.write_bytes(good)
    assert fault(path).startswith(f"{path}")


def test_a_line_over_the_limit_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl.gz", "{}\n" + " " * 5000)
    with pytest.raises(UsageError) as caught:
        read(path, limits=Limits(max_body_bytes=1000))
    assert str(caught.value) == f"{path}:2: line of more than 1000 bytes"


def test_a_document_may_be_larger_than_a_request(tmp_path: Path) -> None:
    tight = Limits(max_body_bytes=10, max_spans=0)
    assert names(read(write(tmp_path / "a.json", json.dumps(request("a"))), limits=tight)) == ["a"]
    assert names(read(write(tmp_path / "a.pb", agent_request(name="b").SerializeToString()), limits=tight)) == ["b"]


@pytest.mark.parametrize("name", ["missing.json", "a.txt", "a", "a.gz"])
def test_a_path_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    if not name.startswith("missing"):
        write(tmp_path / name, "{}")
    assert fault(tmp_path / name).startswith(f"{tmp_path / name}: ")


def test_an_empty_directory_is_an_error(tmp_path: Path) -> None:
    assert "no OTLP file" in fault(tmp_path)


def test_progress_goes_up_to_all_bytes_on_disk(tmp_path: Path) -> None:
    paths = [
        write(tmp_path / "a.jsonl.gz", "\n".join([json.dumps(request("a"))] * 50)),
        write(tmp_path / "b.pb", agent_request().SerializeToString()),
    ]
    total = sum(path.stat().st_size for path in paths)
    seen: list[tuple[int, int]] = []
    list(read_files(paths, LIMITS, EVERYTHING, lambda done, of: seen.append((done, of))))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert {of for _, of in seen} == {total}
    assert seen[-1] == (total, total)


def test_the_recorded_traces_are_read_whole() -> None:
    keep = Prefilter(["gen_ai.", "strands."])
    expected = {
        "otel-genai/agno-flights.json": 4,
        "otel-genai/langchain-refund.json": 10,
        "otel-genai/openai-agents-refund.json": 8,
        "otel-genai/openai-agents-with-client-sales.json": 18,
        "otel-genai/openai-loop-ratelimit-flights.json": 6,
        "otel-genai/openai-loop-sales.json": 15,
        "otel-genai/openai-v2-events-refund.json": 10,
        "strands/genai-batches-refund.jsonl": 15,
        "strands/genai-sales.json": 22,
        "strands/legacy-refund.json": 15,
        "strands/v1.0.0-refund.json": 15,
    }
    for name, spans in expected.items():
        parts = list(read_files([TRACES / name], LIMITS, keep))
        assert sum(len(part.spans) for part in parts) == spans, name
        assert all(span.attributes for part in parts for span in part.spans), name
        assert not any(part.altered or part.skipped for part in parts), name
    (logs,) = read_files([TRACES / "otel-genai/openai-v2-events-refund.logs.json"], LIMITS, keep)
    assert len(logs.logs) == logs.seen_logs == 35


def test_the_recorded_protobuf_request_equals_its_json_line() -> None:
    first = next(read_files([TRACES / "strands/genai-batches-refund.jsonl"], LIMITS, EVERYTHING))
    (proto,) = read_files([TRACES / "strands/genai-batches-refund.first.pb"], LIMITS, EVERYTHING)
    assert proto == first
