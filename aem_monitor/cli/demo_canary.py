"""``aem-monitor demo --canary``: a model swap that a canary stops, from the swap to the end of the incident."""

import math
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from aem_monitor.alerting.detect import Settings
from aem_monitor.canary.compare import Comparison
from aem_monitor.canary.gate import Rules, State
from aem_monitor.cli import demo_canary_screen as screen
from aem_monitor.cli.canary import told
from aem_monitor.cli.canarywatch import StoreLooks, follow
from aem_monitor.cli.demo_screen import addresses
from aem_monitor.cli.progress import progress_bar, status_line
from aem_monitor.config.load import load_config
from aem_monitor.demo.monitor import Monitor, running_monitor
from aem_monitor.demo.pager import Pager, Told, running_pager
from aem_monitor.demo.production import Players, Production
from aem_monitor.demo.recordings import Recording, recordings
from aem_monitor.errors import AemMonitorError

_EVERY = 1.0
"""Seconds between two looks of the watch."""


@contextmanager
def canary_story(metrics_port: int | None, seconds: float) -> Iterator[Monitor]:
    """Tell the story, waiting at most ``seconds`` for each step of it; the monitor stays up while the block runs."""
    # A proxy that the environment names is for the world outside; the pages go to this machine.
    os.environ["no_proxy"] = "*"
    before, after = recordings()
    screen.introduction(before, after, sys.stdout)
    with running_pager() as pager, running_monitor(metrics_port, pager.url) as monitor:
        addresses(monitor, sys.stdout)
        sys.stdout.flush()
        players = Players(monitor.traces_url)
        _history(players, before, monitor, seconds)
        with Production(players, after) as production:
            swapped = time.monotonic()
            screen.swap(after, sys.stdout)
            code = _watch(monitor, (before.release, after.release), production, seconds)
            screen.watched(code, time.monotonic() - swapped, sys.stdout)
            page = _page(pager, production, seconds)
            screen.page(page, swapped, sys.stdout)
            production.deploy(before)
            screen.rollback(before, sys.stdout)
            _end_of_incident(pager, after, production, seconds)
            screen.all_told(pager.told, swapped, sys.stdout)
        screen.outcome(page, monitor, sys.stdout)
        yield monitor


def _history(players: Players, recording: Recording, monitor: Monitor, seconds: float) -> None:
    """As many runs of the release as the detectors need to know what is usual."""
    least = Settings().least_baseline
    plays = math.ceil(least / len(recording.canaries))
    runs, others = plays * len(recording.canaries), plays * len(recording.customers)
    with progress_bar(f"playing release {recording.release}", least=0, unit="requests") as report:
        total = plays * len(recording.requests)
        for play in range(plays):
            for number, _ in enumerate(players.play(recording), 1):
                report(play * len(recording.requests) + number, total)
    with progress_bar("waiting for final verdicts", least=0, unit="conversations") as report:
        monitor.wait(runs, others, seconds, lambda done: report(done, runs + others))
    screen.history(recording, monitor.final_runs(), least, sys.stdout)
    sys.stdout.flush()


def _watch(monitor: Monitor, names: tuple[str, str], production: Production, seconds: float) -> int:
    """What the command ``canary watch`` does; its exit code. The verdict has to be a regression."""
    screen.watch(monitor, names, seconds, _EVERY, sys.stdout)
    sys.stdout.flush()
    in_store = StoreLooks(load_config(monitor.file, {}), None, names, Rules())

    def look() -> Comparison:
        production.check()
        return in_store()

    with status_line("canary: looking for the first time") as report:
        found = follow(look, report, seconds, _EVERY)
    code = told(found, "table")
    if found.result.state is not State.REGRESSION:
        raise AemMonitorError(
            f"after {seconds:g} seconds the canary has not found the regression that was played; if this machine is "
            f"busy, try again with --wait {seconds * 4:g}"
        )
    return code


def _page(pager: Pager, production: Production, seconds: float) -> Told:
    sys.stdout.flush()
    with status_line("waiting for the page"):
        return pager.wait("of an incident", lambda: pager.page, seconds, production.check)


def _end_of_incident(pager: Pager, swapped: Recording, production: Production, seconds: float) -> None:
    def over() -> bool:
        changes = {one.release for one in pager.told if one.action == "change"}
        return pager.all_over and swapped.release in changes

    sys.stdout.flush()
    with status_line("waiting for the end of the incident"):
        pager.wait("the end of the incident", over, seconds, production.check)
