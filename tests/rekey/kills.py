"""The fault loop of scale-out: ``rekey`` is killed in mid-stream again and again, in front of three replicas.

``python -m tests.rekey.kills --runs 10 --seed 1`` compares each run with one replica that reads the same in peace,
every conversation from one partition. ``--without-rekey`` gives the replicas the messages as they are keyed, by trace.
"""

import argparse
import random
import sys
import tempfile
import time
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.failures.kills import quiet
from tests.failures.oracle import Outcome, Series, outcome
from tests.failures.running import ASSEMBLY, Disturbed, eventually
from tests.failures.workload import Workload, workload
from tests.rekey.running import Rekey, trace_of
from tests.services.kafka import KafkaBroker
from tests.services.postgresql import PostgresqlServer
from tests.services.process import ServerProcess

KILLS = 4
CONFIGURATION = {"assembly": {**ASSEMBLY, "grace": "20s"}}
"""The grace is longer than the disturbance."""

WAITS: Mapping[str, Any] = {"wait": "10s", "wait_without_id": "20s"}
"""The defaults, nearly: spans come later than their trace by less than that, whatever happens in between."""


def killed(
    replicas: Disturbed, rekey: Rekey, load: Workload, chance: random.Random
) -> tuple[Outcome, dict[Series, float]]:
    """What three replicas store and show behind processes that come and are killed at any moment."""
    part = len(load.messages) // KILLS
    alive: list[ServerProcess] = []
    for number in range(KILLS):
        alive.append(rekey.start(f"process-{number}", **WAITS))
        rekey.produce_by_trace(load.messages[number * part :][: part if number < KILLS - 1 else None])
        time.sleep(chance.uniform(0.0, 1.5))
        if chance.random() < 0.7:
            alive.pop(chance.randrange(len(alive))).kill()
    if not alive:
        rekey.start(**WAITS)
    eventually(rekey.done, rekey.state)
    return replicas.finish()


def torn(replicas: Disturbed, load: Workload) -> tuple[Outcome, dict[Series, float]]:
    """What they store without ``rekey``: each reads the traces that come to its partitions."""
    replicas.produce(
        [replace(one, partition=zlib.crc32(trace_of(one.value)) % replicas.partitions) for one in load.messages]
    )
    # Some traces wait for the rest of their conversation, which never comes: not all is committed.
    time.sleep(60.0)
    return outcome(replicas.url, replicas.names), {}


def main() -> int:
    """Run the loop; 1 when some run differed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1, help="of the first run; each next one has the next")
    parser.add_argument("--without-rekey", action="store_true", help="to see what it is good for")
    arguments = parser.parse_args()
    broker, server = KafkaBroker(), PostgresqlServer()
    broker.start()
    different = 0
    try:
        for seed in range(arguments.seed, arguments.seed + arguments.runs):
            load, began = workload(seed), time.monotonic()
            with tempfile.TemporaryDirectory(prefix="aem-rekey-") as name, server.database() as url:
                folder = Path(name)
                expected = quiet(broker, folder / "quiet", load)
                replicas = Disturbed(broker, folder / "three", url, replicas=3, **CONFIGURATION)
                (folder / "rekey").mkdir()
                rekey = Rekey(broker, folder / "rekey", replicas.topic)
                for daemon in replicas.daemons:
                    daemon.start()
                try:
                    found = (
                        torn(replicas, load)
                        if arguments.without_rekey
                        else killed(replicas, rekey, load, random.Random(seed))
                    )
                finally:
                    rekey.close()
                    replicas.close()
            same = found == expected and len(found[0].runs) == load.runs
            different += not same
            word = "same" if same else "DIFFERENT"
            equal = sum(expected[0].runs.get(name) == run for name, run in found[0].runs.items())
            seconds = time.monotonic() - began
            print(f"seed {seed}: {word}; {equal} of {len(expected[0].runs)} runs equal; {seconds:.0f} s", flush=True)
    finally:
        broker.close()
        server.close()
    print(f"{arguments.runs} runs, {different} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
