"""What the demo says. Everything but these sentences is read from the recordings, the store and the metrics."""

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TextIO

from rich.text import Text

from aem_monitor.cli.errormap import LEGEND, print_error_map
from aem_monitor.cli.report import print_releases
from aem_monitor.cli.sidebyside import print_side_by_side
from aem_monitor.cli.tables import console
from aem_monitor.demo.monitor import NOT_ALLOWED, Monitor, default_metrics_port
from aem_monitor.demo.recordings import CANARY, ENVIRONMENT, Recording
from aem_monitor.examples import example_dialogs, example_traces
from aem_monitor.model.verdict import RunResult

_WIDEST: Final = 100
"""Longer lines of running text are hard to read."""

_SHOWN_METRICS: Final = ("aem_root_causes_total{", "aem_monitor_unrecognised_conversations_total{")
_CORRECTNESS: Final = """\
  sum by (release) (aem_turns_total{result="pass"})
    / sum by (release) (aem_turns_total{result!="not_scored"})
"""

_WHAT_IT_IS: Final = (
    "A golden dialog is a reviewed conversation: what the user says, which tools the agent must call with which "
    "arguments, what it must answer. aem-monitor reads the agent's trace spans, recognises the conversations that "
    "replay a golden dialog (canaries), and checks every turn. A turn that breaks by itself is a root cause; a turn "
    "that is wrong only because it was built on a broken one is a cascade."
)


def introduction(recorded: Sequence[Recording], stream: TextIO) -> None:
    """What the product does, and what is about to be shown."""
    agent = " and ".join(dict.fromkeys(recording.agent for recording in recorded))
    heading(f"aem-monitor demo: {len(recorded)} releases of the agent {agent}\n", stream)
    paragraph(_WHAT_IT_IS, stream)
    before: Recording | None = None
    for recording in recorded:
        model = " and ".join(recording.models)
        swap = (
            "" if before is None else ", after a model swap" if before.models != recording.models else ", a new build"
        )
        paragraph(
            f"Release {recording.release}: {recording.agent} on the model {model}{swap}. "
            f"{recording.spans} recorded spans of {len(recording.canaries)} canary conversations and "
            f"{len(recording.customers)} of customers.",
            stream,
            gap=recording is recorded[-1],
        )
        before = recording


def addresses(monitor: Monitor, stream: TextIO) -> None:
    """Where the daemon listens."""
    text = f"The daemon is up. It takes spans on {monitor.traces_url} and serves metrics on {monitor.metrics_url}"
    if monitor.default_port_taken:
        text += f" (its usual port {default_metrics_port()} is in use)"
    paragraph(f"{text}.", stream)


def findings(
    recorded: Sequence[Recording], results: Sequence[RunResult], left_alone: Mapping[str, int], stream: TextIO
) -> None:
    """Both releases side by side, the error map of the run with most cascades, and what was recognised."""
    print_releases(results, stream)
    print_side_by_side(results, stream)
    shown = max(results, key=lambda result: result.cascading_count, default=None)
    if shown is not None and shown.cascading_count:
        heading("One of them turn by turn", stream)
        print_error_map(shown, stream)
        paragraph(LEGEND, stream)
    named = sum(len(recording.named) for recording in recorded)
    canaries = sum(len(recording.canaries) for recording in recorded)
    paragraph(
        f"Recognised: {len(results)} of {canaries} canary conversations, {named} by the dialog's name on their spans "
        f"(aem.dialog.id), {canaries - named} by the user's words where {ENVIRONMENT} is {CANARY}. Left alone: "
        f"{sum(left_alone.values())} conversations of customers, {left_alone.get(NOT_ALLOWED, 0)} of which happen to "
        "say the words of a golden dialog.",
        stream,
    )


def metrics(url: str, scraped: str, stream: TextIO) -> None:
    """A few of the lines that Prometheus reads, as they are."""
    heading(f"What Prometheus reads from {url} (a few of {scraped.count(chr(10))} lines)", stream)
    for line in scraped.splitlines():
        if line.startswith(_SHOWN_METRICS) and not line.endswith(" 0.0"):
            stream.write(f"{_broken(line, console(stream).width)}\n")
    stream.write(f"\nCorrectness by release, as Prometheus is asked for it:\n{_CORRECTNESS}")


def examples(stream: TextIO) -> None:
    """The command that shows each failing run turn by turn, and those for one example."""
    stream.write("\n")
    heading("See every example", stream)
    paragraph(
        "Golden dialogs and traces are files; the same verdicts come from them without any daemon. All failing runs "
        "turn by turn, one example under both releases, and what the traces have to come to:",
        stream,
        gap=False,
    )
    golden, traces = _near(example_dialogs()), _near(example_traces())
    replay = f"{program()} replay --error-maps --golden {shlex.quote(golden)}"
    stream.write(f"  {replay} {shlex.quote(traces)}\n")
    stream.write(f"  {replay} {shlex.quote(traces)}/*/travel-policy.jsonl.gz\n")
    stream.write(f"  {program()} golden test {shlex.quote(golden)}\n\n")


def staying_up(monitor: Monitor, stream: TextIO) -> None:
    """How to go on, and how to end."""
    stream.write("\n")
    paragraph(
        f"Every run with its error map, to be opened in a browser: {monitor.pages_url} and the same as JSON: "
        f"{monitor.runs_url} For your own agent: aem-monitor run --config FILE (README.md). The demo stays up; Ctrl-C "
        "ends it and removes what it wrote.",
        stream,
    )


def _broken(line: str, width: int) -> str:
    """A line of metrics over several where the terminal is narrow, broken between labels."""
    pieces = line.replace('",', '",\n').split("\n")
    lines = [pieces[0]]
    for piece in pieces[1:]:
        if len(lines[-1]) + len(piece) <= width:
            lines[-1] += piece
        else:
            lines.append(f"    {piece}")
    return "\n".join(lines)


def heading(text: str, stream: TextIO) -> None:
    """A line that stands out on a terminal."""
    console(stream).print(Text(text, style="bold"), soft_wrap=True)


def paragraph(text: str, stream: TextIO, *, gap: bool = True) -> None:
    """Running text, and an empty line after it unless ``gap`` is false."""
    target = console(stream)
    target.print(Text(text), width=min(target.width, _WIDEST))
    if gap:
        target.print()


def _near(path: Path) -> str:
    """A path from the working directory where that is above it, as one would type it."""
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)


def program() -> str:
    """The command as this process was started, ``aem-monitor`` where it was started as a module."""
    program = Path(sys.argv[0])
    return shlex.quote(_near(program.absolute())) if program.name == "aem-monitor" else "aem-monitor"
