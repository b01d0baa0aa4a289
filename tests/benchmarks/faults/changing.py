"""Other values in the place of right ones, and following a value through what comes after it."""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any, Final

from tests.benchmarks.faults.dialogs import NOTHING, Call, Exchange, Exchanges, GoodDialog

Path = tuple[str | int, ...]

_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")
_OPAQUE: Final = re.compile(r"(?=\w*\d)(?=\w*[a-z])[a-z0-9]{16,}")
_AMOUNT: Final = re.compile(r"\d[\d.,]*")
_SHORTEST: Final = 3
"""Characters that a value needs to be followed: shorter ones stand in texts by chance."""


@dataclass(frozen=True, slots=True)
class Pools:
    """Words that stand at a place in all dialogs of a source: what else could be meant there."""

    arguments: Mapping[tuple[str, str], Sequence[str]]
    results: Mapping[tuple[str, str, Path], Sequence[str]]

    @classmethod
    def of(cls, dialogs: Sequence[GoodDialog]) -> "Pools":
        """Collect them: of arguments by their name, of results by the place in the result of a tool."""
        arguments: dict[tuple[str, str], set[str]] = {}
        results: dict[tuple[str, str, Path], set[str]] = {}
        for dialog in dialogs:
            for call in (call for exchange in dialog.exchanges for call in exchange.calls):
                for path, value in leaves(call.args):
                    if isinstance(value, str) and value:
                        arguments.setdefault((dialog.source, field_of(path)), set()).add(value)
                for path, value in leaves(call.result):
                    if isinstance(value, str) and value:
                        results.setdefault((dialog.source, call.name, _names(path)), set()).add(value)
        return cls(
            {key: sorted(values) for key, values in arguments.items()},
            {key: sorted(values) for key, values in results.items()},
        )

    def argument(self, value: Any, source: str, field: str, rng: random.Random) -> Any:
        """An argument of the same kind that means something else, or ``NOTHING``."""
        return _other(value, self.arguments.get((source, field), ()), rng)

    def result(self, value: Any, source: str, name: str, path: Path, rng: random.Random) -> Any:
        """A value that could stand at ``path`` of the result of the tool ``name`` as well, or ``NOTHING``."""
        if isinstance(value, str) and _OPAQUE.fullmatch(value):
            letters = list(value)
            rng.shuffle(letters)
            return "".join(letters)
        return _other(value, self.results.get((source, name, _names(path)), ()), rng)


def _names(path: Path) -> Path:
    return tuple(step for step in path if isinstance(step, str) and not any(c.isdigit() for c in step))


def _other(value: Any, words: Sequence[str], rng: random.Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + rng.randint(1, 9) * (10 if abs(value) > 99 else 1)
    if isinstance(value, float):
        return round(value + rng.randint(2, 99) + 0.5, 2)
    if not isinstance(value, str) or not value.strip():
        return NOTHING
    if any(character.isdigit() for character in value):
        return other_digits(value, rng)
    known = [word for word in words if _apart(word, value)]
    return rng.choice(known) if known else NOTHING


def other_digits(text: str, rng: random.Random) -> str:
    """The text with its first day, or its last number, changed."""
    day = _DAY.search(text)
    if day is not None:
        try:
            moved = date.fromisoformat(day[0]) + timedelta(days=rng.randint(2, 20))
        except ValueError:
            return text.replace(day[0], "2031-01-01")
        return text.replace(day[0], moved.isoformat())
    last = list(re.finditer(r"\d+", text))[-1]
    place = last.end() - 1 if len(last[0]) > 1 or last[0] != "1" else last.start()
    # The last digit but in a clock's minutes, whose tens stay a clock's.
    new = str((int(text[place]) + rng.randint(1, 4)) % 5 if last[0] in {"00", "30"} else (int(text[place]) + 3) % 9)
    new = new if new != text[place] else str((int(new) + 1) % 9)
    return text[:place] + new + text[place + 1 :]


def leaves(value: Any, at: Path = ()) -> Iterator[tuple[Path, Any]]:
    """All leaves of a JSON value that hold something, with their places."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from leaves(item, (*at, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, (*at, index))
    elif value is not None and value is not NOTHING:
        yield at, value


def put(value: Any, path: Path, new: Any) -> Any:
    """``value`` with another leaf at ``path``."""
    if not path:
        return new
    if isinstance(value, Mapping):
        return {**value, path[0]: put(value[str(path[0])], path[1:], new)}
    index = int(path[0])
    return [*value[:index], put(value[index], path[1:], new), *value[index + 1 :]]


def field_of(path: Path) -> str:
    """The name of the innermost key on the way to a leaf."""
    return next((step for step in reversed(path) if isinstance(step, str)), "")


def with_call(exchanges: Exchanges, exchange: int, call: int, new: Sequence[Call]) -> Exchanges:
    """The exchanges with one call replaced by others, or by none."""
    one = exchanges[exchange]
    changed = replace(one, calls=(*one.calls[:call], *new, *one.calls[call + 1 :]))
    return (*exchanges[:exchange], changed, *exchanges[exchange + 1 :])


def with_reply(exchanges: Exchanges, exchange: int, reply: str) -> Exchanges:
    """The exchanges with another reply."""
    return (*exchanges[:exchange], replace(exchanges[exchange], reply=reply), *exchanges[exchange + 1 :])


Changes = Mapping[str, str]
"""New text by old text."""


def changed(value: Any, changes: Changes) -> Any:
    """A JSON value in which every changed value stands in its new form, alone, within a text or as a key."""
    if isinstance(value, Mapping):
        # Results that list things by their id have it as a key, too.
        return {changes.get(key, key): changed(item, changes) for key, item in value.items()}
    if isinstance(value, list):
        return [changed(item, changes) for item in value]
    if isinstance(value, str):
        return _pattern(changes).sub(lambda match: changes[match[0]], value)
    if isinstance(value, int | float) and not isinstance(value, bool) and spelled(value) in changes:
        new = changes[spelled(value)]
        return float(new) if isinstance(value, float) else int(new)
    return value


def says(value: Any, text: str) -> bool:
    """Whether a JSON value holds a text as a word of its own."""
    return any(re.search(_word(text), spelled(leaf)) for _, leaf in leaves(value))


def hints_at(text: str, value: str) -> bool:
    """Whether a text holds all words of a value in any case and order: as "mia_garcia_12" says "Mia Garcia"."""
    words = [word for word in re.findall(r"[^\W_]+", value.casefold()) if len(word) > 1] or [value.casefold()]
    folded = text.casefold()
    return all(re.search(rf"(?<![^\W_]){re.escape(word)}", folded) for word in words)


def spelled(value: Any) -> str:
    """A leaf as replies write it."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _pattern(changes: Changes) -> re.Pattern[str]:
    return re.compile("|".join(_word(old) for old in sorted(changes, key=len, reverse=True)) or r"(?!)")


def _word(text: str) -> str:
    return rf"(?<![\w.-]){re.escape(text)}(?![\w-]|\.\d)"


def _apart(a: str, b: str) -> bool:
    a, b = a.casefold().strip(), b.casefold().strip()
    return bool(a) and a not in b and b not in a and not set(re.findall(r"\w+", a)) & set(re.findall(r"\w+", b))


@dataclass(frozen=True, slots=True)
class Followed:
    """A run after one result changed: what it became, and the calls and replies that took part of the change."""

    exchanges: Exchanges
    calls: tuple[tuple[int, int], ...]
    replies: tuple[int, ...]


def follow(
    good: GoodDialog, exchange: int, call: int, pools: Pools, rng: random.Random, amounts: bool = True
) -> Followed:
    """Change the values of one call's result that only this result brings and that something later uses.

    What used them is changed as well, and so are the results of the calls that did. Nothing else is. ``amounts``:
    numbers, too, of which replies say sums and differences that stay as they were.
    """
    exchanges = good.exchanges
    source = exchanges[exchange].calls[call]
    changes: dict[str, str] = {}
    for path, value in _only_from(exchanges, exchange, call):
        if not amounts and _AMOUNT.fullmatch(spelled(value)) and not isinstance(value, str):
            continue
        new = pools.result(value, good.source, source.name, path, rng)
        known = [[one.user, one.reply, [[made.args, made.result] for made in one.calls]] for one in exchanges]
        if new is not NOTHING and spelled(new) not in changes.values() and not says(known, spelled(new)):
            changes[spelled(value)] = spelled(new)
    while True:
        followed, mixed = _apply(exchanges, exchange, call, changes)
        mixed |= _remaining(followed.exchanges[exchange:], changes)
        if not mixed:
            return followed
        for old in mixed:
            changes.pop(old, None)


def _remaining(exchanges: Exchanges, changes: Changes) -> set[str]:
    """Values that something still says in another spelling: then it would not agree with what it rests on."""
    texts = [leaf for one in exchanges for call in one.calls for _, leaf in leaves([call.args, call.result])]
    texts += [one.reply for one in exchanges if one.reply]
    folded = " ".join(_folded(spelled(text)) for text in texts)
    return {old for old in changes if _core(old) in folded}


def _folded(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _core(text: str) -> str:
    """What a shorter spelling of an identifier keeps: its number, if it is a long one ("ending in 8080730")."""
    longest = max(re.findall(r"\d+", text), key=len, default="")
    return longest if len(longest) > _SHORTEST else _folded(text)


def _only_from(exchanges: Exchanges, exchange: int, call: int) -> list[tuple[Path, Any]]:
    source = exchanges[exchange].calls[call]
    said = "\n".join(one.user for one in exchanges)
    earlier: list[Any] = []
    for number, one in enumerate(exchanges[: exchange + 1]):
        before = one.calls if number < exchange else one.calls[:call]
        earlier += [part for made in before for part in (made.args, made.result)]
        earlier += [one.reply] if number < exchange and one.reply else []
    return [
        (path, value)
        for path, value in leaves(source.result)
        if not isinstance(value, bool)
        and _followable(value)
        and not hints_at(said, spelled(value))
        and not any(says(part, spelled(value)) for part in (*earlier, source.args))
    ]


def _followable(value: Any) -> bool:
    """Numbers, identifiers and names; "yes" or "silver" stand in texts for other reasons, too."""
    text = spelled(value)
    return len(text) >= _SHORTEST and (any(map(str.isdigit, text)) or (len(text) > _SHORTEST and text[0].isupper()))


def _apply(exchanges: Exchanges, exchange: int, call: int, changes: Changes) -> tuple[Followed, set[str]]:
    """The changed run, and the changed values that an unchanged call returns, too: their origin is not clear."""
    calls: list[tuple[int, int]] = []
    replies: list[int] = []
    mixed: set[str] = set()
    out: list[Exchange] = []
    for number, one in enumerate(exchanges):
        made = []
        for index, each in enumerate(one.calls):
            new = each
            if (number, index) == (exchange, call):
                new = replace(each, result=changed(each.result, changes))
            elif (number, index) > (exchange, call):
                args = changed(each.args, changes)
                if args != each.args:
                    calls.append((number, index))
                    new = replace(each, args=args, result=changed(each.result, changes))
                else:
                    mixed |= {old for old in changes if says(each.result, old)}
            made.append(new)
        reply = one.reply
        if reply is not None and number >= exchange:
            reply = changed(reply, changes)
            if reply != one.reply:
                replies.append(number)
        out.append(replace(one, calls=tuple(made), reply=reply))
    return Followed(tuple(out), tuple(calls), tuple(replies)), mixed
