"""How the arguments of one step are compared: what recordings that all ran well show, and what the values suggest."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from aem_monitor.bootstrap.matching import suggestions
from aem_monitor.bootstrap.script import Step
from aem_monitor.bootstrap.sheet import DraftTurn
from aem_monitor.golden.reference import JSONPath
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.scoring.scorers import Scorer
from aem_monitor.scoring.values import ValueContext, compare_values

_MOST_SEEN: Final = 20
"""Values of one argument; more of them show that any value will do, which is for the author to say."""


def compare_arguments(
    turn: DraftTurn,
    step: Step,
    replaced: Collection[JSONPath],
    contexts: Mapping[int, ValueContext],
    scorer: Scorer,
    schemas: Mapping[str, JSON],
    said: Sequence[str],
) -> frozenset[str]:
    """Write the matchers of one step, and give the names of arguments that some recording did without.

    ``replaced`` are the places of references: those differ from run to run by design. ``schemas`` and ``said`` are as
    for ``suggestions``.
    """
    base = step.first.args or {}
    match: dict[str, Any] = {}
    left_out: set[str] = set()
    for run, call in step.calls.items():
        if call is step.first or call.args is None or call.name != step.first.name:
            continue
        left_out |= base.keys() ^ call.args.keys()
        for name in base.keys() & call.args.keys():
            context = contexts[run]
            for path in _differences(base[name], call.args[name], (name,), replaced, context, scorer):
                _admit(match, path, base, call.args, context, scorer)
    for name, matcher in sorted(match.items()):
        turn.form.setdefault("match", {})[name] = matcher
        shown = (
            "the same entries came in different orders" if "set" in matcher else "recordings differ, and all ran well"
        )
        turn.note(("match", name), f"{shown}: confirm")
    for one in suggestions(base, schemas, said):
        taken = turn.form.get("match", {})
        if not any(name == one.name or name.startswith(f"{one.name}.") for name in taken):
            turn.form.setdefault("match", {})[one.name] = dict(one.matcher)
            turn.note(("match", one.name), one.because)
    return frozenset(left_out)


def _differences(
    one: JSON,
    other: JSON,
    at: JSONPath,
    replaced: Collection[JSONPath],
    context: ValueContext,
    scorer: Scorer,
) -> Iterator[JSONPath]:
    """Places, without list indexes, at which two values of one argument do not mean the same."""
    if at in replaced:
        return
    if isinstance(one, Mapping) and isinstance(other, Mapping) and one.keys() == other.keys() and one:
        for key in one:
            yield from _differences(one[key], other[key], (*at, key), replaced, context, scorer)
        return
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other) and one:
        inner = [
            path
            for index, (a, b) in enumerate(zip(one, other, strict=True))
            for path in _differences(a, b, (*at, index), replaced, context, scorer)
        ]
        if inner:
            yield tuple(step for step in at if isinstance(step, str))
        return
    if one != other and not compare_values(other, one, context, scorer).equivalent:
        yield at


def _admit(
    match: dict[str, Any],
    path: JSONPath,
    base: Mapping[str, JSON],
    other: Mapping[str, JSON],
    context: ValueContext,
    scorer: Scorer,
) -> None:
    keys = [str(step) for step in path if isinstance(step, str)]
    if len(keys) > 1 and any("." in key or not key for key in keys):
        keys = keys[:1]
    golden, seen = _at(base, keys), _at(other, keys)
    name = ".".join(keys)
    known = match.get(name)
    lists = isinstance(golden, list) and isinstance(seen, list)
    if lists and known in (None, {"set": True}) and _same_entries(golden, seen, context, scorer):
        match[name] = {"set": True}
        return
    values: list[JSON] = list(known["any_of"]) if known and "any_of" in known else []
    if seen not in values and len(values) < _MOST_SEEN:
        values.append(seen)
    match[name] = {"any_of": values}


def _at(args: Mapping[str, JSON], keys: Sequence[str]) -> JSON:
    value: Any = args
    for key in keys:
        value = value[key]
    found: JSON = value
    return found


def _same_entries(one: Any, other: Any, context: ValueContext, scorer: Scorer) -> bool:
    left = list(other)
    for entry in one:
        same = next((item for item in left if compare_values(item, entry, context, scorer).equivalent), None)
        if same is None:
            return False
        left.remove(same)
    return not left
