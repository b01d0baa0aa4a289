"""An engine under a clock that the test moves, over a store in memory and the real pipeline."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from prometheus_client import CollectorRegistry

from aem_monitor.build import PipelineSettings, build_pipeline, build_registry
from aem_monitor.engine.engine import Engine
from aem_monitor.engine.recorder import Recorder
from aem_monitor.engine.settings import EngineSettings
from aem_monitor.golden.dialog import Dialog
from aem_monitor.ingest.batch import Batch, Decoded, EngineInput, Position
from aem_monitor.metrics.increments import increments
from aem_monitor.metrics.registry import Metrics
from aem_monitor.model.increment import Total
from aem_monitor.model.span import LogRecord, Resource, Scope, Span, StatusCode
from aem_monitor.model.verdict import RunResult
from aem_monitor.pipeline import Collected, Pipeline, score_conversations
from aem_monitor.store import Store
from tests.playing import SCORER, agent, golden, tool, user

SECOND = 10**9
START = 1_790_000_000
"""When the tests' clock starts, in seconds."""

REGISTRY = build_registry()
TOPIC = "otlp_spans"
SCOPE = Scope("shop.agent", "1")


def sales(version: int = 1, **top: Any) -> Dialog:
    """Two exchanges: the report is asked for, filtered, summarised."""
    turns = [
        user("Create a sales report for last quarter"),
        agent(1, "Which region should the report cover?"),
        user("The EU, and show revenue"),
        tool(2, "reports.FilterData", {"metric": "revenue", "region": "EU"}),
        agent(3, "EU revenue was 1.24 million.", depends_on=[2]),
    ]
    return golden(turns, **{"dialog": "sales", "version": version, **top})


def pipeline_of(*dialogs: Dialog, **settings: Any) -> Pipeline:
    chosen = PipelineSettings(**{"require_where": False, **settings})
    return build_pipeline(dialogs, chosen, REGISTRY, SCORER)


@dataclass(frozen=True, slots=True)
class Said:
    """One exchange of an agent, as it is played in a test."""

    text: str
    reply: str | None
    calls: Sequence[tuple[str, Mapping[str, Any]]] = ()


ASK = Said("Create a sales report for last quarter", "Which region should the report cover?")
SHOW = Said(
    "The EU, and show revenue",
    "EU revenue was 1.24 million.",
    [("reports.FilterData", {"metric": "revenue", "region": "EU"})],
)
PROFIT = replace(SHOW, calls=[("reports.FilterData", {"metric": "profit", "region": "EU"})])
HELLO = Said("Where is my parcel?", "It is on its way.")


def exchange(
    said: Said,
    conversation: str | None,
    at: float,
    *,
    trace: str | None = None,
    service: str = "shop",
    release: str = "1.0",
    attributes: Mapping[str, Any] | None = None,
) -> list[Span]:
    """The spans of one exchange, children first as SDKs export them; ``at`` is in seconds after ``START``."""
    start = round((START + at) * SECOND)
    trace_id = trace or f"{abs(hash((conversation, at, said.text, service))) % 16**12:032x}"
    resource = Resource({"service.name": service, "service.version": release})
    root_id = f"{start % 16**15 + 1:016x}"
    ids: dict[str, Any] = {} if conversation is None else {"gen_ai.conversation.id": conversation}

    def span(span_id: str, parent: str | None, name: str, begin: int, end: int, **named: Any) -> Span:
        return Span(trace_id, span_id, parent, name, 1, begin, end, named, (), StatusCode.UNSET, "", resource, SCOPE)

    spans: list[Span] = []
    time = start
    for number, (name, arguments) in enumerate(said.calls):
        time += SECOND // 4
        attributes_of_call = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": name,
            "gen_ai.tool.call.id": f"call-{at}-{number}",
            "gen_ai.tool.call.arguments": json.dumps(arguments),
            "gen_ai.tool.call.result": json.dumps({"total": 1240000}),
        }
        span_id = f"{(start + number + 2) % 16**15:016x}"
        spans.append(span(span_id, root_id, f"execute_tool {name}", time, time + SECOND // 8, **attributes_of_call))
    of_root: dict[str, Any] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": service,
        "gen_ai.request.model": "m",
        "gen_ai.input.messages": _messages("user", said.text),
        **ids,
        **(attributes or {}),
    }
    if said.reply is not None:
        of_root["gen_ai.output.messages"] = _messages("assistant", said.reply)
    spans.append(span(root_id, None, f"invoke_agent {service}", start, time + SECOND // 2, **of_root))
    return spans


def play(conversation: str | None, at: float = 0.0, show: Said = SHOW, **more: Any) -> list[Span]:
    """A whole play of ``sales``: two exchanges, ten seconds apart."""
    return [*exchange(ASK, conversation, at, **more), *exchange(show, conversation, at + 10, **more)]


def _messages(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


@dataclass
class Bench:
    """One process' life of an engine. ``store`` outlives it where a test hands it on."""

    pipeline: Pipeline = field(default_factory=lambda: pipeline_of(sales()))
    settings: EngineSettings = field(default_factory=EngineSettings)
    store: Store = field(default_factory=lambda: Store("sqlite://", "tests"))
    now: float = START + 20.0
    sliced: bool = False
    """Whether a tick is called again and again, and stops after each trace and each conversation."""

    def __post_init__(self) -> None:
        self.metrics = Metrics(CollectorRegistry())
        self.metrics.restore(self.store.totals())
        self.recorder = Recorder(self.pipeline, self.store, self.metrics, {"reports"})
        self.engine = Engine(self.pipeline, self.settings, self.recorder, self.metrics)

    def restarted(self) -> "Bench":
        """The next process on the same store; this one is gone as after a kill."""
        return Bench(self.pipeline, self.settings, self.store, self.now)

    def feed(
        self,
        spans: Iterable[Span],
        logs: Iterable[LogRecord] = (),
        *,
        offset: int | None = None,
        partition: int = 0,
        sender: str | None = None,
        decoded: Decoded | None = None,
    ) -> None:
        """One batch, from Kafka if it has an offset, else over OTLP."""
        kept, records = tuple(spans), tuple(logs)
        given = decoded or Decoded(
            kept, records, len(kept), len(records), max_end_ns=max((span.end_ns for span in kept), default=0)
        )
        position = None if offset is None else Position(TOPIC, partition, offset)
        source = "otlp_http" if position is None else "kafka"
        name = sender or ("peer" if position is None else f"{TOPIC}/{partition}")
        self.submit(Batch(source, name, given, self.now, position))

    def submit(self, item: EngineInput) -> None:
        self.engine.ingest(item, self.now)

    def tick(self) -> None:
        if not self.sliced:
            self.engine.tick(self.now)
            return
        while not self.slice():
            pass

    def slice(self) -> bool:
        """One step of a tick; whether it was the last."""
        return self.engine.tick(self.now, lambda: True)

    def wait(self, seconds: float, step: float = 1.0) -> None:
        """Let time pass, with ticks on the way."""
        end = self.now + seconds
        while self.now < end:
            self.now = min(end, self.now + step)
            self.tick()

    def finish(self) -> None:
        """Long enough for everything to be idle, final, and over."""
        self.wait(400, step=5)

    # What came out

    def results(self) -> list[RunResult]:
        """All final runs, oldest first."""
        return sorted((run.result for run in self.store.runs()), key=lambda run: (run.started_ns, run.run_id))

    def counter(self, name: str, **labels: str) -> float:
        return self.metrics.counter(name, **labels).value

    def counted_runs(self) -> float:
        """How many runs the scrape shows."""
        return sum(
            sample.value
            for family in self.metrics.collect()
            for sample in family.samples
            if sample.name == "aem_runs_total"
        )

    def exposed(self) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
        """Every stored counter that is not zero, as a scrape shows it."""
        names = {total.metric for total in self.store.totals()}
        return {
            (sample.name, tuple(sorted(sample.labels.items()))): round(sample.value, 6)
            for family in self.metrics.collect()
            for sample in family.samples
            if sample.value and (sample.name in names or family.name in names)
        }

    def store_is_up(self) -> bool:
        return self.recorder.store_up

    def releasable(self) -> dict[int, int]:
        return {partition: offset for (_, partition), offset in self.engine.releasable().items()}


def killed_now_and_then(messages: Sequence[list[Span]], chance: Random, work: Callable[[Bench], object]) -> Bench:
    """The last of several processes that read the messages, one an offset, and work on them between.

    After each kill the log is read again from what was committed; sometimes from its beginning.
    """
    bench = Bench()
    committed = next_offset = kills = 0
    for _ in range(600):
        bench.now += chance.choice([0.1, 0.5, 1.0, 3.0])
        if next_offset < len(messages) and chance.random() < 0.4:
            bench.feed(messages[next_offset], offset=next_offset)
            next_offset += 1
        if chance.random() < 0.75:
            work(bench)
            committed = max(committed, bench.releasable().get(0, 0))
        if kills < 6 and chance.random() < 0.06:
            kills += 1
            bench = bench.restarted()
            next_offset = chance.choice([committed, committed, 0])
    assert kills == 6
    assert next_offset == len(messages)
    return bench


def replayed(pipeline: Pipeline, spans: Iterable[Span], logs: Iterable[LogRecord] = ()) -> list[RunResult]:
    """What ``replay`` says of the same input."""
    collected = Collected()
    collected.add(Decoded(tuple(spans), tuple(logs)))
    results = score_conversations(pipeline, collected.conversations(pipeline)).results
    return sorted(results, key=lambda run: (run.started_ns, run.run_id))


Nonzero = dict[tuple[str, tuple[tuple[str, str], ...], float | None], tuple[float, int]]


def totals_of(results: Iterable[RunResult]) -> Nonzero:
    """The totals that these runs add up to, without the zeros."""
    values: dict[Any, float] = defaultdict(float)
    counts: Counter[Any] = Counter()
    for result in results:
        for one in increments(result, {"reports"}):
            key = (one.metric, one.labels, one.bucket)
            values[key] += one.value
            counts[key] += one.bucket is not None
    return {key: (round(value, 6), counts[key]) for key, value in values.items() if value or counts[key]}


OF_NO_RESULT = ("aem_verdict_revisions_total", "aem_exchange_latency_seconds")
"""Totals that results alone do not give: revisions, and exchanges, whose times only runs know."""


def nonzero(totals: Iterable[Total], *, without: Sequence[str] = OF_NO_RESULT) -> Nonzero:
    """Stored totals in the same form."""
    return {
        (total.metric, total.labels, total.bucket): (round(total.value, 6), total.count)
        for total in totals
        if (total.value or total.count) and total.metric not in without
    }
