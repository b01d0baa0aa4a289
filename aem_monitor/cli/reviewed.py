"""Cases of the store by the names that people give them."""

import re
from argparse import ArgumentParser

from aem_monitor.errors import UsageError
from aem_monitor.review.cases import ReviewCase, cases_of
from aem_monitor.store.store import Store

_CASE = re.compile(r"([0-9a-f]{4,64})(?::(path|\d+))?")


def add_case_argument(parser: ArgumentParser) -> None:
    """Add the case's name and ``--turn``."""
    parser.add_argument(
        "case",
        metavar="ID",
        help="as `review list` shows it: RUN:TURN or RUN:path; the beginning of the run's id will do",
    )
    parser.add_argument("--turn", metavar="N", type=int, help="the turn, where ID is a run with several cases")


def find_case(store: Store, name: str, turn: int | None) -> ReviewCase:
    """The one case of that name. Raises ``UsageError`` that names those that there are."""
    parsed = _CASE.fullmatch(name)
    if parsed is None:
        raise UsageError(f"{name}: is no case; `review list` shows them as RUN:TURN or RUN:path")
    prefix, subject = parsed.groups()
    if turn is not None:
        if subject not in (None, str(turn)):
            raise UsageError(f"{name}: --turn {turn} is another turn")
        subject = str(turn)
    ids = store.run_ids(prefix, 2)
    if not ids:
        raise UsageError(f"{name}: there is no run {prefix} in the store; it may have passed its retention")
    if len(ids) > 1:
        raise UsageError(f"{name}: several runs begin so; write more of the id")
    stored = store.run(ids[0])
    cases = () if stored is None else cases_of(stored)
    found = [case for case in cases if subject in (None, case.subject)]
    if len(found) == 1:
        return found[0]
    known = ", ".join(case.name for case in cases)
    if not known:
        raise UsageError(f"{name}: nothing of this run is to be decided")
    raise UsageError(f"{name}: name one of {known}")
