"""All that the detectors remember, as it is stored."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from aem_monitor.alerting.observed import Finding, Signature
from aem_monitor.alerting.tallies import Memory, Past
from aem_monitor.alerting.volume import Volume
from aem_monitor.sequential.baseline import Baseline


class Incident(BaseModel):
    """One that is open.

    ``covers`` are the reasons, and the kinds without one, that it has told of. ``measured`` is the name of the root
    cause whose end is its end; empty where it is the failing of runs. It is held against ``baseline``, above which it
    is by ``shift``; ``recovery`` is the logarithm of the recovery's statistic, None before the first run.
    """

    model_config = ConfigDict(extra="forbid")

    signature: Signature
    opened_at: float
    finding: Finding
    measured: str
    baseline: Baseline
    shift: float
    recovery: float | None = None
    covers: list[str]


class ReleaseState(BaseModel):
    """What is known of one release.

    ``detectors`` are the states of change detectors and ``baselines`` what these are held against: by name of the root
    cause, the failing of runs under the empty name. ``all`` are the runs that say whether the release is worse than
    those before it, which ``reference`` describes. ``compared``: that it is was found; ``worse``: it is no measure for
    later ones. ``own_past``: ``baselines`` are of its own runs, not of those before it. ``others`` counts runs of other
    releases since its last one.
    """

    model_config = ConfigDict(extra="forbid")

    first_at: float
    last_at: float
    seen: int = 0
    others: int = 0
    past: Past = Field(default_factory=Past)
    all: Memory = Field(default_factory=Memory)
    reference: Baseline | None = None
    compared: bool = False
    worse: bool = False
    own_past: bool = False
    baselines: dict[str, Baseline] = {}
    detectors: dict[str, list[float]] = {}
    incidents: list[Incident] = []


class AgentState(BaseModel):
    """What is known of one agent."""

    model_config = ConfigDict(extra="forbid")

    last_at: float = 0.0
    volume: Volume = Field(default_factory=Volume)
    releases: dict[str, ReleaseState] = {}


class Remembered(BaseModel):
    """Everything."""

    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    agents: dict[str, AgentState] = {}
