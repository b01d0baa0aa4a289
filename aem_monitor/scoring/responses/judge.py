"""Whether a reply is consistent with a reference reply, and as complete.

Facts decide. An inconsistent edit of a text is closer to it than a faithful paraphrase, so similarity is no more
than a hint of coverage, and only for what carries no fact.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from aem_monitor.scoring.responses.claims import SETTLED, Claim, claims, conditional, offered_action, tells_of
from aem_monitor.scoring.responses.days import says_days
from aem_monitor.scoring.responses.facts import facts
from aem_monitor.scoring.responses.language import is_english
from aem_monitor.scoring.responses.measures import measure
from aem_monitor.scoring.responses.rounding import rounds_to
from aem_monitor.scoring.scorers.base import Scorer
from aem_monitor.scoring.values.context import ValueContext
from aem_monitor.scoring.values.forms import Agreement, DateForm, Fact, NameForm, QuantityForm
from aem_monitor.scoring.values.guards import antonyms, swapped_roles
from aem_monitor.scoring.values.lexicon import GENERIC
from aem_monitor.scoring.values.strings import agree_facts
from aem_monitor.scoring.values.text import compact, coverage, lemmas, surface
from aem_monitor.scoring.values.words import flat, tokens

_NEXT_TO: Final = 2
_RELATED: Final = 0.5
"""Share of content words from which two claims are about the same, so that their polarity can be compared."""

_SUCCESS: Final = frozenset(lemmas("success successful successfully set complete"))
_NEW_WORDS: Final = 5
_STRANGE: Final = 0.4
"""Content words unknown to the reference, and coverage by it below which a statement is about something else."""

_MAX_FACTS: Final = 250
"""Different facts from which a text is a table that no rule for replies can judge."""

_ANSWER: Final = re.compile(r"\W*(?:(?P<yes>yes|yeah|yep|yup)|no|nope|unfortunately)\b(?! (?:problem|worries|matter))")

_COVERED: Final = 0.45
"""Support from which a claim without facts counts as covered."""


@dataclass(frozen=True, slots=True)
class ResponseJudgement:
    """``consistent``: no claim of the reply contradicts the reference or adds a fact that it does not know.
    ``complete``: every claim of the reference is covered. None: cannot be judged. ``unsupported`` are the claims
    of the reply at fault, ``missing`` those of the reference that are not covered; the ``facts`` of both are the
    ones at fault. ``score`` in [0, 1] falls with both. ``covered`` is the share of the reference that is covered,
    ``claims`` how many statements the reply makes. ``replaced`` are the claims of the reference in the place of whose
    facts others stand; they are not among the missing, but the others may turn out to be true of something else.
    ``expected`` is how many claims the reference makes."""

    consistent: bool | None
    complete: bool | None
    score: float
    uncertain: bool
    unsupported: tuple[Claim, ...] = ()
    missing: tuple[Claim, ...] = ()
    covered: float = 1.0
    claims: int = 1
    replaced: tuple[Claim, ...] = ()
    expected: int = 1


@dataclass(frozen=True, slots=True)
class _Text:
    """A text made ready for look-ups."""

    text: str
    claims: tuple[Claim, ...]
    facts: tuple[Fact, ...]
    words: frozenset[str]
    lemmas: frozenset[str]
    compact: str
    different: tuple[Fact, ...]
    """The facts, each form once."""
    answers: dict[Fact, Agreement]
    """What has been looked up already: texts repeat their facts."""

    @classmethod
    def read(cls, text: str, context: ValueContext) -> "_Text":
        stated = facts(text, context)
        return cls(
            text,
            claims(text, context),
            stated,
            frozenset(tokens(text)),
            frozenset(lemmas(text)),
            compact(text),
            tuple({fact.form: fact for fact in reversed(stated)}.values()),
            {},
        )

    def says(self, fact: Fact) -> Agreement:
        """How well the text supports a fact: SAME, PROBABLY, UNKNOWN or DIFFERENT."""
        key = replace(fact, start=0, end=0)
        if key not in self.answers:
            self.answers[key] = self._says(fact)
        return self.answers[key]

    def _says(self, fact: Fact) -> Agreement:
        if isinstance(fact.form, NameForm):
            return self._names(fact.form)
        if fact.kind == "number" and self._numerals(fact):
            return Agreement.SAME
        answers = {agree_facts(fact, other) for other in self.different}
        if Agreement.SAME in answers or Agreement.PROBABLY in answers:
            return Agreement.SAME if Agreement.SAME in answers else Agreement.PROBABLY
        if says_days(fact, self.different):
            return Agreement.SAME
        if self._rounded(fact):
            return Agreement.PROBABLY
        return Agreement.UNKNOWN if Agreement.UNKNOWN in answers else Agreement.DIFFERENT

    def _rounded(self, fact: Fact) -> bool:
        """Whether the text states the number more or less precisely."""
        return isinstance(fact.form, QuantityForm) and any(
            rounds_to(fact, other) or rounds_to(other, fact) for other in self.different
        )

    def _numerals(self, fact: Fact) -> bool:
        """Whether a bare number stands in the text as part of something else: of a name, an address, or the year
        of a date."""
        if fact.text.isdigit() and fact.text in self.words:
            return True
        if not isinstance(fact.form, QuantityForm) or fact.form.value.denominator != 1:
            return False
        year = ("y", int(fact.form.value))
        return any(isinstance(other.form, DateForm) and year in other.form.fields for other in self.facts)

    def _names(self, form: NameForm) -> Agreement:
        if all(word in self.words for word in form.words) or "".join(form.words) in self.compact:
            return Agreement.SAME
        stems = lemmas(" ".join(form.words))
        known = sum(word in self.lemmas for word in stems)
        if stems and known == len(stems):
            return Agreement.SAME
        new = [
            word
            for word in stems
            if word not in self.lemmas and word not in GENERIC and (len(word) > 1 or word.isdigit())
        ]
        return Agreement.PROBABLY if known and not new else Agreement.DIFFERENT


def judge(reference: str, response: str, context: ValueContext, scorer: Scorer) -> ResponseJudgement:
    """Judge a reply by a reference reply. Facts that ``context.given`` states need not be repeated and may be."""
    if surface(reference) == surface(response):
        return ResponseJudgement(True, True, 1.0, False)
    if not is_english(response) or not is_english(reference):
        return ResponseJudgement(None, None, scorer.score([(reference, response)])[0], True)
    known = _Text.read(reference, context)
    reply = _Text.read(response, context)
    if max(len(known.different), len(reply.different)) > _MAX_FACTS:
        return ResponseJudgement(None, None, scorer.score([(reference, response)])[0], True)
    given = _Text.read("\n".join(context.given), context)
    unsupported, doubtful = _unsupported(known, reply, given, scorer)
    missing, replaced, open_ends, coverage = _missing(known, reply, given, context, scorer)
    claims_made = max(len(reply.claims), 1)
    truth = 1 - len(unsupported) / claims_made
    score = 0.1 * coverage if unsupported else 0.5 + 0.5 * coverage * truth
    return ResponseJudgement(
        consistent=not unsupported,
        complete=not missing,
        score=min(max(score, 0.0), 1.0),
        uncertain=doubtful or open_ends,
        unsupported=unsupported,
        missing=missing,
        covered=coverage,
        claims=claims_made,
        replaced=replaced,
        expected=max(sum(not claim.phatic for claim in known.claims), 1),
    )


def _unsupported(known: _Text, reply: _Text, given: _Text, scorer: Scorer) -> tuple[tuple[Claim, ...], bool]:
    """The claims of the reply that the reference does not bear out, and whether any fact was only probably borne
    out."""
    found, doubtful = [], False
    opposed = _opposite_answer(known, reply)
    for claim in reply.claims:
        wrong = []
        for fact in claim.facts:
            answer = known.says(fact)
            if not answer.accepts and given.says(fact).accepts:
                continue
            if answer is Agreement.PROBABLY or answer is Agreement.UNKNOWN:
                doubtful = True
            elif answer is Agreement.DIFFERENT and (not claim.asks or _contradicts(fact, known, reply)):
                wrong.append(fact)
            if answer.accepts and not claim.asks and _other_measure(fact, claim, known):
                wrong.append(fact)
        fault = (
            _fact_fault(wrong)
            or ("negation" if claim is opposed else "")
            or _claim_fault(claim, known)
            or _strangeness(claim, known, given, scorer)
        )
        if fault:
            found.append(replace(claim, facts=tuple(wrong), fault=fault))
    return tuple(found), doubtful


def _opposite_answer(known: _Text, reply: _Text) -> Claim | None:
    """The opening claim of a reply that says yes where the reference says no, or the other way round."""
    if not known.claims or not reply.claims:
        return None
    first, answer = known.claims[0], _ANSWER.match(flat(reply.text))
    expected = _ANSWER.match(flat(known.text))
    if answer is None or reply.claims[0].asks:
        return None
    denied = (expected is not None and not expected["yes"]) or (expected is None and first.negated)
    agreed = expected is not None and bool(expected["yes"])
    return reply.claims[0] if (denied if answer["yes"] else agreed) else None


def _fact_fault(wrong: Sequence[Fact]) -> str:
    if not wrong:
        return ""
    return "name" if all(isinstance(fact.form, NameForm) for fact in wrong) else "fact"


def _other_measure(fact: Fact, claim: Claim, known: _Text) -> bool:
    """Whether the reference states the number too, but as the figure of something else, wherever it states it."""
    if not isinstance(fact.form, QuantityForm):
        return False
    said = measure(fact, claim.text)
    if said is None:
        return False
    told = [
        measure(other, each.text)
        for each in known.claims
        for other in each.facts
        if isinstance(other.form, QuantityForm) and agree_facts(fact, other).accepts
    ]
    return bool(told) and all(other is not None and other != said for other in told)


def _contradicts(fact: Fact, known: _Text, reply: _Text) -> bool:
    """Whether the reference states a fact of the same kind that the reply does not state: the two stand for one
    another."""
    return any(family(other) == family(fact) and not reply.says(other).accepts for other in known.different)


def _claim_fault(claim: Claim, known: _Text) -> str:
    if claim.phatic:
        return ""
    if claim.action and not claim.negated and not _acted(claim, known):
        return "action"
    best = _closest(claim, known.claims)
    if best is None:
        return ""
    if swapped_roles(claim.text, best.text):
        return "roles"
    if claim.asks or best.asks:
        return ""
    if claim.negated != best.negated and not conditional(claim.text) and not conditional(best.text):
        return "negation"
    return "antonym" if antonyms(claim.text, best.text) else ""


def _strangeness(claim: Claim, known: _Text, given: _Text, scorer: Scorer) -> str:
    """Whether a statement is about something of which the reference knows nothing: many content words, hardly any
    of them near one of the reference. A sentence or two of colour ("It seems to be popular") stays below."""
    if claim.asks or claim.phatic:
        return ""
    new = set(lemmas(claim.text)) - known.lemmas - given.lemmas - GENERIC
    if len(new) < _NEW_WORDS:
        return ""
    return "content" if coverage(claim.text, f"{known.text}\n{given.text}", scorer)[0] < _STRANGE else ""


def _acted(claim: Claim, known: _Text) -> bool:
    """Whether the reference tells of the action too, perhaps in another word ("booked" for "reserved")."""
    if any(claim.action is not None and tells_of(other, claim.action) for other in known.claims):
        return True
    if claim.action not in SETTLED:
        return False
    told = {other.action for other in known.claims if other.action is not None and not other.negated}
    return bool(_SUCCESS & known.lemmas or told & SETTLED)


def _closest(claim: Claim, others: Sequence[Claim]) -> Claim | None:
    """The claim with the most content words in common, if they are enough to be about the same."""
    words = set(lemmas(claim.text))
    best, best_share = None, 0.0
    for other in others:
        other_words = set(lemmas(other.text))
        smaller = min(len(words), len(other_words))
        share = len(words & other_words) / smaller if smaller else 0.0
        if share > best_share and len(words & other_words) >= min(2, smaller):
            best, best_share = other, share
    return best if best_share >= _RELATED else None


def _missing(
    known: _Text, reply: _Text, given: _Text, context: ValueContext, scorer: Scorer
) -> tuple[tuple[Claim, ...], tuple[Claim, ...], bool, float]:
    """The claims of the reference that the reply does not cover, those whose facts it replaces, whether that was a
    close call, and the share covered."""
    found, displaced, close = [], [], False
    replacements = Counter(
        family(fact) for fact in reply.facts if not known.says(fact).accepts and not given.says(fact).accepts
    )
    covered = total = 0.0
    for claim in known.claims:
        if claim.phatic:
            continue
        total += 1
        absent: list[Fact] = []
        replaced: list[Fact] = []
        for fact in claim.facts:
            if reply.says(fact).accepts or given.says(fact).accepts:
                continue
            if replacements[family(fact)]:
                # Another value stands in its place: said, though wrong, which is for consistency to say.
                replacements[family(fact)] -= 1
                replaced.append(fact)
            else:
                absent.append(fact)
        if replaced:
            displaced.append(replace(claim, facts=tuple(replaced), fault=_fact_fault(replaced)))
        # A house number and its street are replaced together.
        absent = [fact for fact in absent if not any(_adjacent(fact, other) for other in replaced)]
        if absent:
            found.append(replace(claim, facts=tuple(absent), fault=_fact_fault(absent)))
            covered += 1 - len(absent) / len(claim.facts)
            continue
        support = _support(claim, reply, scorer)
        covered += min(support / _COVERED, 1.0) if not claim.facts else 1.0
        if claim.facts:
            continue
        if abs(support - _COVERED) <= context.band:
            close = True
        if support < _COVERED:
            found.append(replace(claim, facts=(), fault="action" if claim.action else "content"))
    return tuple(found), tuple(displaced), close, covered / total if total else 1.0


def _adjacent(a: Fact, b: Fact) -> bool:
    return max(a.start, b.start) - min(a.end, b.end) <= _NEXT_TO


def family(fact: Fact) -> str:
    """What a fact can stand in place of."""
    if isinstance(fact.form, NameForm):
        return "name"
    return "number" if isinstance(fact.form, QuantityForm) else fact.kind


def _support(claim: Claim, reply: _Text, scorer: Scorer) -> float:
    """How far the reply covers a claim that carries no fact: shared content words, or likeness of the closest
    sentence."""
    if claim.action and any(other.action == claim.action for other in reply.claims):
        return 1.0
    offered = _offers_the_same(claim, reply) if claim.asks else None
    if offered is not None:
        return float(offered)
    words = set(lemmas(claim.text)) - GENERIC
    share = len(words & reply.lemmas) / len(words) if words else 1.0
    if share >= 0.75 or not reply.claims:
        return share
    alike = max(scorer.score([(claim.text, other.text) for other in reply.claims] + [(claim.text, reply.text)]))
    return max(share, alike)


def _offers_the_same(claim: Claim, reply: _Text) -> bool | None:
    """Whether the reply offers what the claim offers, in whatever words it asks for consent; None if not both offer
    something."""
    wanted = offered_action(claim.text)
    offers = [offer for other in reply.claims if other.asks and (offer := offered_action(other.text)) is not None]
    if wanted is None or not offers:
        return None
    return any(not offer or not wanted or offer == wanted or {offer, wanted} <= SETTLED for offer in offers)
