"""A whole value as terms: typed facts with the relation in which each stands ("until", "at least", "every", "late").

"From 5 to 7 June" and "June 5-7", "March 5 or later" and "on or after March 5", "7 am tomorrow" and "tomorrow at 7 am"
are equal terms in other words and another order. What relation a word tells is read off the words beside a fact;
words that tell none and are no filler stay over and have to be the same on both sides.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from aem_monitor.scoring.values.calendar import Calendar, Span
from aem_monitor.scoring.values.datewords import weekday_named
from aem_monitor.scoring.values.forms import Agreement, DateForm, DurationForm, Fact, TimeForm
from aem_monitor.scoring.values.lending import lent
from aem_monitor.scoring.values.periods import in_week, on_weekday
from aem_monitor.scoring.values.recurring import on_weekdays
from aem_monitor.scoring.values.words import flat, listed

_RELATIONS: Final = {
    ">=": (
        r">=|≥|=>|(?:greater|more|higher|larger) than or equal to|equal to or (?:greater|more|higher) than"
        r"|from|as of|effective|since|start(?:s|ing)?(?: from| on| at| in)?|beginning(?: on| from| at| in)?"
        r"|(?:as|from as) early as|(?:any ?time|sometime) from|no earlier than|not earlier than|not before"
        r"|(?:on|at) or after|at least|at the earliest|no less than|no fewer than|not less than"
        r"|(?:a )?minimum(?: of)?|min|earliest"
    ),
    "past": (
        r"(?:(?:in|over|during|for|within|throughout) )?(?:the )?(?:last|previous)"
        r"|(?:(?:in|over|during|for|within|throughout) the|(?:in|over|during|for|within|throughout)|the) past"
    ),
    ">": (
        r">|(?:any ?time |any ?day |some ?time |right |just )?after|later than|beyond|more than|over|above|greater than"
        r"|longer than|older than|bigger than|larger than|higher than|past|following|post|in excess of|exceeding"
        r"|upwards of"
    ),
    "<": (
        r"<|(?:any ?time |any ?day |some ?time |right |just )?before|prior to|earlier than|ahead of|less than"
        r"|fewer than|below|under|preceding|sooner than|in advance of|pre|younger than|shorter than|smaller than"
        r"|lower than"
    ),
    "<=": (
        r"<=|≤|=<|(?:less|smaller|lower) than or equal to|equal to or (?:less|lower) than|not exceeding"
        r"|by|until|till?|up (?:to|until|till?)|(?:no|not) (?:later|longer|older|greater|higher) than|not after"
        r"|(?:on|at) or before|as late as|through|thru|at most|no more than|not more than|(?:a )?maximum(?: of)?|max"
        r"|latest|due(?: by)?|(?:and )?end(?:s|ing)(?: on| at| in| by)?"
    ),
    "~": (
        r"~|(?:some ?(?:time|where) )?(?:around|(?<!how )about|near)|approximately|approx|circa|ca|c|roughly|close to"
        r"|on or (?:about|around)|at or (?:about|around)"
    ),
    "": r"(?:all|the whole) of|=|exactly|precisely|equal to|only",
    "every": r"every|each",
    "early": (
        r"(?:in )?early(?: in| on)?|earlier(?: in)?"
        r"|(?:(?:at|in|from|around) )?(?:the )?(?:very )?(?:beginning|start|early part|first part)(?: of(?: the)?)?"
    ),
    "mid": (
        r"(?:in )?mid(?:way)?(?: through)?|half ?way through"
        r"|(?:(?:at|in|from|around) )?(?:the )?middle(?: part)?(?: of(?: the)?)?"
    ),
    "late": (
        r"(?:in )?late(?: in| on)?|later(?: in| on)?"
        r"|(?:(?:at|in|towards?|around) )?(?:the )?(?:very )?(?:end|late part|later part|latter part)(?: of(?: the)?)?"
    ),
    "rest": r"(?:for |in |during )?(?:the )?(?:rest|remainder)(?: of(?: the)?)?",
    "within": (
        r"within|throughout|inside of|in (?:less than|under)"
        r"|(?:in |over |during |for |within )?(?:the )?(?:next|coming)|during(?: the)?|over the|over the course of"
    ),
}
"""Relations and the words before a fact that tell them."""

_TAIL_RELATIONS: Final = {
    ">=": (
        r"\+|(?:and|or) (?:later|after|up|more|above|beyond)|(?:and )?on ?wards?|at the earliest"
        r"|(?:or|and) (?:greater|longer|newer|higher|bigger|larger|over)|minimum|min|at least"
    ),
    "<=": (
        r"(?:and|or) (?:earlier|before|less|fewer|below|under|shorter|older|sooner|lower|smaller)|at the latest|at most"
        r"|maximum|max|tops"
    ),
    "~": r"or so|\+?ish|approximately|or thereabouts",
}
"""The same for words behind it."""

_LEADS: Final = tuple((relation, re.compile(rf"(?:^| )(?:{words})$")) for relation, words in _RELATIONS.items())
_TAILS: Final = tuple((relation, re.compile(rf"^(?:{words})(?= |$)")) for relation, words in _TAIL_RELATIONS.items())
_JOINS: Final = frozenset(listed("/ to till til until through thru - and"))
_OPENS: Final = re.compile(r"(?:^| )(?:from|between|any ?time from|any ?time between|anywhere from)$")
_FILLER: Final = frozenset(
    listed(
        "maybe perhaps say how about please sometime anytime some any possibly probably preferably exactly sharp lets "
        "let us i guess think would will be like good ok okay oh well um make on at in the of for a an and to is it t "
        "day date time year years around oclock clock hours hour per total approximately this that "
        "either long lasting length some over almost nearly coming s whole entire calendar just also month"
    )
)
_TODAY: Final = re.compile(r"\b(?:tonight|today|this (?:early |late )?(?:morning|afternoon|evening))\b")
_END_OF: Final = re.compile(r"\bend(?: of)?(?: the)?$")
_STRETCH: Final = re.compile(r"(?:next|last) \d+ \w+")
_STRETCH_WORDS: Final = re.compile(
    r"(?:the )?(?:last|past|previous|next|coming|following) (?:week|month|quarter|year|decade)\b"
)
_STRETCH_LEAD: Final = re.compile(
    r"(?:^| )(?:over|in|within|during|for|throughout|across)(?: the)?(?: course of(?: the)?)?$"
)
_EVERY_DAY: Final = re.compile(r"every \d")
_EVERY_PART: Final = re.compile(r"every 1 (?P<part>morning|afternoon|evening|night)")
_PLUS: Final = re.compile(r"\d ?\+")
_DAY_AND_TIME: Final = 2
_FLIPPED: Final = {">": "<", ">=": "<=", "<": ">", "<=": ">="}
_LENGTH_BEHIND: Final = re.compile(r"or (?:more|less|fewer)\b")
_PERIOD_END: Final = re.compile(r"end of (?P<which>this|next|last) (?P<unit>week|month|quarter|year)")
_AGO: Final = re.compile(r" (?:ago|earlier|back|prior)$")
_BY_LENGTH: Final = re.compile(
    r"(?:more than|over|older than|longer than|at least|less than|fewer than|under|at most)$"
)
"""More than two weeks ago is before the day two weeks ago."""

_PUNCTUATION: Final = re.compile(r"[\s,.;:!?()'\"\[\]]+")
_PART_DASH: Final = re.compile(r"\b(mid|early|late|pre|post|half) -(?=$| way)")
_DASH: Final = re.compile(r"\s*-+\s*")


@dataclass(frozen=True, slots=True)
class Term:
    """A fact and its relation ("" for the value itself, ">=" from it on, "<=" up to it, "late" its last part ..).
    ``implied``: not said in so many words ("tonight" is an evening), so that the other side need not say it."""

    relation: str
    fact: Fact
    implied: bool = False


def read_terms(text: str, facts: Sequence[Fact], reference: date | None) -> tuple[tuple[Term, ...], tuple[str, ...]]:
    """The terms that ``facts``, found in ``text`` in this order, make up, and the words that stay over, sorted."""
    facts = lent(text, facts, reference)
    folded = flat(text)
    edges = [0, *(edge for fact in facts for edge in (fact.start, fact.end)), len(folded)]
    gaps = [_clean(_glued(folded[edges[at] : edges[at + 1]], at)) for at in range(0, len(edges), 2)]
    terms: list[Term] = []
    rest: list[str] = []
    opened = False
    joined = False
    for at, fact in enumerate(facts):
        lead = gaps[at]
        now_open = bool(_OPENS.search(lead))
        ranged = at + 1 < len(facts) and _joins(gaps[at + 1], now_open) and _alike(fact, facts[at + 1])
        if joined:
            relation, lead = "<=", ""
        elif ranged:
            relation, lead = ">=", _OPENS.sub("", lead)
        else:
            relation, lead = _lead(_STRETCH_LEAD.sub("", lead) if _is_stretch(fact) else lead)
        if relation in _FLIPPED and isinstance(fact.form, DateForm) and _AGO.search(flat(fact.text)):
            relation = _FLIPPED[relation] if _BY_LENGTH.search(gaps[at]) else relation
        length_behind = _LENGTH_BEHIND.match(gaps[at + 1]) and _AGO.search(flat(fact.text))
        tail_relation, gaps[at + 1] = _tail(gaps[at + 1])
        if length_behind and isinstance(fact.form, DateForm):
            tail_relation = _FLIPPED.get(tail_relation, tail_relation)
        if at + 1 == len(facts) and gaps[-1] in ("on", "and on"):
            tail_relation, gaps[-1] = ">=", ""
        rest += lead.split()
        whole_day = (
            isinstance(fact.form, DateForm) and fact.form.spans and fact.form.spans[0][0] == fact.form.spans[0][1]
        )
        if relation == "late" and not tail_relation and whole_day and _END_OF.search(gaps[at]):
            # "End of tomorrow" is tomorrow, at the end of the day.
            terms.append(Term("", replace(fact, form=TimeForm(key="eod"))))
            relation = ""
        relation, tail_relation = (_stated(each, fact) for each in (relation, tail_relation))
        again = at and _EVERY_DAY.match(_key(facts[at - 1])) and gaps[at] in ("and", "or", "")
        if (relation == "every" or again) and (weekday := weekday_named(fact.text)) is not None:
            # As "Mondays" says it.
            terms.append(Term("", replace(fact, form=on_weekdays(1, weekday))))
        elif part := _EVERY_PART.fullmatch(_key(fact)):
            terms.append(Term("", replace(fact, form=DateForm(key="every 1 day"))))
            terms.append(Term("", replace(fact, form=TimeForm(key=part["part"]))))
        elif (period := _period_ending(fact, reference)) and not tail_relation and not relation:
            terms.append(Term("late", period))
        else:
            terms.append(Term(tail_relation or relation, fact))
        joined = ranged and not tail_relation
        opened = opened or now_open
    rest += gaps[-1].split()
    words = tuple(sorted(word for word in rest if word not in _FILLER and word != "-"))
    settled = _settled(_with_weekdays(_ranges(terms, reference)))
    whole = [_whole_period(term, reference) for term in settled]
    return (*whole, *_implied(whole, reference)), words


def _key(fact: Fact) -> str:
    return fact.form.key if isinstance(fact.form, DateForm) else ""


def _is_stretch(fact: Fact) -> bool:
    """Whether a fact is a length counted from now on, so that "over" and "within" only lead up to it."""
    return _STRETCH.match(_key(fact)) is not None or _STRETCH_WORDS.match(flat(fact.text)) is not None


def _stated(relation: str, fact: Fact) -> str:
    """The relation, without "about" where it is no more than good manners: of hours, lengths and amounts."""
    if relation == "~" and not isinstance(fact.form, DateForm):
        return ""
    if relation == "" and isinstance(fact.form, DurationForm) and _PLUS.search(fact.text):
        return ">="
    return relation


def _period_ending(fact: Fact, reference: date | None) -> Fact | None:
    """The period of which a fact is the end ("EOM")."""
    found = _PERIOD_END.fullmatch(_key(fact))
    if found is None:
        return None
    form = Calendar(reference).relative_period(found["which"], found["unit"])
    return replace(fact, form=form)


def agree_part(a: Term, b: Term) -> Agreement:
    """How "the end of June" and "June 30" agree, terms of which only one is a part of its period: probably, if the day
    is the last one; else not."""
    for part, day in ((a, b), (b, a)):
        if (part.relation, day.relation) == ("late", ""):
            spans, days = _spans(part), _spans(day)
            if spans and days and any((last, last) in days for _, last in spans):
                return Agreement.PROBABLY
        if (
            part.relation in ("early", "late")
            and not day.relation
            and any(first == last for first, last in _spans(part))
        ):
            # "Later today" is today, as far as a day goes.
            return Agreement.PROBABLY if set(_spans(part)) & set(_spans(day)) else Agreement.DIFFERENT
    return Agreement.DIFFERENT


def _spans(term: Term) -> tuple[Span, ...]:
    return term.fact.form.spans if isinstance(term.fact.form, DateForm) else ()


def _implied(terms: Sequence[Term], reference: date | None) -> list[Term]:
    """ "Tonight" is the evening of today, "8 this evening" a time of today."""
    found: list[Term] = []
    has_date = any(isinstance(term.fact.form, DateForm) for term in terms)
    has_time = any(isinstance(term.fact.form, TimeForm) for term in terms)
    for term in terms:
        said = flat(term.fact.text)
        if not has_time and said == "tonight":
            found.append(Term("", replace(term.fact, form=TimeForm(key="evening")), implied=True))
        elif not has_date and isinstance(term.fact.form, TimeForm) and (_TODAY.search(said) or _eod(term)):
            found.append(Term("", replace(term.fact, form=Calendar(reference).shifted(0)), implied=True))
    return found


def _eod(term: Term) -> bool:
    return isinstance(term.fact.form, TimeForm) and term.fact.form.key == "eod"


def _glued(gap: str, place: int) -> str:
    """A gap whose first letters, if they stand at the fact without a blank, are marked: "17a" is not "17 a"."""
    return f"+{gap}" if place and gap[:1].isalnum() and gap != "t" else gap


def _clean(gap: str) -> str:
    if not gap.strip():
        return ""
    return _PART_DASH.sub(r"\1", _DASH.sub(" - ", _PUNCTUATION.sub(" ", gap)).strip())


def _joins(gap: str, opened: bool) -> bool:
    words = [word for word in gap.split() if word not in ("the", "at", "on", "about", "up")]
    return len(words) == 1 and words[0] in _JOINS and (opened or words[0] != "and")


def _alike(a: Fact, b: Fact) -> bool:
    from_now = isinstance(b.form, DurationForm) and isinstance(a.form, DateForm) and a.form.key == "now"
    return from_now or type(a.form) is type(b.form)


def _lead(gap: str) -> tuple[str, str]:
    best, length = ("", gap), 0
    for relation, pattern in _LEADS:
        match = pattern.search(gap)
        if match and match.end() - match.start() > length:
            best, length = (relation, gap[: match.start()]), match.end() - match.start()
    return best


def _tail(gap: str) -> tuple[str, str]:
    for relation, pattern in _TAILS:
        match = pattern.match(gap)
        if match:
            return relation, gap[match.end() :].strip()
    return "", gap


def _ranges(terms: Sequence[Term], reference: date | None) -> list[Term]:
    """Terms with "from" and "to" that follow each other made one period, where their days are known."""
    found: list[Term] = []
    for term in terms:
        before = found[-1] if found else None
        if before is not None and before.relation == ">=" and term.relation == "<=":
            start, end = before.fact.form, term.fact.form
            if isinstance(start, DateForm) and start.key == "now" and isinstance(end, DateForm | DurationForm):
                found[-1] = Term("within", term.fact)
                continue
            if isinstance(start, DateForm) and isinstance(end, DateForm):
                whole = _period(start, end, reference)
                if whole is not None:
                    found[-1] = Term("", replace(before.fact, form=whole))
                    continue
            if isinstance(start, TimeForm) and isinstance(end, TimeForm):
                found[-1] = replace(before, fact=replace(before.fact, form=_in_half_of(start, end)))
        found.append(term)
    return found


def _period(start: DateForm, end: DateForm, reference: date | None) -> DateForm | None:
    """From the first day of one form to the last of another; a year said once counts for both."""
    first, last = dict(start.fields), dict(end.fields)
    calendar = Calendar(reference)
    if "y" not in first and "y" in last and "m" in first and "m" in last:
        year = last["y"] - (first["m"] > last["m"])
        start = _dated(calendar, year, first) or start
    elif "y" in first and "y" not in last and "m" in first and "m" in last:
        end = _dated(calendar, first["y"] + (first["m"] > last["m"]), last) or end
    spans: list[Span] = []
    for opening, _ in start.spans:
        closing = min((closes for _, closes in end.spans if closes >= opening), default=None)
        if closing is not None:
            spans.append((opening, closing))
    return DateForm(tuple(dict.fromkeys(spans)), ambiguous=start.ambiguous or end.ambiguous) if spans else None


def _dated(calendar: Calendar, year: int, fields: dict[str, int]) -> DateForm | None:
    return calendar.day(year, fields["m"], fields["d"]) if "d" in fields else calendar.month(year, fields["m"])


def _in_half_of(start: TimeForm, end: TimeForm) -> TimeForm:
    """ "5 to 6 pm" begins at 5 pm, "11 to 2 pm" at 11 am: the last reading before the end."""
    if len(start.readings) < 2 or len(end.readings) != 1:
        return start
    earlier = [reading for reading in start.readings if reading < end.readings[0]]
    return TimeForm((max(earlier),), offset=start.offset) if earlier else start


def _whole_period(term: Term, reference: date | None) -> Term:
    """ "Within 3 days" as the period that "the next 3 days" are; a period says by itself that it is one."""
    form = term.fact.form
    if term.relation == "rest" and isinstance(form, DateForm) and reference is not None:
        left = tuple((reference, last) for first, last in form.spans if first <= reference <= last)
        return Term("", replace(term.fact, form=DateForm(left))) if left else term
    if term.relation != "within":
        return term
    if isinstance(form, DateForm):
        return Term("", term.fact)
    if isinstance(form, TimeForm) and not form.readings:
        return Term("", term.fact)
    if not isinstance(form, DurationForm) or form.seconds % 86400 or form.months.denominator != 1:
        return term
    months, days = int(form.months), int(form.seconds // 86400)
    if bool(months) == bool(days):
        return term
    period = Calendar(reference).periods("next", months or days, "month" if months else "day")
    return Term("", replace(term.fact, form=period))


def _with_weekdays(terms: Sequence[Term]) -> list[Term]:
    """A weekday beside a date confirms it ("Tuesday, March 5") or chooses a day of its week ("next week, on
    Wednesday")."""
    days = [term for term in terms if term.relation == "" and weekday_named(term.fact.text) is not None]
    others = [term for term in terms if isinstance(term.fact.form, DateForm) and term not in days]
    if len(days) != 1 or len(others) != 1:
        return list(terms)
    weekday = weekday_named(days[0].fact.text)
    form = others[0].fact.form
    assert isinstance(form, DateForm)
    assert weekday is not None
    chosen = on_weekday(form, weekday) or in_week(form, weekday)
    if chosen is None:
        return list(terms)
    settled = replace(others[0], fact=replace(others[0].fact, form=chosen))
    return [settled if term is others[0] else term for term in terms if term is not days[0]]


def _settled(terms: Iterable[Term]) -> list[Term]:
    """Without what adds nothing: the midnight that a format writes beside a day."""
    kept = _bounds_of_times(_parts_of_times(list(terms)))
    if not any(isinstance(term.fact.form, DateForm) and not term.relation for term in kept):
        return kept
    return [term for term in kept if not _formal_midnight(term.fact)]


def _parts_of_times(terms: list[Term]) -> list[Term]:
    """ "Early tomorrow morning" is early in the morning rather than early on the day."""
    parts = [at for at, term in enumerate(terms) if isinstance(term.fact.form, TimeForm) and not term.relation]
    days = [
        at
        for at, term in enumerate(terms)
        if term.relation in ("early", "late") and any(first == last for first, last in _spans(term))
    ]
    if len(parts) == 1 and len(days) == 1:
        part, day = parts[0], days[0]
        terms[part] = replace(terms[part], relation=terms[day].relation)
        terms[day] = replace(terms[day], relation="")
    return terms


def _bounds_of_times(terms: list[Term]) -> list[Term]:
    """ "By tomorrow 5 pm" and "5 pm tomorrow at the latest" bound the moment, as "by 5 pm tomorrow" does."""
    if len(terms) != _DAY_AND_TIME:
        return terms
    day, time = sorted(terms, key=lambda term: isinstance(term.fact.form, TimeForm))
    if not isinstance(time.fact.form, TimeForm) or not any(first == last for first, last in _spans(day)):
        return terms
    if time.relation or day.relation not in _FLIPPED:
        return terms
    return [replace(day, relation=""), replace(time, relation=day.relation)]


def _formal_midnight(fact: Fact) -> bool:
    return (
        isinstance(fact.form, TimeForm)
        and fact.form.readings == (0,)
        and re.fullmatch(r"t?00:00(?::00(?:\.0+)?)?(?:z|[+-]00:?00)?", flat(fact.text).strip()) is not None
    )
