"""Plays of golden dialogs as the counters show them, every quarter of an hour."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tests.alerts.promtool import Phase, series, values

PER_HOUR: Final = 4

TURNS: Final = 5
"""Scored turns of a run."""

REASONS: Final = ("tool_mismatch", "inconsistent_response", "inconsistent_parameter_values")


@dataclass(frozen=True, slots=True)
class Traffic:
    """So many hours with so many runs an hour.

    ``roots`` is the share of turns that are root causes by reason, ``cascades`` and ``unscored`` that of the turns that
    are these, ``failed`` the share of the runs that fail. ``absent`` and ``restart`` are those of ``Phase``.
    """

    hours: int
    runs: float = 60.0
    roots: Mapping[str, float] = field(default_factory=dict)
    failed: float = 0.1
    cascades: float = 0.0
    unscored: float = 0.0
    absent: bool = False
    restart: bool = False

    def phase(self, share: float) -> Phase:
        """A counter that grows by this share of the runs."""
        return Phase(self.hours * PER_HOUR, self.runs / PER_HOUR * share, self.absent, self.restart)


def play(
    *phases: Traffic,
    release: str = "1.0.0",
    model: str = "small-1",
    chain_length: str = "1",
    instance: str = "monitor-0",
) -> dict[str, str]:
    """All counters of one release of the agent ``reporting``, series to values."""
    subject = {"instance": instance, "agent": "reporting", "release": release, "model": model}
    turns = {**subject, "chain_length": chain_length, "kind": "tool"}
    shares = [
        {
            "root": sum(one.roots.values()),
            "cascade": one.cascades,
            "not_scored": one.unscored,
            "pass": 1 - sum(one.roots.values()) - one.cascades - one.unscored,
        }
        for one in phases
    ]

    def counted(amounts: Sequence[float]) -> str:
        return values(*(one.phase(amount) for one, amount in zip(phases, amounts, strict=True)))

    exposed = {
        series("aem_turns_total", **turns, result=result): counted([TURNS * share[result] for share in shares])
        for result in ("pass", "root", "cascade", "not_scored")
    }
    for result, amounts in (("pass", [1 - one.failed for one in phases]), ("fail", [one.failed for one in phases])):
        exposed[series("aem_runs_total", **subject, dialog="sales-report", result=result)] = counted(amounts)
    for reason in REASONS:
        name = series("aem_root_causes_total", **subject, reason=reason, detail="", tool="reports")
        exposed[name] = counted([TURNS * one.roots.get(reason, 0.0) for one in phases])
    return exposed


def first_seen(release: str, hours: int) -> dict[str, str]:
    """The gauge of a release that was first seen so many hours after the start, for a hundred hours."""
    name = series("aem_release_first_seen_timestamp_seconds", agent="reporting", release=release)
    phases = [Phase(hours * PER_HOUR, absent=True)] if hours else []
    return {name: values(*phases, Phase(100 * PER_HOUR, at=hours * 3600.0))}
