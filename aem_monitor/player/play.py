"""One play of one dialog: put the world back, then say each message and wait for the reply."""

import logging
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from aem_monitor.player.agent import body_of, reply_of
from aem_monitor.player.exporter import Exporter
from aem_monitor.player.faults import ExchangeError, Outcome
from aem_monitor.player.plan import Endpoint, Plan, Reset
from aem_monitor.player.record import ExchangeRecord, PlayRecord
from aem_monitor.player.span import PlaySpan
from aem_monitor.player.template import Message, Values, filled_header, filled_text, filled_url

_log: Final = logging.getLogger(__name__)

_JSON: Final = {"Content-Type": "application/json", "Accept": "application/json"}
_MOST_SAID: Final = 200


@dataclass(frozen=True, slots=True)
class Performer:
    """Plays. Safe to share between threads; what it plays into is a record of each one's own."""

    plan: Plan
    exporter: Exporter

    def perform(self, play: PlayRecord, go_on: Callable[[], bool], failed: Callable[[], None]) -> None:
        """Play until the end, an exchange that comes to nothing, or ``go_on`` says no. ``failed`` hears of each
        exchange that came to nothing, and of a reset."""
        values = Values(play.conversation_id, play.script.dialog)
        if not self._reset(values):
            play.reset_failed = True
            failed()
            return
        history: list[Message] = []
        for number, message in enumerate(play.script.messages, start=1):
            if not go_on():
                return
            said = Values(play.conversation_id, play.script.dialog, message, tuple(history))
            record, reply = self._exchange(said, number)
            play.exchanges.append(record)
            if reply is None or not record.delivered:
                failed()
            if reply is None:
                return
            history += [Message("user", message), Message("assistant", reply)]

    def _exchange(self, values: Values, number: int) -> tuple[ExchangeRecord, str | None]:
        """What became of one message, and the reply."""
        agent = self.plan.agent
        span = PlaySpan(values.dialog, values.conversation_id, values.message)
        reply: str | None = None
        outcome, status = Outcome.ANSWERED, None
        begun = time.perf_counter()
        try:
            answer = agent.client.post(
                filled_url(agent.url, values),
                body_of(self.plan.dialect, values),
                {**_headers(agent, values), **span.headers(), **_JSON},
            )
            status = answer.status
            reply = reply_of(self.plan.dialect, answer)
        except ExchangeError as error:
            outcome, status = error.outcome, error.status
            _log.warning("%s, exchange %d (%s): %s", values.dialog, number, values.conversation_id, error)
        seconds = time.perf_counter() - begun
        request = span.export(agent.url, seconds, outcome, status, last=reply is None)
        delivered = True
        try:
            self.exporter.send(request)
        except ExchangeError as error:
            delivered = False
            _log.warning("%s, exchange %d: the monitor does not know of it: %s", values.dialog, number, error)
        return ExchangeRecord(number, span.trace_id, outcome, status, seconds, delivered), reply

    def _reset(self, values: Values) -> bool:
        """Whether the world is as it was before."""
        reset = self.plan.reset
        if reset is None:
            return True
        try:
            if reset.endpoint is not None:
                where = reset.endpoint
                where.client.post(filled_url(where.url, values), b"{}", {**_headers(where, values), **_JSON})
            else:
                _run(reset, values)
        except ExchangeError as error:
            _log.warning("%s is not played: the reset failed: %s", values.dialog, error)
            return False
        return True


def _headers(endpoint: Endpoint, values: Values) -> dict[str, str]:
    return {name: filled_header(value, values) for name, value in endpoint.headers.items()}


def _run(reset: Reset, values: Values) -> None:
    words = [filled_text(word, values) for word in reset.command]
    try:
        done = subprocess.run(  # noqa: S603 - the operator's own command, without a shell
            words, cwd=reset.folder, timeout=reset.timeout, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    except subprocess.TimeoutExpired as error:
        message = f"{words[0]} took longer than {reset.timeout:g} seconds"
        raise ExchangeError(Outcome.RESET_FAILED, message) from error
    except (OSError, ValueError) as error:
        raise ExchangeError(Outcome.RESET_FAILED, f"{words[0]} cannot be run: {error}") from error
    if done.returncode != 0:
        said = done.stderr[-_MOST_SAID:].decode("utf-8", "replace").strip()
        raise ExchangeError(Outcome.RESET_FAILED, f"{words[0]} ended with exit code {done.returncode}: {said}")
