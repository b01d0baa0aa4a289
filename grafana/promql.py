"""PromQL in pieces. Selectors are checked against the catalogue of metrics, and carry the dashboard's variables."""

from typing import Final

from aem_monitor.metrics.catalogue import CATALOGUE, Kind, Metric

RANGE: Final = "$__range"
"""The time range that the dashboard shows."""

RATE: Final = "$__rate_interval"

WINDOW: Final = "$window"
"""The variable for graphs of what happens a few times an hour: long enough to have something in it."""

ANY: Final = ""
"""In place of a label's value: leave its variable out."""

SCORED: Final = "pass|root|cascade"
"""Verdicts of turns that have one."""

DECIDED: Final = "pass|fail"

_VARIABLES: Final = ("agent", "release", "model", "dialog")
_SUFFIXES: Final = ("_bucket", "_count", "_sum")

_Z: Final = "1.96"
_Z2: Final = "3.84"
_HALF_Z2: Final = "1.92"
_QUARTER_Z2: Final = "0.96"


def series(name: str, **labels: str) -> str:
    """A selector, with the variables job and instance, and those of agent, release, model and dialog it has labels for.

    ``labels`` are values to match; ``|`` separates alternatives. Raises ``ValueError`` for a metric or label that is
    not in the catalogue.
    """
    metric = _metric(name)
    known = {*metric.label_names, *(["le"] if name.endswith("_bucket") else [])}
    unknown = sorted(labels.keys() - known)
    if unknown:
        raise ValueError(f"{name} has no label {', '.join(unknown)}")
    matchers = ['job=~"$job"', 'instance=~"$instance"']
    matchers += [f'{label}=~"${label}"' for label in _VARIABLES if label in known and label not in labels]
    for label, value in labels.items():
        if value != ANY:
            matchers.append(f'{label}=~"{value}"' if "|" in value else f'{label}="{value}"')
    return f"{name}{{{','.join(matchers)}}}"


def _metric(name: str) -> Metric:
    if name in CATALOGUE:
        return CATALOGUE[name]
    for suffix in _SUFFIXES:
        metric = CATALOGUE.get(name.removesuffix(suffix))
        if name.endswith(suffix) and metric is not None and metric.kind is Kind.HISTOGRAM:
            return metric
    raise ValueError(f"{name} is not in the catalogue of metrics")


def increase(name: str, window: str, by: str = "", **labels: str) -> str:
    """How much a counter grew in ``window``, summed over all but the labels ``by``."""
    return _summed(f"increase({series(name, **labels)}[{window}])", by)


def rate(name: str, by: str = "", **labels: str) -> str:
    """How much a counter grew a second, summed over all but the labels ``by``."""
    return _summed(f"rate({series(name, **labels)}[{RATE}])", by)


def gauge(function: str, name: str, by: str = "", **labels: str) -> str:
    """A gauge, aggregated by ``function``, e.g. ``max``."""
    return f"{function}{_by(by)} ({series(name, **labels)})"


def since(name: str) -> str:
    """Seconds since the time that a gauge holds."""
    return f"time() - {series(name)}"


def _summed(expression: str, by: str) -> str:
    return f"sum{_by(by)} ({expression})"


def _by(labels: str) -> str:
    return f" by ({labels})" if labels else ""


def ratio(part: str, whole: str) -> str:
    """A share; nothing, rather than not a number, where there is nothing to have a share of."""
    return f"{part} / ({whole} > 0)"


def quantile(share: str, name: str, window: str, by: str = "", **labels: str) -> str:
    """A quantile of a histogram."""
    grouping = f"le, {by}" if by else "le"
    return f"histogram_quantile({share}, {increase(f'{name}_bucket', window, grouping, **labels)})"


def wilson(share: str, size: str, bound: str) -> str:
    """Bound of the 95 % interval of a share of ``size`` observations (Wilson 1927); ``bound`` is ``-`` or ``+``.

    The share of passing turns is given the number of runs as its size, not that of turns: turns of one run fail
    together. That is never too narrow, since a run's success rate, in [0, 1], varies at most as a single turn does.
    """
    # Rounding may put a share a hair above 1, and nothing has a root that is below 0.
    spread = f"sqrt(clamp_min(({share}) * (1 - ({share})), 0) * ({size}) + {_QUARTER_Z2})"
    return f"(({share}) * ({size}) + {_HALF_Z2} {bound} {_Z} * {spread}) / (({size}) + {_Z2})"


def turn_success(window: str, by: str = "", **labels: str) -> str:
    """Share of turns that passed, of those that have a verdict."""
    passed = increase("aem_turns_total", window, by, result="pass", **labels)
    return ratio(passed, increase("aem_turns_total", window, by, result=SCORED, **labels))


def turn_success_bound(bound: str, window: str, by: str = "", **labels: str) -> str:
    """Its interval, each run one observation."""
    runs = increase("aem_runs_total", window, by, result=DECIDED, dialog=ANY, **labels)
    return wilson(turn_success(window, by, **labels), runs, bound)


def runs(window: str, by: str = "", **labels: str) -> str:
    """Runs with a verdict."""
    return increase("aem_runs_total", window, by, result=DECIDED, **labels)


def run_success(window: str, by: str = "", **labels: str) -> str:
    """Share of runs that passed, of those that have a verdict."""
    return ratio(increase("aem_runs_total", window, by, result="pass", **labels), runs(window, by, **labels))


def run_success_bound(bound: str, window: str, by: str = "", **labels: str) -> str:
    """Its interval."""
    return wilson(run_success(window, by, **labels), runs(window, by, **labels), bound)


def named(expression: str, label: str, name: str) -> str:
    """The same with a name in place of an empty label, which to Prometheus, and so to a table, is no label at all."""
    return f'label_replace({expression}, "{label}", "{name}", "{label}", "")'


def root_causes(window: str, by: str, **labels: str) -> str:
    """Root causes by labels of theirs; those of responses have no tool, and are called so."""
    causes = increase("aem_root_causes_total", window, by, **labels)
    return named(causes, "tool", "responses") if "tool" in by else causes


def per_hundred_turns(causes: str, window: str, by: str = "", **labels: str) -> str:
    """Root causes in 100 turns that have a verdict, so that releases of different volume compare.

    ``by`` are the labels that causes and turns share; ``causes`` may have more.
    """
    turns = increase("aem_turns_total", window, by, result=SCORED, **labels)
    matching = f"on ({by}) group_left ()" if by else "on () group_left ()"
    return f"100 * {causes} / {matching} ({turns} > 0)"
