"""The soak: rounds of random faults, each compared with a quiet run of the same workload.

``python -m tests.failures.soak --minutes 10 --seed 1``. Of three rounds, two are of three replicas that share a
PostgreSQL, one is of a single daemon with a SQLite file. Faults: processes that are killed, at any moment or at a step
between a message and its committed offset; SIGTERM; replicas that come and go; brokers and databases that crash or are
restarted; clocks that jump; disks that fill up; messages that come twice.
"""

import argparse
import contextlib
import random
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.failures.doomed import POINTS
from tests.failures.kills import quiet
from tests.failures.oracle import Outcome, Series
from tests.failures.running import ASSEMBLY, Disturbed
from tests.failures.workload import workload
from tests.services.cache import ServiceUnavailableError
from tests.services.daemon import Daemon
from tests.services.kafka import KafkaBroker
from tests.services.postgresql import PostgresqlServer

PIECES: Final = 6
GRACE: Final = 20
"""Seconds. The grace is longer than any one disturbance."""


class Faults:
    """What goes wrong in one round, as chance has it. ``counted`` says how often each did."""

    def __init__(
        self, broker: KafkaBroker, server: PostgresqlServer | None, disturbed: Disturbed, chance: random.Random
    ) -> None:
        self._broker = broker
        self._server = server
        self._disturbed = disturbed
        self._chance = chance
        self._programs: dict[Daemon, str] = {}
        self.counted: Counter[str] = Counter()

    def start(self, daemon: Daemon) -> None:
        """Start a process, which may be doomed to die at some step, or have something wrong with its machine."""
        kinds = ["sound", "sound", "doomed", "jumping_clock"]
        if self._server is None:
            kinds.append("full_disk")
        kind = self._programs[daemon] = self._chance.choice(kinds)
        if kind == "sound":
            daemon.start()
        elif kind == "doomed":
            point = self._chance.choice(list(POINTS))
            self.counted["killed at a step"] += 1
            with contextlib.suppress(AssertionError):
                daemon.start("tests.failures.doomed", point, str(self._chance.randint(1, POINTS[point].most)))
        else:
            daemon.start("tests.failures.afflicted", kind)

    def one(self) -> None:
        """Let something go wrong."""
        alive = [daemon for daemon in self._disturbed.daemons if daemon.running]
        gone = [daemon for daemon in self._disturbed.daemons if not daemon.running]
        if not alive or (gone and self._chance.random() < 0.4):
            self.counted["replica came"] += 1
            self.start(self._chance.choice(gone))
            return
        daemon = self._chance.choice(alive)
        afflicted = self._programs[daemon] in ("jumping_clock", "full_disk")
        possible = [self._kill, self._terminate, self._crash_broker, self._restart_broker]
        possible += [self._signal] * 4 if afflicted else []
        possible += [] if self._server is None else [self._crash_database]
        self._chance.choice(possible)(daemon)

    def end(self) -> None:
        """Have nothing wrong any more: what is left runs on a sound machine."""
        for daemon in self._disturbed.daemons:
            if daemon.running and self._programs[daemon] != "sound":
                self._kill(daemon)

    def _kill(self, daemon: Daemon) -> None:
        self.counted["killed at any moment"] += 1
        daemon.kill()

    def _terminate(self, daemon: Daemon) -> None:
        self.counted["SIGTERM"] += 1
        code = daemon.stop()
        assert code == 0 or self._programs[daemon] != "sound", f"SIGTERM: exit code {code}"

    def _signal(self, daemon: Daemon) -> None:
        self.counted[self._programs[daemon].replace("_", " ")] += 1
        daemon.signal(signal.SIGUSR1)

    def _crash_broker(self, _: Daemon) -> None:
        self.counted["broker crashed"] += 1
        self._broker.kill()
        self._broker.start()

    def _restart_broker(self, _: Daemon) -> None:
        self.counted["broker restarted"] += 1
        self._broker.stop()
        self._broker.start()

    def _crash_database(self, _: Daemon) -> None:
        assert self._server is not None
        self.counted["database crashed"] += 1
        self._server.kill()
        self._server.start()


def disturb(
    broker: KafkaBroker,
    server: PostgresqlServer | None,
    folder: Path,
    seed: int,
    *,
    plays: int = 24,
    pieces: int = PIECES,
    grace: int = GRACE,
) -> tuple[bool, Counter[str]]:
    """One round: whether it came to the same as a quiet run, and what went wrong on the way.

    Raises ``AssertionError`` where it never comes to an end.
    """
    load, chance = workload(seed, plays), random.Random(seed)
    expected = quiet(broker, folder / "quiet", load)
    assert len(expected[0].runs) == load.runs
    with _database(server) as url:
        assembly = {**ASSEMBLY, "grace": f"{grace}s", "wall_idle": "8s"}
        disturbed = Disturbed(broker, folder / "disturbed", url, 1 if server is None else 3, assembly=assembly)
        faults = Faults(broker, server, disturbed, chance)
        try:
            cuts = sorted(chance.randrange(len(load.messages)) for _ in range(pieces - 1))
            for begin, end in zip([0, *cuts], [*cuts, None], strict=True):
                piece = load.messages[begin:end]
                disturbed.produce(piece)
                if chance.random() < 0.3:
                    faults.counted["messages came twice"] += 1
                    disturbed.produce(piece)
                time.sleep(chance.uniform(0.0, 1.5))
                faults.one()
            faults.end()
            found: tuple[Outcome, dict[Series, float]] = disturbed.finish()
        finally:
            disturbed.close()
    return found == expected, faults.counted


@contextlib.contextmanager
def _database(server: PostgresqlServer | None) -> Iterator[str | None]:
    if server is None:
        yield None
        return
    with server.database() as url:
        yield url


def main() -> int:
    """Run rounds until the time is over; 1 when some round differed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1, help="of the first round; each next one has the next")
    arguments = parser.parse_args()
    try:
        server = PostgresqlServer()
    except ServiceUnavailableError as error:
        print(error, file=sys.stderr)
        return 2
    broker = KafkaBroker()
    broker.start()
    began, seed, different, total = time.monotonic(), arguments.seed, 0, Counter[str]()
    try:
        while time.monotonic() - began < 60 * arguments.minutes:
            round_began = time.monotonic()
            shared = server if seed % 3 else None
            with tempfile.TemporaryDirectory(prefix="aem-soak-") as folder:
                try:
                    same, counted = disturb(broker, shared, Path(folder), seed)
                except AssertionError:
                    traceback.print_exc()
                    same, counted = False, Counter[str]()
            different += not same
            total += counted
            print(
                f"seed {seed}: {'same' if same else 'DIFFERENT'}; {'3 replicas, PostgreSQL' if shared else 'SQLite'}; "
                f"{_listed(counted)}; {time.monotonic() - round_began:.0f} s",
                flush=True,
            )
            seed += 1
    finally:
        broker.close()
        server.close()
    minutes = (time.monotonic() - began) / 60
    print(f"{seed - arguments.seed} rounds in {minutes:.1f} minutes, {total.total()} faults, {different} different")
    print(_listed(total))
    return 1 if different else 0


def _listed(counted: Counter[str]) -> str:
    return ", ".join(f"{what} {number}" for what, number in sorted(counted.items())) or "nothing"


if __name__ == "__main__":
    sys.exit(main())
