"""What a number measures: "a profit of 1.24 million" is not "revenue of 1.24 million".

Only measures of the table are told apart, words of one line being one measure: a paraphrase calls a price a fare, but
nobody calls revenue profit.
"""

import re
from typing import Final

from aem_monitor.scoring.values.forms import Fact
from aem_monitor.scoring.values.words import flat

_GROUPS: Final = (
    "revenue revenues sales turnover",
    "profit profits earnings",
    "loss losses",
    "margin margins",
    "debt debts",
    "assets",
    "cost costs price prices fare fares fee fees charge charges rate rent ticket tickets total amount payment pay",
    "deposit deposits",
    "discount discounts saving savings",
    "refund refunds",
    "tax taxes vat",
    "balance",
    "salary salaries wage wages",
    "temperature temperatures",
    "humidity",
    "wind winds",
    "rain raining precipitation",
    "rating ratings score scores rated",
    "population inhabitants",
    "weight",
    "height",
    "length",
    "width",
    "distance",
    "age aged",
    "imports",
    "exports",
    "customers",
    "employees",
    "visitors",
    "deaths",
    "births",
    "injuries injured",
)
_GROUP_OF: Final = {word: index for index, words in enumerate(_GROUPS) for word in words.split()}
_WORD: Final = re.compile(r"[a-z]+")
_BEFORE: Final = 60
_AFTER: Final = re.compile(r"\s*(?:in|of)\s+(?:\w+\s+){0,2}?(?P<word>[a-z]+)")
_BREAK: Final = re.compile(r"[.;!?]\s|,\s|\b(?:and|but|while|with)\b|\d")


def measure(fact: Fact, text: str) -> int | None:
    """The measure that a number in a text is said to be: the nearest one before it within its clause, else one that
    it is said to be in ("1.24 million in revenue"). None where none of the table is named."""
    folded = flat(text)
    before = folded[max(0, fact.start - _BEFORE) : fact.start]
    parts = _BREAK.split(before)
    for word in reversed(_WORD.findall(parts[-1])):
        if word in _GROUP_OF:
            return _GROUP_OF[word]
    after = _AFTER.match(folded, fact.end)
    return _GROUP_OF.get(after["word"]) if after else None
