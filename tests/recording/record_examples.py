"""Records the example traces: the real Strands agent around a scripted model, the real OpenTelemetry SDK.

``python -m tests.recording.record_examples`` in an environment of its own; see README.md here. One process is started
for each file, since the process of an agent has one resource (release and environment); a release becomes a folder.
"""

import base64
import gzip
import json
import os
import random
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.recording.scripts import CUSTOMERS, RELEASES, file_of

ROOT = Path(__file__).parents[2]
OUTPUT = ROOT / "aem_monitor" / "examples" / "traces"
PATHS = {str(ROOT): "/app", sys.prefix: "/venv", sys.base_prefix: "/usr"}
"""What stack traces say instead of the paths of the machine that recorded them."""

MODELS = {"2026.11.1": "acme-large-2", "2026.11.2": "acme-small-3"}
AGENT = "office-assistant"
PROMPT = "You are the assistant of a small company. Use the tools; never invent figures."


def main() -> None:
    """Record both releases, canaries and customers."""
    for release, scripts in RELEASES.items():
        folder = OUTPUT / release
        folder.mkdir(parents=True, exist_ok=True)
        for name in dict.fromkeys(file_of(script) for script in scripts):
            process = subprocess.run(
                [sys.executable, "-m", "tests.recording.record_examples", release, name],
                env={**os.environ, "OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental"},
                stdout=subprocess.PIPE,
                check=True,
            )
            path = folder / f"{name}.jsonl.gz"
            path.write_bytes(gzip.compress(process.stdout, mtime=0))
            print(f"{release}/{path.name}: {len(process.stdout.splitlines())} requests, {path.stat().st_size} bytes")


def record(release: str, name: str) -> None:
    """Play the conversations of one file; write each export request as a line of OTLP JSON."""
    from opentelemetry import trace
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    environment = "production" if name == CUSTOMERS else "canary"
    resource = Resource.create(
        {"service.name": AGENT, "service.version": release, "deployment.environment.name": environment}
    )
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(_exporter(), schedule_delay_millis=1000))
    trace.set_tracer_provider(provider)
    for number, script in enumerate(RELEASES[release]):
        if file_of(script) == name:
            _play(script, MODELS[release], random.Random(f"{release} {script.session}"), 4000 + 20 * number)
    provider.shutdown()


def _play(script: Any, model_id: str, pace: random.Random, first_id: int) -> None:
    from strands import Agent

    from tests.recording.sales_tools import Backend
    from tests.recording.scripted_model import ScriptedModel
    from tests.recording.travel_tools import Travel

    attributes = {"session.id": script.session}
    if script.named:
        attributes["aem.dialog.id"] = script.dialog
    model = ScriptedModel(model_id, pace)
    agent = Agent(
        model=model,
        tools=[*Backend(first_id, script.mail_failures).tools(), *Travel(first_id).tools()],
        system_prompt=PROMPT,
        trace_attributes=attributes,
        callback_handler=None,
        name=AGENT,
    )
    for exchange in script.exchanges:
        model.steps = list(exchange.steps)
        agent(exchange.user)
        assert not model.steps, f"{script.session}: the agent stopped before its script"


def _exporter() -> Any:
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

    class JsonLines(SpanExporter):
        """Writes export requests as the OTLP specification's JSON; no two at a time."""

        def __init__(self) -> None:
            self._lock = threading.Lock()

        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            with self._lock:
                line = json.dumps(otlp_json(encode_spans(spans)), separators=(",", ":"), ensure_ascii=False)
                for path, name in PATHS.items():
                    line = line.replace(path, name)
                print(line, flush=True)
            return SpanExportResult.SUCCESS

    return JsonLines()


def otlp_json(request: Any) -> Any:
    """An export request as OTLP JSON: ids in hex, enums as numbers. Host-specific resource attributes are left out."""
    from google.protobuf.json_format import MessageToDict

    value = MessageToDict(request, use_integers_for_enums=True)
    for resource_spans in value["resourceSpans"]:
        kept = [entry for entry in resource_spans["resource"]["attributes"] if not entry["key"].startswith("process.")]
        resource_spans["resource"]["attributes"] = kept
        for scope_spans in resource_spans["scopeSpans"]:
            for span in scope_spans["spans"]:
                for key in ("traceId", "spanId", "parentSpanId"):
                    if key in span:
                        span[key] = base64.b64decode(span[key]).hex()
    return value


if __name__ == "__main__":
    if len(sys.argv) == 3:
        record(sys.argv[1], sys.argv[2])
    else:
        main()
