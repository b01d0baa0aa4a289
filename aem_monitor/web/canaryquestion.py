"""Query parameters of the canary gate, checked."""

from typing import Final, NamedTuple

from starlette.datastructures import QueryParams

from aem_monitor.canary.compare import check_names
from aem_monitor.canary.gate import Rules
from aem_monitor.canary.question import NUMBERS, rules_of
from aem_monitor.errors import UsageError
from aem_monitor.web.query import QueryError, each_once, seconds_of

MAX_CRITICAL: Final = 100
"""Each is a test over all runs of both releases."""

_SEVERAL: Final = frozenset({"cost", "critical"})
_KNOWN: Final = frozenset({"agent", "baseline", "candidate", "since", *NUMBERS, *_SEVERAL})


class Question(NamedTuple):
    """Two releases of an agent (of the one that has runs of them, where it is None), from when on their runs count, and
    when one is worse."""

    agent: str | None
    names: tuple[str, str]
    since: float | None
    rules: Rules


def question(parameters: QueryParams) -> Question:
    """What the parameters ask.

    Raises:
        QueryError: a parameter is missing, unknown, repeated or cannot be used.
    """
    each_once(parameters, _KNOWN, _SEVERAL)
    for name in ("baseline", "candidate"):
        if not parameters.get(name):
            raise QueryError(f"{name} is missing: give the name of a release")
    if parameters.get("agent") == "":
        raise QueryError("agent is empty: give a name, or leave it out")
    critical = parameters.getlist("critical")
    if len(critical) > MAX_CRITICAL:
        raise QueryError(f"critical is given {len(critical)} times: at most {MAX_CRITICAL} dialogs gate by themselves")
    names = (parameters["baseline"], parameters["candidate"])
    since = seconds_of(parameters, "since")
    numbers = {name: _number(name, parameters[name]) for name in NUMBERS if name in parameters}
    try:
        check_names(names)
        rules = rules_of(numbers, parameters.getlist("cost"), critical)
    except UsageError as error:
        raise QueryError(str(error)) from error
    return Question(parameters.get("agent"), names, since, rules)


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise QueryError(f"{name} is a number, such as 0.05") from None
