"""``aem-monitor demo``: the real daemon over recorded spans of two releases, explained on one screen."""

import signal
import sys
import threading
import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence

from aem_monitor.cli import demo_canary_screen as canary_screen
from aem_monitor.cli import demo_screen as screen
from aem_monitor.cli.demo_canary import canary_story
from aem_monitor.cli.logs import start_logging
from aem_monitor.cli.progress import progress_bar
from aem_monitor.demo.http import export, scrape
from aem_monitor.demo.monitor import Monitor, running_monitor
from aem_monitor.demo.recordings import Recording, moved, recordings

_WAIT_SECONDS = 60.0
_BACK_NS = 60 * 10**9


def configure(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.description = (
        "Starts the monitor on this machine with defaults alone (OTLP receiver, metrics and admin on loopback, SQLite "
        "in a temporary folder), sends it recorded spans of two releases of one agent, and shows what it found. Stays "
        "up until Ctrl-C, so that the metrics can be looked at."
    )
    parser.add_argument(
        "--canary",
        action="store_true",
        help="a model swap instead: canaries, the verdict of `canary watch`, the page, and the rollback that ends it",
    )
    parser.add_argument("--once", action="store_true", help="show the result and end")
    parser.add_argument(
        "--port-metrics",
        metavar="PORT",
        type=_port,
        default=None,
        help="port of the metrics (default: that of `run` if it is free, else any free one)",
    )
    parser.add_argument(
        "--wait",
        metavar="SECONDS",
        type=_seconds,
        default=_WAIT_SECONDS,
        help="longest wait for the verdicts; with --canary, for each step (default: %(default)g)",
    )
    parser.set_defaults(handler=demo)


def demo(arguments: Namespace) -> int:
    """Carry the command out."""
    # An incident is a warning of the daemon: here it is shown.
    start_logging(arguments.log_level or ("error" if arguments.canary else "warning"))
    _end_cleanly_on_signals()
    if arguments.canary:
        with canary_story(arguments.port_metrics, arguments.wait) as monitor:
            if not arguments.once:
                canary_screen.staying_up(monitor, sys.stdout)
                _stay_up()
        return 0
    recorded = recordings()
    screen.introduction(recorded, sys.stdout)
    with running_monitor(arguments.port_metrics) as monitor:
        screen.addresses(monitor, sys.stdout)
        sys.stdout.flush()
        _send(recorded, monitor)
        _wait(recorded, monitor, arguments.wait)
        screen.findings(recorded, monitor.final_runs(), monitor.left_alone(), sys.stdout)
        screen.metrics(monitor.metrics_url, scrape(monitor.metrics_url), sys.stdout)
        screen.examples(sys.stdout)
        if not arguments.once:
            screen.staying_up(monitor, sys.stdout)
            _stay_up()
    return 0


def _end_cleanly_on_signals() -> None:
    """SIGTERM, and a terminal that is closed, end the demo as Ctrl-C does; under nohup it stays up."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.default_int_handler)


def _send(recorded: Sequence[Recording], monitor: Monitor) -> None:
    """Send everything, as it was recorded unless the clock here says that it has not happened yet."""
    ahead = max(recording.last_ns for recording in recorded) - time.time_ns()
    total = sum(len(request) for recording in recorded for request in recording.requests)
    done = 0
    with progress_bar("sending spans", least=0) as report:
        for recording in recorded:
            for request in recording.requests:
                export(monitor.traces_url, moved(request, -ahead - _BACK_NS) if ahead > 0 else request)
                done += len(request)
                report(done, total)


def _wait(recorded: Sequence[Recording], monitor: Monitor, seconds: float) -> None:
    runs = sum(len(recording.canaries) for recording in recorded)
    others = sum(len(recording.customers) for recording in recorded)
    with progress_bar("waiting for final verdicts", least=0, unit="conversations") as report:
        monitor.wait(runs, others, seconds, lambda done: report(done, runs + others))


def _stay_up() -> None:
    sys.stdout.flush()
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        print(file=sys.stderr)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= 65535):
        raise ArgumentTypeError(f"{text!r} is no port; give a number from 1 to 65535 (0: any free one)")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds <= 86400:
        raise ArgumentTypeError(f"{text!r} is no waiting time; give seconds, more than 0 and at most 86400")
    return seconds
