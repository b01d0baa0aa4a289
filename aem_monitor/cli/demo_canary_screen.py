"""What the demo of the canary says. Everything but these sentences is what the parts said."""

import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TextIO

from aem_monitor.alerting.observed import SEVERAL
from aem_monitor.cli.demo_screen import heading, paragraph, program
from aem_monitor.cli.errormap import LEGEND, print_error_map
from aem_monitor.cli.report import print_releases
from aem_monitor.cli.tables import Column, print_table
from aem_monitor.config.units import format_duration
from aem_monitor.demo.monitor import Monitor
from aem_monitor.demo.pager import Told
from aem_monitor.demo.recordings import Recording
from aem_monitor.model.verdict import RunResult

_KEY: Final = 12
"""Letters of an incident's key; `alerts list` shows as many."""


def introduction(before: Recording, after: Recording, stream: TextIO) -> None:
    """Who is who, and what is real."""
    heading("aem-monitor demo: a canary that stops a model swap\n", stream)
    paragraph(
        f"Release {before.release} of the agent {before.agent} is in production, on the model "
        f"{' and '.join(before.models)}. Release {after.release} swaps the model for {' and '.join(after.models)}. "
        "Canaries replay golden dialogs against whatever is deployed, among customers; aem-monitor reads the agent's "
        "spans and checks every turn of the canaries.",
        stream,
    )
    paragraph(
        f"The agent is recorded: {len(before.canaries)} conversations of canaries and {len(before.customers)} of "
        "customers on each release, sent again and again as of now, with ids of their own. Everything else works here "
        "as it does elsewhere: the daemon with its alerting, `canary watch`, and, in the place of PagerDuty, an "
        "address on this machine that takes what PagerDuty would be sent.",
        stream,
    )


def history(recording: Recording, results: Sequence[RunResult], least: int, stream: TextIO) -> None:
    """What was usual."""
    heading(f"Before: release {recording.release}", stream)
    right = sum(result.test_pass is True for result in results)
    paragraph(f"{right} of {len(results)} runs are right. Alerting needs {least} to know what is usual.", stream)


def swap(after: Recording, stream: TextIO) -> None:
    """That the new release is out."""
    heading("The swap", stream)
    paragraph(f"{time.strftime('%H:%M:%S')} Release {after.release} is deployed.", stream)


def watch(monitor: Monitor, names: tuple[str, str], deadline: float, every: float, stream: TextIO) -> None:
    """The command, as one would type it beside this."""
    heading("The watch", stream)
    stream.write(
        f"$ {program()} canary watch --config {shlex.quote(str(monitor.file))} \\\n"
        f"    --baseline {names[0]} --candidate {names[1]} --every {format_duration(every)} "
        f"--deadline {format_duration(deadline)}\n"
    )


def watched(code: int, seconds: float, stream: TextIO) -> None:
    """What a pipeline learns."""
    stream.write("\n")
    paragraph(
        f"It ended {seconds:.0f} seconds after the swap with exit code {code}, by which a pipeline stops the rollout.",
        stream,
    )


def page(told: Told, swapped: float, stream: TextIO) -> None:
    """What the person on call reads, from the event as it came."""
    payload = told.event["payload"]
    heading(f"The page, {told.at - swapped:.0f} seconds after the swap", stream)
    paragraph(f"{payload['severity']}: {payload['summary']}", stream)
    print_table(
        ("example", Column("turn", "right"), "where", "expected", "got", Column("cascades", "right")),
        [
            (one["dialog"], one["turn"], _where(one), one["expected"], one["got"], one["cascades"])
            for one in _examples(told)
        ],
        stream,
    )
    stream.write("\n")
    stream.writelines(f"{link['text']}: {link['href']}\n" for link in told.event["links"])
    stream.write("\n")


def _examples(told: Told) -> Sequence[Mapping[str, Any]]:
    examples: Sequence[Mapping[str, Any]] = told.event["payload"]["custom_details"]["evidence"]["examples"]
    return examples


def _where(example: Mapping[str, Any]) -> str:
    return " ".join(part for part in (example["tool"] or "reply", example["field"]) if part)


def rollback(before: Recording, stream: TextIO) -> None:
    """That the old release is back."""
    heading("The rollback", stream)
    paragraph(f"{time.strftime('%H:%M:%S')} Release {before.release} is deployed again.", stream)


def all_told(events: Sequence[Told], swapped: float, stream: TextIO) -> None:
    """All that PagerDuty would have been sent."""
    rows = [(f"{event.at - swapped:+.0f} s", event.action, key, what) for event, key, what in _sentences(events)]
    print_table(
        (Column("after the swap", "right"), "event", "incident", "says"), rows, stream, title="What PagerDuty was sent"
    )
    stream.write("\n")


def _sentences(events: Sequence[Told]) -> Iterator[tuple[Told, str | None, str]]:
    """Of each event: the beginning of its incident's key, and what it says beyond the ones before it."""
    known: dict[str, int] = {}
    for one in events:
        key = one.incident
        if key is None or one.action == "resolve":
            yield one, key and key[:_KEY], one.event["payload"]["summary"] if key is None else "over"
            continue
        also = one.event["payload"]["custom_details"]["also"]
        if key in known:
            yield one, key[:_KEY], f"also {', '.join(_also(cause) for cause in also[known[key] :])}"
        else:
            yield one, key[:_KEY], one.event["payload"]["summary"]
        known[key] = len(also)


def _also(cause: Mapping[str, Any]) -> str:
    tool = "several tools" if cause["tool"] == SEVERAL else cause["tool"]
    where = f" ({tool})" if tool else ""
    return f"root cause {cause['reason']}{where}" if cause["reason"] else str(cause["kind"])


def outcome(page: Told, monitor: Monitor, stream: TextIO) -> None:
    """Both releases, and of the runs that the page names the one with most cascades."""
    print_releases(monitor.final_runs(), stream)
    named = max(_examples(page), key=lambda one: int(one["cascades"]), default=None)
    run = None if named is None else monitor.final_run(named["run_id"])
    if run is not None:
        heading("A run that the page names, turn by turn", stream)
        print_error_map(run, stream)
        paragraph(LEGEND, stream)


def staying_up(monitor: Monitor, stream: TextIO) -> None:
    """How to go on, and how to end."""
    paragraph(
        f"All of it as pages, to be opened in a browser: {monitor.pages_url} In another terminal, beside canary check "
        "or watch as above:",
        stream,
        gap=False,
    )
    stream.write(f"  {program()} alerts list --all --config {shlex.quote(str(monitor.file))}\n\n")
    paragraph("The demo stays up; Ctrl-C ends it and removes what it wrote.", stream)
