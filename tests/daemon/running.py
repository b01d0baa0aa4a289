"""A daemon as a process, fed over OTLP/HTTP, and the questions that tests ask it."""

import gzip
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from aem_monitor.examples import example_dialogs
from tests.end_to_end.sales import PROFIT, RIGHT
from tests.services.agent import Turn, agent_spans
from tests.services.collector import otlp_json, otlp_proto
from tests.services.daemon import Daemon
from tests.services.process import free_port

__all__ = ["PROFIT", "RIGHT", "Running", "eventually"]

EXAMPLE = example_dialogs() / "sales-report.yaml"
OPENMETRICS = "application/openmetrics-text; version=1.0.0"


def eventually(condition: Callable[[], object], what: str, seconds: float = 60.0) -> None:
    """Wait until it holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"it never happened: {what}"
        time.sleep(0.1)


class Running(Daemon):
    """A daemon with an OTLP listener; its golden dialog is a copy in the folder, which a test may spoil."""

    def __init__(self, folder: Path, **configuration: Any) -> None:
        self.folder = folder
        self.otlp_address = f"127.0.0.1:{free_port()}"
        self.golden = folder / "golden" / "sales-report.yaml"
        self.golden.parent.mkdir(exist_ok=True)
        self.golden.write_text(EXAMPLE.read_text(encoding="utf-8"), encoding="utf-8")
        ingest = {"otlp_http": {"listen": self.otlp_address, "max_body": "1MiB"}, **configuration.pop("ingest", {})}
        super().__init__(folder, self.golden.parent, {"ingest": ingest, **configuration})

    def start(self, *program: str) -> None:
        """Start it and wait until spans can be sent: the metrics are served a moment before."""
        super().start(*program)
        eventually(lambda: not self.running or self.request(self.otlp_address, "/")[0], "the OTLP listener")

    def request(
        self, address: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, str]:
        """Status and text of an answer; status 0 when nobody listens."""
        request = urllib.request.Request(f"http://{address}{path}", data=body, headers=dict(headers or {}))
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return int(answer.status), answer.read().decode(errors="replace")
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(errors="replace")
        except OSError:
            return 0, ""

    def post(
        self, body: bytes, content_type: str = "application/x-protobuf", path: str = "/v1/traces", **headers: str
    ) -> int:
        """Send something to the OTLP listener."""
        named = {"Content-Type": content_type, **{name.replace("_", "-"): value for name, value in headers.items()}}
        return self.request(self.otlp_address, path, body, named)[0]

    def play(self, turns: Sequence[Turn] = RIGHT, release: str = "1.0.0", encoding: str = "proto") -> str:
        """One play in a conversation of its own; returns its id."""
        conversation = uuid4().hex
        spans = agent_spans(conversation, turns, release, attributes={"aem.dialog.id": "sales-report"})
        if encoding == "json":
            assert self.post(otlp_json(spans), "application/json") == 200
        else:
            assert self.post(gzip.compress(otlp_proto(spans)), Content_Encoding="gzip") == 200
        return conversation

    def reload(self) -> tuple[int, Any]:
        """POST /-/reload."""
        status, text = self.request(self.admin_address, "/-/reload", b"")
        return status, json.loads(text)

    def api(self, path: str) -> Any:
        """What the API answers."""
        return json.loads(self.request(self.admin_address, path)[1])

    def metrics(self, accept: str = OPENMETRICS) -> str:
        """A scrape."""
        return self.request(self.metrics_address, "/metrics", headers={"Accept": accept})[1]

    def value(self, name: str, **labels: str) -> float:
        """The sum of all samples of a name that carry the labels."""
        total = 0.0
        for line in self.metrics().splitlines():
            if not line.startswith((f"{name}{{", f"{name} ")):
                continue
            if all(f'{label}="{value}"' in line for label, value in labels.items()):
                total += float(line.partition(" # ")[0].rsplit(" ", 1)[1])
        return total

    def scored(self, runs: int) -> bool:
        """Whether so many runs are counted."""
        return self.value("aem_runs_total") == runs
