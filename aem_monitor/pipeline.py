"""The pure middle of the way of the data: spans in, conversations, runs and verdicts out.

The daemon's engine, ``replay``, the demo and the tests all go through here.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from aem_monitor.assembly import AssemblySettings, TraceReading, join, read_trace
from aem_monitor.attribution.steps import Judge, Plan
from aem_monitor.conventions.registry import Registry
from aem_monitor.golden.dialog import Dialog
from aem_monitor.golden.messages import Similarity, same_user_message
from aem_monitor.golden.play import Run, run_of, runs_of
from aem_monitor.golden.recognise import Recogniser, Recognition
from aem_monitor.ingest.batch import Decoded
from aem_monitor.model.conversation import Conversation
from aem_monitor.model.span import LogRecord, Span
from aem_monitor.model.verdict import RunResult
from aem_monitor.scoring.oracle import Answers


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The steps with their settings. ``play_gap_ns`` separates plays of one dialog in one conversation."""

    registry: Registry
    assembly: AssemblySettings
    recogniser: Recogniser
    judge: Judge
    similarity: Similarity | None = None
    similar_from: float = 0.85
    play_gap_ns: int = 1800 * 10**9

    def read(self, spans: Sequence[Span], logs: Sequence[LogRecord]) -> TraceReading:
        """What the spans and logs of one trace say."""
        return read_trace(spans, logs, self.registry, self.assembly)

    def join(self, readings: Iterable[TraceReading]) -> list[Conversation]:
        """The conversations that traces make up, in order of their first span."""
        return join(list(readings), self.assembly)

    def recognise(self, conversation: Conversation) -> Recognition:
        """The golden dialog that a conversation plays, or why there is none."""
        return self.recogniser.recognise(conversation)

    def runs(self, conversation: Conversation, dialog: Dialog) -> list[Run]:
        """The plays of a recognised conversation."""
        return runs_of(conversation, dialog, self._same, self.play_gap_ns)

    def run_again(self, conversation: Conversation, dialog: Dialog, play: int) -> Run:
        """The play that the exchanges of a conversation were found to be, beside another version of its dialog."""
        return run_of(conversation, dialog, play, self._same)

    def judge_run(self, run: Run, partial: bool = False) -> Plan:
        """The verdict of a run, and what only an expert could settle."""
        return self.judge.plan(run, partial)

    def decide_run(self, run: Run, answers: Answers, partial: bool = False) -> Plan:
        """The verdict with the answers that an expert gave, and what is still open."""
        return self.judge.decide(run, answers, partial)

    def _same(self, golden: str, live: str, /, *, truncated: bool = False) -> bool:
        return same_user_message(golden, live, self.similarity, self.similar_from, truncated=truncated)


@dataclass(slots=True)
class Collected:
    """Everything of one input that ends: spans by trace, kept until its end. Log records without spans say nothing."""

    spans: dict[str, list[Span]] = field(default_factory=dict)
    logs: dict[str, list[LogRecord]] = field(default_factory=dict)
    seen_spans: int = 0
    skipped: Counter[str] = field(default_factory=Counter)

    def add(self, decoded: Decoded) -> None:
        """Take in one decoded part."""
        self.seen_spans += decoded.seen_spans
        self.skipped.update(decoded.skipped)
        for span in decoded.spans:
            self.spans.setdefault(span.trace_id, []).append(span)
        for record in decoded.logs:
            self.logs.setdefault(record.trace_id, []).append(record)

    def conversations(self, pipeline: Pipeline) -> list[Conversation]:
        """All conversations of the input."""
        readings = [pipeline.read(spans, self.logs.get(trace, ())) for trace, spans in self.spans.items()]
        return pipeline.join(reading for reading in readings if reading.has_turns)


@dataclass(frozen=True, slots=True)
class Replayed:
    """The results of an input, and how many conversations were not recognised, by outcome."""

    results: tuple[RunResult, ...]
    outcomes: Counter[str]


def score_conversations(pipeline: Pipeline, conversations: Iterable[Conversation]) -> Replayed:
    """Recognise and judge conversations that are complete because their input has ended."""
    results: list[RunResult] = []
    outcomes: Counter[str] = Counter()
    for conversation in conversations:
        recognition = pipeline.recognise(conversation)
        outcomes[recognition.outcome] += 1
        if recognition.dialog is None:
            continue
        results += [pipeline.judge_run(run).result for run in pipeline.runs(conversation, recognition.dialog)]
    return Replayed(tuple(results), outcomes)
