"""What is said of an incident, whoever is told: plain JSON, each text bounded. ``schema`` describes it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from aem_monitor.alerting.observed import SEVERAL, Explained, Finding, Kind, Signature, Why
from aem_monitor.store.records import ReleaseSeen

_LONGEST_NAME: Final = 200
"""Letters of a name that came with spans; four of them and some words stay within a summary of 1,024."""

_SEVERITIES: Final[Mapping[Kind, str]] = {
    Kind.ROOT_CAUSE_SPIKE: "critical",
    Kind.RELEASE_REGRESSION: "critical",
    Kind.DRIFT: "warning",
}
_BY_SEVERITY: Final = ("critical", "warning", "info")


@dataclass(frozen=True, slots=True)
class About:
    """What is the same in all notifications of an installation. ``source``: its name."""

    source: str


def dedup_key(about: About, signature: Signature) -> str:
    """The same for the same fault, in every process and after every restart; 68 ASCII letters (PagerDuty takes 255)."""
    text = json.dumps([about.source, *signature])
    return f"aem-{hashlib.sha256(text.encode()).hexdigest()}"


def triggered(
    about: About, signature: Signature, number: int, at: float, finding: Finding, evidence: Mapping[str, Any]
) -> dict[str, Any]:
    """A new incident."""
    return {
        "event": "triggered",
        "source": about.source,
        "dedup_key": dedup_key(about, signature),
        "number": number,
        "kind": str(signature.kind),
        "severity": _SEVERITIES[signature.kind],
        "summary": _summary(signature, finding),
        "agent": name(signature.agent),
        "release": name(signature.release),
        "reason": name(signature.reason) or None,
        "tool": name(signature.tool) or None,
        "opened_at": _when(at),
        "at": _when(at),
        "finding": _finding(finding),
        "also": [],
        "evidence": dict(evidence),
        "why": None,
    }


def updated(body: Mapping[str, Any], event: Explained) -> dict[str, Any]:
    """The same incident with what else was found; repeats add nothing. It becomes as severe as the worst of it."""
    more = {
        "kind": str(event.also),
        "reason": None if event.cause is None else name(event.cause.reason),
        "tool": (name(event.cause.tool) or None) if event.cause is not None else None,
    }
    also = list(body["also"])
    if more not in also:
        also = [*also, more][-20:]
    severity = min(body["severity"], _SEVERITIES[event.also], key=_BY_SEVERITY.index)
    return {**body, "event": "updated", "severity": severity, "at": _when(event.at), "also": also}


def resolved(body: Mapping[str, Any], at: float, why: Why) -> dict[str, Any]:
    """The end of an incident."""
    return {**body, "event": "resolved", "at": _when(at), "why": str(why)}


def change(about: About, seen: ReleaseSeen) -> dict[str, Any]:
    """A release or model that was never seen before; nobody is paged for it."""
    agent, release, model = name(seen.agent), name(seen.release), name(seen.model)
    return {
        "event": "change",
        "source": about.source,
        "summary": f"{agent}: release {release} with model {model} seen for the first time",
        "agent": agent,
        "release": release,
        "model": model,
        "at": _when(seen.first_seen),
    }


def trial(about: About, at: float) -> dict[str, Any]:
    """What shows that a receiver can be told; ``resolved`` ends it."""
    return {
        "event": "triggered",
        "source": about.source,
        "dedup_key": f"aem-test-{hashlib.sha256(about.source.encode()).hexdigest()}",
        "number": 0,
        "kind": "test",
        "severity": "info",
        "summary": f"{about.source}: a test of aem-monitor's notifications, over by itself",
        "agent": "none",
        "release": "none",
        "reason": None,
        "tool": None,
        "opened_at": _when(at),
        "at": _when(at),
        "finding": {"expected_rate": 0.0, "seen_rate": 0.0, "failed": 0, "runs": 0, "tools": {}},
        "also": [],
        "evidence": {"runs": 0, "cascades": 0, "examples": []},
        "why": None,
    }


def name(text: str) -> str:
    """A name from spans that every receiver can take: bounded, on one line, and UTF-8."""
    whole = text.encode("utf-8", "replace").decode()
    line = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in whole)
    return line if len(line) <= _LONGEST_NAME else f"{line[: _LONGEST_NAME - 1]}…"


def _summary(signature: Signature, finding: Finding) -> str:
    agent, release = name(signature.agent), name(signature.release)
    seen, expected = f"{finding.seen_rate:.0%}", f"{finding.expected_rate:.0%}"
    counts = f"{finding.failed} of the last {finding.runs} runs, {seen}, expected {expected}"
    if signature.kind is Kind.ROOT_CAUSE_SPIKE:
        several = " (several tools)"
        tool = several if signature.tool == SEVERAL else f" ({name(signature.tool)})" if signature.tool else ""
        return f"{agent} {release}: root cause {name(signature.reason)}{tool} in {counts}"
    if signature.kind is Kind.RELEASE_REGRESSION:
        return f"{agent} {release}: fails more dialogs than the releases before it, {counts}"
    return f"{agent} {release}: fails more dialogs than before, {counts}"


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "expected_rate": finding.expected_rate,
        "seen_rate": finding.seen_rate,
        "failed": finding.failed,
        "runs": finding.runs,
        "tools": {name(tool) or "reply": count for tool, count in list(finding.tools.items())[:20]},
    }


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
