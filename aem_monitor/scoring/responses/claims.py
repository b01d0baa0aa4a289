"""Claims of a reply: its sentences and clauses, with what each asserts."""

import re
from dataclasses import dataclass
from typing import Final

from aem_monitor.scoring.responses.facts import facts
from aem_monitor.scoring.values.context import ValueContext
from aem_monitor.scoring.values.forms import Fact
from aem_monitor.scoring.values.guards import negations
from aem_monitor.scoring.values.lexicon import SYNONYMS
from aem_monitor.scoring.values.remember import remembered
from aem_monitor.scoring.values.scan import MAX_CHARS
from aem_monitor.scoring.values.text import lemmas
from aem_monitor.scoring.values.words import STOPWORDS, flat, listed, stem, tokens

_BREAK: Final = re.compile(
    r"(?:(?<!\b[A-Z][.])(?<!\bMr[.])(?<!\bMrs[.])(?<!\bDr[.])(?<!\bSt[.])(?<!\bNo[.])(?<!\bvs[.])(?<!\bJr[.])"
    r"(?<!\bJan[.])(?<!\bFeb[.])(?<!\bMar[.])(?<!\bApr[.])(?<!\bJun[.])(?<!\bJul[.])(?<!\bAug[.])(?<!\bSep[.])"
    r"(?<!\bSept[.])(?<!\bOct[.])(?<!\bNov[.])(?<!\bDec[.])(?<!\bInc[.])(?<!\bLtd[.])(?<!\bCo[.])(?<!\bCorp[.])"
    r"(?<=[.!?])"
    r"[\"')\]]*\s+|(?<=[a-z\d][.!?])(?=[A-Z][a-z])|\n+|;\s+"
    r"|,?\s{1,8}and\s+(?=(?i:it|they|he|she|i|we|there|this|that)(?:'\w+)?\s|(?:(?:the|your|its|their)\s)?\w+\s(?:is|are|was|were|has|will|costs)\s)"
    r"|,?\s{1,8}but\s+|,\s+however,?\s+)"
)
_BULLET: Final = re.compile(r"\s*(?:[-*•–]\s+)?")
"""What opens a line of a list. Left before a number it reads as a minus."""

_ASKING: Final = re.compile(
    r"\b(?:please (?:confirm|provide|tell|specify|choose|select|let)|could you|can you|would you|do you|shall i"
    r"|should i|may i|(?:tell|let) me(?: know)?|i need (?:to know|the|your)"
    r"|is (?:that|this|it) (?:correct|right|okay|ok|fine)"
    r"|confirm (?:that|the following|if|whether)|what about|how about|i can (?:help|also)|"
    r"if you(?:'d| would)? (?:like|want|need)|anything else|happy to help|feel free)\b"
)
_EMPTY_QUESTION: Final = frozenset(
    stem(word)
    for word in listed(
        "correct right ok okay fine like sound interested interest good prefer help else think confirm details detail "
        "following information verify anything want work agree sure opinion assist know please more accurate feel happy"
    )
)
"""What a question is about that asks for nothing but consent or a wish."""

_INTERJECTION: Final = re.compile(
    r"^(?:(?:hi|hello|hey|good (?:morning|afternoon|evening)|thanks?(?: you)?|you're welcome|you are welcome|welcome"
    r"|sure(?: thing)?"
    r"|of course|certainly|absolutely|great|okay|ok|alright|all right|no problem|my pleasure|sorry|bye|goodbye|got it"
    r"|understood|perfect|confirmed|yes|done|well|and|so"
    # "No, .." answers, "no refills are left" denies.
    r"|no(?=\s*(?:[,.!:;-]|$)|\s(?:i|we|you|it|there|that|this|the|they|he|she)\b))\b[\s,.!:-]*)+"
)
_WISH: Final = re.compile(
    r"^(?:i(?:'m| am) (?:so |very )?sorry|i apologi[sz]e|enjoy|have (?:a|fun|an)|i? ?hope|good luck"
    r"|(?:i(?:'m| am) )?glad"
    r"|(?:i(?:'d| would) be )?happy|looking forward|safe travels|see you|thank you|thanks|my apologies)\b"
)
_ACTION_VERBS: Final = """
cancelled canceled|booked|reserved|purchased bought|ordered|placed|refunded|exchanged|returned|updated|modified
changed|sent emailed mailed|
transferred|added|removed|deleted|created|scheduled rescheduled|confirmed|shipped dispatched|delivered|processed
submitted|completed|
paid|charged|issued|credited|upgraded|downgraded|activated|deactivated|enabled|disabled|started|stopped|paused|resumed
set|saved|
approved|rejected|registered enrolled|signed|waived|granted|revoked
assigned|applied|initiated|filed|closed|opened|unlocked|locked|reset|restored|escalated
posted|uploaded|
downloaded|renewed|subscribed|unsubscribed|forwarded|generated|notified|flagged|blocked|unblocked|extended|moved
arranged|made
"""
_VERB_OF: Final = {
    form: group.split()[0] for group in re.split(r"[|\n]+", _ACTION_VERBS.strip()) for form in group.split()
}
SETTLED: Final = frozenset(
    listed(
        "booked reserved scheduled confirmed made arranged completed processed placed purchased ordered submitted "
        "filed set"
    )
)
"""Actions that all say that what was asked for has been settled."""

_REACH: Final = 25
"""Characters before a participle within which "will" or "if" makes it a plan or a condition."""

_PHATIC_WORDS: Final = 10
_DONE: Final = re.compile(
    r"\b(?:(?:has|have|had|'ve|is|was|are|were|been|being|gets?|got)\s+"
    r"(?:(?:now|also|just|already|all|successfully|been|being|not|hereby|both|then)\s+)*"
    r"|(?:i|we)\s+(?:(?:now|also|just|already|successfully|then)\s+)*|^(?:successfully\s+)?)"
    rf"(?P<verb>{'|'.join(sorted(_VERB_OF, key=len, reverse=True))})\b"
    # "is set to expire" plans; "has been mailed to your office" tells where to.
    r"(?!\s+to\s+(?!(?:the|an?|you|your|my|our|us|me|him|her|his|them|their|its|this|that|these|both|all)\b|\S*[\d@]))"
)
_FUTURE: Final = re.compile(
    r"\b(?:will|'ll|going to|would|can|could|to be|should|may|if|once|before|when|whether|unless|wants?"
    r"|like|need)\b"
)

_OFFER: Final = re.compile(
    r"\b(?:(?:shall|should|may|can) (?:i|we)|(?:do |would )?(?:you )?(?:want|like) (?:me|us) to|would you like to)\s+"
    r"(?:(?:go ahead and|now|also|then|please)\s+)*(?P<verb>\w+)"
)
_OFFERED: Final = {stem(form): verb for form, verb in _VERB_OF.items()}
_GO_ON: Final = frozenset(listed("go proceed continue"))
_CONDITIONAL: Final = re.compile(
    r"\b(?:not|never|no|cannot|can't|don't|doesn't|won't|shouldn't|mustn't)\b[^.;]{1,120}\b(?:without|unless|until)\b"
)


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence or clause of a reply.

    ``start`` is its place in the text; ``facts`` have spans in ``text``, the claim itself. ``negated`` is its
    polarity. ``action`` is what it says has been done ("cancelled"), None if nothing. ``asks`` marks questions,
    requests and offers, ``phatic`` greetings and thanks: neither asserts. ``fault`` says, in a judgement, why the
    claim stands out: fact, name, action, negation, antonym, roles, content; ``facts`` are then the ones at fault.
    """

    text: str
    start: int
    facts: tuple[Fact, ...]
    negated: bool
    action: str | None
    asks: bool
    phatic: bool
    fault: str = ""


def claimed_action(text: str) -> str | None:
    """What a clause says has been done, as a participle; None for wishes, plans and conditions."""
    folded = flat(text)
    match = _DONE.search(folded)
    if match is None or _FUTURE.search(folded, max(0, match.start() - _REACH), match.start()):
        return None
    return _VERB_OF[match["verb"]]


def offered_action(text: str) -> str | None:
    """What a clause offers to do ("Shall I book it?"), as a participle; "" to go on, None for nothing known."""
    offer = _OFFER.search(flat(text))
    if offer is None:
        return None
    return "" if offer["verb"] in _GO_ON else _OFFERED.get(stem(offer["verb"]))


def conditional(text: str) -> bool:
    """Whether a clause denies something only for want of a condition ("you should not take it without asking"): what
    is then asserted can be said with or without a negation."""
    return _CONDITIONAL.search(flat(text)) is not None


def action_stem(action: str) -> str:
    """The stem under which the verb of an action is found in other forms ("cancel", "cancellation")."""
    return SYNONYMS.get(stem(action), stem(action))


def tells_of(claim: Claim, action: str) -> bool:
    """Whether a claim says, as a fact and not as a plan or an offer, that an action was done, be it as a noun or an
    adjective."""
    if claim.asks or claim.negated:
        return False
    if claim.action == action:
        return True
    return action_stem(action) in lemmas(claim.text) and not _FUTURE.search(flat(claim.text))


def negated(text: str) -> bool:
    """Whether a clause says that something is not so. A "no" that only opens an answer says nothing about the rest."""
    rest = _INTERJECTION.sub("", flat(text))
    return negations(rest if tokens(rest) else text) > 0


def asks(text: str) -> bool:
    """Whether a clause is a question, a request or an offer."""
    folded = flat(text).strip()
    words = tokens(folded)
    return (
        folded.endswith("?")
        or bool(_ASKING.search(folded))
        or (bool(words) and words[0] in ("which", "what", "who", "where", "when", "how") and not folded.endswith("."))
    )


def _is_phatic(text: str, asking: bool) -> bool:
    if asking:
        return all(stem(word) in _EMPTY_QUESTION for word in tokens(text) if word not in STOPWORDS)
    rest = _INTERJECTION.sub("", flat(text)).strip(" .!,")
    return not rest or (bool(_WISH.match(rest)) and len(tokens(rest)) <= _PHATIC_WORDS and claimed_action(rest) is None)


@remembered(1024)
def _claims(text: str, context: ValueContext) -> tuple[Claim, ...]:
    found = []
    position = 0
    pieces = []
    text = text[:MAX_CHARS]
    for match in _BREAK.finditer(text):
        pieces.append((position, text[position : match.start()]))
        position = match.end()
    pieces.append((position, text[position:]))
    for start, piece in pieces:
        lead = _BULLET.match(piece)
        stripped = piece[lead.end() if lead else 0 :].strip()
        if not tokens(stripped):
            continue
        stated = facts(stripped, context)
        asking = asks(stripped)
        found.append(
            Claim(
                text=stripped,
                start=start + (lead.end() if lead else 0),
                facts=stated,
                negated=negated(stripped),
                action=None if asking else claimed_action(stripped),
                asks=asking,
                phatic=not stated and _is_phatic(stripped, asking),
            )
        )
    return tuple(found)


def claims(text: str, context: ValueContext) -> tuple[Claim, ...]:
    """The claims of a reply in order. Every word of the text belongs to at most one."""
    return _claims(text, ValueContext(reference_date=context.reference_date))
