"""Other words for the same date: said in those that the rules of dates read.

"a week back", "a week ago today" and "this time last week" are all a week ago. One table of rewritings spares every
rule of dates its variants; what is rewritten keeps its place in the text, so that a fact still knows its own words.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Final

from aem_monitor.scoring.values.datewords import COUNT, DAY, MONTH, ORDINAL, WEEKDAY, WHICH, YEAR, which_of
from aem_monitor.scoring.values.holidays import PATTERN as HOLIDAY

_LENGTH: Final = r"(?:day|week|fortnight|month|year|decade)s?"
_SHORT_LENGTH: Final = r"(?:second|sec|minute|min|hour|hr)s?"
_HOUR_WORD: Final = r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_MINUTES_BEFORE: Final = (
    r"(?:half|(?:a )?quarter|\d{1,2}|five|ten|fifteen|twenty|twenty[ -]five|thirty)(?: minutes?| mins?)?"
)
_PERIOD: Final = r"(?:week|weekend|month|quarter|year)"
_SEASON: Final = r"(?:spring|summer|autumn|fall|winter)"
_PART: Final = r"(?:morning|afternoon|evening|night)"
_HOUR: Final = (
    r"(?:\d{1,2}(?:[:.]\d\d)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
    r"(?:[ -](?:fifteen|thirty|forty-five))?(?: ?o'? ?clock)?(?! ?[ap]\.?m)"
)
_IN_YEAR: Final = (
    rf"(?:{MONTH}\.?(?: (?:the )?{DAY})?|(?:the )?{DAY} (?:of )?{MONTH}|{_SEASON}|q[1-4]|h[12]|{HOLIDAY}"
    rf"|(?:first|second|third|fourth|last|final|1st|2nd|3rd|4th) (?:quarter|half|half-year))"
)
_OF_YEAR: Final = rf"(?:the )?(?P<which>{WHICH}|current|present) year(?P<far> after next| before last)?"
_END: Final = r"(?= *(?:$|[.,;:!?)]))"

_UNIT_NAMES: Final = {"wk": "weeks", "yr": "years", "mo": "months", "mth": "months"}
_PLACES: Final = {
    "one": "first", "two": "second", "three": "third", "four": "fourth",
    "1": "first", "2": "second", "3": "third", "4": "fourth",
}  # fmt: skip
_NUMBER_WORD: Final = rf"{_HOUR_WORD}|fifteen|twenty|thirty|forty|fifty"
_HOUR_NUMBERS: Final = {word: number for number, word in enumerate(_HOUR_WORD.split("|"), start=1)}
_NUMBERS: Final = {"one": 1, "two": 2, "three": 3, "four": 4}
_IN_PART: Final = {
    "morning": "in the morning", "afternoon": "in the afternoon", "evening": "in the evening", "night": "at night"
}  # fmt: skip
_MISSPELT: Final = {
    "wenday": "wednesday", "wensday": "wednesday", "wednsday": "wednesday", "wedensday": "wednesday",
    "thrusday": "thursday", "tuseday": "tuesday", "tueday": "tuesday", "saterday": "saturday",
    "febuary": "february", "feburary": "february", "janurary": "january", "septmber": "september",
    "decmber": "december", "novmber": "november", "ocotber": "october", "agust": "august",
}  # fmt: skip

_TABLE: Final = (
    # Spelling.
    (rf"\b(?P<n>{COUNT}|next|last|past|few) ?(?P<u>wk|yr|mo|mth)s?\b", lambda m: f"{m['n']} {_UNIT_NAMES[m['u']]}"),
    (
        rf"\b(?P<w>tom+or+ow|to-morrow|{'|'.join(_MISSPELT)})\b",
        lambda m: _MISSPELT.get(m["w"], "tomorrow"),
    ),
    (rf"\b(?P<a>{MONTH}|{WEEKDAY})\.?-(?=(?:{MONTH}|{WEEKDAY})\b)", r"\g<a> - "),
    (r"(?<![\d/-])(?P<a>\d{1,2}/\d{1,2}(?:/\d{2,4})?)-(?=\d{1,2}/\d{1,2}(?![\d-]))", r"\g<a> - "),
    (r"(?<![\w/-])(?P<a>\d{4}-\d\d(?:-\d\d)?)/(?=\d{4}-\d\d)", r"\g<a> - "),
    (r"(?<!\w)(?P<a>\d{1,2}(?:st|nd|rd|th))-(?=\d{1,2}(?:st|nd|rd|th)\b)", r"\g<a> - "),
    (rf"\b(?P<a>\d{{1,2}} {MONTH})\.?-(?=\d{{1,2}} {MONTH}\b)", r"\g<a> - "),
    (r"\b(?P<a>\d{1,2}/\d{1,2}/\d{2,4})-(?=\d{1,2}/\d{1,2}/\d{2,4}\b)", r"\g<a> - "),
    # How far away.
    (rf"\b(?P<n>{COUNT} {_LENGTH}) (?:back|prior(?! to)|before today|before now|before{_END})", r"\g<n> ago"),
    (
        rf"\b(?P<n>{COUNT} {_LENGTH}) (?:out|away|after today|after now|from this day|from today's date){_END}",
        r"\g<n> from now",
    ),
    (rf"\b(?P<n>{COUNT} {_LENGTH}) (?P<day>today|tomorrow)\b", r"\g<n> from \g<day>"),
    (r"\b(?P<day>today|tomorrow) week\b", r"a week from \g<day>"),
    (rf"\bin (?P<n>{COUNT} {_LENGTH} from (?:today|tomorrow))\b", r"\g<n>"),
    (rf"\b(?P<n>{COUNT} {_LENGTH}) ago today\b", r"\g<n> ago"),
    (rf"\b(?P<n>{COUNT} {_LENGTH}) ago (?P<day>yesterday|tomorrow)\b", r"\g<n> before \g<day>"),
    (r"\bthis (?:same )?(?:time|day|date) next (?P<u>week|month|year)\b", r"a \g<u> from today"),
    (r"\bthis (?:same )?(?:time|day|date) last (?P<u>week|month|year)\b", r"a \g<u> ago"),
    (r"\b(?:last (?P<u>month|year) today|today last (?P<u2>month|year))\b", lambda m: f"a {m['u'] or m['u2']} ago"),
    (r"\b(?:next (?P<u>month|year) today|today next (?P<u2>month|year))\b", lambda m: f"in a {m['u'] or m['u2']}"),
    (r"\b(?:half a|a half|half of a|one half) year(?= (?:ago|from|later|earlier))|(?<=\bin )(?:half a|a half)[ -]year",
     "6 months"),
    (r"\b(?:a )?quarter (?:of )?a year(?= (?:ago|from|later|earlier))|(?<=\bin )a quarter (?:of )?a year", "3 months"),
    (rf"(?<=\bin )(?P<n>\d+)[.,]5 (?P<u>{_LENGTH})", r"\g<n> and a half \g<u>"),
    (rf"\b(?P<n>\d+)[.,]5 (?P<u>{_LENGTH})(?= (?:ago|from now|from today))", r"\g<n> and a half \g<u>"),
    (rf"\b(?P<n>one|two|three|four|five|\d+) and a half (?P<u>{_LENGTH}) back\b", r"\g<n> and a half \g<u> ago"),
    (rf"\b(?P<n>{COUNT} {_SHORT_LENGTH}) (?:earlier|back|before{_END})", r"\g<n> ago"),
    # Lengths of time.
    (
        (
            r"\ban? (?P<u>day|week|month|year|hour|minute) and "
            rf"(?=(?:\d|{_NUMBER_WORD})[\w-]* (?:{_LENGTH}|{_SHORT_LENGTH})\b)"
        ),
        r"1 \g<u> and ",
    ),
    (r"(?<![\d:])(?P<h>\d):(?P<m>\d\d) ?(?:hours?|hrs?)\b", r"\g<h> hours \g<m> minutes"),
    # Times of day.
    (r"(?<![\w:.-])t(?=\d\d:\d\d)", " "),
    (r"(?<![\d:.,/$-])(?P<h>1?\d)(?P<m>[0-5]\d) ?(?P<half>[ap]\.?m)\b", r"\g<h>:\g<m> \g<half>"),
    (rf"\bquarter of (?=(?:{_HOUR_WORD}|1?\d)\b(?! (?:people|them|these|those)))", "quarter to "),
    (rf"\b(?P<m>{_MINUTES_BEFORE}) (?P<way>past|after) (?:noon|mid-?day)\b", r"\g<m> \g<way> 12 pm"),
    (rf"\b(?P<m>{_MINUTES_BEFORE}) (?P<way>past|after) mid-?night\b", r"\g<m> \g<way> 12 am"),
    (rf"\b(?P<m>{_MINUTES_BEFORE}) (?P<way>to|before|till) (?:noon|mid-?day)\b", r"\g<m> \g<way> 12 in the morning"),
    (rf"\b(?P<m>{_MINUTES_BEFORE}) (?P<way>to|before|till) mid-?night\b", r"\g<m> \g<way> 12 at night"),
    (
        (
            rf"\b(?P<a>from|between) (?P<h>{_HOUR_WORD}) (?P<j>to|until|till|and) (?P<h2>{_HOUR_WORD})"
            r"(?= ?(?:[ap]\.?m\b|in the|at night|o'? ?clock))"
        ),
        lambda m: f"{m['a']} {_HOUR_NUMBERS[m['h']]} {m['j']} {_HOUR_NUMBERS[m['h2']]}",
    ),
    (r"\bmid-?(?=(?:morning|afternoon)\b)", "mid "),
    # Which period.
    (rf"\b(?:this|the (?:current|present|same)) calendar (?P<u>{_PERIOD})\b", r"this \g<u>"),
    (rf"\b(?:the )?(?P<u>{_PERIOD}) after this(?: one)?\b(?! {_PERIOD})", r"next \g<u>"),
    (rf"\b(?:the )?(?P<u>{_PERIOD}) (?:before this(?: one)?\b|before{_END})", r"last \g<u>"),
    (rf"\bthis (?:past|last) (?=(?:{WEEKDAY}|{_PERIOD}|{MONTH}|{_SEASON})\b)", "last "),
    (rf"\b(?:the )?(?P<u>{WEEKDAY}) after next\b", r"2 \g<u>s from now"),
    (rf"\b(?:the )?second (?P<u>{WEEKDAY}) from (?:now|today)\b", r"2 \g<u>s from now"),
    (rf"\b(?:the )?(?P<u>{_PERIOD})'s (?P<e>end|beginning|start|middle)\b", r"\g<e> of the \g<u>"),
    (
        (
            rf"\b(?P<p>{MONTH}(?: {YEAR})?|(?:{WHICH}|the) {_PERIOD}|{YEAR})'s (?P<e>(?:(?:very )?(?:first|second|third"
            r"|fourth|fifth|last|final|1st|2nd|3rd|4th|5th|end|beginning|start|middle) ?)?"
            rf"(?:{WEEKDAY}|week|weekend|half|quarter|month|day|{MONTH}|{_SEASON})?)\b(?<!s )"
        ),
        lambda m: f"{m['e'].strip()} of {m['p']}" if m["e"].strip() else m[0],
    ),
    (rf"\b(?P<p>(?:{WHICH}) (?:month|week)),? (?:on )?(?P<d>the (?:{ORDINAL}))(?! \w)", r"\g<d> of \g<p>"),
    (rf"\b(?P<d>{ORDINAL}) (?=(?:next|last|this) month\b)", r"\g<d> of "),
    (r"\b(?P<a>earlier|later) (?:in the|this) day\b", r"\g<a> today"),
    (r"\b(?P<a>earlier|later) in the (?=(?:week|month|year)\b)", r"\g<a> this "),
    (rf"\b(?P<h>{HOLIDAY}) (?P<u>week|weekend)\b(?! (?:of|after|before))", r"the \g<u> of \g<h>"),
    (r"\b(?:the )?two thousands\b", "the 2000s"),
    (rf"\bweek (?P<n>one|two|three|four|[1-4]) (?:of|in) (?=(?:{MONTH})\b|(?:{WHICH}) month|the month)",
     lambda m: f"{_PLACES[m['n']]} week of "),
    (r"\b(?P<p>the |final |latter |last |former |first )?quarter (?P<n>one|two|three|four)\b",
     lambda m: f"{m['p'] or ''}quarter {_NUMBERS[m['n']]}"),
    (rf"\b(?:latter|last|final|back) half(?= of (?:{YEAR}|{MONTH}|the|this|next|last))", "second half"),
    (rf"\b(?:former|front) half(?= of (?:{YEAR}|{MONTH}|the|this|next|last))", "first half"),
    (rf"\b(?:last|final) quarter(?= (?:of|in) (?:{YEAR}|(?:{WHICH}|the) (?:calendar )?year))", "fourth quarter"),
    (r"\b(?:the )?decade of the\b", "the"),
    (r"\bnineteen[ -](?=(?:twenties|thirties|forties|fifties|sixties|seventies|eighties|nineties)\b)", "the "),
    (r"\b(?P<c>spring|summer|autumn|fall|winter)[ -]?time\b", r"\g<c>"),
    # Days and their parts.
    (r"\b(?:the )?(?:current|present) day\b|\bthis (?:very )?day\b|\btoday's date\b", "today"),
    (r"\bovermorrow\b", "day after tomorrow"),
    (r"\blast (?=(?:night|evening)\b)", "yesterday "),
    (
        (
            rf"\b(?P<d>tomorrow|today|yesterday|(?:(?:{WHICH}) )?{WEEKDAY})(?:'s)? (?P<t>{_PART}),? "
            rf"(?:at |around |about |by )?(?P<h>{_HOUR})(?!\w)(?! ?(?:hours?|minutes?|days?|people|of)\b)"
        ),
        lambda m: f"{m['d']} at {m['h']} {_IN_PART[m['t']]}",
    ),
    (
        rf"(?<![\w/.:-])(?P<h>{_HOUR}) (?P<d>tomorrow|today|yesterday|(?:on )?{WEEKDAY}) (?P<t>{_PART})\b",
        lambda m: f"{m['h']} {_IN_PART[m['t']]} {m['d']}",
    ),
    (rf"\b(?:the )?eve of (?P<h>{HOLIDAY})\b", r"the day before \g<h>"),
    (rf"\b(?P<a>{MONTH}\.? {DAY}|{DAY} (?:of )?{MONTH})-?ish\b", r"\g<a> ish"),
    # How often.
    (r"\bon an? (?P<a>daily|weekly|monthly|yearly|annual|quarterly|hourly) basis\b", r"\g<a>"),
)  # fmt: skip
_RULES: Final = tuple((re.compile(pattern), instead) for pattern, instead in _TABLE)
_YEAR_BEHIND: Final = re.compile(rf"\b(?P<p>{_IN_YEAR})(?P<join>,? (?:of |in )?){_OF_YEAR}\b(?! (?:ago|from))")
_YEAR_BEFORE: Final = re.compile(rf"\b(?P<which>{WHICH}) year(?P<far>)(?:'?s|,)? (?:in |on )?(?P<p>{_IN_YEAR})\b")
_WORTH: Final = re.compile(
    rf"\b(?:wks?|yrs?|mos?|mths?|\d+(?:wk|yr|mo)s?|tom+or+ow|to-morrow|{'|'.join(_MISSPELT)}|overmorrow|today|tomorrow"
    rf"|ago|calendar|half|quarter|year|years?'s|current|decade|nineteen|last|basis|ending|week|weeks|month|weekend|eve"
    rf"|(?:{_LENGTH}|{_SHORT_LENGTH}) (?:back|prior|before|out|away|after)|after next|earlier|later"
    rf"|this (?:calendar|past|last|very|same|day|date|time)|present (?:calendar|day)"
    rf"|(?:day|{WEEKDAY})(?:'s)? {_PART}|(?:from|between) (?:{_HOUR_WORD})|mid-?way|half-?way|two thousands"
    r"|\d{1,2}(?:st|nd|rd|th)-\d+(?:st|nd|rd|th)|\d:\d\d ?h(?:ou)?rs?|t\d\d:\d\d|\d{3,4} ?[ap]\.?m|noon|mid-?day"
    r"|mid-?night|mid(?:morning|afternoon)|an? (?:day|week|month|year|hour|minute) and|\d(?:st|nd|rd|th)?-?ish"
    r"|springtime|summertime|wintertime)\b"
    rf"|(?:{MONTH}|{WEEKDAY})\.?(?:-|'?s\b)|\d/\d{{1,2}}(?:/\d+)?-|\d-\d\d/\d{{4}}|[.,]5 |(?:day|week|month|year)'s"
    rf"|(?:yesterday|{WEEKDAY}) {_PART}|{WEEKDAY} from (?:now|today)"
)
"""Cheap test that spares most texts the table."""


@dataclass(frozen=True, slots=True)
class Reworded:
    """A text in other words: ``folded`` and ``original`` as the recognisers take them, and for each character of them
    where in the first text its words begin and end."""

    folded: str
    original: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]


def reworded(folded: str, original: str, reference: date | None) -> Reworded | None:
    """A folded text with its dates said in the words that the rules know; None where all stays as it is."""
    if not _WORTH.search(folded):
        return None
    first = Reworded(folded, original, tuple(range(len(folded))), tuple(range(1, len(folded) + 1)))
    text = first
    for pattern, instead in _rules(reference):
        text = _replaced(text, pattern, instead)
    return None if text is first else text


_Instead = str | Callable[[re.Match[str]], str]


def _rules(reference: date | None) -> Iterator[tuple[re.Pattern[str], _Instead]]:
    yield from _RULES
    if reference is not None:
        this = reference.year
        yield _YEAR_BEHIND, lambda match: f"{match['p']} {_year(match, this)}"
        yield _YEAR_BEFORE, lambda match: f"{match['p']} {_year(match, this)}"


def _year(match: re.Match[str], this: int) -> int:
    """The year that "next year", "this year" or "the year after next" is."""
    step = {"next": 1, "last": -1}.get(which_of(match["which"]), 0)
    return this + step * (2 if match["far"] else 1)


def _shared(one: str, other: str) -> int:
    """With how many characters in common two texts begin."""
    shared = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        shared += 1
    return shared


def _changes(start: int, old: str, words: str) -> Iterator[tuple[int, int, str]]:
    """What is replaced, and by what: words that stay keep their own place."""
    before, after = old.split(" "), words.split(" ")
    if len(before) == len(after) and len(before) > 1:
        for one, other in zip(before, after, strict=True):
            if one != other:
                yield from _changes(start, one, other)
            start += len(one) + 1
        return
    ahead = _shared(old, words)
    behind = min(_shared(old[::-1], words[::-1]), len(old) - ahead, len(words) - ahead)
    if ahead + behind >= len(words):
        ahead = old.rfind(" ", 0, max(ahead - 1, 0)) + 1  # what is left out belongs to the word before it
    elif ahead + behind >= len(old):
        # Something has to be replaced, so that what is put in has a place.
        ahead, behind = (ahead - 1, behind) if ahead else (ahead, behind - 1)
    yield start + ahead, start + len(old) - behind, words[ahead : len(words) - behind]


def _replaced(text: Reworded, pattern: re.Pattern[str], instead: _Instead) -> Reworded:
    found = [
        (match, match.expand(instead) if isinstance(instead, str) else instead(match))
        for match in pattern.finditer(text.folded)
    ]
    changes = [
        change
        for match, words in found
        if match[0] and match[0] != words
        for change in _changes(match.start(), match[0], words)
    ]
    if not changes:
        return text
    folded: list[str] = []
    original: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    position = 0
    for start, end, words in changes:
        for pieces, whole in ((folded, text.folded), (original, text.original)):
            pieces += [whole[position:start], words]
        starts += [*text.starts[position:start], *[text.starts[start]] * len(words)]
        ends += [*text.ends[position:start], *[text.ends[end - 1]] * len(words)]
        position = end
    return Reworded(
        "".join((*folded, text.folded[position:])),
        "".join((*original, text.original[position:])),
        (*starts, *text.starts[position:]),
        (*ends, *text.ends[position:]),
    )
