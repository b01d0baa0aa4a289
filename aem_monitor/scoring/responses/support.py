"""Whether tool results bear out what a reply claims."""

from fractions import Fraction
from typing import Final

from aem_monitor.model.jsonvalue import JSON
from aem_monitor.scoring.responses.claims import Claim, action_stem
from aem_monitor.scoring.responses.facts import facts
from aem_monitor.scoring.responses.rounding import rounds_to
from aem_monitor.scoring.scorers.base import Scorer
from aem_monitor.scoring.values.context import ValueContext
from aem_monitor.scoring.values.counted import counts
from aem_monitor.scoring.values.forms import Fact, NameForm, QuantityForm
from aem_monitor.scoring.values.lexicon import GENERIC
from aem_monitor.scoring.values.occurrence import TINY, Sought, leaves, says
from aem_monitor.scoring.values.scan import scan
from aem_monitor.scoring.values.text import lemmas
from aem_monitor.scoring.values.units import unit_factor

_SHARE: Final = 0.6


def supports(claim: Claim, evidence: JSON, context: ValueContext, scorer: Scorer) -> bool:  # noqa: ARG001
    """Whether ``evidence`` (a tool's result or arguments) holds all facts of a claim; for a claim without facts, most
    of its content words, in keys or values. The facts of a claim out of a judgement are those that the reference did
    not know."""
    found = list(leaves(evidence))
    if claim.facts:
        return all(holds(fact, found, context, claim.text) for fact in claim.facts)
    words = set(lemmas(claim.text)) - GENERIC
    if claim.action:
        words.add(action_stem(claim.action))
    if not words:
        return False
    told: set[str] = set()
    for path, leaf in found:
        told.update(lemmas(" ".join(str(part).replace("_", " ") for part in path)))
        told.update(lemmas(str(leaf).replace("_", " ")))
    if claim.action and action_stem(claim.action) not in told:
        return False  # large results hold most words by chance; what was done has to be told of
    return len(words & told) >= _SHARE * len(words)


def other_unit(claim: Claim, reference: str, context: ValueContext) -> bool:
    """Whether a fact of the claim is a number of the reference in another unit ("29,400 euros" for 29,400 yen)."""
    said = {_counted(fact) for fact in claim.facts} - {None}
    if not said:
        return False
    told = {_counted(fact) for fact in facts(reference, context)} - {None}
    return any(
        one is not None and other is not None and one[0] == other[0] and one[1] != other[1]
        for one in said - told
        for other in told - said
    )


def _counted(fact: Fact) -> tuple[Fraction, str] | None:
    """How much of what a fact states; None where it states no unit."""
    form = fact.form
    if not isinstance(form, QuantityForm) or not form.dimension:
        return None
    return form.value / unit_factor(form.unit), form.dimension


def holds(
    fact: Fact, found: list[tuple[tuple[str | int, ...], JSON]], context: ValueContext, said_in: str = ""
) -> bool:
    """Whether one of the leaves says a fact, or more precisely what it rounds. ``said_in``: the words in which the
    fact stands ("about $47")."""
    if isinstance(fact.form, NameForm):
        sought = Sought.read(fact.text, context)
        return any(sought.within(leaf) for _, leaf in found if isinstance(leaf, str))
    if any(counts(fact, path, leaf, TINY) for path, leaf in found):
        return True
    texts = [str(leaf) for _, leaf in found if leaf is not None and not isinstance(leaf, bool)]
    return any(says(fact, text, context) for text in texts) or any(
        _rounds(fact, text, said_in, context) for text in texts
    )


def _rounds(fact: Fact, text: str, said_in: str, context: ValueContext) -> bool:
    """Whether a leaf is a number that the fact rounds."""
    if not isinstance(fact.form, QuantityForm) or not any(char.isdigit() for char in text):
        return False
    return any(rounds_to(fact, exact, said_in) for exact in scan(text, context.reference_date))
