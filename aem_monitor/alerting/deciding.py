"""From final verdicts to incidents and what is told of them: what one transaction holds."""

import json
import logging
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from aem_monitor.alerting.detect import Detectors, Settings, StateError
from aem_monitor.alerting.evidence import evidence, observed
from aem_monitor.alerting.faults import ALERTMANAGER
from aem_monitor.alerting.notification import About, change, dedup_key, resolved, triggered, updated
from aem_monitor.alerting.observed import Event, Finding, Kind, Opened, Resolved, Signature, Why
from aem_monitor.links import TraceLink
from aem_monitor.model.verdict import RunResult
from aem_monitor.store.alerts import Decision, Incident, Notification
from aem_monitor.store.records import ReleaseSeen, RevisionKey, RunFilter, StoredRun, Waiting
from aem_monitor.store.store import Store

_LOG: Final = logging.getLogger(__name__)

_DETECTORS: Final = "detectors"
_CHANGES: Final = "changes"
MOST_CHANGES: Final = 20
"""New releases and models that are told at once."""

_SEARCHED: Final = 200
"""Failing runs, newest first, among which examples are looked for."""


@dataclass(frozen=True, slots=True)
class Told:
    """``receivers``: names of those who are told. ``pages``: address at which people reach the pages over runs."""

    about: About
    receivers: tuple[str, ...]
    traces: TraceLink | None = None
    pages: str | None = None


class Deciding:
    """What the holder of the lease has in memory, as it was stored last; to be made anew after a failed write."""

    def __init__(self, store: Store, settings: Settings, told: Told) -> None:
        self._store = store
        self._told = told
        states = store.alert_states()
        self._detectors = _detectors(settings, states.get(_DETECTORS))
        self.open: dict[str, Incident] = {one.dedup_key: one for one in store.open_incidents()}
        known = states.get(_CHANGES)
        self._known: set[tuple[str, ...]] | None = None if known is None else {tuple(one) for one in json.loads(known)}

    def agree(self, now: float) -> Decision | None:
        """What makes stored incidents those that the detectors know of, where the two differ: after a loss of what was
        learnt, or under another name of the installation. None: they agree."""
        known = {dedup_key(self._told.about, signature): signature for signature in self._detectors.open}
        work = _Work(dict(self.open))
        for key, incident in self.open.items():
            if key not in known:
                self._end(work, incident, now, Why.SUPERSEDED)
        for key, signature in known.items():
            if key not in self.open:
                self._begin(work, signature, now, self._detectors.open[signature])
        return self._decided(work) if work.changed else None

    def observe(self, batch: Sequence[Waiting]) -> tuple[Decision, dict[str, int]]:
        """What follows from verdicts, and how many became what (``faults.OBSERVED``)."""
        work = _Work(dict(self.open))
        counts: dict[str, int] = {}
        for one in batch:
            result = self._observe(work, one.run, one.lost)
            counts[result] = counts.get(result, 0) + 1
        decision = self._decided(work, [one.key for one in batch], {_DETECTORS: pack_state(self._detectors.state())})
        return decision, counts

    def changes(self) -> Decision | None:
        """Releases and models that were never seen before; None: there are none. The first time, all are known."""
        seen = {(one.agent, one.release, one.model): one for one in self._store.releases()}
        new = [one for key, one in seen.items() if self._known is not None and key not in self._known]
        if len(new) > MOST_CHANGES:
            # Who puts a number of the request into the release would have everybody told of each.
            _LOG.warning("%d releases or models are new at once; the newest %d are told", len(new), MOST_CHANGES)
        if self._known is not None and not new:
            return None
        self._known = set(seen)
        state = json.dumps(sorted(self._known)).encode()
        notes = [
            note
            for one in new[-MOST_CHANGES:]
            for note in self._notes(change(self._told.about, one), _key_of(one), one.first_seen)
        ]
        return Decision(states={_CHANGES: state}, notifications=notes)

    def stored(self, decision: Decision) -> None:
        """A decision is in the store."""
        for incident in decision.incidents:
            if incident.resolved_at is None:
                self.open[incident.dedup_key] = incident
            else:
                self.open.pop(incident.dedup_key, None)

    # Within a decision

    def _observe(self, work: "_Work", run: StoredRun | None, lost: str | None) -> str:
        if run is None:
            return lost or "corrupt"
        try:
            events = self._detectors.observe(observed(run.result, run.final_at))
        except Exception:  # noqa: BLE001  one run must not hold up all that follow it
            _LOG.exception("A detector failed on run %s; it was left out", run.result.run_id)
            return "defect"
        for event in events:
            self._follow(work, event, run.result)
        return "observed"

    def _follow(self, work: "_Work", event: Event, result: RunResult) -> None:
        if isinstance(event, Opened):
            self._begin(work, event.signature, event.at, event.finding, result)
            return
        incident = work.open.get(dedup_key(self._told.about, event.signature))
        if incident is None:
            return
        if isinstance(event, Resolved):
            self._end(work, incident, event.at, event.why)
            return
        body = updated(incident.body, event)
        if event.cause is None:
            # That a root cause makes runs fail is no news; it is only kept.
            work.put(replace(incident, body=body))
        else:
            cause = event.signature._replace(
                kind=Kind.ROOT_CAUSE_SPIKE, reason=event.cause.reason, tool=event.cause.tool
            )
            body["evidence"] = self._evidence(cause, result)
            self._say(work, replace(incident, body=body), event.at)

    def _begin(
        self, work: "_Work", signature: Signature, at: float, finding: Finding, result: RunResult | None = None
    ) -> None:
        key = dedup_key(self._told.about, signature)
        number = max(self._store.incident_number(key), work.numbers.get(key, 0)) + 1
        work.numbers[key] = number
        body = triggered(self._told.about, signature, number, at, finding, self._evidence(signature, result))
        _LOG.warning("Incident %s opened: %s", key, body["summary"])
        self._say(work, Incident(key, number, signature.agent, at, None, body), at)

    def _end(self, work: "_Work", incident: Incident, at: float, why: Why) -> None:
        _LOG.info("Incident %s is over (%s)", incident.dedup_key, why)
        self._say(work, replace(incident, resolved_at=at, body=resolved(incident.body, at, why)), at)

    def _say(self, work: "_Work", incident: Incident, at: float) -> None:
        work.put(incident)
        work.notes += self._notes(incident.body, incident.dedup_key, at)

    def _notes(self, body: Mapping[str, Any], key: str, at: float) -> list[Notification]:
        """A change is no alert, which is all that Alertmanager knows."""
        event = str(body["event"])
        names = [name for name in self._told.receivers if event != "change" or name != ALERTMANAGER]
        return [Notification(name, key, event, at, body) for name in names]

    def _evidence(self, signature: Signature, result: RunResult | None) -> dict[str, Any]:
        """``result``: the run that tipped the scales, for its names as the store has them."""
        agent, release = (signature.agent, signature.release) if result is None else (result.agent, result.release)
        wanted = RunFilter(agent=agent, release=release, outcome="fail", draft=False, limit=_SEARCHED)
        found = [self._store.redacted(one.result) for one in self._store.runs(wanted)]
        return evidence(signature, found, self._told.traces, self._told.pages)

    def _decided(
        self, work: "_Work", taken: Sequence[RevisionKey] = (), states: Mapping[str, bytes] | None = None
    ) -> Decision:
        return Decision(taken, states, tuple(work.changed.values()), tuple(work.notes))


def pack_state(state: bytes) -> bytes:
    """A sixth of its size: some hundred kilobytes are written with each decision."""
    return zlib.compress(state, 1)


def _detectors(settings: Settings, packed: bytes | None) -> Detectors:
    try:
        return Detectors(settings, None if packed is None else zlib.decompress(packed))
    except (StateError, zlib.error) as error:
        _LOG.error("What the detectors had learnt is lost, they begin anew: %s", error)
        return Detectors(settings)


class _Work:
    """A decision in the making."""

    def __init__(self, known: dict[str, Incident]) -> None:
        self.open = known
        self.changed: dict[tuple[str, int], Incident] = {}
        self.numbers: dict[str, int] = {}
        self.notes: list[Notification] = []

    def put(self, incident: Incident) -> None:
        self.changed[(incident.dedup_key, incident.number)] = incident
        if incident.resolved_at is None:
            self.open[incident.dedup_key] = incident
        else:
            self.open.pop(incident.dedup_key, None)


def _key_of(seen: ReleaseSeen) -> str:
    return json.dumps([seen.agent, seen.release, seen.model])[:200]
