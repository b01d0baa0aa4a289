"""The same over OTLP, which nobody can ask again: a daemon that is killed at any moment while agents send to it.

``python -m tests.failures.otlp_kills --runs 20 --seed 1`` compares each run with a quiet one of the same requests.
"""

import argparse
import gzip
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import grpc
from opentelemetry.sdk.trace import ReadableSpan

from tests.daemon.running import Running, eventually
from tests.end_to_end.sales import ASK, NOT_SHARED, PROFIT, RIGHT
from tests.failures.doomed import OTLP_POINTS
from tests.failures.oracle import Outcome, outcome, scraped
from tests.services.agent import GREETING, Turn, agent_spans
from tests.services.collector import otlp_json, otlp_proto
from tests.services.process import free_port

KILLS: Final = 6
_CONVERSATIONS: Final = 20
_PAUSE: Final = 0.3
_SOON: Final = 12.0
_EXPORT: Final = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
_PLAYS: Final[Sequence[Sequence[Turn]]] = (RIGHT, PROFIT, NOT_SHARED, (ASK,))
"""The last one stops in its middle, and is final when it has been idle."""

Found: TypeAlias = tuple[Outcome, dict[Any, float]]
"""What is stored, and what is shown."""

Disturb: TypeAlias = Callable[[Running, random.Random], None]


@dataclass(frozen=True, slots=True)
class Request:
    """One export; ``kind`` is how it is sent."""

    kind: str
    spans: Sequence[ReadableSpan]


@dataclass(frozen=True, slots=True)
class Requests:
    """What is sent, in order, and how many runs there are in it."""

    requests: Sequence[Request]
    runs: int


def requests_of(seed: int) -> Requests:
    """Canaries and other conversations: cut anywhere, and those of two at a time mixed."""
    chance = random.Random(seed)
    pieces: list[list[Request]] = []
    for number in range(_CONVERSATIONS):
        marked = {"aem.dialog.id": "sales-report"} if number % 5 else {}
        turns = _PLAYS[number % len(_PLAYS)] if marked else (GREETING,)
        spans = agent_spans(f"c-{number}", turns, attributes=marked)
        chance.shuffle(spans)
        cut: list[Request] = []
        while spans:
            size = chance.randint(1, 3)
            cut.append(Request(chance.choice(("proto", "gzip", "json", "grpc")), spans[:size]))
            spans = spans[size:]
        pieces.append(cut)
    mixed: list[Request] = []
    for first, second in zip(pieces[::2], pieces[1::2], strict=True):
        pair = [*first, *second]
        chance.shuffle(pair)
        mixed += pair
    return Requests(mixed, runs=sum(number % 5 > 0 for number in range(_CONVERSATIONS)))


class Sender:
    """Sends each request until it is acknowledged, as an exporter does; one in five is then sent once more."""

    def __init__(self, daemon: Running, grpc_address: str, chance: random.Random) -> None:
        self._daemon = daemon
        self._grpc_address = grpc_address
        self._chance = chance

    def send(self, requests: Sequence[Request]) -> None:
        """All of them, in order, with pauses in which the daemon may be killed."""
        for request in requests:
            time.sleep(self._chance.uniform(0.0, _PAUSE))
            self._until_acknowledged(request)
            if self._chance.random() < 0.2:
                self._until_acknowledged(request)

    def _until_acknowledged(self, request: Request) -> None:
        while not self._acknowledged(request):
            time.sleep(0.05)

    def _acknowledged(self, request: Request) -> bool:
        match request.kind:
            case "grpc":
                return self._by_grpc(otlp_proto(request.spans))
            case "json":
                return self._daemon.post(otlp_json(request.spans), "application/json") == 200
            case "gzip":
                return self._daemon.post(gzip.compress(otlp_proto(request.spans)), Content_Encoding="gzip") == 200
            case _:
                return self._daemon.post(otlp_proto(request.spans)) == 200

    def _by_grpc(self, message: bytes) -> bool:
        with grpc.insecure_channel(self._grpc_address) as channel:
            call: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(_EXPORT)
            try:
                call(message, timeout=5)
            except grpc.RpcError:
                return False
        return True


def sent(folder: Path, requests: Requests, seed: int, disturb: Disturb, **journal: Any) -> Found:
    """What becomes of the requests in a daemon that is disturbed while they are sent, and after."""
    grpc_address = f"127.0.0.1:{free_port()}"
    folder.mkdir()
    daemon = Running(
        folder,
        assembly={"grace": "5s", "idle": "6s", "wall_idle": "1s"},
        ingest={
            "otlp_grpc": {"enabled": True, "listen": grpc_address},
            "otlp_journal": {"segment_bytes": "8KiB", **journal},
        },
    )
    sender = Sender(daemon, grpc_address, random.Random(seed))
    sending = threading.Thread(target=sender.send, args=(requests.requests,), daemon=True)
    try:
        daemon.start()
        sending.start()
        disturb(daemon, random.Random(seed))
        sending.join(300)
        assert not sending.is_alive(), "not everything was acknowledged"
        eventually(lambda: daemon.scored(requests.runs), "every canary is final", 120)
        eventually(lambda: daemon.value("aem_monitor_open_conversations") <= requests.runs, "the others are left", 60)
        shown = scraped(daemon.metrics("text/plain"))
        assert daemon.stop() == 0
        assert "Traceback" not in daemon.log
        assert list(folder.glob("*-otlp-*/*.segment")) == [], "what is not needed goes"
        return outcome(f"sqlite:///{folder / 'verdicts.db'}", ["tests"]), shown
    finally:
        daemon.close()


def in_peace(_daemon: Running, _chance: random.Random) -> None:
    """No disturbance."""


def killed(daemon: Running, chance: random.Random) -> None:
    """Killed at random moments: while it starts, takes requests, waits for the grace, stores, cuts its journal."""
    for _ in range(KILLS):
        if chance.random() < 0.25:
            _killed_while_it_starts(daemon, chance)
        time.sleep(chance.uniform(0.0, 5.0) ** 2 / 5.0)
        daemon.kill()
        daemon.start()


def dying_at(points: Sequence[str]) -> Disturb:
    """One process after the other dies when it comes to a point of ``doomed``, or is killed if it does not soon."""

    def disturb(daemon: Running, chance: random.Random) -> None:
        for point in points:
            daemon.close()
            # It may be dead before it answers.
            with suppress(AssertionError):
                daemon.start("tests.failures.doomed", point, str(chance.randint(1, OTLP_POINTS[point].most)))
            end = time.monotonic() + _SOON
            while daemon.running and time.monotonic() < end:
                time.sleep(0.05)
        daemon.close()
        daemon.start()

    return disturb


def _killed_while_it_starts(daemon: Running, chance: random.Random) -> None:
    daemon.kill()
    killer = threading.Timer(chance.uniform(0.5, 4.0), daemon.close)
    killer.start()
    # It may be dead before it answers. One that cannot start at all is seen at the next start.
    with suppress(AssertionError):
        daemon.start()
    killer.join()
    daemon.close()
    daemon.start()


def main() -> int:
    """Run the loop; 1 when some run differed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1, help="of the first run; each next one has the next")
    arguments = parser.parse_args()
    points = sorted(OTLP_POINTS)
    different = 0
    for seed in range(arguments.seed, arguments.seed + arguments.runs):
        began, requests = time.monotonic(), requests_of(seed)
        with tempfile.TemporaryDirectory(prefix="aem-otlp-kills-") as folder:
            try:
                expected = sent(Path(folder, "quiet"), requests, seed, in_peace)
                disturb = dying_at(random.Random(seed).sample(points, 4)) if seed % 2 else killed
                same = sent(Path(folder, "killed"), requests, seed, disturb) == expected
                word = "same" if same else "DIFFERENT"
            except AssertionError as error:
                same, word = False, f"FAILED: {error}"
        different += not same
        seconds = time.monotonic() - began
        print(
            f"seed {seed}: {word}; {requests.runs} runs, {len(requests.requests)} requests; {seconds:.0f} s", flush=True
        )
    print(f"{arguments.runs} runs, {different} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
