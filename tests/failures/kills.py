"""The fault loop: a workload read by processes that are killed one after the other, again and again.

``python -m tests.failures.kills --runs 20 --seed 1`` compares each run with a quiet one of the same workload.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.failures.doomed import POINTS
from tests.failures.oracle import Outcome, Quiet
from tests.failures.running import Disturbed
from tests.failures.workload import Workload, workload
from tests.services.kafka import KafkaBroker


def quiet(broker: KafkaBroker, folder: Path, load: Workload) -> Quiet:
    """What a daemon stores and shows that nobody disturbs."""
    undisturbed = Disturbed(broker, folder)
    undisturbed.produce(load.messages)
    return undisturbed.finish()


def killed(
    broker: KafkaBroker, folder: Path, load: Workload, points: Sequence[str], chance: random.Random
) -> tuple[Outcome, dict[Any, float], int]:
    """What is stored and shown after processes were killed at these points, and how many of them were."""
    disturbed = Disturbed(broker, folder)
    disturbed.produce(load.messages)
    deaths = sum(disturbed.die_at(point, chance.randint(1, POINTS[point].most)) for point in points)
    return *disturbed.finish(), deaths


def main() -> int:
    """Run the loop; 1 when some run differed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1, help="of the first run; each next one has the next")
    arguments = parser.parse_args()
    broker = KafkaBroker()
    broker.start()
    different = 0
    try:
        for seed in range(arguments.seed, arguments.seed + arguments.runs):
            began = time.monotonic()
            load, chance = workload(seed), random.Random(seed)
            points = sorted(chance.sample(list(POINTS), 4), key=list(POINTS).index)
            with tempfile.TemporaryDirectory(prefix="aem-kills-") as folder:
                expected = quiet(broker, Path(folder, "quiet"), load)
                *found, deaths = killed(broker, Path(folder, "killed"), load, points, chance)
            same = tuple(found) == expected and len(expected[0].runs) == load.runs
            different += not same
            word = "same" if same else "DIFFERENT"
            seconds = time.monotonic() - began
            print(
                f"seed {seed}: {word}; {len(expected[0].runs)} runs, {len(load.messages)} messages, "
                f"{deaths} kills of {', '.join(points)}; {seconds:.0f} s",
                flush=True,
            )
    finally:
        broker.close()
    print(f"{arguments.runs} runs, {different} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
