"""Is the agent right, how sure is that, and is it being looked at?"""

from grafana.dashboard import (
    AGENT,
    DIALOG,
    MARKERS,
    MODEL,
    RELEASE,
    SOURCE,
    Dashboard,
    Row,
    failed_runs,
    links_of_dialogs,
    runbook,
)
from grafana.dashboard import WINDOW as WINDOW_VARIABLE
from grafana.panels import BAD, DOUBTFUL, GOOD, Panel, Query, band, bars, override, stat, steps, table, timeseries
from grafana.promql import (
    RANGE,
    SCORED,
    WINDOW,
    gauge,
    increase,
    quantile,
    ratio,
    run_success,
    run_success_bound,
    runs,
    turn_success,
    turn_success_bound,
)

SUCCESS = steps((None, BAD), (0.8, DOUBTFUL), (0.9, GOOD))
_COVERED = steps((None, BAD), (0.8, DOUBTFUL), (0.95, GOOD))
_INTERVAL = (
    "95 % interval (Wilson). Of turns each run counts as one observation, since turns of one run fail together: the "
    "interval is rather too wide than too narrow."
)


def interval(share: str, lower: str, upper: str) -> list[Query]:
    """The queries of a share with its interval, named as ``band`` draws them."""
    return [Query(share, "success rate"), Query(lower, "lower bound"), Query(upper, "upper bound")]


def _correctness() -> tuple[Panel, ...]:
    return (
        stat(
            "Turn success rate",
            f"Turns that passed, of all that have a verdict, in the time shown. {_INTERVAL}",
            interval(turn_success(RANGE), turn_success_bound("-", RANGE), turn_success_bound("+", RANGE)),
            "percentunit",
            colors=SUCCESS,
            width=8,
        ).linked("Runbook", runbook("AemTurnCorrectnessLow")),
        stat(
            "Run success rate",
            f"Runs of golden dialogs all of whose turns passed, of the decided ones, in the time shown. {_INTERVAL}",
            interval(run_success(RANGE), run_success_bound("-", RANGE), run_success_bound("+", RANGE)),
            "percentunit",
            colors=SUCCESS,
            width=8,
        ).linked("Failed runs", failed_runs()),
        stat(
            "Root causes",
            "Turns that broke by themselves, in the time shown; turns that failed because of them are not counted.",
            [Query(increase("aem_root_causes_total", RANGE))],
            "short",
            width=4,
        ),
        stat(
            "Runs",
            "Final runs of reviewed golden dialogs in the time shown, undecided ones included.",
            [Query(increase("aem_runs_total", RANGE))],
            "short",
            width=4,
        ),
        timeseries(
            "Turn success rate, with its interval",
            f"Over the window, all selected agents, releases and models together. {_INTERVAL}",
            interval(turn_success(WINDOW), turn_success_bound("-", WINDOW), turn_success_bound("+", WINDOW)),
            "percentunit",
            limits=(0, 1),
            overrides=band("lower bound", "upper bound"),
        ),
        timeseries(
            "Run success rate, with its interval",
            f"Over the window, all selected agents, releases, models and dialogs together. {_INTERVAL}",
            interval(run_success(WINDOW), run_success_bound("-", WINDOW), run_success_bound("+", WINDOW)),
            "percentunit",
            limits=(0, 1),
            overrides=band("lower bound", "upper bound"),
        ),
        bars(
            "Turn success rate by chain length",
            "By the number of actions that the exchange demands: what falls with length is planning, not single calls.",
            [Query(turn_success(RANGE, "chain_length"), "{{chain_length}} actions")],
            "percentunit",
            limits=(0, 1),
            colors=SUCCESS,
        ).linked("Runbook", runbook("AemChainLengthDegradation")),
        bars(
            "Pass rate by sub-metric",
            "Turns that passed, of those that the sub-metric judged; inherited failures count as failures.",
            [
                Query(
                    ratio(
                        increase("aem_submetric_results_total", RANGE, "submetric", result="pass"),
                        increase("aem_submetric_results_total", RANGE, "submetric", result="pass|fail|inherited"),
                    ),
                    "{{submetric}}",
                )
            ],
            "percentunit",
            limits=(0, 1),
            colors=SUCCESS,
        ),
    )


def _volume() -> tuple[Panel, ...]:
    return (
        timeseries(
            "Turns by verdict",
            "Turns of final runs in the window. A cascade failed only because of an earlier turn.",
            [Query(increase("aem_turns_total", WINDOW, "result"), "{{result}}")],
            "short",
            stacked=True,
            overrides=[
                override(name, color={"mode": "fixed", "fixedColor": color})
                for name, color in (("pass", GOOD), ("root", BAD), ("cascade", DOUBTFUL), ("not_scored", "text"))
            ],
        ),
        timeseries(
            "Runs by release",
            "Final runs with a verdict in the window.",
            [Query(runs(WINDOW, "release"), "{{release}}")],
            "short",
        ),
        timeseries(
            "Run latency",
            "Accumulated latency of runs: first agent span to end of reply, summed over the exchanges.",
            [Query(quantile(share, "aem_run_latency_seconds", WINDOW), name) for share, name in _QUANTILES],
            "s",
        ),
        timeseries(
            "Runs of other kinds",
            "In the window: runs that failed turns but reached the end state of their dialog, runs that ended before "
            "all was seen, and runs of dialogs that nobody has reviewed, which are in no other panel.",
            [
                Query(increase("aem_another_path_runs_total", WINDOW), "another path"),
                Query(increase("aem_incomplete_runs_total", WINDOW, "cause"), "incomplete: {{cause}}"),
                Query(increase("aem_draft_runs_total", WINDOW), "draft dialogs"),
            ],
            "short",
        ),
    )


_QUANTILES = (("0.5", "median"), ("0.95", "95th percentile"))


def _freshness() -> tuple[Panel, ...]:
    loaded = gauge("max", "aem_dialog_loaded_timestamp_seconds", "dialog")
    # Drafts and dialogs that are loaded no more ran too, and may well wait.
    last = f"({gauge('max', 'aem_dialog_last_run_timestamp_seconds', 'dialog')} and on (dialog) {loaded})"
    coverage = ratio(increase("aem_turns_total", RANGE, result=SCORED), increase("aem_turns_total", RANGE))
    return (
        table(
            "Dialogs",
            "When each reviewed golden dialog last ran to its end, and how it did in the time shown. A dialog without "
            "a last run was loaded and never ran: nothing looks at what it tests.",
            "dialog",
            [
                Query(f"time() - {loaded}", "loaded for"),
                Query(f"time() - {last}", "last run ago"),
                Query(runs(RANGE, "dialog"), "runs"),
                Query(run_success(RANGE, "dialog"), "success rate"),
            ],
            "s",
            overrides=[
                override("runs", unit="short", decimals=0),
                override("success rate", unit="percentunit"),
                override(
                    "dialog",
                    links=links_of_dialogs("Failed runs of ${__value.raw}"),
                ),
            ],
            sort=("last run ago", True),
            width=16,
        ).linked("Runbook: no verdicts", runbook("no-verdicts")),
        stat(
            "Longest without a run",
            "Time since the last run of the dialog that has waited longest.",
            [Query(f"max(time() - {last})")],
            "s",
            width=4,
            height=9,
        ).linked("Runbook", runbook("AemCanaryStale")),
        stat(
            "Turns with a verdict",
            "Of all turns of final runs in the time shown. The others are not scored, neither right nor wrong: content "
            "was not captured or cut, or nothing could decide.",
            [Query(coverage)],
            "percentunit",
            colors=_COVERED,
            width=4,
            height=9,
        ).linked("Runbook", runbook("AemCoverageLow")),
        timeseries(
            "Turns without a verdict, by cause",
            "In the window. Causes of capture are settings of the agent's instrumentation.",
            [Query(increase("aem_not_scored_total", WINDOW, "cause"), "{{cause}}")],
            "short",
            stacked=True,
        ),
        timeseries(
            "Turns with a verdict, by agent",
            "Of all turns of final runs in the window.",
            [
                Query(
                    ratio(
                        increase("aem_turns_total", WINDOW, "agent", result=SCORED),
                        increase("aem_turns_total", WINDOW, "agent"),
                    ),
                    "{{agent}}",
                )
            ],
            "percentunit",
            limits=(0, 1),
        ),
    )


DASHBOARD = Dashboard(
    "aem-overview",
    "aem-monitor / Overview",
    "Is the agent right, how sure is that, and is it being looked at?",
    (
        Row("Correctness", _correctness()),
        Row("Volume", _volume()),
        Row("Freshness and coverage", _freshness()),
    ),
    (*SOURCE, AGENT, RELEASE, MODEL, DIALOG, WINDOW_VARIABLE),
    MARKERS,
)
