"""``aem-monitor canary check`` and ``watch``: go, stop or wait after a change of the model."""

import signal
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from aem_monitor.canary.compare import Comparison, check_names, compare
from aem_monitor.canary.gate import Rules, State
from aem_monitor.canary.junit import junit
from aem_monitor.canary.picture import svg
from aem_monitor.canary.played import Release
from aem_monitor.canary.question import NUMBERS, default, rules_of
from aem_monitor.canary.render import change, facts, markdown, result_object, sentence
from aem_monitor.cli import canaryrun
from aem_monitor.cli.canaryinput import releases_of_files, releases_of_store, tell_missing
from aem_monitor.cli.canarywatch import StoreLooks, follow
from aem_monitor.cli.output import write_json, write_text
from aem_monitor.cli.progress import status_line
from aem_monitor.cli.since import since
from aem_monitor.cli.stopping import Ending, StoppedError, alarm_after, exit_code, stopped_by_signals
from aem_monitor.cli.stored import add_store_argument, configuration, open_store
from aem_monitor.cli.tables import print_table
from aem_monitor.config.units import parse_duration

EXIT = {State.PASS: 0, State.REGRESSION: 1, State.NOT_ENOUGH_EVIDENCE: 3}

_LONGEST: Final = 30 * 86_400.0
"""Seconds; a watch that never ends says neither go nor stop."""

LAST_LOOK = 60.0
"""Seconds that the look at the deadline may take. A server behind a broken network is waited for by the hour."""

_STOPPED: Final = "aem-monitor: canary: stopped before there was a verdict"
_ENDINGS: Final[Mapping[int, Ending]] = {
    signal.SIGTERM: Ending(_STOPPED, exit_code(signal.SIGTERM)),
    signal.SIGINT: Ending(_STOPPED, exit_code(signal.SIGINT)),
    signal.SIGALRM: Ending("aem-monitor: canary: the store does not answer, and the deadline has passed", 2),
}


def configure(parser: ArgumentParser) -> None:
    """Add the arguments."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    check = actions.add_parser(
        "check",
        help="is the candidate worse?",
        description="Pairs the runs of two releases by dialog. Exits with 0 for pass, 1 for a regression, 3 for not "
        "enough evidence. The answer may be asked for as often as you like.",
    )
    _add_question(check)
    check.add_argument(
        "--verdicts",
        metavar="FILE",
        type=Path,
        nargs="+",
        help="verdicts in files, in place of the store: lines of the sink json_lines, or of replay --verdicts",
    )
    check.add_argument(
        "--one-look", action="store_true", help="exact tests, for a sample whose size was chosen before it was drawn"
    )
    check.set_defaults(handler=_check)
    watch = actions.add_parser(
        "watch",
        help="follow a rollout until a verdict or a deadline",
        description="Asks as check does, again and again over the store, and exits as it does with the first verdict: "
        "0 for pass, 1 for a regression; 3 for not enough evidence at the deadline. Goes on while the store cannot be "
        "read. SIGTERM and Ctrl-C end it with 143 and 130.",
    )
    _add_question(watch)
    watch.add_argument("--deadline", type=_duration, default=1800.0, metavar="TIME", help="from now (default: 30m)")
    watch.add_argument("--every", type=_duration, default=10.0, metavar="TIME", help="between looks (default: 10s)")
    watch.set_defaults(handler=_watch)
    played = actions.add_parser(
        "run",
        help="play golden dialogs against an agent as its user",
        description="Says what the user says in golden dialogs to an agent, and tells the monitor which dialog it is. "
        "The agent's own telemetry tells the rest, and the monitor judges. Exits with 0 when all was played, 3 when "
        "the error budget or the deadline ended it, or a verdict that was waited for did not come. SIGTERM and Ctrl-C "
        "let exchanges under way end, a second one does not; then the exit code is 143 or 130.",
    )
    canaryrun.configure(played)


def _add_question(parser: ArgumentParser) -> None:
    add_store_argument(parser)
    parser.add_argument("--baseline", metavar="RELEASE", required=True, help="the release that is known")
    parser.add_argument("--candidate", metavar="RELEASE", required=True, help="the release that is new")
    parser.add_argument("--agent", help="needed where several agents have runs of these releases")
    parser.add_argument(
        "--since",
        metavar="TIME",
        help="leave out runs that became final before, of either release: 7d, 12h, 2026-11-30, 2026-11-30T08:00Z",
    )
    for name, meaning in NUMBERS.items():
        usual = default(name)
        parser.add_argument(f"--{name}", type=float, default=usual, help=f"{meaning} (default: {usual:g})")
    parser.add_argument(
        "--cost",
        action="append",
        default=[],
        metavar="REASON=COST",
        help="of a run whose first root cause has this reason, from 0 to 1 (default: 1)",
    )
    parser.add_argument(
        "--critical", action="append", default=[], metavar="DIALOG", help="a dialog that gates by itself"
    )
    parser.add_argument("--format", choices=("table", "json", "markdown", "svg", "junit"), default="table")


def _duration(text: str) -> float:
    try:
        seconds = parse_duration(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text}: {error}") from None
    if not 0.1 <= seconds <= _LONGEST:
        raise ArgumentTypeError(f"{text}: give 100ms to 30d")
    return seconds


def _check(arguments: Namespace) -> int:
    names, rules = _question(arguments)
    return told(compare(names, _releases(arguments, names), rules, arguments.one_look), arguments.format)


def _watch(arguments: Namespace) -> int:
    names, rules = _question(arguments)
    start = since(arguments.since, time.time())
    try:
        with stopped_by_signals(_ENDINGS), alarm_after(arguments.deadline + LAST_LOOK):
            look = StoreLooks(configuration(arguments), arguments.agent, names, rules, start)
            with status_line("canary: looking for the first time") as report:
                found = follow(look, report, arguments.deadline, arguments.every)
    except StoppedError as stopped:
        return stopped.code
    return told(found, arguments.format)


def _question(arguments: Namespace) -> tuple[tuple[str, str], Rules]:
    names = (arguments.baseline, arguments.candidate)
    check_names(names)
    numbers = {name: getattr(arguments, name) for name in NUMBERS}
    return names, rules_of(numbers, arguments.cost, arguments.critical)


def told(found: Comparison, form: str) -> int:
    """Print what was found; the exit code that goes with it."""
    if form == "json":
        write_json(result_object(found.names, found.releases, found.result, found.rules))
    elif form == "markdown":
        write_text(markdown(found.names, found.releases, found.result))
    elif form == "junit":
        write_text(junit(found))
    elif form == "svg":
        write_text(svg(found.names, found.releases, found.result))
    else:
        facts_of = [("state", sentence(found.result)), *facts(found.names, found.releases, found.result)]
        print_table(("canary", " to ".join(found.names)), facts_of, sys.stdout)
        if found.result.changes:
            print_table(("changes",), [(change(one),) for one in found.result.changes], sys.stdout)
    return EXIT[found.result.state]


def _releases(arguments: Namespace, names: tuple[str, str]) -> tuple[Release, Release]:
    start = since(arguments.since, time.time())
    if arguments.verdicts:
        return releases_of_files(arguments.verdicts, arguments.agent, names, start)
    with open_store(configuration(arguments)) as store:
        found = releases_of_store(store, arguments.agent, names, start)
        tell_missing(store, found, arguments.agent, names)
    return found
