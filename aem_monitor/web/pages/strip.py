"""The runs of a dialog in a row, release by release, and how often they change their minds."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from aem_monitor.store.summaries import Play
from aem_monitor.web.pages.compare import Rate


@dataclass(frozen=True, slots=True)
class Strip:
    """The runs of one release of an agent, the oldest first. ``flips`` of ``steps``: neighbours of one version of the
    dialog that ended differently; a broken agent fails steadily, a flaky dialog flips."""

    agent: str
    release: str | None
    plays: tuple[Play, ...]
    rate: Rate
    flips: int
    steps: int


def strips(plays: Sequence[Play]) -> tuple[Strip, ...]:
    """By release, the one that ran last first; ``plays`` are the newest first. Drafts are shown and not counted."""
    grouped: dict[tuple[str, str | None], list[Play]] = {}
    for play in plays:
        grouped.setdefault((play.agent, play.release), []).append(play)
    return tuple(_strip(agent, release, list(reversed(found))) for (agent, release), found in grouped.items())


def _strip(agent: str, release: str | None, plays: list[Play]) -> Strip:
    decided = [play for play in plays if play.outcome != "undecided" and not play.draft]
    passed = sum(play.outcome == "pass" for play in decided)
    steps = [
        (one.outcome, other.outcome) for one, other in pairwise(decided) if one.dialog_version == other.dialog_version
    ]
    flips = sum(one != other for one, other in steps)
    return Strip(agent, release, tuple(plays), Rate(passed, len(decided)), flips, len(steps))
