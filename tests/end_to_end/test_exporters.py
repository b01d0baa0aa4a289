"""The exporters of the OpenTelemetry SDK as clients of the running daemon, and its answers to the letter of OTLP."""

import json
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Timer
from typing import Any, Final

import grpc
import httpx
import pytest
from google.rpc.status_pb2 import Status
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter as GrpcLogExporter
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcSpanExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as HttpLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import LogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from prometheus_client.parser import text_string_to_metric_families

from aem_monitor.examples import example_dialogs
from aem_monitor.ingest import otlp_endpoint, otlp_grpc
from aem_monitor.ingest.limits import Limits
from tests.end_to_end.requests import gzipped
from tests.end_to_end.sales import RIGHT
from tests.ingest.receiver import PROTOBUF, TRACES, GrpcReceiver, Receiver
from tests.ingest.requests import compliant_json
from tests.services.agent import agent_spans
from tests.services.collector import otlp_json, otlp_proto
from tests.services.daemon import Daemon
from tests.services.process import free_port

GOLDEN: Final = example_dialogs() / "sales-report.yaml"
LIMIT: Final = 2**20
PATIENCE: Final = 30.0


class Monitor:
    """A daemon that listens to both forms of OTLP, with a small limit."""

    def __init__(self, folder: Path) -> None:
        self.http, self.grpc = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
        ingest = {
            "otlp_http": {"listen": self.http, "max_body": "1MiB"},
            "otlp_grpc": {"enabled": True, "listen": self.grpc},
        }
        self.daemon = Daemon(folder, GOLDEN, {"ingest": ingest})
        self.daemon.start()

    def total(self, metric: str, **labels: str) -> float:
        """The sum of a counter's series that have these labels."""
        with urllib.request.urlopen(f"http://{self.daemon.metrics_address}/metrics", timeout=10) as answer:
            families = list(text_string_to_metric_families(answer.read().decode()))
        samples = [sample for family in families for sample in family.samples if sample.name == metric]
        return sum(sample.value for sample in samples if labels.items() <= sample.labels.items())

    def wait_for(self, wanted: float, metric: str, **labels: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while (found := self.total(metric, **labels)) != wanted:
            assert time.monotonic() < deadline, f"{metric}{labels} stayed at {found}:\n{self.daemon.log[-2000:]}"
            time.sleep(0.2)

    def post(self, body: bytes, content_type: str, path: str = "/v1/traces", **headers: str) -> httpx.Response:
        sent = {"Content-Type": content_type, **{name.replace("_", "-"): value for name, value in headers.items()}}
        return httpx.post(f"http://{self.http}{path}", content=body, headers=sent, timeout=20, trust_env=False)


@pytest.fixture(scope="module")
def monitor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Monitor]:
    running = Monitor(tmp_path_factory.mktemp("monitor"))
    yield running
    code = running.daemon.stop()
    assert code == 0, running.daemon.log[-2000:]


def json_exporter(module: str, name: str) -> Any:
    """An exporter of OTLP/HTTP JSON, which the SDK has in a package of its own."""
    return getattr(pytest.importorskip(f"opentelemetry.exporter.otlp.json.http.{module}"), name)


SPAN_EXPORTERS: Final[dict[str, Callable[[Monitor], SpanExporter]]] = {
    "grpc": lambda at: GrpcSpanExporter(f"http://{at.grpc}", insecure=True),
    "grpc.gzip": lambda at: GrpcSpanExporter(f"http://{at.grpc}", insecure=True, compression=grpc.Compression.Gzip),
    "http": lambda at: HttpSpanExporter(f"http://{at.http}/v1/traces"),
    "http.gzip": lambda at: HttpSpanExporter(f"http://{at.http}/v1/traces", compression=Compression.Gzip),
    "json": lambda at: json_exporter("trace_exporter", "OTLPSpanExporter")(f"http://{at.http}/v1/traces"),
}


@pytest.mark.parametrize("name", SPAN_EXPORTERS)
def test_a_play_arrives_through_every_exporter_of_the_sdk(monitor: Monitor, name: str) -> None:
    spans = agent_spans(f"c-{name}", RIGHT, f"1.0+{name}", attributes={"aem.dialog.id": "sales-report"})
    exporter = SPAN_EXPORTERS[name](monitor)
    try:
        assert [exporter.export(part) for part in (spans[:2], spans[2:])] == [SpanExportResult.SUCCESS] * 2
    finally:
        exporter.shutdown()
    monitor.wait_for(1, "aem_runs_total", release=f"1.0+{name}", result="pass")
    assert monitor.total("aem_turns_total", release=f"1.0+{name}", result="pass") == 5


LOG_EXPORTERS: Final[dict[str, tuple[str, Callable[[Monitor], LogRecordExporter]]]] = {
    "grpc": ("otlp_grpc", lambda at: GrpcLogExporter(f"http://{at.grpc}", insecure=True)),
    "http": ("otlp_http", lambda at: HttpLogExporter(f"http://{at.http}/v1/logs")),
    "json": ("otlp_http", lambda at: json_exporter("_log_exporter", "OTLPLogExporter")(f"http://{at.http}/v1/logs")),
}


@pytest.mark.parametrize("name", LOG_EXPORTERS)
def test_contents_in_log_records_arrive_through_every_exporter_of_the_sdk(monitor: Monitor, name: str) -> None:
    """Model calls whose texts are in log records alone, as older instrumentations write them."""
    source, make = LOG_EXPORTERS[name]
    exporter = make(monitor)
    before = monitor.total("aem_monitor_received_logs_total", source=source)
    logs = LoggerProvider(Resource({"service.name": "shop"}))
    logs.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    with TracerProvider(resource=Resource({"service.name": "shop"})).get_tracer("shop").start_as_current_span("chat"):
        logger = logs.get_logger("shop")
        for event, role in (("gen_ai.user.message", "user"), ("gen_ai.choice", "assistant")):
            body = {"content": "hello", "role": role}
            logger.emit(timestamp=time.time_ns(), body=body, event_name=event, attributes={"gen_ai.system": "x"})
    logs.shutdown()
    monitor.wait_for(before + 2, "aem_monitor_received_logs_total", source=source)


def invalid_ids() -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest.FromString(otlp_proto(agent_spans("c-partial")))
    spans = request.resource_spans[0].scope_spans[0].spans
    spans.add(trace_id=b"short", span_id=b"\1" * 8, name="chat").attributes.add(key="gen_ai.system")
    return request


def test_a_request_with_spans_that_cannot_be_taken_is_a_partial_success(monitor: Monitor) -> None:
    request = invalid_ids()
    in_proto = monitor.post(request.SerializeToString(), PROTOBUF)
    assert in_proto.status_code == 200
    assert ExportTraceServiceResponse.FromString(in_proto.content).partial_success.rejected_spans == 1
    in_json = monitor.post(json.dumps(compliant_json(request)).encode(), "application/json")
    assert (in_json.status_code, in_json.json()["partialSuccess"]["rejectedSpans"]) == (200, "1")
    with grpc.insecure_channel(monitor.grpc) as channel:
        call: Any = channel.unary_unary(TRACES)
        answer = ExportTraceServiceResponse.FromString(call(request.SerializeToString(), timeout=20))
    assert answer.partial_success.rejected_spans == 1


def test_full_success_leaves_partial_success_unset(monitor: Monitor) -> None:
    assert monitor.post(otlp_proto(agent_spans("c-whole")), PROTOBUF).content == b""
    assert monitor.post(otlp_json(agent_spans("c-whole")), "application/json").json() == {}


def large(size: int) -> bytes:
    return otlp_proto(agent_spans("c-large", attributes={"text": "x" * size}))


def test_the_limit_counts_decompressed_bytes(monitor: Monitor) -> None:
    body = large(2 * LIMIT)
    assert len(gzipped(body)) < LIMIT
    refused = monitor.post(gzipped(body), PROTOBUF, Content_Encoding="gzip")
    assert refused.status_code == 413
    assert Status.FromString(refused.content).code == grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]
    with grpc.insecure_channel(monitor.grpc) as channel:
        call: Any = channel.unary_unary(TRACES)
        with pytest.raises(grpc.RpcError) as caught:
            call(body, timeout=20, compression=grpc.Compression.Gzip)
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert monitor.post(gzipped(large(LIMIT // 2)), PROTOBUF, Content_Encoding="gzip").status_code == 200


FORMS: Final = {"lines": (b"", b"\n", b"\n"), "list": (b"[", b",", b"]"), "end to end": (b"", b"", b"")}


@pytest.mark.parametrize("form", FORMS)
def test_several_requests_in_one_json_body(monitor: Monitor, form: str) -> None:
    """The Collector's file exporter writes lines; what replays such files posts them as they are."""
    spans = agent_spans(f"c-{form}", RIGHT, f"2.0+{form}", attributes={"aem.dialog.id": "sales-report"})
    before, between, after = FORMS[form]
    body = before + between.join(otlp_json([span]) for span in spans) + after
    assert monitor.post(body, "application/json").status_code == 200
    monitor.wait_for(1, "aem_runs_total", release=f"2.0+{form}", result="pass")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Receivers that ask to come again after a second."""
    monkeypatch.setattr(otlp_endpoint, "_RETRY_AFTER_SECONDS", "1")
    monkeypatch.setattr(otlp_grpc, "_RETRY_SECONDS", 1)


@pytest.mark.usefixtures("impatient")
def test_exporters_come_again_when_the_queue_was_full() -> None:
    """What was refused is sent again by the SDK itself, and nothing is lost or taken twice."""
    over_http, over_grpc = Receiver(Limits()), GrpcReceiver(Limits())
    exporters: list[tuple[Receiver | GrpcReceiver, SpanExporter]] = [
        (over_http, HttpSpanExporter("http://{}:{}/v1/traces".format(*over_http.source.address))),
        (over_grpc, GrpcSpanExporter(f"http://{over_grpc.target}", insecure=True)),
    ]
    for receiver, exporter in exporters:
        receiver.room = False
        room_again = Timer(0.5, setattr, (receiver, "room", True))
        room_again.start()
        assert exporter.export(agent_spans()) is SpanExportResult.SUCCESS
        exporter.shutdown()
        assert receiver.counted["overloaded"] >= 1
        assert len(receiver.batches) == 1
        receiver.close()
