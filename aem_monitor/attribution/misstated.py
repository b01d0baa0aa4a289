"""Which of several replies of an open dialog went wrong, where one thing that had to be said was said by none.

All replies are judged together, but a wrong decision is often a statement in one of them: "there are 11" for 10. It is
the first one with a value of the same kind that neither the user nor any healthy result has. Where no reply has one,
the thing was merely left out, and the last reply could have said it at the latest.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from aem_monitor.model.conversation import Response
from aem_monitor.model.verdict import Check
from aem_monitor.scoring.responses import facts
from aem_monitor.scoring.responses.evidence import Evidence
from aem_monitor.scoring.values import Fact, ValueContext
from aem_monitor.scoring.values.forms import NameForm

_NUMBERING: Final = re.compile(r"(?:^|\n)\W*$")
"""What stands before a number that opens a line: that of a list."""


def reply_at_fault(
    checks: Iterable[Check], replies: Sequence[Response], known: Evidence, context: ValueContext
) -> Response | None:
    """The reply that states something else in the place of what is missing; None where no reply does.

    ``known`` is what the user, healthy results and the expected mentions say.
    """
    kinds = {
        type(fact.form)
        for check in checks
        if check.passed is False and check.subject == "mention" and isinstance(check.expected, str)
        for fact in facts(check.expected, context)
        if not isinstance(fact.form, NameForm)
    }
    for reply in replies:
        text = reply.text or ""
        stated = [fact for fact in facts(text, context) if type(fact.form) in kinds and not _numbers(fact, text)]
        if any(not known.says(fact) for fact in stated):
            return reply
    return None


def _numbers(fact: Fact, text: str) -> bool:
    """Whether the fact is the number of a line of a list."""
    return bool(_NUMBERING.search(text, 0, fact.start)) and text[fact.end : fact.end + 1] in {".", ")", ":"}
