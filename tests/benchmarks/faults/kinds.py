"""The faults: each takes a good dialog and gives a run with a fault of known place, or None where it does not apply.

What is right about a run is known by construction. A turn whose verdict the construction does not decide is ``free``:
above all the reply after a call that was left out, which still claims it.
"""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tests.benchmarks.faults.changing import (
    Followed,
    Pools,
    changed,
    field_of,
    follow,
    hints_at,
    leaves,
    other_digits,
    put,
    says,
    spelled,
    with_call,
    with_reply,
)
from tests.benchmarks.faults.dialogs import NOTHING, Call, Exchanges
from tests.benchmarks.faults.goldens import FORBIDDEN, Golden, Place
from tests.benchmarks.faults.spans import Delivery

_UNDONE: Final = (
    "I have also cancelled your newsletter subscription.",
    "A confirmation letter has been mailed to your office as well.",
    "I have upgraded your account to the premium plan, too.",
)
_SENTENCE: Final = re.compile(r"[^.!?\n]+(?:[.!?](?=\d)[^.!?\n]*)*[.!?]*\s*")


@dataclass(frozen=True, slots=True)
class Truth:
    """What is right: the reason of each root by turn, the cascades, the extra calls by detail, the free turns."""

    roots: Mapping[int, str] = field(default_factory=dict)
    cascades: frozenset[int] = frozenset()
    extras: tuple[str, ...] = ()
    free: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Run:
    """A run with its truth. ``form`` is the golden dialog's content where it is not the usual one."""

    exchanges: Exchanges
    truth: Truth
    delivery: Delivery = "in order"
    form: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Workshop:
    """What faults are made with: other values, other tools, chance."""

    pools: Pools
    tools: Mapping[str, Sequence[Call]]
    rng: random.Random

    def tool(self, golden: Golden, apart_from: Sequence[str]) -> Call | None:
        """A writing call of another dialog of the same source."""
        known = [call for call in self.tools[golden.good.source] if call.name not in apart_from]
        known = [call for call in known if not golden.dialog.read_only(*parted(call.name))]
        return self.rng.choice(known) if known else None


Fault = Callable[[Golden, Workshop], Run | None]


def parted(name: str) -> tuple[str, str | None]:
    """Tool and action."""
    tool, dot, action = name.partition(".")
    return tool, action if dot else None


def required_calls(golden: Golden) -> list[tuple[int, int]]:
    """The places of calls that have to be made."""
    return [
        (exchange, call) for exchange, call in golden.numbers if call is not None and golden.required((exchange, call))
    ]


def wrong_value(golden: Golden, shop: Workshop) -> Run | None:
    """A required call gets another value in one argument; everything else stays."""
    found = _wrong_value(golden, golden.good.exchanges, shop, required_calls(golden))
    if found is None:
        return None
    exchanges, place = found
    return Run(exchanges, Truth({golden.numbers[place]: "inconsistent_parameter_values"}))


def dropped_argument(golden: Golden, shop: Workshop) -> Run | None:
    """A required call lacks one argument."""
    place = _chosen(golden, shop, lambda call: bool(call.args))
    if place is None:
        return None
    call = _call(golden.good.exchanges, place)
    left = dict(call.args)
    del left[shop.rng.choice(sorted(left))]
    exchanges = with_call(golden.good.exchanges, *place, [replace(call, args=left)])
    return Run(exchanges, Truth({golden.numbers[place]: "missing_parameters"}))


def unexpected_argument(golden: Golden, shop: Workshop) -> Run | None:
    """A required call has an argument that nobody asked for."""
    place = _chosen(golden, shop)
    if place is None:
        return None
    call = _call(golden.good.exchanges, place)
    exchanges = with_call(golden.good.exchanges, *place, [replace(call, args={**call.args, "handling_note": "urgent"})])
    return Run(exchanges, Truth({golden.numbers[place]: "extra_parameters"}))


def wrong_tool(golden: Golden, shop: Workshop) -> Run | None:
    """Another tool is called with the right arguments."""
    place = _chosen(golden, shop, lambda call: bool(_telling(call.args)) and not _used_later(golden, call))
    if place is None:
        return None
    names = [call.name for exchange in golden.good.exchanges for call in exchange.calls]
    call = _call(golden.good.exchanges, place)
    tool, action = parted(call.name)
    name = f"{tool}_v2" if action is None else f"{tool}_v2.{action}"
    other = shop.tool(golden, names)
    if action is None and other is not None:
        name = other.name
    exchanges = with_call(golden.good.exchanges, *place, [replace(call, name=name)])
    return Run(exchanges, Truth({golden.numbers[place]: "tool_mismatch"}, free=_reply_of(golden, place)))


def wrong_action(golden: Golden, shop: Workshop) -> Run | None:
    """Another action of the right tool is called with the right arguments."""
    place = _chosen(
        golden, shop, lambda call: "." in call.name and bool(_telling(call.args)) and not _used_later(golden, call)
    )
    if place is None:
        return None
    call = _call(golden.good.exchanges, place)
    names = [one.name for exchange in golden.good.exchanges for one in exchange.calls]
    known = [one for one in shop.tools[golden.good.source] if parted(one.name)[0] == parted(call.name)[0]]
    known = [one for one in known if one.name not in names and not golden.dialog.read_only(*parted(one.name))]
    name = shop.rng.choice(known).name if known else f"{call.name}_draft"
    exchanges = with_call(golden.good.exchanges, *place, [replace(call, name=name)])
    return Run(exchanges, Truth({golden.numbers[place]: "action_mismatch"}, free=_reply_of(golden, place)))


def call_left_out(golden: Golden, shop: Workshop) -> Run | None:
    """A required call whose result nothing later uses is not made."""
    place = _chosen(golden, shop, lambda call: not _used_later(golden, call))
    if place is None:
        return None
    exchanges = with_call(golden.good.exchanges, *place, [])
    return Run(exchanges, Truth({golden.numbers[place]: "tool_mismatch"}, free=_reply_of(golden, place)))


def extra_write(golden: Golden, shop: Workshop) -> Run | None:
    """A call that changes something and that nobody asked for."""
    names = [call.name for exchange in golden.good.exchanges for call in exchange.calls]
    call = shop.tool(golden, names)
    return None if call is None else _inserted(golden, shop, call, "unexpected_call")


def forbidden_call(golden: Golden, shop: Workshop) -> Run | None:
    """A call that the dialog forbids."""
    return _inserted(golden, shop, Call(FORBIDDEN, {"confirm": True}, "done"), "forbidden_call")


def written_twice(golden: Golden, shop: Workshop) -> Run | None:
    """A required write is made a second time, with success."""
    place = _chosen(golden, shop, lambda call: not golden.dialog.read_only(*parted(call.name)))
    if place is None:
        return None
    call = _call(golden.good.exchanges, place)
    exchanges = with_call(golden.good.exchanges, *place, [call, call])
    return Run(exchanges, Truth(extras=("unexpected_call",)))


def false_fact(golden: Golden, shop: Workshop) -> Run | None:
    """A reply says another value than the result, the user or the argument that it speaks of."""
    found = _false_fact(golden, golden.good.exchanges, shop, _replies(golden))
    if found is None:
        return None
    exchanges, number = found
    return Run(exchanges, Truth({number: "inconsistent_response"}))


def fact_left_out(golden: Golden, shop: Workshop) -> Run | None:
    """A reply lacks the sentence with a value that a result gave it."""
    options = []
    for exchange, reply in _replies(golden):
        sentences = _SENTENCE.findall(reply)
        for value in _said_values(golden, exchange, reply):
            holding = [sentence for sentence in sentences if says(sentence, value)]
            if len(holding) == 1 and len(sentences) > 1:
                options.append((exchange, reply.replace(holding[0], "")))
    if not options:
        return None
    exchange, reply = shop.rng.choice(options)
    exchanges = with_reply(golden.good.exchanges, exchange, reply.strip() or "Done.")
    return Run(exchanges, Truth({golden.numbers[exchange, None]: "incomplete_response"}))


def claim_of_an_undone_action(golden: Golden, shop: Workshop) -> Run | None:
    """A reply claims something that no call did."""
    replies = _replies(golden)
    if not replies:
        return None
    exchange, reply = shop.rng.choice(replies)
    exchanges = with_reply(golden.good.exchanges, exchange, f"{reply.rstrip()} {shop.rng.choice(_UNDONE)}")
    return Run(exchanges, Truth({golden.numbers[exchange, None]: "inconsistent_response"}))


def with_consequences(golden: Golden, shop: Workshop) -> Run | None:
    """A wrong value whose result, and all that is taken from it, is another one."""
    found = _consequences(golden, shop)
    if found is None:
        return None
    followed, place = found
    return Run(followed.exchanges, _truth(golden, place, followed))


def with_consequences_and_own_fault(golden: Golden, shop: Workshop) -> Run | None:
    """The same, and a call that inherits a wrong value has a wrong value of its own, too."""
    found = _consequences(golden, shop, lambda followed: any(map(golden.required, followed.calls)))
    if found is None:
        return None
    followed, place = found
    heirs = [heir for heir in followed.calls if golden.required(heir)]
    inherited = [
        (heir, path)
        for heir in heirs
        for path, value in leaves(_call(followed.exchanges, heir).args)
        if value != dict(leaves(_call(golden.good.exchanges, heir).args)).get(path)
    ]
    wrong = _wrong_value(golden, followed.exchanges, shop, heirs, spared=inherited)
    if wrong is None:
        return None
    exchanges, second = wrong
    truth = _truth(golden, place, followed)
    number = golden.numbers[second]
    roots = {**truth.roots, number: "inconsistent_parameter_values"}
    return Run(exchanges, replace(truth, roots=roots, cascades=truth.cascades - {number}))


def with_consequences_and_false_fact(golden: Golden, shop: Workshop) -> Run | None:
    """The same, and a later reply has a false fact of its own beside what it inherits."""
    found = _consequences(golden, shop, lambda followed: bool(followed.replies))
    if found is None:
        return None
    followed, place = found
    replies = [(at, reply) for at in followed.replies if (reply := golden.good.exchanges[at].reply) is not None]
    own = [(at, reply) for at, reply in replies if followed.exchanges[at].reply is not None]
    wrong = _false_fact(golden, followed.exchanges, shop, own, unchanged=True)
    if wrong is None:
        return None
    exchanges, number = wrong
    truth = _truth(golden, place, followed)
    roots = {**truth.roots, number: "inconsistent_response"}
    return Run(exchanges, replace(truth, roots=roots, cascades=truth.cascades - {number}))


def nothing_found(golden: Golden, shop: Workshop) -> Run | None:
    """A wrong value finds nothing, so that the calls that need the result are never made."""
    found = _consequences(golden, shop, lambda followed: any(map(golden.required, followed.calls)))
    if found is None:
        return None
    followed, place = found
    heirs = [heir for heir in followed.calls if golden.required(heir)]
    exchanges = followed.exchanges
    empty: Any = [] if isinstance(_call(exchanges, place).result, list) else {}
    exchanges = with_call(exchanges, *place, [replace(_call(exchanges, place), result=empty)])
    for heir in sorted(followed.calls, reverse=True):
        exchanges = with_call(exchanges, *heir, [])
    free = frozenset(number for (at, call), number in golden.numbers.items() if call is None and at >= place[0])
    free |= {golden.numbers[heir] for heir in followed.calls if not golden.required(heir)}
    for at, one in enumerate(exchanges):
        if at >= place[0] and one.reply is not None:
            exchanges = with_reply(exchanges, at, "I am sorry, I could not find anything.")
    roots = {golden.numbers[place]: "inconsistent_parameter_values"}
    return Run(exchanges, Truth(roots, frozenset(golden.numbers[heir] for heir in heirs), free=free))


def two_independent(golden: Golden, shop: Workshop) -> Run | None:
    """Two calls with a wrong value each, or one and a false fact; neither rests on the other's."""
    first = _wrong_value(golden, golden.good.exchanges, shop, required_calls(golden))
    if first is None:
        return None
    exchanges, place = first
    roots = {golden.numbers[place]: "inconsistent_parameter_values"}
    others = [other for other in required_calls(golden) if other != place]
    second = _wrong_value(golden, exchanges, shop, others)
    if second is not None and shop.rng.random() < 0.6:
        return Run(second[0], Truth({**roots, golden.numbers[second[1]]: "inconsistent_parameter_values"}))
    told = _false_fact(golden, exchanges, shop, _replies(golden))
    if told is None:
        return (
            None
            if second is None
            else Run(second[0], Truth({**roots, golden.numbers[second[1]]: "inconsistent_parameter_values"}))
        )
    return Run(told[0], Truth({**roots, told[1]: "inconsistent_response"}))


FAULTS: Final[Mapping[str, Fault]] = {
    "wrong value": wrong_value,
    "dropped argument": dropped_argument,
    "unexpected argument": unexpected_argument,
    "wrong tool": wrong_tool,
    "wrong action": wrong_action,
    "call left out": call_left_out,
    "extra write": extra_write,
    "forbidden call": forbidden_call,
    "written twice": written_twice,
    "false fact": false_fact,
    "fact left out": fact_left_out,
    "undone action claimed": claim_of_an_undone_action,
    "with consequences": with_consequences,
    "nothing found": nothing_found,
    "two independent": two_independent,
    "second in an heir": with_consequences_and_own_fault,
    "second in a reply": with_consequences_and_false_fact,
}


def _call(exchanges: Exchanges, place: tuple[int, int]) -> Call:
    return exchanges[place[0]].calls[place[1]]


def _chosen(golden: Golden, shop: Workshop, fits: Callable[[Call], bool] = lambda _: True) -> tuple[int, int] | None:
    """A required call, by chance among those that fit."""
    known = [place for place in required_calls(golden) if fits(_call(golden.good.exchanges, place))]
    return shop.rng.choice(known) if known else None


def _wrong_value(
    golden: Golden,
    exchanges: Exchanges,
    shop: Workshop,
    places: Sequence[tuple[int, int]],
    spared: Sequence[tuple[tuple[int, int], tuple[str | int, ...]]] = (),
) -> tuple[Exchanges, tuple[int, int]] | None:
    options = [
        (place, path, value)
        for place in places
        for path, value in leaves(_call(exchanges, place).args)
        if (place, path) not in spared
    ]
    shop.rng.shuffle(options)
    for place, path, value in options:
        new = shop.pools.argument(value, golden.good.source, field_of(path), shop.rng)
        call = _call(exchanges, place)
        args = call.args if new is NOTHING else put(call.args, path, new)
        twins = [one.args for one in exchanges[place[0]].calls if one.name == call.name]
        # A value that some call has by right or by another fault would tell of that call.
        if args not in twins and not says([[one.args, one.result] for x in exchanges for one in x.calls], spelled(new)):
            return with_call(exchanges, *place, [replace(call, args=args)]), place
    return None


def _consequences(
    golden: Golden, shop: Workshop, wanted: Callable[[Followed], bool] = lambda _: True
) -> tuple[Followed, tuple[int, int]] | None:
    places = required_calls(golden)
    shop.rng.shuffle(places)
    for place in places:
        followed = follow(golden.good, *place, shop.pools, shop.rng)
        if not (followed.calls or followed.replies) or not wanted(followed):
            continue
        wrong = _wrong_value(golden, followed.exchanges, shop, [place])
        if wrong is not None:
            return replace(followed, exchanges=wrong[0]), place
    return None


def _truth(golden: Golden, place: Place, followed: Followed) -> Truth:
    heirs: list[Place] = [*followed.calls, *((exchange, None) for exchange in followed.replies)]
    known = [heir for heir in heirs if heir in golden.numbers]
    # A read that may be left out and does not fit is another read, and no failure.
    optional = frozenset(golden.numbers[heir] for heir in known if heir[1] is not None and not golden.required(heir))
    cascades = frozenset(golden.numbers[heir] for heir in known) - optional
    return Truth({golden.numbers[place]: "inconsistent_parameter_values"}, cascades, free=optional)


def _telling(args: Mapping[str, Any]) -> list[Any]:
    return [value for _, value in leaves(args) if len(spelled(value)) > 3 and not isinstance(value, bool)]


def _used_later(golden: Golden, call: Call) -> bool:
    """Whether a value of a call's result stands in a later call or reply."""
    values = [spelled(value) for _, value in leaves(call.result) if len(spelled(value)) > 1]
    passed = False
    for exchange in golden.good.exchanges:
        for other in exchange.calls:
            if passed and any(says(other.args, value) for value in values):
                return True
            passed = passed or other is call
        if passed and exchange.reply is not None and any(says(exchange.reply, value) for value in values):
            return True
    return False


def _reply_of(golden: Golden, place: Place) -> frozenset[int]:
    """The replies from a place on, which may speak of what was not done."""
    return frozenset(number for (at, call), number in golden.numbers.items() if call is None and at >= place[0])


def _inserted(golden: Golden, shop: Workshop, call: Call, detail: str) -> Run | None:
    exchange = shop.rng.randrange(len(golden.good.exchanges))
    one = golden.good.exchanges[exchange]
    at = shop.rng.randint(0, len(one.calls))
    changed_one = replace(one, calls=(*one.calls[:at], call, *one.calls[at:]))
    exchanges = (*golden.good.exchanges[:exchange], changed_one, *golden.good.exchanges[exchange + 1 :])
    return Run(exchanges, Truth(extras=(detail,)))


def _replies(golden: Golden) -> list[tuple[int, str]]:
    return [
        (at, exchange.reply)
        for at, exchange in enumerate(golden.good.exchanges)
        if exchange.reply is not None and (at, None) in golden.numbers
    ]


def _said_values(golden: Golden, exchange: int, reply: str) -> list[str]:
    """Values of results up to an exchange that its reply says and that the user did not."""
    users = "\n".join(one.user for one in golden.good.exchanges)
    values = [
        spelled(value)
        for one in golden.good.exchanges[: exchange + 1]
        for call in one.calls
        for _, value in leaves(call.result)
        if not isinstance(value, bool)
    ]
    return [
        value for value in dict.fromkeys(values) if len(value) > 2 and says(reply, value) and not hints_at(users, value)
    ]


def _false_fact(
    golden: Golden, exchanges: Exchanges, shop: Workshop, replies: Sequence[tuple[int, str]], unchanged: bool = False
) -> tuple[Exchanges, int] | None:
    """Another number or id in a reply. ``unchanged``: only values that stand in the run as in the good dialog."""
    options = []
    for exchange, reply in replies:
        now = exchanges[exchange].reply or ""
        values = [value for value in _said_values(golden, exchange, reply) if any(map(str.isdigit, value))]
        options += [(exchange, value, now) for value in values if not unchanged or says(now, value)]
    shop.rng.shuffle(options)
    for exchange, value, reply in options:
        new = other_digits(value, shop.rng)
        known = [part for one in exchanges for call in one.calls for part in (call.args, call.result)]
        if not any(says(part, new) for part in (*known, *(one.user for one in exchanges), reply)):
            told = changed(reply, {value: new})
            return with_reply(exchanges, exchange, told), golden.numbers[exchange, None]
    return None
