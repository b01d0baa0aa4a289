"""What must be the same after a disturbance: the verdicts, what they add up to, and what a scrape shows of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from prometheus_client.parser import text_string_to_metric_families

from aem_monitor.metrics.increments import increments
from aem_monitor.model.increment import Total
from aem_monitor.model.verdict import RunResult
from aem_monitor.store import Store
from aem_monitor.store.records import MAX_PAGE, RunFilter

Series: TypeAlias = tuple[str, tuple[tuple[str, str], ...]]

_TOOLS = {"reports"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything that a store says of an input: final runs with all their evidence, totals over all replicas."""

    runs: Mapping[str, RunResult]
    totals: Mapping[tuple[Series, float | None], tuple[float, int]]


Quiet: TypeAlias = tuple[Outcome, dict[Series, float]]
"""What is stored, and what the replicas together show, when everything is done."""


def outcome(url: str, replicas: Sequence[str]) -> Outcome:
    """What is in a store; totals summed over replicas. Series at zero are left out: they may appear before a run."""
    with Store(url, "oracle") as store:
        runs = {run.result.run_id: run.result for run in store.runs(RunFilter(limit=MAX_PAGE))}
        return Outcome(runs, _summed(total for replica in replicas for total in store.totals(replica)))


def _summed(totals: Iterable[Total]) -> Mapping[tuple[Series, float | None], tuple[float, int]]:
    summed: dict[tuple[Series, float | None], tuple[float, int]] = {}
    for total in totals:
        key = ((total.metric, tuple(sorted(total.labels))), total.bucket)
        value, count = summed.get(key, (0.0, 0))
        summed[key] = (round(value + total.value, 6), count + total.count)
    return {key: sums for key, sums in summed.items() if any(sums)}


def totals_of(runs: Iterable[RunResult]) -> Mapping[tuple[Series, float | None], tuple[float, int]]:
    """What these verdicts add up to, each counted once."""
    return _summed(
        Total(one.metric, one.labels, one.value, int(one.bucket is not None), one.bucket)
        for run in runs
        for one in increments(run, _TOOLS)
    )


def scraped(exposition: str) -> dict[Series, float]:
    """The counters of a scrape that no restart may change, without zeros: all but those of the process itself."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): round(sample.value, 6)
        for family in text_string_to_metric_families(exposition)
        for sample in family.samples
        if sample.value and family.type in ("counter", "histogram") and _is_of_runs(sample.name)
    }


def _is_of_runs(name: str) -> bool:
    return name.startswith("aem_") and not name.startswith("aem_monitor_")
