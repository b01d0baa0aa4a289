"""When something is due, if nothing more comes. Times in wall clock seconds unless they say ns."""

from dataclasses import dataclass
from typing import Final

from aem_monitor.engine.runs import OpenConversation, RunState
from aem_monitor.engine.settings import EngineSettings

_NS: Final = 10**9
_POLL_EVENT_TIME: Final = 1.0
"""How often a condition that waits for event time alone is looked at."""

_SMALL_CELL: Final = 100
_REST_PER_TRACE: Final = 0.005


@dataclass(frozen=True, slots=True)
class Moment:
    """Now, on the wall clock and in event time (ns)."""

    now: float
    event_ns: int


class Timing:
    """Each method answers from which time on a condition holds, provided that nothing more comes; it holds if that is
    not after ``moment.now``.

    Event time may hold a condition back for ``pending_max_age`` of silence at most: a sender whose clock is a day
    behind must not keep everybody's verdicts for a day. An event time that lies after its own arrival is a wrong clock
    and counts as the arrival.
    """

    def __init__(self, settings: EngineSettings) -> None:
        self._settings = settings

    def complete(self, opened: OpenConversation, state: RunState, heard: float, last: bool, moment: Moment) -> float:
        """The run is complete; ``last`` says that no other play follows it in its conversation."""
        if _ended(opened, state, last):
            return moment.now
        idle = self._settings.idle
        silence = min(idle, self._settings.wall_idle)
        return self._quiet(opened.conversation.last_ns, idle, heard, silence, moment)

    def grace_over(self, opened: OpenConversation, state: RunState, heard: float, last: bool, moment: Moment) -> float:
        """The verdict of a complete run may become final: the grace has passed since it was complete."""
        grace = self._settings.grace
        event_seconds = grace if _ended(opened, state, last) else self._settings.idle + grace
        return max(state.complete_since + grace, self._quiet(state.run.last_ns, event_seconds, heard, grace, moment))

    def too_old(self, state: RunState) -> float:
        """The run is cut, whatever it waits for."""
        return state.opened_at + self._settings.max_run_age

    def over(self, state: RunState, heard: float) -> float:
        """Nothing that comes can change a final run any more."""
        if state.stored_before:
            return heard + self._settings.grace
        if state.expired:
            return state.final_at + self._settings.late_window
        return max(state.final_at, heard) + self._settings.late_window

    def left_alone(self, last_ns: int, heard: float, moment: Moment) -> float:
        """A whole trace of other traffic can no longer become part of a run."""
        grace = self._settings.grace
        return self._quiet(last_ns, grace, heard, grace, moment)

    def rest(self, traces: int) -> float:
        """Seconds before a cell of so many traces is assembled anew.

        All traces of an agent that sends no conversation id share a cell; assembling it at every tick would cost the
        square of their rate (0.13 ms a conversation, measured). Half a grace of rest delays no verdict by more.
        """
        return 0.0 if traces < _SMALL_CELL else min(traces * _REST_PER_TRACE, self._settings.grace / 2)

    def pending_expired(self, first_seen: float) -> float:
        """A trace that may still become part of a run is waited for no longer."""
        return first_seen + self._settings.pending_max_age

    def _quiet(self, last_ns: int, event_seconds: float, heard: float, wall_seconds: float, moment: Moment) -> float:
        silent_at = heard + wall_seconds
        if moment.now < silent_at:
            return silent_at
        if moment.event_ns - min(last_ns, round(heard * _NS)) >= event_seconds * _NS:
            return moment.now
        given_up = heard + max(self._settings.pending_max_age, wall_seconds)
        return min(max(given_up, moment.now), moment.now + _POLL_EVENT_TIME)


def _ended(opened: OpenConversation, state: RunState, last: bool) -> bool:
    """Whether something says that nothing more belongs to the run, so that it need not be idle."""
    return not last or state.run.all_present or opened.conversation.ended
