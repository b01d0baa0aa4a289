"""What the demo says. Everything but these sentences is read from the recordings, the store and the metrics."""

from collections.abc import Mapping, Sequence
from typing import Final, TextIO

from rich.text import Text

from aem_monitor.cli.report import first_root, print_report, print_turns, story
from aem_monitor.cli.tables import console
from aem_monitor.demo.http import samples
from aem_monitor.demo.monitor import NOT_ALLOWED, Monitor, default_metrics_port
from aem_monitor.demo.recordings import CANARY, ENVIRONMENT, Recording
from aem_monitor.model.verdict import RunResult

_WIDEST: Final = 100
"""Longer lines of running text are hard to read."""

_SHOWN_METRICS: Final[tuple[tuple[str, Mapping[str, str]], ...]] = (
    ("aem_runs_total", {"result": "fail"}),
    ("aem_root_causes_total", {}),
    ("aem_monitor_unrecognised_conversations_total", {}),
)
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
    _heading(f"aem-monitor demo: {len(recorded)} releases of the agent {agent}\n", stream)
    _paragraph(_WHAT_IT_IS, stream)
    before: Recording | None = None
    for recording in recorded:
        model = " and ".join(recording.models)
        swap = (
            "" if before is None else ", after a model swap" if before.models != recording.models else ", a new build"
        )
        _paragraph(
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
    _paragraph(f"{text}.", stream)


def findings(
    recorded: Sequence[Recording], results: Sequence[RunResult], left_alone: Mapping[str, int], stream: TextIO
) -> None:
    """The tables, and in a sentence each what broke first."""
    print_report(results, stream)
    failing = [result for result in results if first_root(result) is not None]
    for result in failing[:1]:
        print_turns(result, stream)
        _paragraph("${n.result.x} stands for x in what turn n really returned; ids differ from run to run.", stream)
    for result in failing:
        _paragraph(story(result), stream, gap=False)
    named = sum(len(recording.named) for recording in recorded)
    canaries = sum(len(recording.canaries) for recording in recorded)
    stream.write("\n")
    _paragraph(
        f"Recognised: {len(results)} of {canaries} canary conversations, {named} by the dialog's name on their spans "
        f"(aem.dialog.id), {canaries - named} by the user's words where {ENVIRONMENT} is {CANARY}. Left alone: "
        f"{sum(left_alone.values())} conversations of customers, {left_alone.get(NOT_ALLOWED, 0)} of which happen to "
        "say the words of a golden dialog.",
        stream,
    )


def metrics(url: str, scraped: str, stream: TextIO) -> None:
    """A few of the lines that Prometheus reads, as they are."""
    _heading(f"What Prometheus reads from {url} (a few of {scraped.count(chr(10))} lines)", stream)
    shown = {
        line
        for sample in samples(scraped)
        if sample.value and any(_asked(sample.name, sample.labels, *wanted) for wanted in _SHOWN_METRICS)
        for line in scraped.splitlines()
        if line.startswith(f"{sample.name}{{")
        and all(f'{key}="{value}"' in line for key, value in sample.labels.items())
    }
    for line in scraped.splitlines():
        if line in shown:
            stream.write(f"{_broken(line, console(stream).width)}\n")
    stream.write(f"\nCorrectness by release, as Prometheus is asked for it:\n{_CORRECTNESS}")


def staying_up(monitor: Monitor, stream: TextIO) -> None:
    """How to go on, and how to end."""
    stream.write("\n")
    _paragraph(
        f"Every verdict with its evidence: {monitor.runs_url}. For your own agent: aem-monitor run --config FILE "
        "(README.md). The demo stays up; Ctrl-C ends it and removes what it wrote.",
        stream,
    )


def _asked(name: str, labels: Mapping[str, str], wanted: str, values: Mapping[str, str]) -> bool:
    return name == wanted and all(labels.get(key) == value for key, value in values.items())


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


def _heading(text: str, stream: TextIO) -> None:
    console(stream).print(Text(text, style="bold"), soft_wrap=True)


def _paragraph(text: str, stream: TextIO, *, gap: bool = True) -> None:
    target = console(stream)
    target.print(Text(text), width=min(target.width, _WIDEST))
    if gap:
        target.print()
