"""Writes the table of all metrics: ``python -m aem_monitor.metrics.document > deploy/docs/metrics.md``."""

import sys
from collections.abc import Iterator

from aem_monitor.metrics.catalogue import CATALOGUE, OTHER, Kind, Label, Metric
from aem_monitor.model.verdict import UNKNOWN

_INTRODUCTION = f"""\
# Metrics

Generated from `aem_monitor/metrics/catalogue.py` by `python -m aem_monitor.metrics.document`; do not edit.

Served on the metrics listener under `/metrics`, as Prometheus text or, with exemplars, as OpenMetrics 1.0, whichever
the scraper asks for. Prometheus keeps exemplars with `--enable-feature=exemplar-storage`; each names a trace.

- **Runs are counted once**, when their verdict is final. What changes later is a revision.
- **Stored totals** (column *kept*) survive restarts: they are added in the transaction that stores the verdict. Every
  replica has its own; sum over instances. All other counters start at zero.
- **Labels are bounded.** A closed label has the values listed below. An open label has at most
  `metrics.max_label_values` values, or the limit given; what is new beyond it is counted under `{OTHER}`, as is every
  new series of a metric that has 10,000, and `aem_monitor_series_limited_total` says how often. When a label is full, a
  value that nothing was counted under for a week gives its room to a new one; its series disappear, and go on from
  where they were if it comes back. Values are cut after 128 characters.
- **Unknown** release or model is `{UNKNOWN}`. An empty value is, to Prometheus, a label that is not there.
- **Zeros.** When a run of a golden dialog is opened under a release for the first time, the series that its verdict
  may add to are created with the value 0, so that `rate()` and `increase()` see the first increment: all results of
  turns, sub-metrics and the dialog's runs, all causes, and of `aem_root_causes_total` every reason together with each
  tool of the dialog's golden turns (`detail=""` for all reasons but `tool_mismatch`; `tool=""` for responses;
  `tool="{OTHER}"` for unexpected calls of tools that no golden dialog names).
- **Correlation.** With n, sx, sy, sxx, syy, sxy the increases of the six `aem_latency_correctness_*_total` counters,
  Pearson's r is `(n*sxy - sx*sy) / sqrt((n*sxx - sx^2) * (n*syy - sy^2))`, over any window and any number of replicas.
- **The process** has the six metrics of Prometheus' client library: `process_cpu_seconds_total`, `process_max_fds`,
  `process_open_fds`, `process_resident_memory_bytes`, `process_start_time_seconds`, `process_virtual_memory_bytes`.
"""


def document() -> str:
    """The whole page."""
    quality = [metric for metric in CATALOGUE.values() if not metric.name.startswith("aem_monitor_")]
    own = [metric for metric in CATALOGUE.values() if metric.name.startswith("aem_monitor_")]
    parts = [_INTRODUCTION, "## Quality of the agents\n", _table(quality), "## The monitor itself\n", _table(own)]
    return "\n".join([*parts, "## Labels\n", _label_table()])


def _table(metrics: list[Metric]) -> str:
    rows = ["| metric | type | kept | labels | meaning |", "|---|---|---|---|---|"]
    for metric in metrics:
        labels = ", ".join(f"`{name}`" for name in metric.label_names)
        kept = "yes" if metric.stored else ""
        meaning = metric.help
        if metric.kind is Kind.HISTOGRAM:
            meaning += f" Buckets: {', '.join(f'{bound:g}' for bound in metric.buckets)}."
        rows.append(f"| `{metric.name}` | {metric.kind.value} | {kept} | {labels} | {meaning} |")
    return "\n".join(rows) + "\n"


def _label_table() -> str:
    rows = ["| label | of | values |", "|---|---|---|"]
    for label, names in _labels():
        rows.append(f"| `{label.name}` | {', '.join(f'`{name}`' for name in names)} | {_values(label)} |")
    return "\n".join(rows) + "\n"


def _labels() -> Iterator[tuple[Label, list[str]]]:
    """Every label with the metrics that carry it, in the order of the catalogue."""
    found: dict[Label, list[str]] = {}
    for metric in CATALOGUE.values():
        for label in metric.labels:
            found.setdefault(label, []).append(metric.name)
    yield from found.items()


def _values(label: Label) -> str:
    if label.values:
        listed = ", ".join(f"`{value}`" if value else "empty" for value in label.values)
        return f"{label.help}: {listed}"
    limit = str(label.limit) if label.limit else "`metrics.max_label_values`"
    return f"{label.help}; at most {limit} values"


if __name__ == "__main__":
    sys.stdout.write(document())
