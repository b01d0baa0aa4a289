"""``aem-monitor alerts``: what built-in alerting has found, and whether its receivers can be told."""

import sys
import time
from argparse import ArgumentParser, Namespace
from datetime import UTC, datetime
from typing import Final

from aem_monitor.alerting.faults import ALERTMANAGER
from aem_monitor.alerting.notification import About, trial
from aem_monitor.cli.output import write_json_line
from aem_monitor.cli.stored import add_store_argument, configuration, open_store
from aem_monitor.cli.tables import print_table
from aem_monitor.config.notifying import receivers
from aem_monitor.errors import ConfigError, NotifyError, UsageError

_COLUMNS: Final = ("opened", "over", "severity", "agent", "release", "what", "tool", "failed", "cascades", "key")


def configure(parser: ArgumentParser) -> None:
    """Add the actions."""
    parser.description = (
        "Built-in alerting pages when root causes become more frequent, or a release is worse than those before it. "
        "`list` shows incidents, `test` sends a notification to every receiver of the configuration."
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    listing = actions.add_parser(
        "list", help="list incidents", description="Lists incidents that are open, the oldest first."
    )
    add_store_argument(listing)
    listing.add_argument("--all", action="store_true", help="also those that are over, the newest first")
    listing.add_argument("--limit", metavar="N", type=int, default=50, help="at most so many (default: 50)")
    listing.add_argument("--format", choices=("table", "json"), default="table", help="json: one object a line")
    listing.set_defaults(handler=_list)
    test = actions.add_parser(
        "test",
        help="send a notification to every receiver",
        description="Sends a notification of severity `info` to every receiver, and at once its end; an alert in "
        "Alertmanager, AemTest, ends by itself. Exit code 0: all have taken it, 1: one has not.",
    )
    add_store_argument(test)
    test.set_defaults(handler=_test)


def _list(arguments: Namespace) -> int:
    if arguments.limit < 1:
        raise UsageError("--limit: must be 1 or more")
    with open_store(configuration(arguments)) as store:
        found = store.incidents(arguments.limit) if arguments.all else store.open_incidents()[: arguments.limit]
    if arguments.format == "json":
        for one in found:
            over = {"resolved_at": None if one.resolved_at is None else _time(one.resolved_at)}
            write_json_line({**one.body, **over})
        return 0
    if not found:
        sys.stderr.write("No incident is open.\n" if not arguments.all else "There was no incident.\n")
        return 0
    rows = [
        (
            _time(one.opened_at),
            None if one.resolved_at is None else _time(one.resolved_at),
            one.body["severity"],
            one.body["agent"],
            one.body["release"],
            one.body["reason"] or one.body["kind"],
            one.body["tool"],
            f"{one.body['finding']['failed']} of {one.body['finding']['runs']}",
            one.body["evidence"]["cascades"],
            one.dedup_key[:12],
        )
        for one in found
    ]
    print_table(_COLUMNS, rows, sys.stdout)
    return 0


def _test(arguments: Namespace) -> int:
    config = configuration(arguments)
    found = receivers(config)
    if not found:
        raise ConfigError("alerting.receivers: there is none to be told; name one, and pass its file with --config")
    body = trial(About(config.alerting.source), time.time())
    failed = False
    for receiver in found:
        try:
            receiver.send(body)
            if receiver.name != ALERTMANAGER:
                receiver.send({**body, "event": "resolved", "why": "recovered"})
        except NotifyError as error:
            failed = True
            sys.stderr.write(f"{receiver.name}: {error}\n")
            continue
        # Alertmanager waits before it tells anybody (group_wait), and tells nobody what is over by then.
        ends = "; it routes AemTest on, which ends by itself" if receiver.name == ALERTMANAGER else " and its end"
        sys.stderr.write(f"{receiver.name}: has taken a notification{ends}\n")
    return 1 if failed else 0


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
