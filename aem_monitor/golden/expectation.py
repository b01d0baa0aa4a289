"""A run's result held against what a regression case expects of it. Pure."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from aem_monitor.golden.cases import Expectation, ExpectedRoot
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.model.render import result_object
from aem_monitor.model.verdict import FailureReason, NotScored, RunResult, TurnVerdict

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as expected: ``where`` names a turn or a key of the result."""

    where: str
    expected: str
    got: str

    def __str__(self) -> str:
        return f"{self.where}: expected {self.expected}, got {self.got}"


def expectation_of(result: RunResult) -> Expectation:
    """What a case expects that pins a result: pass or fail, its root causes, its cascades and what was not scored."""
    stated: dict[str, JSON] = {
        "test_pass": result.test_pass,
        "roots": [_root_value(turn) for turn in result.turns if turn.root_cause],
        "cascades": [turn.turn_no for turn in result.turns if _is_cascade(turn)],
        "not_scored": [
            {"turn": turn.turn_no, "cause": turn.not_scored.value}
            for turn in result.turns
            if turn.success is None and turn.not_scored is not None
        ],
    }
    if result.variant is not None:
        stated["variant"] = result.variant
    if result.another_path:
        stated["another_path"] = True
    return Expectation.model_validate(stated)


def updated(expectation: Expectation, result: RunResult) -> Expectation:
    """The expectation with what it states brought up to a result; what it leaves open stays open."""
    present = expectation_of(result)
    stated = expectation.model_dump(mode="json", exclude_unset=True)
    for name in stated:
        stated[name] = getattr(present, name) if name != "verdict" else _updated_part(expectation.verdict, result)
    if "roots" in stated:
        stated["roots"] = [_as_stated(root, expectation.roots) for root in present.roots]
    return Expectation.model_validate(stated)


def differences(expectation: Expectation, result: RunResult) -> list[Difference]:
    """What is not as expected: keys of the result first, then turns in the order of the result."""
    stated = expectation.model_fields_set
    found = [
        Difference(name, _shown(getattr(expectation, name)), _shown(getattr(result, name)))
        for name in ("test_pass", "variant", "another_path")
        if name in stated and getattr(expectation, name) != getattr(result, name)
    ]
    turns: dict[str, Difference] = {}
    states = {_name(turn): _state(turn) for turn in result.turns}
    # What is expected of a turn says more than that something else was not: it is told first, and once a turn.
    for where, expected, got in (*_missed(expectation, result, states), *_unexpected(expectation, result)):
        turns.setdefault(where, Difference(where, expected, got))
    order = {name: place for place, name in enumerate(states)}
    found += sorted(turns.values(), key=lambda difference: order.get(difference.where.split(" #")[0], len(order)))
    if "verdict" in stated:
        found += _compare(expectation.verdict, result_object(result), "verdict")
    return found


def _missed(expectation: Expectation, result: RunResult, states: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    roots = _roots(result)
    for place, expected in _numbered(expectation.roots):
        root = roots.get(place)
        if root is None:
            yield place, f"root cause {_described(expected)}", states.get(place, "no such entry")
        elif not _same_root(expected, root):
            yield place, f"root cause {_described(expected)}", _state(root)
    by_number = {turn.turn_no: turn for turn in result.turns}
    for number in expectation.cascades:
        turn = by_number.get(number)
        if turn is None or not _is_cascade(turn):
            yield f"turn {number}", "cascade", states.get(f"turn {number}", "no such entry")
    for gap in expectation.not_scored:
        turn = by_number.get(gap.turn)
        if turn is None or turn.success is not None or turn.not_scored is not gap.cause:
            yield f"turn {gap.turn}", _gap(gap.cause), states.get(f"turn {gap.turn}", "no such entry")


def _unexpected(expectation: Expectation, result: RunResult) -> Iterator[tuple[str, str, str]]:
    stated = expectation.model_fields_set
    if "roots" in stated:
        known = {place for place, _ in _numbered(expectation.roots)}
        for place, root in _roots(result).items():
            if place not in known:
                yield place, "no root cause", _state(root)
    for turn in result.turns:
        if "cascades" in stated and _is_cascade(turn) and turn.turn_no not in expectation.cascades:
            yield _name(turn), "no cascade", _state(turn)
        scored = {gap.turn for gap in expectation.not_scored}
        if "not_scored" in stated and turn.success is None and turn.turn_no not in scored:
            yield _name(turn), "a verdict", _state(turn)


def _roots(result: RunResult) -> dict[str, TurnVerdict]:
    """Root causes by their place; of several extra calls of one name the second is ``.. #2``."""
    out: dict[str, TurnVerdict] = {}
    for turn in result.turns:
        if turn.root_cause:
            out[_again(_name(turn), out)] = turn
    return out


def _numbered(roots: Sequence[ExpectedRoot]) -> list[tuple[str, ExpectedRoot]]:
    out: dict[str, ExpectedRoot] = {}
    for root in roots:
        out[_again(f"turn {root.turn}" if root.call is None else f"extra call {root.call}", out)] = root
    return list(out.items())


def _again(name: str, taken: Mapping[str, object]) -> str:
    number = 1
    while name in taken:
        number += 1
        name = f"{name.split(' #', maxsplit=1)[0]} #{number}"
    return name


def _name(turn: TurnVerdict) -> str:
    return f"turn {turn.turn_no}" if turn.turn_no is not None else f"extra call {turn.called}"


def _is_cascade(turn: TurnVerdict) -> bool:
    return turn.success is False and not turn.root_cause


def _same_root(expected: ExpectedRoot, turn: TurnVerdict) -> bool:
    return (
        expected.reason is turn.failure_reason
        and (expected.detail is None or expected.detail is turn.detail)
        and (expected.fields is None or set(expected.fields) == set(turn.fields))
    )


def _root_value(turn: TurnVerdict) -> dict[str, JSON]:
    value: dict[str, JSON] = {"turn": turn.turn_no} if turn.turn_no is not None else {"call": turn.called}
    value["reason"] = (turn.failure_reason or FailureReason.TOOL_MISMATCH).value
    if turn.detail is not None:
        value["detail"] = turn.detail.value
    if turn.fields:
        value["fields"] = list(turn.fields)
    return value


def _as_stated(root: ExpectedRoot, before: Sequence[ExpectedRoot]) -> ExpectedRoot:
    """A root cause without the words that the author left out of the one that stood there."""
    other = next((one for one in before if (one.turn, one.call) == (root.turn, root.call)), None)
    if other is None:
        return root
    left_out = {name for name in ("detail", "fields") if getattr(other, name) is None}
    return ExpectedRoot.model_validate(root.model_dump(exclude=left_out, exclude_unset=True))


def _described(root: ExpectedRoot) -> str:
    return _reason(root.reason.value, root.detail.value if root.detail else None, root.fields or ())


def _reason(reason: str, detail: str | None, fields: Sequence[str]) -> str:
    named = f"{reason} ({detail})" if detail else reason
    return f"{named} in {', '.join(fields)}" if fields else named


def _gap(cause: NotScored | None) -> str:
    return f"not scored ({cause.value})" if cause is not None else "not scored"


def _state(turn: TurnVerdict) -> str:
    if turn.success is None:
        return _gap(turn.not_scored)
    if turn.success:
        return "pass"
    if not turn.root_cause:
        return f"cascade of turn {', '.join(map(str, turn.blames))}" if turn.blames else "cascade"
    reason = turn.failure_reason.value if turn.failure_reason else "failed"
    return f"root cause {_reason(reason, turn.detail.value if turn.detail else None, turn.fields)}"


def _compare(expected: JSON, got: JSON, where: str) -> Iterator[Difference]:
    """Differences of the keys that ``expected`` has; entries of ``turns`` are found by their number."""
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        for name, value in expected.items():
            at = f"{where}.{name}"
            if name == "turns":
                yield from _compare_turns(value, got.get(name), at)
            elif name not in got:
                # A key that says nothing about an entry is left out of a result.
                if value is not None:
                    yield Difference(at, _shown(value), "nothing")
            else:
                yield from _compare(value, got[name], at)
    elif not _equal(expected, got):
        yield Difference(where, _shown(expected), _shown(got))


def _compare_turns(expected: JSON, got: JSON, where: str) -> Iterator[Difference]:
    for wanted, entry, place in _paired(expected, got):
        at = f"{where}[{place}]"
        if entry is None:
            yield Difference(at, _shown(wanted), "no such entry")
        else:
            yield from _compare(wanted, entry, at)


def _paired(expected: JSON, got: JSON) -> Iterator[tuple[Mapping[str, JSON], Mapping[str, JSON] | None, str]]:
    """Each expected entry with the result's entry of its number; extra calls (null) in their order."""
    entries = [entry for entry in got if isinstance(entry, Mapping)] if isinstance(got, list) else []
    for wanted in expected if isinstance(expected, list) else ():
        if not isinstance(wanted, Mapping):
            continue
        number = wanted.get("turn_no")
        entry = next((one for one in entries if one.get("turn_no") == number), None)
        if entry is not None:
            entries.remove(entry)
        yield wanted, entry, "extra" if number is None else f"turn {number}"


def _updated_part(expected: Mapping[str, JSON], result: RunResult) -> dict[str, JSON]:
    got = result_object(result)
    part: dict[str, JSON] = {name: got.get(name) for name in expected}
    if "turns" in part:
        part["turns"] = [
            {name: entry.get(name) for name in wanted}
            for wanted, entry, _ in _paired(expected["turns"], got["turns"])
            if entry is not None
        ]
    return part


def _equal(a: JSON, b: JSON) -> bool:
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, int | float) and isinstance(b, int | float):
        return abs(a - b) <= _ROUNDING
    return a == b


def _shown(value: JSON) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
