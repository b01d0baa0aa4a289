"""``aem-monitor canary run``: play golden dialogs against an agent as its user."""

import logging
import os
import signal
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any, Final, Self

from aem_monitor.cli.output import write_json
from aem_monitor.cli.progress import progress_bar
from aem_monitor.cli.stopping import exit_code
from aem_monitor.cli.tables import Column, print_table
from aem_monitor.config.sinks import is_url
from aem_monitor.config.units import parse_duration
from aem_monitor.errors import UsageError
from aem_monitor.golden.load import load_dialogs
from aem_monitor.httpclient import tls_context
from aem_monitor.player.client import Client
from aem_monitor.player.exporter import Exporter
from aem_monitor.player.faults import ExchangeError, Outcome
from aem_monitor.player.plan import Plan, read_plan
from aem_monitor.player.player import Player
from aem_monitor.player.record import Ended, Record
from aem_monitor.player.report import COLUMNS, VERDICT_COLUMNS, result_object, rows, verdict_rows
from aem_monitor.player.script import Script, scripts_of
from aem_monitor.player.span import tracer
from aem_monitor.player.verdicts import Verdicts

_log: Final = logging.getLogger(__name__)

PLAYED: Final = 0
NOT_ALL_PLAYED: Final = 3

_API_SECONDS: Final = 30.0
_NAMED: Final = 5
_STANDARD_ERROR: Final = 2

_CHANGES: Final = {
    "url": ("agent", "url"),
    "otlp": ("otlp", "endpoint"),
    "reset_url": ("reset", "url"),
    "repeats": ("play", "repeats"),
    "concurrency": ("play", "concurrency"),
    "rate": ("play", "rate"),
    "deadline": ("play", "deadline"),
    "error_budget": ("play", "error_budget"),
}
"""Arguments that go before a key of the file."""


def configure(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("file", metavar="FILE", type=Path, help="what to play against which agent (YAML)")
    parser.add_argument("--dialog", metavar="NAME", action="append", default=[], help="play this dialog; repeatable")
    parser.add_argument(
        "--tag", action="append", default=[], help="play the dialogs with a turn of this tag; repeatable"
    )
    parser.add_argument("--url", help="of the agent (agent.url)")
    parser.add_argument("--otlp", metavar="URL", help="where the player's spans go (otlp.endpoint)")
    parser.add_argument("--reset-url", metavar="URL", help="called before each play (reset.url)")
    parser.add_argument("--repeats", type=int, metavar="N", help="plays of each dialog (play.repeats)")
    parser.add_argument("--concurrency", type=int, metavar="N", help="plays at a time (play.concurrency)")
    parser.add_argument("--rate", type=float, metavar="N", help="most plays that begin in a minute (play.rate)")
    parser.add_argument("--deadline", metavar="TIME", help="no exchange begins later than this (play.deadline)")
    parser.add_argument("--error-budget", type=float, metavar="SHARE", help="of exchanges that may fail, from 0 to 1")
    parser.add_argument(
        "--wait",
        metavar="URL",
        type=_address,
        help="wait for the verdicts of the monitor whose admin listener is there",
    )
    parser.add_argument(
        "--wait-for", type=_duration, default=300.0, metavar="TIME", help="how long at most (default: 5m)"
    )
    parser.add_argument("--format", choices=("table", "json"), default="table")
    parser.set_defaults(handler=run)


def run(arguments: Namespace) -> int:
    """Carry the command out."""
    plan = read_plan(arguments.file, _changes(arguments), dict(os.environ))
    scripts, not_played = scripts_of(load_dialogs(plan.dialogs), arguments.dialog, arguments.tag)
    for one in not_played:
        _log.warning("%s is not played: %s", one.dialog, one.why)
    if not scripts:
        raise UsageError("none of the chosen dialogs can be played: what the user says must stand in them")
    verdicts = _verdicts(arguments.wait)
    _check_monitor(plan)
    _say_what_it_does(plan, scripts)
    player = Player(plan, scripts, not_played)
    with _Interrupts(player.stop) as interrupts:
        with progress_bar("playing", least=2, unit="plays") as report:
            record = player.run(report, lambda: interrupts.count > 1)
        waited = verdicts is not None and not interrupts.count
        if verdicts is not None and waited:
            known = [play for play in record.plays if play.known]
            with progress_bar("waiting", least=1, unit="verdicts") as report:
                verdicts.wait(known, arguments.wait_for, report, lambda: interrupts.count > 0)
    missing = [one.conversation_id for one in record.plays if waited and one.known and one.run is None]
    _tell(record, arguments.format, waited=waited, missing=missing)
    if interrupts.number is not None:
        return exit_code(interrupts.number)
    return PLAYED if record.ended is Ended.PLAYED and not missing else NOT_ALL_PLAYED


def _address(text: str) -> str:
    if not is_url(text):
        raise ArgumentTypeError(f"{text}: give the whole URL of the admin listener, such as http://127.0.0.1:21465")
    return text


def _duration(text: str) -> float:
    try:
        return parse_duration(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text}: {error}") from None


def _verdicts(url: str | None) -> Verdicts | None:
    if url is None:
        return None
    found = Verdicts(url, Client(_API_SECONDS, tls_context(None, "--wait")))
    try:
        found.check()
    except ExchangeError as error:
        raise UsageError(f"--wait: nothing is played, since no verdicts can be had: {error}") from error
    return found


def _changes(arguments: Namespace) -> dict[Sequence[str], Any]:
    given = {name: getattr(arguments, name) for name in _CHANGES}
    return {_CHANGES[name]: value for name, value in given.items() if value is not None}


def _check_monitor(plan: Plan) -> None:
    """Before the agent does anything: what nobody sees need not be played."""
    tracer()
    try:
        Exporter(plan.otlp).check()
    except ExchangeError as error:
        raise UsageError(f"otlp.endpoint: nothing is played, since no spans can be sent: {error}") from error


def _say_what_it_does(plan: Plan, scripts: Sequence[Script]) -> None:
    effects = sorted({effect for script in scripts for effect in script.effects})
    if effects and plan.reset is None:
        _log.warning(
            "The agent really does what it is asked for, so its state should be disposable: nothing is put back before "
            "a play (reset). The dialogs ask for %s",
            ", ".join(effects),
        )


class _Interrupts:
    """SIGINT and SIGTERM while the block runs: the first lets exchanges under way end, the second does not wait for
    them. ``number`` is the first one's."""

    def __init__(self, stop: Callable[[], None]) -> None:
        self.count = 0
        self.number: int | None = None
        self._stop = stop
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._come) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _come(self, number: int, _frame: FrameType | None) -> None:
        self.count += 1
        self.number = self.number or number
        self._stop()
        if self.count == 1:
            # Not through a stream, in which the interrupted code may just be writing.
            with suppress(OSError):
                os.write(_STANDARD_ERROR, b"Ending after the exchanges under way; once more to end at once\n")


def _tell(record: Record, form: str, *, waited: bool, missing: Sequence[str]) -> None:
    if form == "json":
        write_json(result_object(record))
    else:
        columns = [Column(heading, "left" if heading == "dialog" else "right") for heading in COLUMNS]
        print_table(columns, rows(record), sys.stdout)
        failed = [
            (one.value, count) for one, count in record.outcomes().items() if count and one is not Outcome.ANSWERED
        ]
        if failed:
            print_table(("failed", Column("exchanges", "right")), failed, sys.stdout)
        if waited:
            print_table(VERDICT_COLUMNS, verdict_rows(record), sys.stdout)
    if record.undelivered:
        _log.warning("The monitor does not know of %d exchanges: their spans were not delivered", record.undelivered)
    if missing:
        _log.warning(
            "%d plays have no final run: do the agent's spans reach the monitor, in the traces that it is called in? "
            "Conversations: %s",
            len(missing),
            ", ".join([*missing[:_NAMED], *(["..."] if len(missing) > _NAMED else [])]),
        )
    if record.ended is not Ended.PLAYED:
        _log.warning("%s: %d of %d plays began", _WHY[record.ended], len(record.plays), record.planned)


_WHY: Final = {
    Ended.ERROR_BUDGET: "Ended, the error budget is used up",
    Ended.DEADLINE: "Ended by the deadline",
    Ended.INTERRUPTED: "Interrupted",
}
