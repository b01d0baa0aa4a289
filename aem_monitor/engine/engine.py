"""The state machine between decoded spans and stored verdicts.

It has no thread and no clock: ``ingest`` takes what sources decoded, ``tick`` lets time pass, both with the wall clock
as an argument. What traces mean is asked of the pure pipeline; only when to ask, and what to keep, is decided here.
"""

import logging
import math
from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from aem_monitor.engine.bounds import Bounds
from aem_monitor.engine.cells import Cell
from aem_monitor.engine.conversations import Conversations
from aem_monitor.engine.held import Held
from aem_monitor.engine.intake import Intake
from aem_monitor.engine.recorder import Recorder
from aem_monitor.engine.remembered import Remembered
from aem_monitor.engine.round import Round, Spent, never
from aem_monitor.engine.runs import OpenConversation, RunState
from aem_monitor.engine.settings import EngineSettings
from aem_monitor.engine.timing import Moment, Timing
from aem_monitor.engine.watermark import Watermark
from aem_monitor.errors import StoreError
from aem_monitor.ingest.batch import (
    JOURNAL,
    Batch,
    EngineInput,
    Partition,
    PartitionsAssigned,
    PartitionsDropped,
    PartitionsHeldBack,
    PartitionsRevoked,
)
from aem_monitor.metrics.registry import Metrics
from aem_monitor.pipeline import Pipeline

_LOG = logging.getLogger(__name__)

_STORE_RETRY_SECONDS: Final = 1.0
_FORGET_SENDERS_SECONDS: Final = 3600.0
_STILL_SECONDS: Final = 30.0
"""Of silence, after which a consumer that held messages back no longer does: it says so about once a second."""
_NAMED_TRACES: Final = 5


@dataclass(frozen=True, slots=True)
class Figures:
    """What is open, as of the last tick; made on the engine's thread and read from any.

    ``oldest_run`` is when the oldest of the ``runs`` was opened, in seconds of the engine's clock; 0 without any.
    """

    conversations: int = 0
    runs: int = 0
    oldest_run: float = 0.0
    pending_traces: int = 0
    bytes_held: int = 0
    event_ns: int = 0


class Engine:
    """All state of one daemon. One thread calls it; only ``figures`` may be read from others."""

    def __init__(self, pipeline: Pipeline, settings: EngineSettings, recorder: Recorder, metrics: Metrics) -> None:
        self._pipeline = pipeline
        self._settings = settings
        self._recorder = recorder
        self._metrics = metrics
        self._held = Held(settings.remembered_traces)
        self._watermark = Watermark(settings.wall_idle)
        self._timing = Timing(settings)
        self._intake = Intake(self._held, self._watermark, recorder, metrics)
        self._conversations = Conversations(self._held, pipeline, recorder, metrics, settings.max_conversations)
        self._bounds = Bounds(self._held, recorder, metrics)
        self._left_alone: Remembered[str] = Remembered(settings.max_conversations)
        self._round: Round | None = None
        self._stood_still_at = -math.inf
        self.figures = Figures()

    # Input

    def ingest(self, item: EngineInput, now: float) -> None:
        """Take in a batch, or a change of partitions. Raises ``StoreError``; then nothing was taken in."""
        if isinstance(item, Batch):
            self._intake.take(item, now)
        elif isinstance(item, PartitionsAssigned):
            for topic, partition in item.partitions:
                self._watermark.assign(f"{topic}/{partition}", now)
        elif isinstance(item, PartitionsHeldBack):
            self._stand_still(item, now)
        elif isinstance(item, PartitionsDropped):
            self._held.offsets.drop(item.partitions)
        else:
            self._revoke(item)

    def abandon(self, item: EngineInput) -> None:
        """The item could not be taken in before the end: what it came from must keep it."""
        if isinstance(item, Batch) and item.position is not None:
            self._held.offsets.abandon(item.position)

    def pass_over(self, item: EngineInput) -> None:
        """The item cannot be taken in, now or ever: it is done with."""
        if isinstance(item, Batch) and item.position is not None:
            self._held.offsets.received(item.position)

    def _stand_still(self, item: PartitionsHeldBack, now: float) -> None:
        """Let no time pass for what is unfinished of partitions that are not read on: more of it is in the log."""
        for partition in item.partitions:
            self._watermark.assign(f"{partition[0]}/{partition[1]}", now)
        passed = now - self._stood_still_at
        self._stood_still_at = now
        self._held.stand_still(item.partitions, now, passed if passed < _STILL_SECONDS else 0.0)

    def _revoke(self, item: PartitionsRevoked) -> None:
        for topic, partition in item.partitions:
            self._watermark.forget(f"{topic}/{partition}")
        gone = self._held.offsets.revoke(item.partitions)
        if gone:
            _LOG.info(
                "%d open traces go back with the revoked partitions; their next owner reads them again", len(gone)
            )
        self._held.forget(gone)

    def releasable(self) -> Mapping[Partition, int]:
        """Partitions whose offsets have become free since the last call."""
        return self._held.offsets.releasable()

    def needed_by_runs(self) -> set[Partition]:
        """The partitions that hold something of an open run, or of what has not been looked at yet."""
        traces = set(self._held.dirty)
        for cell in self._held.cells:
            if cell.dirty:
                traces.update(cell.traces)
            runs = [state for opened in cell.conversations for state in opened.runs if not state.is_final]
            traces.update(trace_id for state in runs for trace_id in state.run.trace_ids)
        return {partition for trace_id in traces for partition in self._held.offsets.partitions_of(trace_id)}

    # Time

    def tick(self, now: float, spent: Spent = never) -> bool:
        """Look at what has changed, complete what is due, keep the bounds. Never raises for bad data or a bad store.

        Where ``spent`` says that this has taken long enough, it stops after a trace or a conversation and returns
        False: the next call goes on there. What is taken in between belongs to the next round. While a bound is
        exceeded nothing stops it: then making room comes before everything else.
        """
        if spent is never or self._bounds.exceeded(self._settings):
            self._round, spent = None, never
        going_on = self._round
        current = going_on or self._begin(now)
        done = self._go_on(current, spent)
        self._round = None if done else current
        if done:
            self._expire_pending(current.moment.now)
        if done and going_on is None:
            # Otherwise something may have come that nobody has looked at: the next tick makes room, and first looks.
            self._bounds.keep(self._settings, now)
        self._recorder.try_again()
        self.figures = Figures(
            conversations=sum(len(cell.conversations) for cell in self._held.cells),
            runs=self._held.runs.open_count(),
            oldest_run=self._held.runs.oldest_open(),
            pending_traces=self._held.traces.pending_count,
            bytes_held=self._held.traces.size,
            event_ns=current.moment.event_ns,
        )
        return done

    def _begin(self, now: float) -> Round:
        self._watermark.prune(now, after=max(_FORGET_SENDERS_SECONDS, 10 * self._settings.wall_idle))
        return Round(Moment(now, self._watermark.event_now(now)), deque(sorted(self._held.dirty)))

    def _go_on(self, current: Round, spent: Spent) -> bool:
        """Do more of a round; whether that was the rest of it."""
        while current.traces:
            self._read(current.traces.popleft())
            if spent():
                return False
        if current.cells is None:
            current.cells = deque(self._held.cells)
        while current.cells:
            cell = current.cells.popleft()
            if self._held.cells.get(cell.number) is cell and cell.due(current.moment.now):
                self._look_at(cell, current.moment)
                if spent():
                    return not current.cells
        return True

    def _read(self, trace_id: str) -> None:
        if trace_id not in self._held.dirty:
            # It was given back with its partition.
            return
        self._held.dirty.discard(trace_id)
        state = self._held.traces[trace_id]
        if not state.spans:
            # Log records that came before their spans.
            return
        try:
            state.reading = self._pipeline.read(state.all_spans(), list(state.logs.values()))
        except Exception:  # noqa: BLE001 - logged and counted there
            self._gave_up("trace", {trace_id})
            return
        self._intake.count_unread_tools(state, state.reading.unread_tools)
        if state.reading.has_turns:
            self._held.traces.place(state, self._held.cells.place(trace_id, state.reading, state.cell))
        elif state.earlier:
            self._intake.report_known([trace_id])

    def _look_at(self, cell: Cell, moment: Moment) -> None:
        try:
            if cell.dirty:
                self._conversations.renew(cell, moment.now)
                cell.renew_at = moment.now + self._timing.rest(len(cell.traces))
            self._advance(cell, moment)
        except StoreError:
            # Counted and said where it happened; nothing is lost, the cell is looked at again.
            cell.look_at = cell.renew_at = moment.now + _STORE_RETRY_SECONDS
        except Exception:  # noqa: BLE001 - logged and counted there
            # One conversation that the program cannot handle must not stop all others.
            self._gave_up("conversation", set(cell.traces))

    def _gave_up(self, step: str, trace_ids: Collection[str]) -> None:
        held = self._held.offsets.held_from(trace_ids)
        # They are no dead letters, but can be read there again while retention lasts.
        places = [
            f"{topic}/{number} from offset {offset} on"
            for (topic, number), offset in sorted(held.items())
            if topic != JOURNAL
        ]
        _LOG.exception(
            "%d traces were given up because of a defect; please report it. They are %s; their messages: %s",
            len(trace_ids),
            ", ".join(sorted(trace_ids)[:_NAMED_TRACES]),
            ", ".join(places) or "sent over OTLP",
        )
        self._metrics.counter("aem_monitor_engine_errors_total", step=step).inc()
        self._held.finish(trace_ids, "other")

    def _advance(self, cell: Cell, moment: Moment) -> None:
        """Do what is due in a cell, free the traces that nothing needs, and note when to look again."""
        look_at = math.inf
        settled: set[str] = set()
        unfinished: set[str] = set()
        over: set[str] = set()
        needed: set[str] = set()
        for opened in cell.conversations:
            traces = set(opened.conversation.trace_ids)
            if not opened.runs:
                left, due = self._fragment(opened, moment) if opened.fragment else self._other_traffic(opened, moment)
                over |= left
                if opened.fragment:
                    settled |= left
                unfinished |= traces - left
                needed |= traces - left
                look_at = min(look_at, due)
                continue
            due = min((self._advance_run(opened, at, moment) for at in range(len(opened.runs))), default=math.inf)
            pending = {trace for state in opened.runs if not state.is_final for trace in state.run.trace_ids}
            unfinished |= pending
            settled |= traces - pending
            done, over_due = self._over(opened, moment)
            over |= done
            needed |= traces - done
            look_at = min(look_at, due, over_due)
        states = [state for opened in cell.conversations for state in opened.runs]
        own = {trace for state in states if not state.stored_before for trace in state.run.trace_ids}
        self._intake.report_known(
            [trace for state in states if state.stored_before for trace in state.run.trace_ids if trace not in own]
        )
        # What has come for a trace since the round began still has to be read: it keeps its trace, and its offset.
        unread = self._held.dirty
        self._held.unsettle(unfinished)
        self._held.settle(settled - unfinished - unread)
        self._held.finish(((over - needed) & cell.traces.keys()) - unread)
        cell.look_at = look_at

    def _advance_run(self, opened: OpenConversation, at: int, moment: Moment) -> float:
        """Do what is due for a run; returns when to look at it again."""
        state, now = opened.runs[at], moment.now
        if state.is_final:
            if state.changed and state.may_be_revised and not self._recorder.revise(state, now):
                return now + _STORE_RETRY_SECONDS
            state.changed = False
            return math.inf
        heard = self._held.traces.heard(state.run.trace_ids, state.opened_at)
        cut_at = self._timing.too_old(state)
        last = at == len(opened.runs) - 1
        complete_at = self._timing.complete(opened, state, heard, last, moment)
        if min(complete_at, cut_at) > now:
            state.complete_since = math.inf
            return min(complete_at, cut_at)
        state.complete_since = min(state.complete_since, now)
        if complete_at > now and not state.expired:
            state.expired = True
            self._metrics.counter("aem_monitor_evicted_conversations_total", cause="age").inc()
        if state.changed or state.provisional is None:
            self._recorder.propose(state, now, partial=complete_at > now)
            state.changed = False
        final_at = min(self._timing.grace_over(opened, state, heard, last, moment), cut_at)
        if final_at > now:
            return final_at
        stored = self._recorder.finalise(state, now, self._held.offsets.positions)
        return math.inf if stored else now + _STORE_RETRY_SECONDS

    def _over(self, opened: OpenConversation, moment: Moment) -> tuple[set[str], float]:
        """Traces of a canary that nothing can change any more, and when to ask again.

        Without a conversation id the first trace names the conversation, and all stay until the last run is over.
        """
        traces = set(opened.conversation.trace_ids)
        dues: dict[str, float] = {}
        for state in opened.runs:
            heard = self._held.traces.heard(state.run.trace_ids, state.opened_at)
            due = self._timing.over(state, heard) if state.is_final else math.inf
            for trace in state.run.trace_ids:
                dues[trace] = max(due, dues.get(trace, 0.0))
        last = max(dues.values())
        if opened.conversation.conversation_id is None:
            dues = dict.fromkeys(traces, last)
        done = {trace for trace in traces if dues.get(trace, last) <= moment.now}
        return done, min((due for due in dues.values() if due > moment.now), default=math.inf)

    def _fragment(self, opened: OpenConversation, moment: Moment) -> tuple[set[str], float]:
        """The same of exchanges that go on where a stored run ended. What they follow may yet arrive: then they are a
        run of their own."""
        traces = opened.conversation.trace_ids
        heard = self._held.traces.heard(traces, 0.0)
        due = self._timing.left_alone(opened.conversation.last_ns, heard, moment)
        if due > moment.now:
            return set(), due
        self._intake.report_known(traces, late=True)
        return set(traces), math.inf

    def _other_traffic(self, opened: OpenConversation, moment: Moment) -> tuple[set[str], float]:
        """Traces of other traffic that nothing more can make a run, and when to ask again."""
        conversation, outcome = opened.conversation, opened.recognition.outcome
        whole = {trace for one in conversation.exchanges if one.root_seen for trace in one.trace_ids}
        # Dialogs that begin alike are told apart by what is said later.
        open_question = outcome == "ambiguous"
        left: set[str] = set()
        next_due = math.inf
        for trace_id in conversation.trace_ids:
            state = self._held.traces[trace_id]
            due = expires_at = self._timing.pending_expired(state.first_seen)
            if (trace_id in whole and not open_question) or state.is_known():
                due = min(due, self._timing.left_alone(state.last_ns(), state.last_arrival, moment))
            if due > moment.now or trace_id in self._held.dirty:
                next_due = min(next_due, due)
                continue
            left.add(trace_id)
            if expires_at <= moment.now:
                self._metrics.counter("aem_monitor_pending_expired_total").inc()
        if all(self._held.traces[trace_id].earlier for trace_id in conversation.trace_ids):
            # A part of a run that was stored before, read again without what would tell.
            self._intake.report_known(conversation.trace_ids)
            return left, next_due
        if left and self._left_alone.get(conversation.key) is None:
            self._left_alone.put(conversation.key, outcome)
            self._metrics.counter("aem_monitor_unrecognised_conversations_total", outcome=outcome).inc()
        return left, next_due

    def _expire_pending(self, now: float) -> None:
        """Traces without any turn may still become part of a run, for a while."""
        waited = self._held.traces.pending_opened_before(now - self._settings.pending_max_age)
        old = [trace_id for trace_id in waited if trace_id not in self._held.dirty]
        if old:
            self._metrics.counter("aem_monitor_pending_expired_total").inc(len(old))
            self._held.finish(old, "other")

    # End and change

    def drain(self, now: float) -> None:
        """Before the process ends: nothing that no log still holds may be lost.

        Runs from Kafka are left to whoever reads their offsets next, those in the journal to the next process. Runs
        from elsewhere are scored as far as they go.
        """

        def lost_otherwise(state: RunState) -> bool:
            return not any(self._held.offsets.holds(trace) for trace in state.run.trace_ids)

        for cell in self._held.cells:
            cell.renew_at = now
        self.tick(now)
        for cell in self._held.cells:
            try:
                stored = self._bounds.close(cell, now, lost_otherwise)
            except Exception:  # noqa: BLE001 - logged and counted there
                self._gave_up("drain", set(cell.traces))
                continue
            if not stored:
                _LOG.error(
                    "Verdicts of %d conversations are lost: the store does not take them", len(cell.conversations)
                )

    def reconfigure(self, pipeline: Pipeline, settings: EngineSettings, golden_tools: Collection[str]) -> None:
        """Use other settings and dialogs from now on; open conversations are looked at again with them."""
        self._round = None
        self._pipeline = pipeline
        self._settings = settings
        self._timing = Timing(settings)
        self._watermark.use(settings.wall_idle)
        self._conversations.use(pipeline)
        self._recorder.use(pipeline, golden_tools)
        self._held.dirty.update(state.trace_id for state in self._held.traces.states())
        for cell in self._held.cells:
            cell.dirty = True
