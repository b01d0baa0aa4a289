"""The detectors: final runs in, incidents out. Pure: the same runs give the same incidents.

deploy/docs/alerting-statistics.md has the statistics, with what they promise and what was measured.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import ValidationError

from aem_monitor.alerting.finding import compared_finding, recent_finding, shift_of, tool_of
from aem_monitor.alerting.memory import AgentState, Incident, ReleaseState, Remembered
from aem_monitor.alerting.observed import (
    Cause,
    Event,
    Explained,
    Finding,
    Kind,
    Observed,
    Opened,
    Resolved,
    Signature,
    Why,
)
from aem_monitor.alerting.tallies import FAILING, Memory, Seen, cause_of, name_of, seen_of, together
from aem_monitor.errors import AemMonitorError
from aem_monitor.model.verdict import FailureReason
from aem_monitor.sequential.baseline import Baseline
from aem_monitor.sequential.change import ChangeDetector, RecoveryDetector
from aem_monitor.sequential.shifts import SHIFTS
from aem_monitor.sequential.worse import log_evidence

_REASONS: Final = tuple(name_of(Cause(one, "")) for one in FailureReason if one != FailureReason.PRIOR_ACTION_FAILED)
"""A cascade is no root cause."""

_DRIFT, _BY_REASON, _BY_TOOL = 0.4, 0.3, 0.3
"""How the pages without a cause that are borne are shared among the detectors."""

_REFRESH: Final = 25
"""Runs between two looks at what is usual."""

_MAX_RELEASES: Final = 8
_MAX_AGENTS: Final = 200
_MAX_NAMES: Final = 200
_LEAST_CAUSES: Final = 3
"""Runs with a root cause below which nothing is a spike: two may be one fault of a minute."""

_LOG_RECOVERY: Final = math.log(2000.0)
_MOST_OF_IT: Final = 0.75
"""Share of the shift seen that recovery is held against. At the moment of an alarm more is seen than there is; held
against all of it, a fault that goes on a little milder would pass for its end."""
_GONE_AFTER: Final = 20
"""Runs of other releases, without one of its own, after which a release counts as gone."""


class StateError(AemMonitorError):
    """A stored state that this version cannot read."""

    reason = "alert_state"


@dataclass(frozen=True, slots=True)
class Settings:
    """How much error is borne.

    ``false_pages``: expected pages without a cause in thirty days, of spikes and drift of all agents together.
    ``release_alpha``: probability that a release as good as those before it is ever called worse. ``cool_down``:
    seconds that an incident is open at least. ``least_baseline``: runs without which nothing is compared.
    """

    false_pages: float = 1.5
    release_alpha: float = 0.005
    cool_down: float = 1800.0
    least_baseline: int = 200


@dataclass(frozen=True, slots=True)
class _Alarm:
    kind: Kind
    name: str
    finding: Finding
    baseline: Baseline


class Detectors:
    """One for all agents. Runs have to come in the order in which they were stored."""

    def __init__(self, settings: Settings, state: bytes | None = None) -> None:
        """``state`` is that of an earlier process. Raises ``StateError`` when it is of another version."""
        self._settings = settings
        try:
            self._remembered = Remembered() if state is None else Remembered.model_validate_json(state)
        except ValidationError as error:
            raise StateError(f"the stored state of alerting cannot be read: {error.errors()[0]['msg']}") from error

    def state(self) -> bytes:
        """All that was learnt, for ``__init__``: JSON."""
        return self._remembered.model_dump_json().encode()

    @property
    def open(self) -> Mapping[Signature, Finding]:
        """The incidents that are open."""
        return {one.signature: one.finding for release in self._releases() for one in release.incidents}

    def observe(self, run: Observed) -> list[Event]:
        """Take one run. What it shows, at most a few events."""
        agent = self._agent(run)
        release = _release_of(agent, run)
        agent.volume.add(run.at)
        if release.seen % _REFRESH == 0:
            self._learn(agent, release)
        release.seen += 1
        seen = seen_of(run)
        if seen.passed is not None:
            release.all.add(seen.dialog, not seen.passed)
        trusted = not release.incidents
        release.past.waiting.append(seen)
        events: list[Event] = [*self._superseded(agent, run), *self._recovered(release, seen, run)]
        for alarm in [*self._changed(agent, release, seen, run), *self._compared(release, run)]:
            events += _told(release, run, alarm)
        release.past.settle(trusted and not release.incidents)
        return events

    # What is remembered

    def _releases(self) -> Iterator[ReleaseState]:
        for agent in self._remembered.agents.values():
            yield from agent.releases.values()

    def _agent(self, run: Observed) -> AgentState:
        agents = self._remembered.agents
        if run.agent not in agents and len(agents) >= _MAX_AGENTS:
            idle = [name for name, one in agents.items() if not any(each.incidents for each in one.releases.values())]
            for name in sorted(idle, key=lambda name: agents[name].last_at)[:1]:
                del agents[name]
        agent = agents.setdefault(run.agent, AgentState())
        agent.last_at = run.at
        return agent

    def _learn(self, agent: AgentState, release: ReleaseState) -> None:
        """What is usual: the past of the release itself, before it has one that of the releases before it."""
        older = [
            one
            for one in agent.releases.values()
            if one.first_at < release.first_at and not one.worse and not one.incidents
        ]
        least = self._settings.least_baseline
        own = release.own_past = release.past.total() >= least
        known = {*release.past.names(), *(name for one in older for name in one.past.names())} - set(_REASONS)
        release.baselines = {}
        for name in (FAILING, *_REASONS, *sorted(known)[:_MAX_NAMES]):
            parts = [release.past.of(name)] if own else [one.past.of(name, all_of_it=True) for one in older]
            baseline = Baseline.estimate(together(parts))
            if baseline.runs >= least:
                release.baselines[name] = baseline
        reference = Baseline.estimate(together(one.all.tallies() for one in older))
        release.reference = reference if reference.runs >= least else None

    # What runs show

    def _changed(self, agent: AgentState, release: ReleaseState, seen: Seen, run: Observed) -> Iterator[_Alarm]:
        """What has become more frequent within the release: root causes first, since they explain failing runs."""
        busy = {name for one in release.incidents for name in one.covers}
        runs = agent.volume.in_thirty_days(run.at) * max(1, len(self._remembered.agents))
        # By name within each kind: a set has another order in each process.
        names = sorted(
            {*release.baselines, *seen.names}, key=lambda name: (name == FAILING, bool(cause_of(name).tool), name)
        )
        by_tool = sum(bool(cause_of(name).tool) for name in names)
        for name in names:
            baseline, failed = release.baselines.get(name), seen.failed(name)
            if baseline is None and name != FAILING:
                # A root cause that was never seen: as rare as can be said of what never happened.
                baseline = release.baselines.get(name_of(Cause(cause_of(name).reason, "")))
            if baseline is None or failed is None or (name != FAILING and cause_of(name).reason in busy):
                continue
            detector = ChangeDetector(release.detectors.get(name, ()))
            detector.observe(failed, baseline.at_most(seen.dialog))
            release.detectors[name] = detector.state()
            share = (
                _DRIFT if name == FAILING else _BY_TOOL / by_tool if cause_of(name).tool else _BY_REASON / len(_REASONS)
            )
            threshold = math.log(runs / (share * self._settings.false_pages))
            if detector.log_statistic < threshold:
                continue
            finding = recent_finding(release.past.waiting, name, baseline, detector, threshold)
            if name == FAILING:
                # Held against those before it, a release that fails more is worse than they were.
                kind = Kind.DRIFT if release.own_past else Kind.RELEASE_REGRESSION
                yield _Alarm(kind, name, finding, baseline)
            elif finding.failed >= _LEAST_CAUSES:
                yield _Alarm(Kind.ROOT_CAUSE_SPIKE, name, finding, baseline)

    def _compared(self, release: ReleaseState, run: Observed) -> Iterator[_Alarm]:
        """Whether the release is worse than those before it."""
        if release.reference is None or release.compared or run.passed is None:
            return
        threshold = -math.log(self._settings.release_alpha)
        evidence = log_evidence(release.reference, release.all.tallies())
        if evidence >= threshold:
            finding = compared_finding(release.reference, release.all, evidence, threshold)
            yield _Alarm(Kind.RELEASE_REGRESSION, FAILING, finding, release.reference)

    # When it is over

    def _superseded(self, agent: AgentState, run: Observed) -> Iterator[Event]:
        for release in agent.releases.values():
            if release.others >= _GONE_AFTER and run.at - release.last_at >= self._settings.cool_down:
                for incident in list(release.incidents):
                    _end(release, incident)
                    # Should it come back, it is looked at anew.
                    release.compared, release.worse, release.all = False, True, Memory()
                    yield Resolved(incident.signature, run.at, Why.SUPERSEDED)

    def _recovered(self, release: ReleaseState, seen: Seen, run: Observed) -> Iterator[Event]:
        for incident in list(release.incidents):
            failed = seen.failed(incident.measured)
            if failed is None:
                continue
            detector = RecoveryDetector(incident.shift, -math.inf if incident.recovery is None else incident.recovery)
            detector.observe(failed, incident.baseline.of(seen.dialog))
            incident.recovery = detector.log_statistic
            if detector.log_statistic >= _LOG_RECOVERY and run.at - incident.opened_at >= self._settings.cool_down:
                _end(release, incident)
                release.worse = bool(release.incidents)
                yield Resolved(incident.signature, run.at, Why.RECOVERED)


def _release_of(agent: AgentState, run: Observed) -> ReleaseState:
    releases = agent.releases
    if run.release not in releases:
        if len(releases) >= _MAX_RELEASES:
            idle = [name for name, one in releases.items() if not one.incidents]
            for name in sorted(idle, key=lambda name: releases[name].last_at)[:1]:
                del releases[name]
        releases[run.release] = ReleaseState(first_at=run.at, last_at=run.at)
    for one in releases.values():
        one.others += 1
    release = releases[run.release]
    release.others, release.last_at = 0, run.at
    return release


def _told(release: ReleaseState, run: Observed, alarm: _Alarm) -> list[Event]:
    """What an alarm is to those who are paged: a new incident, more about one that is open, or nothing new."""
    if alarm.kind == Kind.RELEASE_REGRESSION:
        release.compared = release.worse = True
    release.detectors.pop(alarm.name, None)
    reason = cause_of(alarm.name).reason
    subject = reason or alarm.kind
    if any(subject in one.covers for one in release.incidents):
        return []
    known = _same_fault(release, alarm)
    if known is not None:
        known.covers.append(subject)
        cause = Cause(reason, tool_of(alarm.name, alarm.finding)) if reason else None
        return [Explained(known.signature, run.at, cause, alarm.kind, alarm.finding)]
    tool = tool_of(alarm.name, alarm.finding) if reason else ""
    signature = Signature(alarm.kind, run.agent, run.release, reason, tool)
    release.incidents.append(
        Incident(
            signature=signature,
            opened_at=run.at,
            finding=alarm.finding,
            measured=alarm.name,
            baseline=alarm.baseline,
            shift=max(float(SHIFTS[0]), _MOST_OF_IT * shift_of(alarm.finding)),
            covers=[subject],
        )
    )
    release.past.distrust()
    return [Opened(signature, run.at, alarm.finding)]


def _same_fault(release: ReleaseState, alarm: _Alarm) -> Incident | None:
    """The open incident that an alarm belongs to: failing runs to any root cause, the first root cause to failing runs
    that nothing explains yet."""
    if alarm.kind != Kind.ROOT_CAUSE_SPIKE:
        return next(iter(release.incidents), None)
    unexplained = (one for one in release.incidents if set(one.covers) <= {Kind.RELEASE_REGRESSION, Kind.DRIFT})
    return next(unexplained, None)


def _end(release: ReleaseState, incident: Incident) -> None:
    release.incidents.remove(incident)
    if not release.incidents:
        release.detectors = {}
        release.past.distrust()
