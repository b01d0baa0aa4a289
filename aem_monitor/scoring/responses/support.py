"""Whether tool results bear out what a reply claims."""

from typing import Final

from aem_monitor.model.jsonvalue import JSON
from aem_monitor.scoring.responses.claims import Claim, action_stem
from aem_monitor.scoring.scorers.base import Scorer
from aem_monitor.scoring.values.context import ValueContext
from aem_monitor.scoring.values.forms import Fact, NameForm
from aem_monitor.scoring.values.lexicon import GENERIC
from aem_monitor.scoring.values.occurrence import Sought, leaves, says
from aem_monitor.scoring.values.text import lemmas

_SHARE: Final = 0.6


def supports(claim: Claim, evidence: JSON, context: ValueContext, scorer: Scorer) -> bool:  # noqa: ARG001
    """Whether ``evidence`` (a tool's result or arguments) holds all facts of a claim; for a claim without facts, most
    of its content words, in keys or values. The facts of a claim out of a judgement are those that the reference did
    not know."""
    found = list(leaves(evidence))
    if claim.facts:
        return all(holds(fact, found, context) for fact in claim.facts)
    words = set(lemmas(claim.text)) - GENERIC
    if claim.action:
        words.add(action_stem(claim.action))
    if not words:
        return False
    told: set[str] = set()
    for path, leaf in found:
        told.update(lemmas(" ".join(str(part).replace("_", " ") for part in path)))
        told.update(lemmas(str(leaf).replace("_", " ")))
    return len(words & told) >= _SHARE * len(words)


def holds(fact: Fact, found: list[tuple[tuple[str | int, ...], JSON]], context: ValueContext) -> bool:
    """Whether one of the leaves says a fact."""
    if isinstance(fact.form, NameForm):
        sought = Sought.read(fact.text, context)
        return any(sought.within(leaf) for _, leaf in found if isinstance(leaf, str))
    return any(says(fact, str(leaf), context) for _, leaf in found if leaf is not None and not isinstance(leaf, bool))
