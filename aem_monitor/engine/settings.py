"""Times and bounds of the engine. Times in seconds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """See ``deploy/docs/configuration.md``, section ``assembly``, for what each of these means to an operator.

    ``idle`` and ``grace`` count in event time; a run also has to be silent for ``grace`` of wall time, so that a
    backlog that is read in seconds is not cut short. ``pending_*`` bound what has not become a run yet,
    ``max_conversations`` and ``max_traces`` what is held altogether. ``late_window`` is how long a final run is kept
    for spans that come late. ``max_uncommitted`` is how many offsets of a Kafka partition may wait for its oldest
    unfinished trace.
    """

    idle: float = 60.0
    grace: float = 10.0
    play_gap: float = 1800.0
    wall_idle: float = 30.0
    pending_max_age: float = 600.0
    pending_max_bytes: int = 256 * 2**20
    max_conversations: int = 10_000
    max_traces: int = 100_000
    max_run_age: float = 6 * 3600.0
    late_window: float = 600.0
    remembered_traces: int = 200_000
    max_uncommitted: int = 10_000_000
