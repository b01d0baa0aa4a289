"""What the OTLP journal costs, as a ratio to bare writes of the same bytes to the same disk.

``python -m tests.benchmarks.journal [--requests N] [--bytes B] [--rounds R]``

All ways are measured in every round, so that what else the machine does meets them alike; rows are medians over the
rounds, a ratio is that of the same round. The ceiling of ``off`` and ``interval`` is one thread that writes, that of
``always`` one that writes and flushes each request. Requests come from 1 and from 16 senders at once; those who wait at
the same moment share a flush, so that the ratio may be above one.
"""

import argparse
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from prometheus_client import CollectorRegistry
from rich.console import Console
from rich.table import Table

from aem_monitor.journal.journal import Journal
from aem_monitor.journal.settings import Fsync, JournalSettings
from aem_monitor.metrics.registry import Metrics

_HEAD: Final = b'{"source":"otlp_http","signal":"traces"}'
_SENDERS: Final = (1, 16)
_POLICIES: Final[tuple[Fsync, ...]] = ("off", "interval", "always")
_flush: Final = getattr(os, "fdatasync", os.fsync)


def bare(folder: Path, bodies: Sequence[bytes], *, flush: bool) -> float:
    """Requests a second of one thread that writes them to one file."""
    file = os.open(folder / "bare", os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_APPEND, 0o600)
    began = time.perf_counter()
    for body in bodies:
        os.write(file, body)
        if flush:
            _flush(file)
    took = time.perf_counter() - began
    os.close(file)
    return len(bodies) / took


def journalled(folder: Path, bodies: Sequence[bytes], fsync: Fsync, senders: int) -> float:
    """Requests a second that are written and may be acknowledged."""
    settings = JournalSettings(folder / f"{fsync}-{senders}", fsync=fsync)
    journal = Journal(settings, Metrics(CollectorRegistry()))
    journal.open()
    done = []

    def send(share: Sequence[bytes]) -> None:
        for body in share:
            ticket = journal.append(_HEAD, body, time.time(), lambda _segment, _index: True, 60.0)
            assert ticket is not None
            journal.commit(ticket)
            done.append(ticket.index)

    threads = [threading.Thread(target=send, args=(bodies[number::senders],)) for number in range(senders)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - began
    journal.close()
    assert len(done) == len(bodies)
    return len(bodies) / took


def measure(requests: int, size: int, rounds: int) -> list[tuple[str, float, float]]:
    """Rows of name, requests a second, and ratio to the ceiling."""
    bodies = [os.urandom(size) for _ in range(requests)]
    ways: dict[str, tuple[str | None, Callable[[Path], float]]] = {
        "write": (None, lambda folder: bare(folder, bodies, flush=False)),
        "write and flush": (None, lambda folder: bare(folder, bodies, flush=True)),
    }
    for fsync in _POLICIES:
        for senders in _SENDERS:
            ceiling = "write and flush" if fsync == "always" else "write"

            def way(folder: Path, fsync: Fsync = fsync, senders: int = senders) -> float:
                return journalled(folder, bodies, fsync, senders)

            ways[f"fsync: {fsync}, {senders} sender{'s' if senders > 1 else ''}"] = (ceiling, way)
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        # On the disk of the working directory: the system's folder for temporary files may be memory.
        with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-journal-") as folder:
            for name, (_, way_of) in ways.items():
                found[name].append(way_of(Path(folder)))
    rows = []
    for name, (of, _) in ways.items():
        ratios = [rate / top for rate, top in zip(found[name], found[of or name], strict=True)]
        rows.append((name, statistics.median(found[name]), statistics.median(ratios)))
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--bytes", type=int, default=8192)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    table = Table("way", "requests a second", "MB a second", "ratio to its ceiling")
    for name, rate, ratio in measure(chosen.requests, chosen.bytes, chosen.rounds):
        table.add_row(name, f"{rate:,.0f}", f"{rate * chosen.bytes / 1e6:.1f}", f"{ratio:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
