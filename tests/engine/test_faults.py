"""Kills, rebalances and a failing store at random, all at once: the outcome is that of a quiet run."""

import random
from collections.abc import Callable

import pytest

from aem_monitor.errors import StoreError
from aem_monitor.ingest.batch import PartitionsAssigned, PartitionsRevoked
from aem_monitor.model.span import Span
from tests.engine.bench import (
    ASK,
    PROFIT,
    SHOW,
    TOPIC,
    Bench,
    exchange,
    nonzero,
    pipeline_of,
    replayed,
    sales,
    totals_of,
)
from tests.engine.test_delivery import FailingStore


def _messages(chance: random.Random) -> list[list[Span]]:
    """One or two plays in each of four conversations; as single spans, or as batches of one trace a play."""
    messages: list[list[Span]] = []
    for number in range(4):
        begin = chance.random() * 40
        conversation = f"c{number}" if chance.random() < 0.8 else None
        service = f"s{number}" if conversation is None else "shop"
        for again in range(chance.choice([1, 1, 2])):
            at, show = begin + 70 * again, chance.choice([SHOW, PROFIT])
            trace = None if conversation is None or chance.random() < 0.5 else f"{10 * number + again + 1:032x}"
            spans = exchange(ASK, conversation, at, service=service, trace=trace)
            spans += exchange(show, conversation, at + 10, service=service, trace=trace)
            messages += [[span] for span in spans] if trace is None else [spans[:2], spans[2:]]
    return sorted(messages, key=lambda message: message[0].start_ns)


@pytest.mark.parametrize("seed", range(12))
def test_faults_of_all_kinds_change_no_verdict_and_no_total(seed: int) -> None:
    chance = random.Random(seed)
    messages = _messages(chance)
    expected = replayed(pipeline_of(sales()), [span for message in messages for span in message])
    store = FailingStore()
    store.after = chance.random() < 0.5
    bench = Bench(store=store)
    faulty: Callable[[int], bool] = lambda _: chance.random() < 0.1  # noqa: E731
    store.fails = faulty
    committed = following = disturbed = 0
    for _ in range(300):
        bench.now += chance.choice([0.2, 0.5, 1.0])
        if following < len(messages) and chance.random() < 0.6:
            try:
                bench.feed(messages[following], offset=following)
                following += 1
            except StoreError:
                continue
        if chance.random() < 0.7:
            bench.tick()
            committed = max(committed, bench.releasable().get(0, 0))
        fate = chance.random()
        if disturbed >= 6 or fate >= 0.06:
            continue
        disturbed += 1
        if fate < 0.03:
            store.fails = lambda _: False
            bench = bench.restarted()
            store.fails = faulty
            following = chance.choice([committed, 0])
        else:
            bench.submit(PartitionsRevoked("kafka", ((TOPIC, 0),)))
            bench.submit(PartitionsAssigned("kafka", ((TOPIC, 0),)))
            following = committed
    store.fails = lambda _: False
    for offset in range(following, len(messages)):
        bench.feed(messages[offset], offset=offset)
    bench.finish()
    bench.finish()
    assert expected
    assert bench.results() == expected
    assert nonzero(store.totals()) == totals_of(expected)
    assert bench.exposed() == bench.restarted().exposed()
    assert max(committed, *bench.releasable().values(), 0) == len(messages)
