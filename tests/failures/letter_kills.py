"""The fault loop with poison in the workload: no verdict differs, and no poison message is without its letter.

``python -m tests.failures.letter_kills --runs 20 --seed 1`` compares each run with a quiet one without the poison.
"""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

from aem_monitor.deadletters.letter import Letter, read_letter
from tests.deadletters.running import POISON, read_all
from tests.failures.doomed import LETTER_POINTS, POINTS
from tests.failures.kills import quiet
from tests.failures.oracle import Quiet
from tests.failures.running import Disturbed
from tests.failures.workload import Message, Workload, workload
from tests.services.kafka import KafkaBroker

ALL_POINTS: Final = {**LETTER_POINTS, **{name: POINTS[name] for name in ("before_commit", "offsets_committed")}}


@dataclass(frozen=True, slots=True)
class Found:
    """What is stored and shown, how many processes died, and what is wrong with the letters, if anything."""

    quiet: Quiet
    deaths: int
    wrong: str


def with_poison(messages: Sequence[Message], every: int) -> tuple[Message, ...]:
    """A different poison message after every so many."""
    mixed: list[Message] = []
    for number, message in enumerate(messages):
        mixed.append(message)
        if number % every == 0:
            mixed.append(Message(message.at, message.partition, POISON + str(number).encode()))
    return tuple(mixed)


def letters_in(broker: KafkaBroker, topic: str) -> list[Letter]:
    """The letters of a topic."""
    found = [read_letter(record) for record in read_all(broker, topic)]
    return [letter for letter in found if letter is not None]


def killed(broker: KafkaBroker, folder: Path, load: Workload, points: Sequence[tuple[str, int]]) -> Found:
    """Processes that die at these points, each the nth time that it comes by, among poison."""
    dead_topic = f"dead.{uuid4().hex[:8]}"
    broker.create_topic(dead_topic)
    disturbed = Disturbed(broker, folder, dead_letters={"topic": dead_topic})
    mixed = with_poison(load.messages, every=4)
    try:
        disturbed.produce(mixed)
        deaths = sum(disturbed.die_at(point, nth) for point, nth in points)
        found = disturbed.finish()
    finally:
        disturbed.close()
    poison = {message.value for message in mixed if message.value.startswith(POISON)}
    return Found(found, deaths, _wrong(letters_in(broker, dead_topic), poison, deaths))


def _wrong(letters: Sequence[Letter], poison: set[bytes], deaths: int) -> str:
    """Each process may write once more what the one before has not committed; nothing may be missing."""
    if {letter.value for letter in letters} != poison:
        return f"{len(poison)} poison messages, letters of {len({letter.value for letter in letters})}"
    most = max(Counter((letter.origin.partition, letter.origin.offset) for letter in letters).values())
    return f"{most} letters of one message" if most > deaths + 1 else ""


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
            load, chance = workload(seed, plays=12), random.Random(seed)
            names = sorted(chance.sample(list(ALL_POINTS), 4), key=list(ALL_POINTS).index)
            points = [(name, chance.randint(1, ALL_POINTS[name].most)) for name in names]
            with tempfile.TemporaryDirectory(prefix="aem-letter-kills-") as folder:
                expected = quiet(broker, Path(folder, "quiet"), load)
                found = killed(broker, Path(folder, "killed"), load, points)
            wrong = found.wrong or ("" if found.quiet == expected else "other verdicts")
            different += bool(wrong)
            print(
                f"seed {seed}: {wrong.upper() or 'same'}; {len(expected[0].runs)} runs, {found.deaths} kills of "
                f"{', '.join(f'{name} {nth}' for name, nth in points)}; {time.monotonic() - began:.0f} s",
                flush=True,
            )
    finally:
        broker.close()
    print(f"{arguments.runs} runs, {different} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
