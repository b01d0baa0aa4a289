"""A Prometheus filled by the real pipeline: the recorded agent of two releases, the daemon, its metrics scraped."""

import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from aem_monitor.demo.recordings import CANARY, ENVIRONMENT, Recording, moved, recordings
from aem_monitor.examples import example_dialogs
from tests.end_to_end.sales import PROFIT, RIGHT
from tests.services.agent import agent_spans
from tests.services.collector import otlp_json
from tests.services.daemon import Daemon
from tests.services.pagerduty import PagerDuty
from tests.services.process import free_port
from tests.services.prometheus import PrometheusServer

ROUNDS: Final = 3
"""How often the recordings are played: 36 runs a release, more than a correlation needs."""

BASELINE, CANDIDATE = (one.release for one in recordings())

_ID = re.compile(rb'"(traceId|spanId|parentSpanId)":"([0-9a-f]+)"')


def _again(request: bytes, number: int) -> bytes:
    """A recorded request as another play of the same: other ids, other conversations."""

    def other(found: re.Match[bytes]) -> bytes:
        name, value = found[1], found[2].decode()
        return b'"%b":"%b"' % (name, f"{int(value, 16) ^ number:0{len(value)}x}".encode())

    return _ID.sub(other, request).replace(b'"stringValue":"canary-', b'"stringValue":"%d-canary-' % number)


def _post(address: str, body: bytes) -> int:
    request = urllib.request.Request(
        f"http://{address}/v1/traces", data=body, headers={"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def _wait_for_listener(address: str) -> None:
    deadline = time.monotonic() + 60.0
    while True:
        try:
            urllib.request.urlopen(f"http://{address}/", timeout=5)
        except urllib.error.HTTPError:
            return
        except OSError:
            assert time.monotonic() < deadline, "the OTLP listener never answered"
            time.sleep(0.1)
        else:
            return


def _play(address: str, recording: Recording, number: int) -> None:
    later = time.time_ns() - recording.last_ns
    for request in recording.requests:
        assert _post(address, _again(moved(request, later), number)) == 200


def _broken_backend() -> bytes:
    """A play whose last call fails, and is not tried again."""
    document: Any = json.loads(otlp_json(agent_spans(uuid4().hex, PROFIT, "1.0.0", attributes=_names("sales-report"))))
    for resource in document["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                if span["name"] == "execute_tool reports.ShareReport":
                    span["status"] = {"code": 2, "message": "503"}
                    span["attributes"].append({"key": "error.type", "value": {"stringValue": "503"}})
    return json.dumps(document).encode()


_NO_AGENT: Final = json.dumps(
    {
        "resourceSpans": [
            {"scopeSpans": [{"spans": [{"traceId": "ab" * 16, "spanId": "cd" * 8, "name": "GET /", "kind": 2}]}]}
        ]
    }
).encode()
"""A span that has nothing of an agent."""


def _names(dialog: str) -> dict[str, str]:
    return {"aem.dialog.id": dialog}


def _golden(folder: Path) -> Path:
    """The example dialogs, and a draft."""
    golden = folder / "golden"
    golden.mkdir()
    for file in example_dialogs().glob("*.yaml"):
        if not file.name.endswith(".cases.yaml"):
            (golden / file.name).write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    draft = (golden / "sales-report.yaml").read_text(encoding="utf-8")
    draft = draft.replace("dialog: sales-report", "dialog: sales-draft").replace("status: human", "status: draft")
    # What the user says differs, or plays that do not name their dialog could be of either.
    draft = draft.replace("last quarter", "this year")
    (golden / "sales-draft.yaml").write_text(draft, encoding="utf-8")
    return golden


@contextmanager
def filled_prometheus(folder: Path) -> Iterator[PrometheusServer]:
    """Everything played, counted and scraped; the daemon still runs."""
    otlp, metrics = (f"127.0.0.1:{free_port()}" for _ in range(2))
    (folder / "key").write_text("0123456789abcdef" * 2)
    pagerduty = PagerDuty().start()
    daemon = Daemon(
        folder,
        _golden(folder),
        {
            "ingest": {"otlp_http": {"listen": otlp}},
            "recognise": {"where": {ENVIRONMENT: CANARY}},
            # Longer than some scrapes, so that series are seen at 0 before they are counted.
            "assembly": {"grace": "4s", "wall_idle": "1s"},
            # So few that some tools are counted under `other`.
            "sinks": {"json_lines": {"path": str(folder / "verdicts.jsonl")}},
            # Told of each new release, at least.
            "alerting": {
                "receivers": {
                    "pagerduty": {"url": f"http://127.0.0.1:{pagerduty.port}", "routing_key_file": str(folder / "key")}
                }
            },
            "metrics": {"listen": metrics, "max_label_values": 10},
        },
    )
    daemon.metrics_address = metrics
    prometheus = PrometheusServer(
        [{"job_name": "aem-monitor", "static_configs": [{"targets": [daemon.metrics_address]}]}]
    )
    try:
        daemon.start()
        _wait_for_listener(otlp)
        prometheus.wait_for("aem_monitor_build_info", bool, 60.0)
        canaries = 0
        for number in range(1, ROUNDS + 1):
            for recording in recordings():
                _play(otlp, recording, number)
                canaries += len(recording.canaries)
                # The one is seen before the other.
                seen = f'aem_release_first_seen_timestamp_seconds{{release="{recording.release}"}}'
                prometheus.wait_for(seen, bool, 60.0)
        for dialog in ("sales-draft", "sales-report"):
            spans = agent_spans(uuid4().hex, RIGHT, "1.0.0", attributes=_names(dialog))
            assert _post(otlp, otlp_json(spans)) == 200
        assert _post(otlp, _broken_backend()) == 200
        prometheus.wait_for("sum(aem_runs_total)", lambda runs: [run.value for run in runs] == [canaries + 2], 120.0)
        prometheus.wait_for("sum(aem_draft_runs_total)", lambda runs: [run.value for run in runs] == [1], 60.0)
        # Rank correlations are computed once a minute, and at the start.
        assert daemon.stop() == 0
        daemon.start()
        _wait_for_listener(otlp)
        prometheus.wait_for("aem_latency_correctness_spearman", bool, 60.0)
        prometheus.wait_for("sum(aem_monitor_refused_requests_total)", bool, 60.0)
        assert _post(otlp, b"no JSON") == 400
        assert _post(otlp, _NO_AGENT) == 200
        assert _post(otlp, _again(recordings()[0].requests[0], 1)) == 200
        prometheus.wait_for("sum(aem_monitor_refused_requests_total) > 0", bool, 60.0)
        prometheus.wait_for("sum(aem_monitor_skipped_spans_total) > 0", bool, 60.0)
        prometheus.wait_for("aem_monitor_alerting_last_success_timestamp_seconds", bool, 60.0)
        yield prometheus
    finally:
        prometheus.close()
        daemon.close()
        pagerduty.stop()
