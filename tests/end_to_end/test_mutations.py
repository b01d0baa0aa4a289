"""What does not change the meaning of spans changes nothing of the conversations that are made of them."""

import json
import os
from collections.abc import Iterator, Sequence
from functools import partial
from random import Random
from typing import Any, Final

import pytest

from aem_monitor.assembly.render import conversation_object
from aem_monitor.conventions.jsontext import canonical, parse_nested
from aem_monitor.ingest.limits import Limits
from aem_monitor.ingest.otlp_json import decode_json
from aem_monitor.ingest.prefilter import Prefilter
from aem_monitor.model.conversation import Conversation
from tests.assembly.recordings import REGISTRY, SETTINGS, assembled, differences, recordings, sidecar_of
from tests.conventions.test_jsontext import part_of
from tests.end_to_end.mutations import SAME_IDS, Mutation, attributes_cut, other_span_ids, replaced, times_later
from tests.end_to_end.requests import Recording, Request, encoded_json, items_of, recording

KEEP: Final = Prefilter([*REGISTRY.markers, *SETTINGS.markers])
SEEDS: Final = range(int(os.environ.get("AEM_TEST_SEEDS", "2")))
"""Rounds of each random change; the variable asks for more."""

LONGEST_NAME: Final = 48

RECORDINGS: Final = [recording(path) for path in recordings()]
every_recording = pytest.mark.parametrize("one", RECORDINGS, ids=lambda one: one.name)


def read(requests: Sequence[Request]) -> list[Conversation]:
    parts = [decode_json(encoded_json(request), Limits(), KEEP) for request in requests]
    spans = [span for part in parts for span in part.spans]
    return assembled(spans, [record for part in parts for record in part.logs])


def shown(found: Sequence[Conversation]) -> list[Any]:
    return [conversation_object(one) for one in found]


def everything(one: Recording) -> list[Request]:
    return [*one.traces, *one.logs]


@every_recording
@pytest.mark.parametrize("mutation", SAME_IDS, ids=lambda mutation: mutation.__name__)
def test_a_change_without_meaning_changes_nothing(one: Recording, mutation: Mutation) -> None:
    whole = everything(one)
    expected = shown(read(whole))
    for seed in SEEDS:
        assert shown(read(mutation(whole, Random(seed)))) == expected


@every_recording
def test_all_changes_at_once_change_nothing(one: Recording) -> None:
    expected = shown(read(everything(one)))
    for seed in SEEDS:
        random = Random(seed)
        changed = everything(one)
        spelling = random.choice(SAME_IDS[-5:])
        for mutation in (*random.sample(SAME_IDS[:-5], 4), spelling):
            changed = mutation(changed, random)
        assert shown(read(changed)) == expected


def in_any_step_order(found: Sequence[Any]) -> list[Any]:
    """Calls of one exchange sorted: where clocks give the same time only ids order calls."""
    changed = []
    for one in found:
        turns: list[Any] = []
        calls: list[Any] = []
        for turn in one["turns"]:
            if turn["kind"] == "tool":
                calls.append(turn)
                continue
            turns += [*sorted(calls, key=canonical), turn]
            calls = []
        changed.append({**one, "turns": turns})
    return changed


@every_recording
def test_other_trace_and_span_ids_change_nothing(one: Recording) -> None:
    expected = in_any_step_order(shown(read(everything(one))))
    for seed in SEEDS:
        found = read(other_span_ids(one.traces + one.logs, Random(seed)))
        assert in_any_step_order(shown(found)) == expected
        if not one.logs:
            assert differences(sidecar_of(one.path), found) == []


def ids_of(found: Sequence[Conversation]) -> list[str]:
    return sorted({name for one in found for name in (one.conversation_id, *one.aliases) if name is not None})


def renamed(names: Sequence[str], random: Random) -> dict[str, str]:
    """Another name of the same shape for each: what tells ids apart is not what they are made of."""
    return {name: "".join(_other(char, random) for char in name) for name in names}


def _other(char: str, random: Random) -> str:
    if char.isdigit():
        return random.choice("0123456789")
    if char in "abcdef":
        return random.choice("abcdef")
    if char.isalpha() and char.islower():
        return random.choice("ghijklmnopqrstuvwxyz")
    return char


@every_recording
def test_other_conversation_ids_are_the_only_difference(one: Recording) -> None:
    before = read(everything(one))
    names = ids_of(before)
    if not names:
        pytest.skip("no conversation id")
    for seed in SEEDS:
        words = renamed(names, Random(seed))
        expected = json.loads(replaced_text(json.dumps(shown(before)), words))
        assert by_id(shown(read(replaced(everything(one), words)))) == by_id(expected)


def replaced_text(text: str, words: dict[str, str]) -> str:
    (found,) = replaced([{"text": text}], words)
    return str(found["text"])


def by_id(found: Sequence[Any]) -> list[Any]:
    return sorted(found, key=lambda one: canonical([one["conversation_id"], one["turns"]]))


@every_recording
def test_two_runs_of_a_framework_at_once_stay_apart(one: Recording) -> None:
    """The same program once more beside itself: other trace, span, conversation, call and response ids."""
    whole = everything(one)
    before = read(whole)
    for seed in SEEDS:
        random = Random(seed)
        twin = another_run(whole, before, random)
        together = [item.request for item in items_of([*whole, *twin])]
        random.shuffle(together)
        assert by_id(shown(read(together))) == by_id(shown([*before, *read(twin)]))


def another_run(requests: Sequence[Request], found: Sequence[Conversation], random: Random) -> list[Request]:
    names = set(ids_of(found))
    names |= {call.call_id for one in found for x in one.exchanges for call in x.calls if call.call_id is not None}
    names |= set(of_attributes(requests, ("gen_ai.response.id", "service.instance.id")))
    changed = replaced(
        other_span_ids(requests, random), renamed(sorted(name for name in names if len(name) > 3), random)
    )
    return times_later(changed, random) if random.random() < 0.5 else changed


def of_attributes(requests: Sequence[Request], keys: Sequence[str]) -> Iterator[str]:
    for item in items_of(requests):
        for pair in (*item.item.get("attributes", ()), *item.resource.get("attributes", ())):
            text = pair.get("value", {}).get("stringValue")
            if pair.get("key") in keys and text:
                yield text


@every_recording
def test_cut_attributes_give_less_and_nothing_else(one: Recording) -> None:
    """Every text of the spans cut: what is given still is a beginning of what was there.

    Names and ids stay whole: nothing tells the beginning of a name from another name.
    """
    whole = everything(one)
    before = turns_of(read(whole))
    for seed in SEEDS:
        random = Random(seed)
        for _ in range(4):
            most = LONGEST_NAME + random.randint(0, 60) ** 2
            for lengths in (partial(random.randint, LONGEST_NAME, most), partial(int, most)):
                for turn in turns_of(read(attributes_cut(whole, lengths))):
                    assert any(is_beginning(turn, known) for known in before), (turn, most)


@every_recording
def test_attributes_cut_to_stubs_are_read_without_an_exception(one: Recording) -> None:
    for seed in SEEDS:
        random = Random(seed)
        for most in (0, 1, random.randint(2, LONGEST_NAME), 4000):
            read(attributes_cut(everything(one), partial(random.randint, 0, most)))


def turns_of(found: Sequence[Conversation]) -> list[Any]:
    return [turn for one in shown(found) for turn in one["turns"]]


def is_beginning(turn: Any, known: Any) -> bool:
    if turn["kind"] != known["kind"]:
        return False
    if turn["kind"] != "tool":
        return (known.get("text") or "").startswith(turn.get("text") or "")
    return (
        known["tool"].startswith(turn["tool"])
        and part_of(turn.get("args", {}), known.get("args", {}))
        and ("result" not in turn or part_of(opened(turn["result"]), opened(known.get("result"))))
    )


def opened(value: Any) -> Any:
    return parse_nested(value).value
