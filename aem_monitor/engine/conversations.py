"""From the traces of a cell to its conversations, their runs and the runs' numbers."""

from collections.abc import Sequence
from dataclasses import replace

from aem_monitor.engine.cells import Cell
from aem_monitor.engine.held import Held
from aem_monitor.engine.recorder import Recorder
from aem_monitor.engine.remembered import Remembered
from aem_monitor.engine.runs import OpenConversation, RunState, same_play, same_stored_play
from aem_monitor.golden.play import Run
from aem_monitor.golden.recognise import Recognition
from aem_monitor.metrics.registry import Metrics
from aem_monitor.model.conversation import Conversation
from aem_monitor.pipeline import Pipeline
from aem_monitor.store.records import StoredPlay


class Conversations:
    """Keeps the conversations of cells up to date. What is known of a run stays with it as it grows."""

    def __init__(
        self, held: Held, pipeline: Pipeline, recorder: Recorder, metrics: Metrics, max_conversations: int
    ) -> None:
        self._held = held
        self._pipeline = pipeline
        self._recorder = recorder
        self._metrics = metrics
        self._recognised: Remembered[str] = Remembered(max_conversations)

    def use(self, pipeline: Pipeline) -> None:
        """Recognise by other dialogs from now on. Runs that are complete keep the dialog they were completed with."""
        self._pipeline = pipeline

    def renew(self, cell: Cell, now: float) -> None:
        """Assemble the cell anew. Raises ``StoreError``; then the cell stays dirty and keeps what it had."""
        former = [state for opened in cell.conversations for state in opened.runs]
        states = [self._held.traces[trace_id] for trace_id in sorted(cell.traces)]
        for trace in states:
            self._held.traces.place(trace, cell.number)
        readings = [trace.reading for trace in states if trace.reading is not None]
        opened = [self._open(cell, conversation, now) for conversation in self._pipeline.join(readings)]
        cell.conversations = opened
        cell.dirty = False
        listed = {state.run_id for one in opened for state in one.runs}
        gone = [state for state in former if state.run_id not in listed and not state.is_final]
        self._withdraw([state for state in gone if self._held.cells.get(state.cell) in (None, cell)])

    def _withdraw(self, states: Sequence[RunState]) -> None:
        """What looked like runs has become part of others."""
        for state in states:
            self._held.runs.drop(state)
        self._recorder.withdraw([state.run_id for state in states if state.provisional is not None])

    def _open(self, cell: Cell, conversation: Conversation, now: float) -> OpenConversation:
        recognition = self._pipeline.recognise(conversation)
        opened = OpenConversation(conversation, recognition)
        runs = self._plays(conversation, recognition)
        if not runs:
            return opened
        stored = self._recorder.plays(conversation.agent, conversation.key)
        numbers = _Numbers(stored)
        for run in runs:
            state = self._counted(run, now)
            if state is not None and state in opened.runs:
                opened.fragment = True
                continue
            if state is not None:
                numbers.taken(run.dialog.name, state.run.play)
                self._grow(state, replace(run, play=state.run.play))
            elif (unsure := self._unsure(run, numbers)) is not None:
                state = unsure
                numbers.taken(run.dialog.name, state.run.play)
                self._grow(state, replace(run, play=state.run.play))
            elif numbers.is_fragment(run):
                opened.fragment = True
                continue
            else:
                state = self._uncounted(replace(run, play=numbers.next(run)), now)
                self._count_recognised(conversation, recognition)
                self._recorder.show(state.run, now)
            state.cell = cell.number
            self._held.runs.keep(state)
            opened.runs.append(state)
        return opened

    def _plays(self, conversation: Conversation, recognition: Recognition) -> list[Run]:
        """The plays of a conversation; those that were complete before a reload, by the dialog of that time."""
        dialog = recognition.dialog
        runs = [] if dialog is None else self._pipeline.runs(conversation, dialog)
        for state in self._held.runs.of_traces(conversation.trace_ids):
            if not state.is_complete or state.run.dialog is dialog:
                continue
            before = [run for run in self._pipeline.runs(conversation, state.run.dialog) if same_play(run, state)]
            if before:
                runs = [run for run in runs if not same_play(run, state)] + before[:1]
        return sorted(runs, key=lambda run: run.first_ns)

    def _counted(self, run: Run, now: float) -> RunState | None:
        """The state of a run that is final already, in this process or before it."""
        for state in self._held.runs.of_traces(run.trace_ids):
            if state.is_final and same_play(run, state):
                return state
        for trace_id in run.trace_ids:
            for play in self._held.traces[trace_id].earlier:
                if same_stored_play(run, play):
                    return RunState(play.run_id, now, replace(run, play=play.play), stored_before=True)
        return None

    def _unsure(self, run: Run, numbers: "_Numbers") -> RunState | None:
        """The state of a run that this process stored without being told so; it is still to be counted."""
        for state in self._held.runs.of_traces(run.trace_ids):
            if state.unsure and not state.is_final and same_play(run, state) and numbers.is_stored(state.run_id):
                return state
        return None

    def _uncounted(self, run: Run, now: float) -> RunState:
        state = self._held.runs.get(run.run_id)
        if state is None:
            return RunState(run.run_id, now, run)
        self._grow(state, run)
        return state

    def _grow(self, state: RunState, run: Run) -> None:
        state.changed = state.changed or state.run != run
        state.run = run

    def _count_recognised(self, conversation: Conversation, recognition: Recognition) -> None:
        key = f"{conversation.agent}\x1f{conversation.key}"
        if recognition.by is None or self._recognised.get(key) is not None:
            return
        self._recognised.put(key, recognition.by)
        self._metrics.counter("aem_monitor_recognised_conversations_total", by=recognition.by).inc()


class _Numbers:
    """Numbers of plays of one conversation: in time order, beside those that are stored and never change."""

    def __init__(self, stored: Sequence[StoredPlay]) -> None:
        self._stored = stored
        self._used = {(play.dialog, play.play) for play in stored}
        self._last: dict[str, int] = {}

    def is_stored(self, run_id: str) -> bool:
        return any(play.run_id == run_id for play in self._stored)

    def taken(self, dialog: str, number: int) -> None:
        self._last[dialog] = max(number, self._last.get(dialog, 0))

    def is_fragment(self, run: Run) -> bool:
        """Whether the run is the rest of a stored one: it does not begin as the dialog does, and follows a play."""
        name = run.dialog.name
        return name not in self._last and not run.starts_on_script and self._before(run) > 0

    def next(self, run: Run) -> int:
        name = run.dialog.name
        number = max(self._before(run), self._last.get(name, 0)) + 1
        while (name, number) in self._used:
            number += 1
        self._last[name] = number
        return number

    def _before(self, run: Run) -> int:
        name = run.dialog.name
        return max((p.play for p in self._stored if p.dialog == name and p.started_ns < run.first_ns), default=0)
