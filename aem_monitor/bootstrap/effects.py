"""Whether a tool only reads: a proposal with what it rests on. Without a reason a tool counts as a write."""

import re
from dataclasses import dataclass
from typing import Final, Literal

from aem_monitor.bootstrap.definitions import ToolDefinition
from aem_monitor.scoring.values.words import listed

_READS: Final = frozenset(
    listed(
        """get gets fetch find finds list lists search lookup look query read retrieve retrieves show view describe
        check count calculate calculates compute computes compare convert estimate evaluate analyze analyse summarize
        summarise browse inspect load peek preview validate verify is has can ls cat head tail grep pwd wc diff du
        think reason plan recall return returns determine detect display filter sort rank explain translate
        select see scan monitor
        track identify download add subtract multiply divide mean sum sqrt round logarithm sin cos min max"""
    )
)
_WRITES: Final = frozenset(
    listed(
        """create creates update updates delete deletes remove removes send sends book books cancel cancels modify
        modifies set sets put post patch insert write writes save store edit change exchange refund issue pay transfer
        purchase buy order place submit apply approve reject open close start stop enable disable activate deactivate
        register schedule reschedule reserve assign unassign invite share publish upload move rename copy mv cp rm rmdir
        mkdir touch echo append forward reply notify email message call execute exec run login logout authenticate lock
        unlock press fill turn adjust make fund withdraw deposit resolve escalate grant revoke reset merge commit push
        deploy restart kill subscribe unsubscribe record log upsert import archive restore retweet follow unfollow
        comment mention release engage trigger confirm complete process cd"""
    )
)
_TWO_FACED: Final = frozenset({"return", "returns", "add", "order", "select", "download", "filter", "open", "track"})
"""Verbs that read in some tools and write in others ("return the sum", "return the delivered items")."""
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@dataclass(frozen=True, slots=True)
class Effect:
    """What a call of a tool probably does. ``because`` completes "taken for a read because .."."""

    effect: Literal["read", "write"]
    because: str

    @property
    def reads(self) -> bool:
        """Whether the call is taken to change nothing."""
        return self.effect == "read"


def effect_of(tool: str, action: str | None, definition: ToolDefinition | None) -> Effect:
    """The effect by annotation, else by the first telling word of the name, else of the description."""
    if definition is not None:
        if definition.read_only is True:
            return Effect("read", "its annotation says readOnlyHint: true")
        if definition.read_only is False or definition.destructive is True:
            return Effect("write", "its annotations say that it changes something")
    name = action or tool
    by_name = _by_words(_words(name), name=True)
    by_text = _by_words(_words(definition.description)[:1], name=False) if definition is not None else None
    if by_name is not None:
        word, reads = by_name
        return Effect("read" if reads else "write", f"its name says {word}")
    if by_text is not None:
        word, reads = by_text
        return Effect("read" if reads else "write", f"its description begins with {word}")
    return Effect("write", "neither its name nor its description tells")


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text[:500])]


def _by_words(words: list[str], *, name: bool) -> tuple[str, bool] | None:
    """The first telling verb, and whether it reads. A name with a reading and a writing verb ("get_or_create",
    "check_in") is no read."""
    telling = [word for word in words if word in _READS or word in _WRITES]
    if not telling:
        return None
    first = telling[0]
    if first not in _READS:
        return first, False
    if name and (first in _TWO_FACED or words[:2] == ["check", "in"] or words[:2] == ["check", "out"]):
        return f"{first}, which may mean either", False
    if name and "or" in words and any(word in _WRITES for word in words):
        return next(word for word in words if word in _WRITES), False
    return first, True
