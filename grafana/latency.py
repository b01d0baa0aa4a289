"""Does the agent get slower, and does it get it wrong when it does?"""

from itertools import pairwise

from aem_monitor.metrics.catalogue import LATENCY_BUCKETS, MIN_CORRELATED
from grafana.dashboard import AGENT, MARKERS, RELEASE, SOURCE, Dashboard, Row, failed_runs, runbook
from grafana.dashboard import WINDOW as WINDOW_VARIABLE
from grafana.overview import SUCCESS
from grafana.panels import Panel, Query, bars, heatmap, stat, table, timeseries
from grafana.promql import DECIDED, RANGE, RATE, WINDOW, gauge, increase, quantile, ratio

_MOMENTS = "aem_latency_correctness"


def pearson(window: str) -> str:
    """Pearson's coefficient of latency and success rate by release, from the increases of the six moments.

    Nothing under ``MIN_CORRELATED`` runs, as for the rank correlation, and where one of the two does not vary.
    """

    def total(name: str) -> str:
        return increase(f"{_MOMENTS}_{name}_total", window, "release")

    n, x, y = total("count"), total("latency_sum"), total("success_sum")
    xx, yy, xy = total("latency_square_sum"), total("success_square_sum"), total("product_sum")
    # Means first: differences of large products lose what a double holds. A variance that is 0 but for the rounding of
    # the increases is none.
    varies_x = f"({xx} / {n} - ({x} / {n}) ^ 2 > 1e-9)"
    varies_y = f"({yy} / {n} - ({y} / {n}) ^ 2 > 1e-9)"
    together = f"({xy} / {n} - {x} / {n} * {y} / {n})"
    return f"{together} / sqrt({varies_x} * {varies_y}) and {n} >= {MIN_CORRELATED}"


def _latency() -> tuple[Panel, ...]:
    return (
        heatmap(
            "Run latency",
            "Accumulated latency of runs: first agent span to end of reply, summed over the exchanges. A point is a "
            "run; its link opens the trace, where the data source says so.",
            increase("aem_run_latency_seconds_bucket", RATE, "le"),
            "s",
        ),
        timeseries(
            "Run latency by release",
            "Median and 95th percentile over the window.",
            [
                Query(quantile("0.5", "aem_run_latency_seconds", WINDOW, "release"), "{{release}}, median"),
                Query(quantile("0.95", "aem_run_latency_seconds", WINDOW, "release"), "{{release}}, 95th percentile"),
            ],
            "s",
            exemplars=True,
            width=8,
        ),
        timeseries(
            "Exchange latency by release",
            "95th percentile over the window: what a user waits for one answer.",
            [Query(quantile("0.95", "aem_exchange_latency_seconds", WINDOW, "release"), "{{release}}")],
            "s",
            width=8,
        ),
        timeseries(
            "Turn latency by kind",
            "95th percentile over the window: of a tool turn its call, of a response turn user message to reply.",
            [Query(quantile("0.95", "aem_turn_latency_seconds", WINDOW, "kind"), "{{kind}}")],
            "s",
            width=8,
        ),
    )


def _bucket(lower: float | None, upper: float | None, results: str) -> str:
    """Runs whose latency lies above ``lower`` and not above ``upper``."""

    def below(bound: float | None) -> str:
        le = "+Inf" if bound is None else _written(bound)
        return increase("aem_run_latency_seconds_bucket", RANGE, result=results, le=le)

    if lower is None:
        return below(upper)
    return f"({below(upper)} - {below(lower)})"


def _written(bound: float) -> str:
    """A bound as the label ``le`` says it: ``1.0`` or ``1``, by the version of what stores it."""
    spellings = dict.fromkeys((f"{bound:g}", f"{bound:.1f}"))
    # Several are a regular expression, where a bare dot would match any digit: 1.0 would be 120 too.
    return "|".join(one.replace(".", "[.]") if len(spellings) > 1 else one for one in spellings)


def by_bucket() -> list[Query]:
    """Share of the runs that passed, a query a bucket of the accumulated latency."""
    bounds = [None, *LATENCY_BUCKETS, None]
    queries = []
    for lower, upper in pairwise(bounds):
        name = f"over {lower:g} s" if upper is None else f"up to {upper:g} s"
        # What counters gain is extrapolated, and half a run is none: without it a bucket could hold what is not there.
        whole = f"({_bucket(lower, upper, DECIDED)} > 0.5)"
        queries.append(Query(f"{_bucket(lower, upper, 'pass')} / {whole}", name))
    return queries


def _correctness() -> tuple[Panel, ...]:
    return (
        bars(
            "Run success rate by latency",
            "Runs that passed, of the decided ones, by their accumulated latency, in the time shown. Buckets without a "
            "run are left out.",
            by_bucket(),
            "percentunit",
            limits=(0, 1),
            colors=SUCCESS,
            height=12,
        ),
        table(
            "Mean latency by result",
            "Of runs in the time shown, in seconds.",
            "result",
            [
                Query(
                    ratio(
                        increase("aem_run_latency_seconds_sum", RANGE, "result"),
                        increase("aem_run_latency_seconds_count", RANGE, "result"),
                    ),
                    "mean latency",
                ),
                Query(quantile("0.95", "aem_run_latency_seconds", RANGE, "result"), "95th percentile"),
            ],
            "s",
            width=12,
            height=12,
        ).linked("Failed runs", failed_runs()),
        stat(
            "Pearson correlation",
            "Of accumulated latency and success rate of runs, by release, in the time shown: below 0, slower runs are "
            f"wrong more often. Nothing under {MIN_CORRELATED} runs, where chance alone gives 0.2.",
            [Query(pearson(RANGE), "{{release}}")],
            "none",
        ).linked("Runbook", runbook("AemCorrectnessFallsWithLatency")),
        stat(
            "Spearman correlation",
            "The same of ranks, which single slow runs cannot dominate, over the newest runs of seven days, whatever "
            "the time shown.",
            [Query(gauge("avg", f"{_MOMENTS}_spearman", "release"), "{{release}}")],
            "none",
        ),
        stat(
            "Runs behind Pearson",
            "Runs with both a latency and a success rate, in the time shown.",
            [Query(increase(f"{_MOMENTS}_count_total", RANGE, "release"), "{{release}}")],
            "short",
        ),
        stat(
            "Runs behind Spearman",
            f"Under {MIN_CORRELATED} there is no coefficient.",
            [Query(gauge("max", f"{_MOMENTS}_spearman_samples", "release"), "{{release}}")],
            "short",
        ),
        timeseries(
            "Correlation over time",
            "Pearson over the window, and Spearman as it was published. Choose a window that holds enough runs.",
            [
                Query(pearson(WINDOW), "Pearson, {{release}}"),
                Query(gauge("avg", f"{_MOMENTS}_spearman", "release"), "Spearman, {{release}}"),
            ],
            "none",
            limits=(-1, 1),
            width=24,
        ),
    )


DASHBOARD = Dashboard(
    "aem-latency",
    "aem-monitor / Latency and correlation",
    "Does the agent get slower, and does it get it wrong when it does?",
    (Row("Latency", _latency()), Row("Latency and correctness", _correctness())),
    (*SOURCE, AGENT, RELEASE, WINDOW_VARIABLE),
    MARKERS,
)
