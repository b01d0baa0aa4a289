"""Did the new release get better or worse, where, and is that more than chance?"""

from grafana.dashboard import (
    AGENT,
    BASELINE,
    CANDIDATE,
    DIALOG,
    MARKERS,
    MODEL,
    RELEASE,
    SOURCE,
    WINDOW,
    Dashboard,
    Row,
    failed_runs,
    links_of_dialogs,
    releases_compared,
    runbook,
)
from grafana.overview import SUCCESS
from grafana.panels import BAD, GOOD, Panel, Query, barchart, override, stat, steps, table, timeseries
from grafana.promql import (
    RANGE,
    SCORED,
    increase,
    per_hundred_turns,
    quantile,
    root_causes,
    run_success,
    run_success_bound,
    runs,
    turn_success,
    turn_success_bound,
)
from grafana.promql import WINDOW as OVER_WINDOW

OLD, NEW = "$baseline", "$candidate"

_CHANGE = steps((None, BAD), (-0.02, "text"), (0.02, GOOD))


def _difference(bound: str) -> str:
    """The change of the run success rate from baseline to candidate, or a bound of its 95 % interval.

    The bounds join those of the two rates (Newcombe 1998, method 10): 4.5 % outside at worst where it was tried there,
    and sound for rates near 0 and 1.
    """
    new, old = run_success(RANGE, release=NEW), run_success(RANGE, release=OLD)
    change = f"({new}) - ({old})"
    if not bound:
        return change
    other = "+" if bound == "-" else "-"
    to_new = f"(({new}) - ({run_success_bound(bound, RANGE, release=NEW)})) ^ 2"
    to_old = f"(({old}) - ({run_success_bound(other, RANGE, release=OLD)})) ^ 2"
    return f"{change} {bound} sqrt({to_new} + {to_old})"


def _rates(release: str) -> list[Query]:
    return [
        Query(turn_success(RANGE, release=release), "turns passed"),
        Query(run_success(RANGE, release=release), "runs passed"),
        Query(run_success_bound("-", RANGE, release=release), "runs: lower bound"),
        Query(run_success_bound("+", RANGE, release=release), "runs: upper bound"),
    ]


def _verdict() -> tuple[Panel, ...]:
    about = (
        "Turns and runs that passed, of those with a verdict, in the time shown; 95 % interval (Wilson) of the runs."
    )
    return (
        stat("Baseline: $baseline", about, _rates(OLD), "percentunit", colors=SUCCESS, width=8, height=5),
        stat("Candidate: $candidate", about, _rates(NEW), "percentunit", colors=SUCCESS, width=8, height=5).linked(
            "Failed runs of the candidate", failed_runs("&release=${candidate:percentencode}")
        ),
        stat(
            "Change of the run success rate",
            "Candidate less baseline, with its 95 % interval (Newcombe). An interval that holds 0 shows no difference "
            "yet: wait for more runs. Looking again and again until it does not is how chance is taken for a cause.",
            [
                Query(_difference(""), "change"),
                Query(_difference("-"), "lower bound"),
                Query(_difference("+"), "upper bound"),
            ],
            "percentunit",
            colors=_CHANGE,
            width=8,
            height=5,
        )
        .linked("Side by side, dialog by dialog", releases_compared())
        .linked("Runbook", runbook("AemReleaseRegression")),
        table(
            "Releases",
            "All selected releases in the time shown. The bounds are those of the 95 % interval (Wilson) of the turn "
            "success rate, each run one observation.",
            "release",
            [
                Query(turn_success(RANGE, "release"), "turns passed"),
                Query(turn_success_bound("-", RANGE, "release"), "lower bound"),
                Query(turn_success_bound("+", RANGE, "release"), "upper bound"),
                Query(run_success(RANGE, "release"), "runs passed"),
                Query(runs(RANGE, "release"), "runs"),
                Query(
                    per_hundred_turns(root_causes(RANGE, "release"), RANGE, "release"),
                    "root causes in 100 turns",
                ),
                Query(quantile("0.5", "aem_run_latency_seconds", RANGE, "release"), "median latency"),
            ],
            "percentunit",
            overrides=[
                override("runs", unit="short", decimals=0),
                override("root causes in 100 turns", unit="short", decimals=1),
                override("median latency", unit="s"),
            ],
            height=7,
        ),
        timeseries(
            "Run success rate by release",
            "Over the window. A line that begins is a release that came; a step at a marker is what it brought.",
            [Query(run_success(OVER_WINDOW, "release"), "{{release}}")],
            "percentunit",
            limits=(0, 1),
        ),
        timeseries(
            "Turn success rate by model",
            "Over the window, by the model of the call that asked for the turn.",
            [Query(turn_success(OVER_WINDOW, "model"), "{{model}}")],
            "percentunit",
            limits=(0, 1),
        ),
    )


def _causes(label: str) -> list[Query]:
    """Root causes in 100 turns of both releases by a label of theirs."""
    return [
        Query(
            per_hundred_turns(root_causes(RANGE, label, release=release), RANGE, release=release),
            name,
        )
        for release, name in ((OLD, "baseline"), (NEW, "candidate"))
    ]


def _mix() -> tuple[Panel, ...]:
    return (
        barchart(
            "Root causes by reason",
            "In 100 turns with a verdict, side by side. One reason that grows alone points to one change; all of them "
            "together to the model.",
            "reason",
            _causes("reason"),
            "short",
        ).linked("Runbook", runbook("AemReasonMixShift")),
        barchart(
            "Root causes by tool",
            "In 100 turns with a verdict, side by side. other: calls of tools that no dialog names.",
            "tool",
            _causes("tool"),
            "short",
        ),
        barchart(
            "Turn success rate by chain length",
            "By the number of actions that the exchange demands, side by side.",
            "chain_length",
            [
                Query(turn_success(RANGE, "chain_length", release=OLD), "baseline"),
                Query(turn_success(RANGE, "chain_length", release=NEW), "candidate"),
            ],
            "percentunit",
            limits=(0, 1),
        ),
        barchart(
            "Turns by verdict",
            "Shares of all turns, side by side. More cascades with as many root causes: faults come earlier, and more "
            "hangs from each.",
            "result",
            [Query(_shares(OLD), "baseline"), Query(_shares(NEW), "candidate")],
            "percentunit",
            limits=(0, 1),
        ),
    )


def _shares(release: str) -> str:
    results = increase("aem_turns_total", RANGE, "result", release=release)
    turns = increase("aem_turns_total", RANGE, release=release, result=f"{SCORED}|not_scored")
    return f"{results} / on () group_left () ({turns} > 0)"


def _dialogs() -> tuple[Panel, ...]:
    old, new = run_success(RANGE, "dialog", release=OLD), run_success(RANGE, "dialog", release=NEW)
    return (
        table(
            "Gains and losses by dialog",
            "Run success rate of each golden dialog under both releases, the greatest loss first. A dialog that only "
            "one of them ran has no change. With few runs of a dialog a change of one run is chance.",
            "dialog",
            [
                Query(old, "baseline"),
                Query(new, "candidate"),
                Query(f"({new}) - ({old})", "change"),
                Query(runs(RANGE, "dialog", release=OLD), "runs of baseline"),
                Query(runs(RANGE, "dialog", release=NEW), "runs of candidate"),
            ],
            "percentunit",
            overrides=[
                override("runs of baseline", unit="short", decimals=0),
                override("runs of candidate", unit="short", decimals=0),
                override(
                    "change",
                    color={"mode": "thresholds"},
                    thresholds=_CHANGE,
                    custom__cellOptions={"type": "color-text"},
                ),
                override(
                    "dialog",
                    links=links_of_dialogs(
                        "Failed runs of ${__value.raw} under the candidate", "&release=${candidate:percentencode}"
                    ),
                ),
            ],
            sort=("change", False),
            height=10,
        ),
    )


DASHBOARD = Dashboard(
    "aem-releases",
    "aem-monitor / Release compare",
    "Did the new release get better or worse, where, and is that more than chance?",
    (
        Row("Correctness", _verdict()),
        Row("What goes wrong", _mix()),
        Row("Where", _dialogs()),
    ),
    (*SOURCE, AGENT, BASELINE, CANDIDATE, RELEASE, MODEL, DIALOG, WINDOW),
    MARKERS,
)
