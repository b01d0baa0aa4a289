"""One line of ``aem-monitor compare``: two values, or a reference and a reply."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from aem_monitor.errors import UsageError
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.scoring.responses.judge import judge
from aem_monitor.scoring.scorers.base import Scorer
from aem_monitor.scoring.values.compare import compare_values
from aem_monitor.scoring.values.context import ValueContext


def compare_line(line: JSON, scorer: Scorer) -> dict[str, Any]:
    """The answer to one decoded line: ``equivalent`` and ``score`` for ``a`` and ``b``; ``consistent``, ``complete``
    and ``score`` for ``reference`` and ``response``. ``uncertain`` is there where it is true. Raises UsageError for a
    line that is neither."""
    if not isinstance(line, Mapping):
        raise UsageError("a line must be a JSON object with a and b, or with reference and response")
    context = ValueContext(reference_date=_reference_date(line.get("reference_date")), given=_given(line.get("given")))
    if "a" in line and "b" in line:
        kind = line.get("kind")
        if kind is not None and not isinstance(kind, str):
            raise UsageError("kind must be a string")
        compared = compare_values(line["a"], line["b"], context, scorer, kind)
        answer: dict[str, Any] = {
            "equivalent": compared.equivalent,
            "score": round(compared.score, 4),
            "rule": compared.rule,
        }
        return answer | ({"uncertain": True} if compared.uncertain else {})
    reference, response = line.get("reference"), line.get("response")
    if not isinstance(reference, str) or not isinstance(response, str):
        raise UsageError("a line must have a and b, or reference and response as strings")
    judged = judge(reference, response, context, scorer)
    answer = {"consistent": judged.consistent, "complete": judged.complete, "score": round(judged.score, 4)}
    if judged.unsupported:
        answer["unsupported"] = [claim.text for claim in judged.unsupported]
    if judged.missing:
        answer["missing"] = [claim.text for claim in judged.missing]
    return answer | ({"uncertain": True} if judged.uncertain else {})


def _reference_date(value: JSON) -> date | None:
    """A day or a moment in ISO form; the time of day is of no account."""
    if value is None:
        return None
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        raise UsageError(f"reference_date must be an ISO date, not {value!r}") from None


def _given(value: JSON) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str) or not isinstance(value, list | tuple):
        raise UsageError("given must be a list of strings")
    return tuple(str(item) for item in value)
