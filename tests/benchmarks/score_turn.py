"""What scoring one turn costs in a warm process, as a share of one pair of texts in a sentence encoder.

``python -m tests.benchmarks.score_turn [--turns N]``

Each measured play has one scored turn, so that its time also pays for pairing the play and composing the result. "new
texts" gives every play values and words of its own, as customers do; "same texts" repeats one play, as canaries do.
Times are processor time, embedded scorer, medians over the plays. The ceiling is all-MiniLM-L6-v2 in the same process
(``minilm``, numpy, one thread), comparing a reference reply with the reply; beside it stands the share of 19 ms, about
what PyTorch needs for such a pair on two idle cores of this kind.
"""

import argparse
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Final

from aem_monitor.attribution.steps import Judge
from aem_monitor.golden.dialog import Dialog
from aem_monitor.golden.play import Run
from aem_monitor.model.conversation import Exchange
from aem_monitor.scoring.scorers import EmbeddedScorer
from tests.benchmarks.minilm import MiniLM
from tests.playing import Call, agent, exchange, golden, runs, tool, user

PYTORCH_PAIR_MS: Final = 19
ASKED: Final = "Refund my damaged order, please."
ACTION: Final = golden(
    [
        user(ASKED),
        tool(
            1,
            "shop.refund",
            {
                "order_id": "A-1042",
                "reason": "The item arrived damaged",
                "amount": 59.9,
                "pickup_date": "2026-12-03",
                "notify": True,
            },
        ),
    ]
)
RESPONSE: Final = golden(
    [
        user(ASKED),
        agent(
            1,
            "I have refunded 59.90 USD for order A-1042. The courier will pick the parcel up on 3 December 2026, and "
            "the money should reach your account within five working days.",
            must_mention=["59.90 USD", "A-1042", "five working days"],
        ),
    ]
)
_REASONS: Final = ("The item was damaged on arrival", "arrived broken, box {n} was crushed", "damage to part {n}")
_REPLIES: Final = (
    "Done! $59.90 for A-1042 is on its way back to you (reference R-{n}). We collect the parcel on 2026-12-03.",
    "Your refund R-{n} of 59.90 USD for order A-1042 is issued. It takes five working days. A courier comes Thursday.",
    "I refunded order A-1042, but only {n} USD, since the return is late. You will hear from us within two weeks.",
)


def action_run(number: int) -> Run:
    """One call of five arguments, some spelled differently, some wrong."""
    values = {
        "order_id": "A-1042" if number % 4 else f"A-{number}",
        "reason": _REASONS[number % 3].format(n=number),
        "amount": "59.90" if number % 5 else number,
        "pickup_date": "3 December 2026",
        "notify": "yes",
    }
    return _run(ACTION, exchange(ASKED, [Call("shop.refund", values, {"refund": f"R-{number}"})]))


def response_run(number: int) -> Run:
    """One reply of two or three sentences, some saying something else."""
    return _run(RESPONSE, exchange(ASKED, reply=_REPLIES[number % 3].format(n=number)))


def _run(dialog: Dialog, played: Exchange) -> Run:
    (run,) = runs(dialog, played)
    return run


def median_us(judge: Judge, plays: Sequence[Run]) -> float:
    """Microseconds for the verdict of a run."""
    times = []
    for run in plays:
        start = time.process_time_ns()
        judge.plan(run)
        times.append(time.process_time_ns() - start)
    return statistics.median(times) / 1000


def pair_us(encoder: MiniLM, pairs: int = 60) -> float:
    """Microseconds for one pair of texts."""
    reference = RESPONSE.exchanges[0].replies[0].response or ""
    times = []
    for number in range(pairs):
        reply = _REPLIES[number % 3].format(n=number)
        start = time.process_time_ns()
        encoder.similarity(reference, reply)
        times.append(time.process_time_ns() - start)
    return statistics.median(times) / 1000


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--turns", type=int, default=2000)
    arguments = parser.parse_args()
    try:
        encoder = MiniLM()
    except ModuleNotFoundError as error:
        print(error, file=sys.stderr)
        return 2
    judge = Judge(EmbeddedScorer())
    kinds: Sequence[tuple[str, Callable[[int], Run]]] = (("action", action_run), ("response", response_run))
    pair_us(encoder)
    pair = pair_us(encoder)
    print(f"one scored turn, warm; {platform.machine()}, Python {platform.python_version()}\n")
    print(f"{'what':<10}{'texts':<8}{'median us':>10}  of a pair  of {PYTORCH_PAIR_MS} ms")
    print(f"{'a pair':<10}{'':<8}{pair:>10.0f}")
    for name, make in kinds:
        warm = [make(number) for number in range(200)]
        new = [make(number) for number in range(1000, 1000 + arguments.turns)]
        median_us(judge, warm)
        for texts, plays in (("new", new), ("same", warm[:3] * (arguments.turns // 3))):
            spent = median_us(judge, plays)
            shares = f"1/{pair / spent:<7.0f}  1/{1000 * PYTORCH_PAIR_MS / spent:.0f}"
            print(f"{name:<10}{texts:<8}{spent:>10.0f}  {shares}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
