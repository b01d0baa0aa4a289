"""Where requests leave an OTLP source for the engine: past the journal, if there is one.

A request is written, handed to the engine, and flushed, in this order; only then may it be acknowledged. A crash in
between leaves a request that its sender sends again; what came of it the first time is recognised. The engine sees
requests in the order of the journal.
"""

import time
from collections.abc import Callable
from typing import Final

from aem_monitor.errors import JournalError, NotTakenError
from aem_monitor.ingest.batch import JOURNAL, Batch, Decoded, Position, Submit
from aem_monitor.ingest.causes import Refused
from aem_monitor.ingest.otlp_request import OtlpRequest
from aem_monitor.journal.journal import Journal, Ticket

_SUBMIT_SECONDS: Final = 2.0
"""How long a request waits for room in the engine's queue; exporters give up after 10 s by default."""


class OtlpDoor:
    """Takes decoded requests of one source. Safe to share between threads."""

    def __init__(self, submit: Submit, journal: Journal | None = None, clock: Callable[[], float] = time.time) -> None:
        self._submit = submit
        self._journal = journal
        self._clock = clock

    def take(self, request: OtlpRequest, decoded: Decoded) -> Ticket | None:
        """Hand a request to the engine. With a ticket, it may only be acknowledged after ``keep``.

        What holds nothing of an agent cannot become part of a run and is not written.

        Raises:
            NotTakenError: the queue stayed full, or the journal cannot be written. It was not taken, nor written.
        """
        now = self._clock()
        if not decoded.seen_spans and not decoded.seen_logs:
            return None
        if self._journal is None or not (decoded.spans or decoded.logs):
            if not self._submit(Batch(request.source, request.peer, decoded, now), _SUBMIT_SECONDS):
                raise _overloaded()
            return None
        until = time.monotonic() + _SUBMIT_SECONDS

        def deliver(segment: int, index: int) -> bool:
            batch = Batch(request.source, request.peer, decoded, now, Position(JOURNAL, segment, index))
            return self._submit(batch, max(0.0, until - time.monotonic()))

        try:
            ticket = self._journal.append(request.head(), request.body, now, deliver, _SUBMIT_SECONDS)
        except JournalError as error:
            raise _not_kept(error) from error
        if ticket is None:
            raise _overloaded()
        return ticket

    def keep(self, ticket: Ticket) -> None:
        """Return when the request is on disk.

        Raises:
            NotTakenError: it may not be, and has to come again.
        """
        assert self._journal is not None
        try:
            self._journal.commit(ticket)
        except JournalError as error:
            raise _not_kept(error) from error


def _overloaded() -> NotTakenError:
    message = "nothing is taken in now: the queue is full, or the store cannot be written"
    return NotTakenError(message, reason=Refused.OVERLOADED)


def _not_kept(error: JournalError) -> NotTakenError:
    # The error itself names folders of this machine, which are nobody else's business.
    return NotTakenError(
        f"nothing is taken in now: the journal cannot be written ({error.reason})", reason=Refused.JOURNAL
    )
