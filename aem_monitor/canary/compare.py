"""Two releases, compared."""

from dataclasses import dataclass

from aem_monitor.canary.gate import Result, Rules, decide
from aem_monitor.canary.pairs import Paired, pair
from aem_monitor.canary.played import Release
from aem_monitor.errors import UsageError


@dataclass(frozen=True, slots=True)
class Comparison:
    """The baseline's and the candidate's name and runs, which of them met, and what the gate says of them under
    ``rules``."""

    names: tuple[str, str]
    releases: tuple[Release, Release]
    paired: Paired
    rules: Rules
    result: Result


def check_names(names: tuple[str, str]) -> None:
    """Raises ``UsageError`` when a release has no name or would be compared with itself."""
    for role, name in zip(("baseline", "candidate"), names, strict=True):
        if not name:
            raise UsageError(f"canary: the {role} is empty: give the name of a release")
    if names[0] == names[1]:
        raise UsageError("canary: the baseline and the candidate are the same release")


def compare(names: tuple[str, str], releases: tuple[Release, Release], rules: Rules, fixed: bool = False) -> Comparison:
    """Pair the runs and decide; ``fixed`` as ``gate.decide`` has it.

    Raises:
        UsageError: the runs are of several agents, whose dialogs are not the same even where their names are.
    """
    agents = releases[0].agents | releases[1].agents
    if len(agents) > 1:
        named = ", ".join(sorted(agents))
        raise UsageError(f"canary: several agents have runs of these releases; give the agent, one of: {named}")
    paired = pair(releases[0].plays, releases[1].plays)
    return Comparison(names, releases, paired, rules, decide(paired, rules, fixed))
