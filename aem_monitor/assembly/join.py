"""The readings of many traces become conversations."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from aem_monitor.assembly.merge import merge_readings
from aem_monitor.assembly.partition import order_of, partition
from aem_monitor.assembly.settings import AssemblySettings
from aem_monitor.assembly.toolschemas import called_schemas
from aem_monitor.assembly.tracereading import ExchangeReading, TraceReading
from aem_monitor.model.conversation import Conversation, Exchange
from aem_monitor.model.jsonvalue import AttributeValue
from aem_monitor.model.verdict import MIXED


def join(readings: Sequence[TraceReading], settings: AssemblySettings) -> list[Conversation]:  # noqa: ARG001
    """The conversations of these traces, in order of their first span; the order of ``readings`` does not matter.

    Exchanges are joined by conversation id, those without one by the growing message history within one agent. Pass
    all traces that may belong together: those that share an id (``TraceReading.conversation_ids``) or, without ids, an
    agent.
    """
    exchanges = [exchange for reading in readings for exchange in reading.exchanges]
    found = [conversation for group in partition(exchanges) if (conversation := _conversation(group)).exchanges]
    found.sort(key=lambda conversation: (conversation.first_ns, conversation.key, conversation.last_ns))
    return _with_unique_keys(found)


def _with_unique_keys(conversations: Sequence[Conversation]) -> list[Conversation]:
    """One trace may hold several conversations without an id: from the second on their first span tells them apart."""
    seen: set[str] = set()
    found: list[Conversation] = []
    for conversation in conversations:
        key = conversation.key
        if key in seen:
            key = f"{key}:{conversation.exchanges[0].user.span_id}"
        seen.add(key)
        found.append(conversation if key == conversation.key else replace(conversation, key=key))
    return found


def _conversation(readings: Sequence[ExchangeReading]) -> Conversation:
    merged = merge_readings(readings)
    exchanges = tuple(_exchange(reading, traces) for reading, traces in merged)
    ids = _ids(readings)
    earliest = min(readings, key=order_of)
    attributes: dict[str, AttributeValue] = {}
    for reading in readings:
        for key, value in reading.attributes.items():
            attributes.setdefault(key, value)
    turns = [turn for one in exchanges for turn in (*one.tool_turns, one.response) if turn is not None]
    return Conversation(
        key=ids[0] if ids else earliest.trace_id,
        conversation_id=ids[0] if ids else None,
        agent=earliest.agent,
        release=_common([turn.release for turn in turns] or [one.release for one in readings]),
        model=_common([turn.model for turn in turns] or [one.model for one in readings]),
        exchanges=exchanges,
        trace_ids=tuple(dict.fromkeys(trace for _, traces in merged for trace in traces)),
        first_ns=min(one.start_ns for one in readings),
        last_ns=max(one.end_ns for one in readings),
        aliases=ids[1:],
        dialog_ids=tuple(dict.fromkeys(name for one in readings for name in one.dialog_ids)),
        run_ids=tuple(dict.fromkeys(name for one in readings for name in one.run_ids)),
        attributes={key: attributes[key] for key in sorted(attributes)},
        ended=any(one.ended for one in readings),
        tool_schemas=called_schemas(readings, [call for one in exchanges for call in one.calls]),
    )


def _exchange(reading: ExchangeReading, traces: tuple[str, ...]) -> Exchange:
    # A call without a name is known by its id alone: it happened, so that no call can be said not to have happened.
    calls = tuple(call for call in reading.calls if call.name or call.span_id is not None)
    asked = reading.asked
    return Exchange(
        user=reading.user if asked is None else replace(reading.user, text=asked, truncated=False),
        calls=calls,
        response=reading.response,
        start_ns=reading.start_ns,
        end_ns=reading.response.time_ns if reading.response is not None else reading.end_ns,
        trace_ids=traces,
        root_seen=reading.root_seen,
        missing_parents=reading.missing_parents or len(calls) < len(reading.calls),
    )


def _ids(readings: Sequence[ExchangeReading]) -> tuple[str, ...]:
    """All ids, best first: by precedence, then by time. Where the best ones are made anew for each exchange, those that
    exchanges share go before them."""
    held = Counter(value for one in readings for value in {candidate.value for candidate in one.ids})
    ranks = [one.ids[0].rank for one in readings if one.ids]
    anew = len({one.ids[0].value for one in readings if one.ids and one.ids[0].rank == min(ranks)}) > 1
    best: dict[str, tuple[bool, int, int]] = {}
    for place, one in enumerate(sorted(readings, key=order_of)):
        for candidate in one.ids:
            rank = (anew and held[candidate.value] == 1, candidate.rank, place)
            best[candidate.value] = min(best.get(candidate.value, rank), rank)
    return tuple(sorted(best, key=lambda value: best[value]))


def _common(values: Sequence[str | None]) -> str | None:
    known = {value for value in values if value is not None}
    if len(known) > 1:
        return MIXED
    return next(iter(known), None)
