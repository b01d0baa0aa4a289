"""What sources say, fact by fact and word by word: whether a claim is borne out by several of them together.

A reply seldom repeats one source: "a table at Amakai in Orinda" takes the restaurant from a result and the town from
the user. So a name counts as said where every word of it is, each as part of a value that the name mostly repeats.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from aem_monitor.model.jsonvalue import JSON
from aem_monitor.scoring.responses.support import holds
from aem_monitor.scoring.values import Fact, ValueContext
from aem_monitor.scoring.values.forms import NameForm
from aem_monitor.scoring.values.occurrence import Path, leaves
from aem_monitor.scoring.values.words import STOPWORDS, tokens

_LONGEST_VALUE = 12
"""Words of a value that a name may repeat as a whole; a longer one is a text, of which two words in a row count."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Sources made ready for look-ups: results, arguments, texts."""

    found: tuple[tuple[Path, JSON], ...]
    words: tuple[tuple[str, ...], ...]
    context: ValueContext

    @classmethod
    def read(cls, sources: Iterable[JSON], context: ValueContext) -> "Evidence":
        """Take in sources; a text counts as one value."""
        found = tuple(leaf for source in sources for leaf in leaves(source))
        texts = dict.fromkeys(tokens(str(value)) for _, value in found if isinstance(value, str) and value)
        return cls(found, tuple(texts), context)

    def says(self, fact: Fact) -> bool:
        """Whether a fact is said as a whole."""
        return bool(self.found) and holds(fact, list(self.found), self.context)

    def covers(self, name: tuple[str, ...]) -> frozenset[int]:
        """Which words of a name, by place, stand in a value that the name repeats."""
        covered: set[int] = set()
        for value in self.words:
            own = [word for word in value if word not in STOPWORDS]
            met = [at for at, word in enumerate(name) if word in own]
            if not met:
                continue
            repeated = {name[at] for at in met}
            if len(value) <= _LONGEST_VALUE:
                if 2 * len(repeated) >= len(set(own)):
                    covered.update(met)
            else:
                covered.update(at for at in met if _in_a_row(name, at, value))
        return frozenset(covered)


def significant(name: tuple[str, ...]) -> frozenset[int]:
    """The places of the words of a name that say something."""
    return frozenset(at for at, word in enumerate(name) if word not in STOPWORDS)


def name_words(fact: Fact) -> tuple[str, ...] | None:
    """The words of a name; None for a typed fact."""
    return tokens(fact.text) if isinstance(fact.form, NameForm) else None


def _in_a_row(name: tuple[str, ...], at: int, value: tuple[str, ...]) -> bool:
    """Whether the word stands in the text beside the same neighbour, or is the whole name."""
    if len(name) == 1:
        return True
    pairs = set(pairwise(value))
    before = at > 0 and (name[at - 1], name[at]) in pairs
    return before or (at + 1 < len(name) and (name[at], name[at + 1]) in pairs)
