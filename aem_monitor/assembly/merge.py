"""One exchange out of several readings of it: twins of two instrumentations, model calls in traces of their own, tool
spans that lost their trace."""

from collections.abc import Sequence
from dataclasses import replace

from aem_monitor.assembly.names import same_tool
from aem_monitor.assembly.partition import is_twin, order_of
from aem_monitor.assembly.parts import place_of, with_course, with_question
from aem_monitor.assembly.speech import squeezed
from aem_monitor.assembly.told import PartKind
from aem_monitor.assembly.tracereading import ExchangeReading
from aem_monitor.conventions.jsontext import canonical
from aem_monitor.model.conversation import NOT_CAPTURED, ToolCall


def merge_readings(exchanges: Sequence[ExchangeReading]) -> list[tuple[ExchangeReading, tuple[str, ...]]]:
    """The exchanges of one conversation, each once, with the traces that tell of it; in time order."""
    merged: list[tuple[ExchangeReading, tuple[str, ...]]] = []
    fragments: list[ExchangeReading] = []
    parts = sorted((one for one in exchanges if one.part is not None), key=order_of)
    for exchange in sorted((one for one in exchanges if one.part is None), key=order_of):
        if _is_fragment(exchange):
            fragments.append(exchange)
            continue
        index = next((at for at in range(len(merged) - 1, -1, -1) if _belongs(merged[at][0], exchange)), None)
        if index is None:
            merged.append((exchange, (exchange.trace_id,)))
            continue
        known, traces = merged[index]
        joined = _twins(known, exchange) if is_twin(known, exchange) else _continued(known, exchange)
        merged[index] = (joined, (*traces, exchange.trace_id))
    for fragment in fragments:
        _place_fragment(fragment, merged)
    _add_parts(parts, merged)
    found = [(_certain(one, merged[:at]), tuple(dict.fromkeys(traces))) for at, (one, traces) in enumerate(merged)]
    return [(_recalled(one, found[at + 1][0]), traces) for at, (one, traces) in enumerate(found[:-1])] + found[-1:]


def _recalled(exchange: ExchangeReading, following: ExchangeReading) -> ExchangeReading:
    """The reply that no span of the exchange carries, out of the history of the next one; white space is folded there.

    Instrumentations that see only what goes into a model know each reply but the last from there.
    """
    response, history = exchange.response, following.history
    if response is None or response.text is not None or response.error is not None or not history:
        return exchange
    role, said = history[-1]
    asked = [text for speaker, text in history if speaker == "user"][-1:]
    if role != "assistant" or exchange.user.text is None or asked != [squeezed(exchange.user.text)]:
        return exchange
    return replace(exchange, response=replace(response, text=said, truncated=False))


def _is_fragment(exchange: ExchangeReading) -> bool:
    """Tool calls alone, from threads that lost their parent; not those of which it is known what they answer."""
    told = exchange.response is not None or exchange.user.text is not None or exchange.asked is not None
    return exchange.agentless and not told and exchange.model is None


def _belongs(known: ExchangeReading, exchange: ExchangeReading) -> bool:
    return is_twin(known, exchange) or _is_continuation(known, exchange) or _answers_as_well(known, exchange)


def _is_continuation(known: ExchangeReading, exchange: ExchangeReading) -> bool:
    """A model call in a trace of its own that goes on where the exchange stands: its input ends with the results of the
    exchange's calls."""
    return known.agentless and exchange.agentless and bool(exchange.answers & known.call_ids)


def _answers_as_well(known: ExchangeReading, exchange: ExchangeReading) -> bool:
    """The next agent that works on one message of a driver: it sent one, so that there is one exchange, however many
    agents its trace runs one after the other (a router, then who answers)."""
    one_message = known.asked is not None and (known.asked, known.trace_id) == (exchange.asked, exchange.trace_id)
    return one_message and known.end_ns <= exchange.start_ns


def _continued(known: ExchangeReading, later: ExchangeReading) -> ExchangeReading:
    return replace(
        known,
        calls=merge_calls(known.calls, later.calls, later=True),
        response=later.response,
        end_ns=max(known.end_ns, later.end_ns),
        root_seen=known.root_seen and later.root_seen,
        missing_parents=known.missing_parents or later.missing_parents,
        ended=known.ended or later.ended,
    )


def _twins(known: ExchangeReading, other: ExchangeReading) -> ExchangeReading:
    """The better captured one, with what only the other knows."""
    base, extra = (known, other) if _captured(known) >= _captured(other) else (other, known)
    response = base.response
    if response is None or (response.text is None and extra.response is not None and extra.response.text is not None):
        response = extra.response
    return replace(
        base,
        user=base.user if base.user.text is not None else extra.user,
        calls=merge_calls(base.calls, extra.calls, later=False),
        response=response,
        start_ns=min(known.start_ns, other.start_ns),
        end_ns=max(known.end_ns, other.end_ns),
        root_seen=known.root_seen or other.root_seen,
        missing_parents=known.missing_parents and other.missing_parents,
        model=base.model or extra.model,
        release=base.release or extra.release,
        ended=known.ended or other.ended,
    )


def _captured(exchange: ExchangeReading) -> tuple[int, int, int, int]:
    spoken = (exchange.user.text is not None) + (exchange.response is not None and exchange.response.text is not None)
    arguments = sum(call.arguments is not None and not call.arguments_truncated for call in exchange.calls)
    results = sum(call.result is not NOT_CAPTURED and not call.result_truncated for call in exchange.calls)
    return spoken, sum(call.span_id is not None for call in exchange.calls), arguments, results


def merge_calls(base: Sequence[ToolCall], extra: Sequence[ToolCall], *, later: bool) -> tuple[ToolCall, ...]:
    """Both lists as one, calls that are in both once. ``later``: rounds of ``extra`` come after those of ``base``."""
    found = list(base)
    used: set[int] = set()
    offset = 1 + max((call.round for call in base), default=-1) if later else 0
    for call in extra:
        at = _match(found[: len(base)], call, used)
        if at is None:
            found.append(replace(call, round=call.round + offset))
        else:
            used.add(at)
            found[at] = _combined(found[at], call)
    if len(found) > len(base):
        found.sort(key=lambda call: (call.round, call.start_ns, call.end_ns, call.span_id or ""))
    return tuple(found)


def _match(base: Sequence[ToolCall], call: ToolCall, used: set[int]) -> int | None:
    free = [(at, one) for at, one in enumerate(base) if at not in used]
    if call.call_id is not None:
        by_id = next((at for at, one in free if one.call_id == call.call_id), None)
        if by_id is not None:
            return by_id
    for at, one in free:
        if (one.call_id and call.call_id) or not same_tool(one.name, call.name):
            continue
        if one.arguments is None or call.arguments is None:
            return at
        if canonical(dict(one.arguments)) == canonical(dict(call.arguments)):
            return at
    return None


def _combined(one: ToolCall, other: ToolCall) -> ToolCall:
    """A call seen twice: the one with a span, filled from the other."""
    first, second = (one, other) if one.span_id is not None or other.span_id is None else (other, one)
    if not first.name:
        first, second = second, first
    changed = replace(first, round=one.round, error=first.error if first.error is not None else second.error)
    lacking = first.arguments is None or (first.arguments_truncated and not second.arguments_truncated)
    if lacking and second.arguments is not None:
        changed = replace(changed, arguments=second.arguments, arguments_truncated=second.arguments_truncated)
    lacking = first.result is NOT_CAPTURED or (first.result_truncated and not second.result_truncated)
    if lacking and second.result is not NOT_CAPTURED:
        changed = replace(changed, result=second.result, result_truncated=second.result_truncated)
    return replace(changed, call_id=first.call_id or second.call_id, model=first.model or second.model)


def _place_fragment(fragment: ExchangeReading, merged: list[tuple[ExchangeReading, tuple[str, ...]]]) -> None:
    """Tool calls without their exchange: to the one that knows the call's id, else the one running at the time."""
    known = [at for at, (one, _) in enumerate(merged) if one.call_ids & fragment.call_ids]
    during = [at for at, (one, _) in enumerate(merged) if one.start_ns <= fragment.start_ns <= one.end_ns]
    before = [at for at, (one, _) in enumerate(merged) if one.start_ns <= fragment.start_ns]
    choice = (known or during or before or list(range(len(merged)))[:1])[-1:]
    if not choice:
        merged.append((fragment, (fragment.trace_id,)))
        return
    one, traces = merged[choice[0]]
    joined = replace(one, calls=merge_calls(one.calls, fragment.calls, later=False))
    merged[choice[0]] = (joined, (*traces, fragment.trace_id))


def _add_parts(parts: Sequence[ExchangeReading], merged: list[tuple[ExchangeReading, tuple[str, ...]]]) -> None:
    """What operations beside the runs tell, in time order; their places are those before anything is added."""
    exchanges = [one for one, _ in merged]
    for part, at in [(part, place_of(part, exchanges)) for part in parts]:
        if at is None:
            continue
        known, traces = merged[at]
        if part.part is PartKind.ASKED:
            joined = with_question(known, part)
        else:
            joined = with_course(known, part, merge_calls(known.calls, part.calls, later=True))
        if joined != known:
            merged[at] = (joined, (*traces, part.trace_id))


def _certain(exchange: ExchangeReading, before: Sequence[tuple[ExchangeReading, tuple[str, ...]]]) -> ExchangeReading:
    """A user text out of a cut history is dropped when it repeats an earlier message of the conversation."""
    text = exchange.user.text
    if not exchange.user_uncertain or text is None:
        return exchange
    cut = squeezed(text)
    for earlier, _ in before:
        if earlier.user.text is not None and squeezed(earlier.user.text).startswith(cut):
            return replace(exchange, user=replace(exchange.user, text=None, truncated=True))
    return exchange
