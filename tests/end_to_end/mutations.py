"""Changes of export requests that change nothing of what they say. None changes its argument."""

import copy
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import Any, Final, TypeAlias

from tests.end_to_end.requests import IDS, Item, Request, items_of, objects_in, with_base64_ids

Mutation: TypeAlias = Callable[[Sequence[Request], Random], list[Request]]

_KINDS: Final = ("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")
_STATUSES: Final = ("UNSET", "OK", "ERROR")
_TIMES: Final = ("startTimeUnixNano", "endTimeUnixNano", "timeUnixNano", "observedTimeUnixNano")
_CAPITAL: Final = re.compile("[A-Z]")
_UNKNOWN: Final[tuple[dict[str, Any], ...]] = (
    {"stringValue": "Order A-1 was refunded"},
    {"intValue": "7"},
    {"boolValue": True},
    {"arrayValue": {"values": [{"stringValue": "a"}, {"doubleValue": 0.5}]}},
    {"kvlistValue": {"values": [{"key": "role", "value": {"stringValue": "user"}}]}},
    {"bytesValue": "AAE="},
    {},
)


def any_order(requests: Sequence[Request], random: Random) -> list[Request]:
    """One item a request, in any order."""
    return [item.request for item in _shuffled(items_of(requests), random)]


def duplicates(requests: Sequence[Request], random: Random) -> list[Request]:
    """In any order, half of the items twice."""
    items = items_of(requests)
    return [item.request for item in _shuffled([*items, *random.sample(items, len(items) // 2)], random)]


def less_complete_copies(requests: Sequence[Request], random: Random) -> list[Request]:
    """Before every span a copy that has not ended and lacks some of its attributes, as of a processor at its start."""
    changed: list[Request] = []
    for item in items_of(requests):
        if item.signal == "traces":
            early = {**item.item, "endTimeUnixNano": "0", "events": [], "status": {}}
            attributes = item.item.get("attributes", [])
            early["attributes"] = [pair for pair in attributes if random.random() < 0.5]
            changed.append(Item(item.signal, item.resource, item.scope, early).request)
        changed.append(item.request)
    return changed


def batch_cuts(requests: Sequence[Request], random: Random) -> list[Request]:
    """The items of each request cut anywhere, the pieces put together to other requests."""
    changed: list[Request] = []
    for item in items_of(requests):
        request = item.request
        ((key, blocks),) = request.items()
        if changed and key in changed[-1] and random.random() < 0.7:
            changed[-1][key].extend(blocks)
        else:
            changed.append(request)
    return changed


def unknown_attributes(requests: Sequence[Request], random: Random) -> list[Request]:
    """Attributes that no convention knows on resources, scopes, spans, events and records, at any place."""
    changed = copy.deepcopy(list(requests))
    for number, item in enumerate(objects_in(changed)):
        if "attributes" in item and isinstance(item["attributes"], list):
            for place in range(random.randint(1, 3)):
                pair = {"key": f"house.unknown.{number}.{place}", "value": random.choice(_UNKNOWN)}
                item["attributes"].insert(random.randint(0, len(item["attributes"])), pair)
    return changed


def unknown_events(requests: Sequence[Request], random: Random) -> list[Request]:
    """Events that no convention knows on every span."""
    changed = copy.deepcopy(list(requests))
    for item in items_of(changed):
        if item.signal == "traces":
            event = {"name": "house.event", "timeUnixNano": item.item.get("startTimeUnixNano", "0")}
            event["attributes"] = [{"key": "message", "value": random.choice(_UNKNOWN)}]
            events = item.item.setdefault("events", [])
            events.insert(random.randint(0, len(events)), event)
    return changed


def unknown_fields(requests: Sequence[Request], random: Random) -> list[Request]:
    """Members of objects that no version of OTLP has."""
    changed = copy.deepcopy(list(requests))
    for item in list(objects_in(changed)):
        if "spanId" in item or "scopeSpans" in item or "spans" in item:
            item["fieldOfTomorrow"] = random.choice([None, 1, "x", [1], {"a": []}])
    return changed


def order_of_members(requests: Sequence[Request], random: Random) -> list[Request]:
    """The members of all objects and the attributes of all spans in any order."""

    def reordered(value: Any) -> Any:
        if isinstance(value, list):
            return [reordered(item) for item in value]
        if not isinstance(value, dict):
            return value
        changed = {key: reordered(value[key]) for key in _shuffled(value, random)}
        pairs = changed.get("attributes")
        if isinstance(pairs, list) and len({pair.get("key") for pair in pairs}) == len(pairs):
            changed["attributes"] = _shuffled(pairs, random)
        return changed

    return [reordered(request) for request in requests]


def times_later(requests: Sequence[Request], random: Random) -> list[Request]:
    """All times later by the same span of days, hours and nanoseconds."""
    later = random.randint(1, 10**16)
    changed = copy.deepcopy(list(requests))
    for item in objects_in(changed):
        for key in _TIMES:
            if int(item.get(key) or 0):
                item[key] = str(int(item[key]) + later)
    return changed


def other_span_ids(requests: Sequence[Request], random: Random) -> list[Request]:
    """Other trace and span ids throughout, wherever they are mentioned."""
    known = {item[key] for item in objects_in(list(requests)) for key in IDS if item.get(key)}
    known = {one for one in known if one.strip("0")}
    return replaced(requests, {one: f"{random.getrandbits(4 * len(one)):0{len(one)}x}" for one in sorted(known)})


def snake_case(requests: Sequence[Request], random: Random) -> list[Request]:
    """Keys as in the protocol's own files."""

    def renamed(value: Any) -> Any:
        if isinstance(value, list):
            return [renamed(item) for item in value]
        if not isinstance(value, dict):
            return value
        return {_CAPITAL.sub(lambda m: f"_{m[0].lower()}", key): renamed(item) for key, item in value.items()}

    return [renamed(request) for request in requests]


def plain_protobuf_json(requests: Sequence[Request], random: Random) -> list[Request]:
    """Base64 ids and enum names, as a JSON printer writes them that knows protobuf and not OTLP."""
    changed = [with_base64_ids(request) for request in requests]
    for item in objects_in(changed):
        if isinstance(item.get("kind"), int):
            item["kind"] = f"SPAN_KIND_{_KINDS[item['kind']]}"
        status = item.get("status")
        if isinstance(status, dict) and isinstance(status.get("code"), int):
            status["code"] = f"STATUS_CODE_{_STATUSES[status['code']]}"
    return changed


def numbers_as_strings(requests: Sequence[Request], random: Random) -> list[Request]:
    """Every number of the protocol as a text."""

    def spelled(value: Any) -> Any:
        if isinstance(value, list):
            return [spelled(item) for item in value]
        if isinstance(value, dict):
            return {key: spelled(item) for key, item in value.items()}
        return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value

    return [spelled(request) for request in requests]


def strings_as_numbers(requests: Sequence[Request], random: Random) -> list[Request]:
    """Every 64-bit integer as a number."""
    changed = copy.deepcopy(list(requests))
    for item in objects_in(changed):
        for key in (*_TIMES, "intValue"):
            if isinstance(item.get(key), str) and item[key]:
                item[key] = int(item[key])
    return changed


def upper_case_ids(requests: Sequence[Request], random: Random) -> list[Request]:
    """Hexadecimal ids in capitals."""
    changed = copy.deepcopy(list(requests))
    for item in objects_in(changed):
        for key in IDS:
            if isinstance(item.get(key), str):
                item[key] = item[key].upper()
    return changed


def replaced(requests: Sequence[Request], words: Mapping[str, str]) -> list[Request]:
    """Texts put in the place of others, wherever they occur; the longest first."""
    if not words:
        return list(requests)
    pattern = re.compile("|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)))
    text = pattern.sub(lambda match: words[match[0]], json.dumps(list(requests), ensure_ascii=False))
    found: list[Request] = json.loads(text)
    return found


def attributes_cut(requests: Sequence[Request], lengths: Callable[[], int]) -> list[Request]:
    """Every text of every attribute cut at a length, as SDKs and collectors do."""
    changed = copy.deepcopy(list(requests))
    for item in objects_in(changed):
        text = item.get("stringValue")
        if isinstance(text, str):
            item["stringValue"] = text[: lengths()]
    return changed


def _shuffled(items: Iterable[Any], random: Random) -> list[Any]:
    order = list(items)
    random.shuffle(order)
    return order


SAME_IDS: Final[tuple[Mutation, ...]] = (
    any_order,
    duplicates,
    less_complete_copies,
    batch_cuts,
    unknown_attributes,
    unknown_events,
    unknown_fields,
    order_of_members,
    times_later,
    snake_case,
    plain_protobuf_json,
    numbers_as_strings,
    strings_as_numbers,
    upper_case_ids,
)
"""Those after which not even an id differs."""
