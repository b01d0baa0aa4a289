"""Runs for the gate, from verdicts."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from aem_monitor.canary.meeting import Play
from aem_monitor.canary.pairs import Part, Played, Undecided
from aem_monitor.canary.verdictline import check_verdict
from aem_monitor.errors import UsageError
from aem_monitor.model.verdict import SUBMETRIC_OF_REASON


class RootCause(NamedTuple):
    """A turn that broke first. ``tool`` is None for a reply, ``chain_length`` where it is not known."""

    reason: str
    tool: str | None
    kind: str
    chain_length: int | None


@dataclass(slots=True)
class Release:
    """The runs of a release, in the order in which they came."""

    plays: list[Play] = field(default_factory=list)
    agents: set[str] = field(default_factory=set)
    before: int = 0
    """How many there are from before the time that was asked for, which are left out."""
    timed: bool = False
    """``Play.order`` is when a run became final, in seconds since 1970."""

    @property
    def played(self) -> list[Played]:
        """Those that are decided."""
        return [one for one in self.plays if isinstance(one, Played)]

    @property
    def undecided(self) -> int:
        """How many are not. A run that was judged before its end is none of a canary's verdicts, whatever was found
        so far: what comes later may fail, or answer for what failed."""
        return sum(isinstance(one, Undecided) for one in self.plays)


def played(
    dialog: str,
    conversation: str,
    passed: bool,
    correct: float,
    reason: str | None,
    causes: Iterable[RootCause],
    latency: object,
    *,
    version: int | None,
    order: float,
) -> Played:
    """A decided run."""
    parts: set[Part] = set()
    for cause in causes:
        parts.add(Part("reason", cause.reason))
        if cause.reason in SUBMETRIC_OF_REASON:
            parts.add(Part("submetric", SUBMETRIC_OF_REASON[cause.reason].value))
        parts.add(Part("turn_kind", cause.kind))
        if cause.tool is not None:
            parts.add(Part("tool", cause.tool))
        if cause.chain_length is not None:
            # As the metrics: chains of three and more together.
            parts.add(Part("chain_length", str(cause.chain_length) if cause.chain_length < 3 else "3+"))
    known = isinstance(latency, int | float) and math.isfinite(latency)
    return Played(
        dialog,
        conversation,
        passed,
        correct,
        reason,
        frozenset(parts),
        float(latency) if known else None,  # type: ignore[arg-type]
        version=version,
        order=order,
    )


def releases_of_lines(
    lines: Iterable[tuple[str, Mapping[str, Any]]], agent: str | None, wanted: Sequence[str], since: float | None = None
) -> dict[str, Release]:
    """Releases from verdict lines (``replay --verdicts`` or the sink of JSON lines), each with its place.

    Of the revisions of a run the latest counts, in the place of the first; drafts are left out. Runs come in the order
    in which they became final, as from the store; where lines do not say when, in that of the lines. Else the file of a
    second replica would change at a later look which runs meet. Those that became final before ``since`` (seconds) are
    counted only.

    Raises:
        UsageError: a line is no verdict, with its place.
    """
    latest: dict[object, Mapping[str, Any]] = {}
    for number, (place, line) in enumerate(lines):
        check_verdict(place, line)
        if since is not None and "final_at" not in line:
            raise UsageError(f"{place}: the line does not say when its run became final: leave --since out")
        key = line.get("run_id", number)
        if key not in latest or line.get("revision", 0) >= latest[key].get("revision", 0):
            latest[key] = line
    timed = all("final_at" in line for line in latest.values())
    found = {name: Release(timed=timed) for name in wanted}
    for number, line in enumerate(latest.values()):
        release = found.get(line["release"] or "unknown")
        if release is None or line.get("draft") or (agent is not None and line.get("agent") != agent):
            continue
        if since is not None and line["final_at"] < since:
            release.before += 1
            continue
        release.agents.add(line.get("agent", ""))
        key = line.get("conversation_key") or line["conversation_id"] or f"line {number}"
        conversation = f"{line.get('agent', '')}\0{key}"
        dialog, version, order = line["dialog"], line.get("dialog_version"), float(line.get("final_at", number))
        if line["test_pass"] is None or line.get("partial"):
            release.plays.append(Undecided(dialog, conversation, version=version, order=order))
            continue
        release.plays.append(
            played(
                dialog,
                conversation,
                line["test_pass"],
                _correct(line["turns"]),
                line["root_cause"],
                _causes(line["turns"]),
                line.get("latency_seconds"),
                version=version,
                order=order,
            )
        )
    return found


def share_correct(failed: int, decided: int) -> float:
    """``Played.correct``, from how many of the dialog's own turns were decided and how many of those failed."""
    return 1.0 - failed / decided if decided else 1.0


def _correct(turns: Sequence[Mapping[str, Any]]) -> float:
    decided = [turn["success"] for turn in turns if turn.get("turn_no") is not None and turn.get("success") is not None]
    return share_correct(decided.count(False), len(decided))


def _causes(turns: Sequence[Mapping[str, Any]]) -> Iterator[RootCause]:
    for turn in turns:
        if turn.get("root_cause") is True:
            tool, length = turn.get("tool"), turn.get("chain_length")
            yield RootCause(str(turn.get("failure_reason")), tool, str(turn.get("kind")), length)
