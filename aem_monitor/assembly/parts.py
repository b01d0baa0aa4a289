"""Parts of exchanges that came in traces of their own: each operation on a server's conversation may be one."""

from collections.abc import Sequence
from dataclasses import replace

from aem_monitor.assembly.told import PartKind
from aem_monitor.assembly.tracereading import ExchangeReading
from aem_monitor.model.conversation import ToolCall


def place_of(part: ExchangeReading, exchanges: Sequence[ExchangeReading]) -> int | None:
    """The place of the exchange that a part tells of: the same run, or the next one for what the user said.

    Two runs of one conversation cannot overlap. None for a message that no run followed, and for what is read of a run
    whose own spans are not there.
    """
    if part.part is PartKind.ASKED:
        following = [at for at, one in enumerate(exchanges) if one.runs is not None and one.start_ns >= part.start_ns]
        return min(following, key=lambda at: exchanges[at].start_ns, default=None)
    runs = part.runs or frozenset()
    return next((at for at, one in enumerate(exchanges) if one.runs is not None and one.runs & runs), None)


def with_question(exchange: ExchangeReading, part: ExchangeReading) -> ExchangeReading:
    """The exchange with what the user said before it, unless its own trace has that."""
    if exchange.user.text is not None and exchange.user.trace_id == exchange.trace_id:
        return exchange
    return replace(exchange, user=part.user, start_ns=part.start_ns)


def with_course(exchange: ExchangeReading, part: ExchangeReading, calls: tuple[ToolCall, ...]) -> ExchangeReading:
    """The exchange with what a part tells of its course; ``calls`` are those of both. What is read later adds no
    time."""
    user, response = exchange.user, exchange.response
    if user.text is None and part.user.text is not None:
        user = replace(user, text=part.user.text, truncated=part.user.truncated)
    if response is not None and part.response is not None:
        told = part.response
        text, cut = (told.text, told.truncated) if response.text is None else (response.text, response.truncated)
        error = response.error if response.error is not None else told.error
        response = replace(response, text=text, truncated=cut, error=error)
    changed = replace(exchange, user=user, calls=calls, response=response)
    if part.part is not PartKind.DURING:
        return changed
    if response is not None:
        response = replace(response, time_ns=max(response.time_ns, part.end_ns))
    return replace(changed, response=response, end_ns=max(exchange.end_ns, part.end_ns))
