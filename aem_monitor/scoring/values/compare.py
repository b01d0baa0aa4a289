"""Whether two values mean the same: exact, then typed forms, then guards, then similarity for free text only.

Order matters. Cosine similarity alone decides such pairs hardly better than a coin and accepts almost every pair of
different dates, times and numbers; so it is asked last, and only about texts that are sentences or phrases.
"""

import json
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final

from aem_monitor.model.jsonvalue import JSON
from aem_monitor.scoring.scorers.base import Scorer
from aem_monitor.scoring.values.booleans import parse_boolean
from aem_monitor.scoring.values.context import KINDS, Comparison, ValueContext
from aem_monitor.scoring.values.moments import agree_moments
from aem_monitor.scoring.values.strings import compare_strings
from aem_monitor.scoring.values.words import flat

_MAX_DEPTH: Final = 40
_OF_MOMENTS: Final = frozenset({None, "param_value", "date", "time", "datetime"})
"""Kinds of which a value may be a day and a time together."""
_SAME: Final = Comparison(True, 1.0, False, "exact")


def differs(rule: str, score: float = 0.0, *, uncertain: bool = False) -> Comparison:
    return Comparison(False, min(max(score, 0.0), 0.49), uncertain, rule)


def compare_values(
    actual: JSON, expected: JSON, context: ValueContext, scorer: Scorer, kind: str | None = None
) -> Comparison:
    """Compare what was sent with what was expected; symmetric in the two. Objects are compared by key, lists as
    sequences, numbers and numeric strings by value. ``kind`` is one of ``KINDS`` or ignored."""
    return _compare(actual, expected, context, scorer, kind if kind in KINDS else None, 0)


def _compare(a: JSON, b: JSON, context: ValueContext, scorer: Scorer, kind: str | None, depth: int) -> Comparison:
    if depth > _MAX_DEPTH:
        return differs("depth", uncertain=True)
    if isinstance(a, str) and isinstance(b, str):
        return _texts(a, b, context, scorer, kind)
    if a is None or b is None:
        return _SAME if a is b else differs("type")
    if isinstance(a, Mapping) or isinstance(b, Mapping) or _is_list(a) or _is_list(b):
        return _containers(a, b, context, scorer, kind, depth)
    if isinstance(a, bool) or isinstance(b, bool):
        return _booleans(a, b)
    if isinstance(a, str) or isinstance(b, str):
        return _texts(_spelled(a), _spelled(b), context, scorer, kind)
    return _numbers(a, b)


def _texts(a: str, b: str, context: ValueContext, scorer: Scorer, kind: str | None) -> Comparison:
    if a != b and kind in _OF_MOMENTS:
        moments = agree_moments(a.strip(), b.strip(), context.reference_date, epoch=kind == "datetime")
        if moments is not None:
            return moments
    return compare_strings(a, b, context, scorer, kind)


def _is_list(value: JSON) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _spelled(value: JSON) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def _numbers(a: JSON, b: JSON) -> Comparison:
    if not isinstance(a, int | float) or not isinstance(b, int | float):
        return differs("type")
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b):
        return _SAME
    if a == b:
        return _SAME
    if not math.isfinite(a) or not math.isfinite(b):
        return differs("number")
    # Floats that differ in the last bits came from different arithmetic (0.1 + 0.2), not from a different decision.
    close = abs(Fraction(a) - Fraction(b)) <= Fraction(1, 10**9) * max(abs(Fraction(a)), abs(Fraction(b)))
    return Comparison(True, 1.0, False, "number") if close else differs("number")


def _booleans(a: JSON, b: JSON) -> Comparison:
    if isinstance(a, bool) and isinstance(b, bool):
        return _SAME if a == b else differs("boolean")
    truth, other = (a, b) if isinstance(a, bool) else (b, a)
    if isinstance(other, str):
        parsed = parse_boolean(flat(other))
        if parsed is None:
            parsed = {"1": True, "0": False}.get(other.strip())
        return Comparison(True, 1.0, False, "boolean") if parsed is truth else differs("boolean")
    if isinstance(other, int | float) and other in (0, 1):
        same = bool(other) is truth
        return Comparison(True, 0.9, True, "boolean") if same else differs("boolean")
    return differs("type")


def _decoded(value: JSON) -> JSON:
    """A string that holds a JSON object or list, decoded."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            decoded: JSON = json.loads(value)
        except (ValueError, RecursionError):
            return value
        return decoded
    return value


def _containers(a: JSON, b: JSON, context: ValueContext, scorer: Scorer, kind: str | None, depth: int) -> Comparison:
    a, b = _decoded(a), _decoded(b)
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        if a.keys() != b.keys():
            shared = len(a.keys() & b.keys())
            return differs("keys", 0.4 * shared / max(len(a), len(b), 1))
        keys = sorted(a, key=str)
        return _all([_compare(a[key], b[key], context, scorer, None, depth + 1) for key in keys], "object")
    if _is_list(a) and _is_list(b):
        assert isinstance(a, Sequence)
        assert isinstance(b, Sequence)
        if len(a) != len(b):
            return differs("length")
        return _all([_compare(x, y, context, scorer, kind, depth + 1) for x, y in zip(a, b, strict=True)], "list")
    text, items = (a, b) if isinstance(a, str) else (b, a)
    if isinstance(text, str) and _is_list(items):
        return _listed(text, items, context, scorer, kind, depth)
    return differs("type")


def _listed(text: str, items: JSON, context: ValueContext, scorer: Scorer, kind: str | None, depth: int) -> Comparison:
    """A list against a text that enumerates it: the same elements, written by another hand, so never quite certain."""
    assert isinstance(items, Sequence)
    parts = [part.strip() for part in text.replace(" and ", ",").replace(";", ",").split(",") if part.strip()]
    if len(parts) != len(items) or not parts or len(parts) > 200:
        return differs("type")
    each = [_compare(part, item, context, scorer, kind, depth + 1) for part, item in zip(parts, items, strict=True)]
    whole = _all(each, "list")
    return Comparison(whole.equivalent, min(whole.score, 0.9), True, "list") if whole.equivalent else whole


def _all(parts: list[Comparison], rule: str) -> Comparison:
    """The parts together: equal if all are, as good as their mean and no better than the worst allows."""
    if not parts:
        return Comparison(True, 1.0, False, rule)
    mean = sum(part.score for part in parts) / len(parts)
    if all(part.equivalent for part in parts):
        return Comparison(True, max(mean, 0.5), any(part.uncertain for part in parts), rule)
    certain = any(not part.equivalent and not part.uncertain for part in parts)
    failed = next(part for part in parts if not part.equivalent)
    return differs(failed.rule, 0.49 * mean, uncertain=not certain)
