"""What broke first, by reason, tool and dialog, and what only followed from it?"""

from grafana.dashboard import AGENT, DIALOG, MARKERS, MODEL, RELEASE, SOURCE, Dashboard, Row, failed_runs, runbook
from grafana.dashboard import WINDOW as WINDOW_VARIABLE
from grafana.overview import SUCCESS
from grafana.panels import DOUBTFUL, Panel, Query, bars, matrix, override, stat, states, timeseries
from grafana.promql import RANGE, RATE, WINDOW, increase, per_hundred_turns, ratio, root_causes, run_success

_FIELDS = (
    "Fields, expected and actual values are in no metric: the link leads to the runs, where each turn says its field, "
    "what was expected and what came."
)


def _faults() -> tuple[Panel, ...]:
    roots = increase("aem_turns_total", RANGE, result="root")
    return (
        stat(
            "Root causes",
            f"Turns that broke by themselves, in the time shown. Look at these. {_FIELDS}",
            [Query(roots)],
            "short",
            width=8,
        ).linked("Failed runs", failed_runs()),
        stat(
            "Cascades",
            "Turns that failed only because of an earlier turn, in the time shown. They go when their root cause goes.",
            [Query(increase("aem_turns_total", RANGE, result="cascade"))],
            "short",
            width=8,
        ),
        stat(
            "Cascades a root cause",
            "How many failed turns hang from one root cause on average: what counting failed turns overstates.",
            [Query(ratio(increase("aem_turns_total", RANGE, result="cascade"), roots))],
            "short",
            width=8,
        ),
        timeseries(
            "Root causes against cascades",
            "Turns in the window. Both rise together when one early fault spreads; roots alone when many things break.",
            [
                Query(increase("aem_turns_total", WINDOW, result="root"), "root causes"),
                Query(increase("aem_turns_total", WINDOW, result="cascade"), "cascades"),
            ],
            "short",
            overrides=[override("cascades", color={"mode": "fixed", "fixedColor": DOUBTFUL})],
        ),
        timeseries(
            "Root causes by reason",
            "In the window. A reason that jumps at a marker came with that release or model.",
            [Query(root_causes(WINDOW, "reason"), "{{reason}}")],
            "short",
            stacked=True,
        ).linked("Runbook", runbook("AemRootCauseSpike")),
    )


def _where() -> tuple[Panel, ...]:
    runs_of_column = {
        "title": "Failed runs of ${__field.name}",
        "url": failed_runs("&release=${__field.name:percentencode}"),
        "targetBlank": True,
    }
    return (
        matrix(
            "Reason by release",
            f"Root causes in 100 turns with a verdict, in the time shown; the darker, the more. {_FIELDS}",
            "reason",
            "release",
            per_hundred_turns(root_causes(RANGE, "reason, release"), RANGE, "release"),
            "short",
            cell_link=runs_of_column,
        ),
        matrix(
            "Tool by reason",
            "Root causes in the time shown. The tool is that of the golden turn, or of an unexpected call; other: "
            f"tools that no golden dialog names. {_FIELDS}",
            "tool",
            "reason",
            f"{root_causes(RANGE, 'tool, reason')} > 0",
            "short",
        ),
        bars(
            "Tool mismatches by detail",
            "In the time shown. not_called: the expected call did not come; unexpected_call: one came that was not "
            "expected; wrong_tool: another tool was called in its place; forbidden_call: one that the dialog forbids.",
            [Query(root_causes(RANGE, "detail", reason="tool_mismatch"), "{{detail}}")],
            "short",
        ),
        bars(
            "Failed checks by sub-metric",
            "Turns in the time shown, by the part of correctness that they failed. Inherited failures are explained by "
            "an earlier turn.",
            [
                Query(
                    increase("aem_submetric_results_total", RANGE, "submetric, result", result="fail|inherited"),
                    "{{submetric}}: {{result}}",
                )
            ],
            "short",
        ),
    )


def _dialogs() -> tuple[Panel, ...]:
    return (
        states(
            "Dialogs over time",
            "Share of the runs of each golden dialog that passed, step by step: red where none did. Gaps are steps "
            "without a run.",
            # Of one step each: windows that overlap would smear a fault.
            Query(run_success(RATE, "dialog"), "{{dialog}}"),
            "percentunit",
            SUCCESS,
        ).linked("Failed runs", failed_runs()),
    )


def _no_root_causes() -> tuple[Panel, ...]:
    return (
        timeseries(
            "Broken tools",
            "Expected calls all of whose attempts ended in an error, in the window: no fault of the agent.",
            [Query(increase("aem_tool_errors_total", WINDOW, "tool"), "{{tool}}")],
            "short",
            width=8,
        ),
        timeseries(
            "Recovered turns",
            "Turns whose judged call followed an attempt that failed, in the window: right in the end, and a warning.",
            [Query(increase("aem_recovered_turns_total", WINDOW, "tool"), "{{tool}}")],
            "short",
            width=8,
        ),
        timeseries(
            "Verdicts changed afterwards",
            "In the window: by late spans, or by a later version of a dialog. Counted runs stay as they were.",
            [Query(increase("aem_verdict_revisions_total", WINDOW, "cause"), "{{cause}}")],
            "short",
            width=8,
        ),
    )


DASHBOARD = Dashboard(
    "aem-root-causes",
    "aem-monitor / Root causes",
    "What broke first, by reason, tool and dialog, and what only followed from it?",
    (
        Row("Root causes and what hangs from them", _faults()),
        Row("Reasons, tools and fields", _where()),
        Row("Dialogs", _dialogs()),
        Row("No root causes", _no_root_causes()),
    ),
    (*SOURCE, AGENT, RELEASE, MODEL, DIALOG, WINDOW_VARIABLE),
    MARKERS,
)
