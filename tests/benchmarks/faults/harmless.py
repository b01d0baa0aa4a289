"""The non-faults: other ways to do the right thing, in which no turn may fail."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any, Final

from tests.benchmarks.faults.changing import follow, leaves, put, says, spelled, with_call, with_reply
from tests.benchmarks.faults.dialogs import NOTHING, Call, Exchange, Exchanges
from tests.benchmarks.faults.goldens import Golden
from tests.benchmarks.faults.kinds import Fault, Run, Truth, Workshop, parted, required_calls

_DAY: Final = re.compile(r"(?<![\w-])(\d{4})-(\d\d)-(\d\d)(?![\w-])")
_MONEY: Final = re.compile(r"\$(\d+)\.00(?!\d)")
_OPENINGS: Final = ("Sure! ", "Certainly. ", "Of course. ", "Thank you for waiting. ")
_CLOSINGS: Final = (
    " Is there anything else I can help you with?",
    " Let me know if you need anything else.",
    " Have a great day!",
)
_OTHER_WORDS: Final[Mapping[str, str]] = {
    "I have": "I've",
    "I've": "I have",
    "You have": "You've",
    "I will": "I'll",
    "cannot": "can't",
    "do not": "don't",
    "has been": "was",
    "Here are": "These are",
    "Please": "Kindly",
    "assist you": "help you",
    "successfully ": "",
    "Could you please": "Can you",
    "would like to": "want to",
}


def unchanged(golden: Golden, shop: Workshop) -> Run | None:
    """The good run itself."""
    return _harmless(golden.good.exchanges)


def paraphrase(golden: Golden, shop: Workshop) -> Run | None:
    """Replies in other words, with other courtesies, and with days and amounts written otherwise."""
    exchanges = golden.good.exchanges
    for at, one in enumerate(exchanges):
        if one.reply:
            exchanges = with_reply(exchanges, at, _reworded(one.reply, shop))
    return _harmless(exchanges) if exchanges != golden.good.exchanges else None


def other_spelling(golden: Golden, shop: Workshop) -> Run | None:
    """Arguments in another form of the same value: days in words, numbers as text, another case of plain words."""
    exchanges = golden.good.exchanges
    for exchange, call in required_calls(golden):
        made = exchanges[exchange].calls[call]
        args: Any = made.args
        for path, value in leaves(made.args):
            args = put(args, path, _respelled(value))
        exchanges = with_call(exchanges, exchange, call, [replace(made, args=args)])
    return _harmless(exchanges) if exchanges != golden.good.exchanges else None


def other_order(golden: Golden, shop: Workshop) -> Run | None:
    """Two neighbouring calls of which the second takes nothing from the first, the other way round."""
    options = []
    for exchange, one in enumerate(golden.good.exchanges):
        for at in range(len(one.calls) - 1):
            first, second = one.calls[at : at + 2]
            if not any(says(second.args, spelled(value)) for _, value in leaves(first.result)) and first != second:
                options.append((exchange, at))
    if not options:
        return None
    exchange, at = shop.rng.choice(options)
    one = golden.good.exchanges[exchange]
    calls = (*one.calls[:at], one.calls[at + 1], one.calls[at], *one.calls[at + 2 :])
    return _harmless(_with(golden.good.exchanges, exchange, replace(one, calls=calls)))


def optional_argument(golden: Golden, shop: Workshop) -> Run | None:
    """An argument that the dialog calls optional is there, or is not."""
    places = [place for place in required_calls(golden) if golden.good.exchanges[place[0]].calls[place[1]].args]
    if not places:
        return None
    exchange, at = shop.rng.choice(places)
    call = golden.good.exchanges[exchange].calls[at]
    tool, action = parted(call.name)
    name = shop.rng.choice(sorted(call.args))
    optional: Any = {name: {"default": "none"}, "reply_language": {"default": "en"}}
    args = {key: value for key, value in call.args.items() if key != name}
    if shop.rng.random() < 0.5:
        optional, args = ["reply_language"], {**call.args, "reply_language": "de"}
    rules: dict[str, Any] = {**golden.form.get("tools", {})}
    rules[tool] = {**rules.get(tool, {}), "optional_args": {action: optional} if action else optional}
    exchanges = with_call(golden.good.exchanges, exchange, at, [replace(call, args=args)])
    return replace(_harmless(exchanges), form={**golden.form, "tools": rules})


def retry_after_error(golden: Golden, shop: Workshop) -> Run | None:
    """A call fails, sometimes because an argument was wrong, and is made again."""
    places = [(exchange, call) for exchange, call in golden.numbers if call is not None]
    if not places:
        return None
    exchange, at = shop.rng.choice(places)
    call = golden.good.exchanges[exchange].calls[at]
    args: Any = call.args
    for path, value in leaves(call.args):
        new = shop.pools.argument(value, golden.good.source, str(path[0]), shop.rng)
        if new is not NOTHING and shop.rng.random() < 0.5:
            args = put(args, path, new)
    failed = Call(call.name, args, error="Error: upstream timeout after 30s")
    return _harmless(with_call(golden.good.exchanges, exchange, at, [failed, call]))


def extra_read(golden: Golden, shop: Workshop) -> Run | None:
    """A call that only reads is made once more, or a read that was not foreseen is made."""
    reads = [
        (at, call)
        for at, exchange in enumerate(golden.good.exchanges)
        for call in exchange.calls
        if golden.dialog.read_only(*parted(call.name))
    ]
    if not reads:
        return None
    first, call = shop.rng.choice(reads)
    if shop.rng.random() < 0.5:
        for path, value in list(leaves(call.args))[:1]:
            new = shop.pools.argument(value, golden.good.source, str(path[0]), shop.rng)
            if new is not NOTHING:
                call = replace(call, args=put(call.args, path, new), result={})
    exchange = shop.rng.randrange(first, len(golden.good.exchanges))
    one = golden.good.exchanges[exchange]
    at = shop.rng.randint(0, len(one.calls)) if exchange > first else len(one.calls)
    return _harmless(
        _with(golden.good.exchanges, exchange, replace(one, calls=(*one.calls[:at], call, *one.calls[at:])))
    )


def other_ids(golden: Golden, shop: Workshop) -> Run | None:
    """A right call returns other values than in the golden run, and everything later uses those."""
    places = required_calls(golden)
    shop.rng.shuffle(places)
    for place in places:
        followed = follow(golden.good, *place, shop.pools, shop.rng, amounts=False)
        if followed.calls or followed.replies:
            return _harmless(followed.exchanges)
    return None


def twice(golden: Golden, shop: Workshop) -> Run | None:
    """All spans are delivered twice."""
    return replace(_harmless(golden.good.exchanges), delivery="twice")


def shuffled(golden: Golden, shop: Workshop) -> Run | None:
    """Spans arrive one by one in any order."""
    return replace(_harmless(golden.good.exchanges), delivery="shuffled")


HARMLESS: Final[Mapping[str, Fault]] = {
    "unchanged": unchanged,
    "paraphrase": paraphrase,
    "other spelling": other_spelling,
    "other order": other_order,
    "optional argument": optional_argument,
    "retry after error": retry_after_error,
    "extra read": extra_read,
    "other ids": other_ids,
    "delivered twice": twice,
    "delivered late": shuffled,
}


def _harmless(exchanges: Exchanges) -> Run:
    return Run(exchanges, Truth())


def _with(exchanges: Exchanges, at: int, one: Exchange) -> Exchanges:
    return (*exchanges[:at], one, *exchanges[at + 1 :])


def _reworded(text: str, shop: Workshop) -> str:
    for old, new in _OTHER_WORDS.items():
        if re.search(rf"\b{re.escape(old)}", text):
            text = re.sub(rf"\b{re.escape(old)}", new, text)
    text = _DAY.sub(_in_words, text)
    text = _MONEY.sub(r"$\1", text)
    return f"{shop.rng.choice(_OPENINGS)}{text.rstrip()}{shop.rng.choice(_CLOSINGS)}"


def _in_words(match: re.Match[str]) -> str:
    try:
        day = date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return match[0]
    return f"{day:%B} {day.day}, {day.year}"


def _respelled(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return spelled(value)
    if isinstance(value, str) and _DAY.fullmatch(value):
        return _DAY.sub(_in_words, value)
    if isinstance(value, str) and re.fullmatch(r"[A-Z][a-z]+( [A-Z][a-z]+)*", value):
        return value.lower()
    return value
