"""What ``replay`` costs, as a ratio to the least that any reader of the same bytes must do.

``python -m tests.benchmarks.replay_throughput [--spans N] [--other-share S] [--rounds R] [--profile STAGE]``

Stages, each in a process of its own, all of them in every round, so that what else the machine does meets them alike:

parse and walk   the ceiling: protobuf's ``FromString`` of each request, then every span, event and attribute into dicts
decode           files to spans: selection, limits, counted causes; nothing is kept
conversations    ``replay --conversations``: decode, conventions, assembly, JSON lines
replay           ``replay --golden .. --verdicts``: the same, then recognition, scoring, attribution, JSON lines
rekey            what ``rekey`` does with each request between a topic and another: cut by trace, read, put together

Times are processor seconds of the one process, start-up and imports left out; the rows are medians over the rounds, a
ratio is that of the same round. Memory is the process' peak.
"""

import argparse
import cProfile
import functools
import json
import os
import platform
import pstats
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, Final

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from prometheus_client import CollectorRegistry

from aem_monitor.build import PipelineSettings, build_prefilter, build_registry
from aem_monitor.cli.main import main as command_line
from aem_monitor.examples import example_dialogs
from aem_monitor.ingest.batch import Decoded, Position
from aem_monitor.ingest.files import read_files
from aem_monitor.ingest.kafka_publisher import Outcome, Record
from aem_monitor.ingest.kafka_settings import KafkaTopic
from aem_monitor.ingest.limits import Limits
from aem_monitor.metrics.registry import Metrics
from aem_monitor.rekey.naming import naming_of
from aem_monitor.rekey.rekeyer import Rekeyer
from aem_monitor.rekey.settings import RekeySettings
from aem_monitor.rekey.source import CutMessage
from aem_monitor.rekey.split import split_message
from aem_monitor.rekey.traces import Trace
from tests.benchmarks.generated import RECORDINGS, Size, write_file


def parse_and_walk(path: Path, requests: Sequence[int]) -> str:
    """Bare protobuf: what a reader that interprets nothing pays."""
    spans = 0
    with path.open("rb") as file:
        for length in requests:
            for block in ExportTraceServiceRequest.FromString(file.read(length)).resource_spans:
                _plain(block.resource.attributes)
                for scoped in block.scope_spans:
                    for span in scoped.spans:
                        spans += 1
                        {
                            "trace_id": span.trace_id,
                            "span_id": span.span_id,
                            "parent_span_id": span.parent_span_id,
                            "name": span.name,
                            "kind": span.kind,
                            "start": span.start_time_unix_nano,
                            "end": span.end_time_unix_nano,
                            "status": span.status.code,
                            "attributes": _plain(span.attributes),
                            "events": [(one.name, one.time_unix_nano, _plain(one.attributes)) for one in span.events],
                        }
    return f"{spans} spans"


def _plain(pairs: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for pair in pairs:
        value = pair.value
        kind = value.WhichOneof("value")
        found[pair.key] = getattr(value, kind) if kind else None
    return found


def decode(path: Path, _requests: Sequence[int]) -> str:
    """Bytes to spans, as every source does it."""
    keep = build_prefilter(build_registry(), PipelineSettings().assembly)
    kept = seen = 0
    for decoded in read_files([path], Limits(), keep):
        kept += len(decoded.spans)
        seen += decoded.seen_spans
    return f"{kept} of {seen} spans kept"


def conversations(path: Path, _requests: Sequence[int]) -> str:
    """``replay --conversations``."""
    return f"{_printed('replay', str(path), '--conversations')} conversations"


def replay(path: Path, _requests: Sequence[int]) -> str:
    """``replay --golden .. --verdicts``."""
    return f"{_printed('replay', str(path), '--golden', str(example_dialogs()), '--verdicts')} runs scored"


def rekey(path: Path, requests: Sequence[int]) -> str:
    """Each request as a message of a topic, published at once by a broker that takes everything."""
    topic, settings = KafkaTopic("spans"), RekeySettings(targets={"spans": "spans-by-conversation"})
    conventions, assembly = build_registry(), PipelineSettings().assembly
    keep, limits, broker = build_prefilter(conventions, assembly), Limits(), _Taking()
    read = functools.partial(naming_of, registry=conventions, settings=assembly)
    rekeyer = Rekeyer(settings, read, keep, limits, broker, Metrics(CollectorRegistry()))
    with path.open("rb") as file:
        for offset, length in enumerate(requests):
            value = file.read(length)
            chunks = split_message(value, topic, limits).chunks if keep.in_bytes(value) else ()
            position = Position(topic.name, 0, offset)
            rekeyer.ingest(CutMessage("kafka", "", Decoded(), 0.0, position, chunks=chunks, size=length), float(offset))
            rekeyer.tick(float(offset))
    rekeyer.tick(len(requests) + settings.max_age)
    return f"{broker.taken} messages published"


class _Taking:
    """A publisher that writes nothing."""

    def __init__(self) -> None:
        self.taken = 0
        self._open: list[Record[Trace | str]] = []

    def put(self, record: Record[Trace | str]) -> None:
        self.taken += 1
        self._open.append(record)

    def poll(self) -> list[Outcome[Trace | str]]:
        taken, self._open = self._open, []
        return [Outcome(record) for record in taken]

    def flush(self, timeout: float) -> list[Outcome[Trace | str]]:
        return self.poll()


def _printed(*arguments: str) -> int:
    """The number of lines that the command prints. Raises RuntimeError when it fails."""
    said = StringIO()
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        counted = _Lines(nowhere)
        with redirect_stdout(counted), redirect_stderr(said):
            code = command_line(arguments)
    if code != 0:
        raise RuntimeError(f"exit code {code}: {said.getvalue()}")
    return counted.lines


class _Lines:
    """A text stream that counts its lines and keeps nothing."""

    def __init__(self, target: Any) -> None:
        self._target = target
        self.lines = 0

    def write(self, text: str) -> int:
        self.lines += text.count("\n")
        return int(self._target.write(text))

    def flush(self) -> None:
        self._target.flush()


STAGES: Final[dict[str, Callable[[Path, Sequence[int]], str]]] = {
    "parse and walk": parse_and_walk,
    "decode": decode,
    "conversations": conversations,
    "replay": replay,
    "rekey": rekey,
}
CEILING: Final = "parse and walk"


def main() -> int:
    """Generate, measure, print."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--spans", type=int, default=200_000)
    parser.add_argument("--other-share", type=float, default=0.5, help="share of spans that are of no agent")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--profile", choices=STAGES, help="print where this stage spends its time instead")
    parser.add_argument("--stage", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.stage:
        print(json.dumps(_measured(arguments.stage)))
        return 0
    with tempfile.TemporaryDirectory(prefix="aem-benchmark-") as folder:
        path = Path(folder, "spans.pb")
        size = write_file(path, arguments.spans, arguments.other_share)
        if arguments.profile:
            _profile(arguments.profile, path, size)
            return 0
        Path(f"{path}.requests").write_text(json.dumps(size.requests), encoding="ascii")
        rounds = [{stage: _in_process(stage, path) for stage in STAGES} for _ in range(arguments.rounds)]
    _print_table(size, arguments.other_share, rounds)
    return 0


def _in_process(stage: str, path: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.benchmarks.replay_throughput", "--stage", f"{stage}:{path}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=Path(__file__).parents[2])
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


def _measured(task: str) -> dict[str, Any]:
    stage, _, name = task.partition(":")
    path = Path(name)
    requests = json.loads(Path(f"{path}.requests").read_text(encoding="ascii"))
    wall, processor = time.perf_counter(), time.process_time()
    said = STAGES[stage](path, requests)
    processor, wall = time.process_time() - processor, time.perf_counter() - wall
    # Linux counts the peak in KiB, macOS in bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return {"seconds": processor, "wall": wall, "peak": peak, "said": said}


def _profile(stage: str, path: Path, size: Size) -> None:
    profile = cProfile.Profile()
    said = profile.runcall(STAGES[stage], path, size.requests)
    print(f"{stage}: {said}; the profiler itself makes small functions look dearer than they are")
    pstats.Stats(profile).sort_stats("tottime").print_stats(45)


def _print_table(size: Size, other_share: float, rounds: Sequence[dict[str, dict[str, Any]]]) -> None:
    print("replay throughput\n")
    print(
        f"input    {size.spans} spans in {len(size.requests)} requests, {size.bytes / 2**20:.0f} MiB of protobuf; "
        f"{size.agent_spans} spans of agents in {size.conversations} conversations\n"
        f"         copied from {len(RECORDINGS)} recordings, {1 - size.agent_spans / size.spans:.0%} spans of no agent "
        f"(asked for: {other_share:.0%}); {size.bytes / size.spans:.0f} bytes and "
        f"{size.attributes / size.spans:.1f} attributes a span"
    )
    print(f"machine  {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"rounds   {len(rounds)}; medians; processor time of one process\n")
    print(f"{'stage':<16}{'spans/s':>10}{'MiB/s':>8}{'of ceiling':>12}{'wall s':>9}{'peak MiB':>10}  result")
    for stage in STAGES:
        seconds = statistics.median(one[stage]["seconds"] for one in rounds)
        ratio = statistics.median(one[CEILING]["seconds"] / one[stage]["seconds"] for one in rounds)
        wall = statistics.median(one[stage]["wall"] for one in rounds)
        peak = max(one[stage]["peak"] for one in rounds) / 2**20
        print(
            f"{stage:<16}{size.spans / seconds:>10.0f}{size.bytes / seconds / 2**20:>8.1f}{ratio:>12.3f}"
            f"{wall:>9.1f}{peak:>10.0f}  {rounds[0][stage]['said']}"
        )


if __name__ == "__main__":
    sys.exit(main())
