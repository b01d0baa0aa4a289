"""What an alarm rests on, in numbers that people can check."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

import numpy as np

from aem_monitor.alerting.observed import SEVERAL, Finding
from aem_monitor.alerting.tallies import Memory, Seen, cause_of
from aem_monitor.sequential.baseline import Baseline
from aem_monitor.sequential.change import ChangeDetector
from aem_monitor.sequential.shifts import log_ratios

_ONE_TOOL: Final = 0.8
"""Share of the root causes from which on a single tool is named for all."""


def recent_finding(
    waiting: Sequence[Seen], name: str, baseline: Baseline, detector: ChangeDetector, log_threshold: float
) -> Finding:
    """Of a change: what was seen since the moment at which it most likely began."""
    told = [(one, bad) for one in waiting if (bad := one.failed(name)) is not None]
    shift = np.array([detector.shift])
    ratios = [float(log_ratios(bad, baseline.of(one.dialog), shift)[0]) for one, bad in told]
    since = list(accumulate(reversed(ratios)))
    length = max(range(len(since)), key=since.__getitem__) + 1
    window = told[-length:]
    tools = Counter(
        cause_of(one).tool
        for run, bad in window
        if bad
        for one in run.names
        if name and cause_of(one).tool and cause_of(one).reason == cause_of(name).reason
    )
    failed = sum(bad for _, bad in window)
    expected = sum(_rate(baseline.of(run.dialog)) for run, _ in window) / length
    return Finding(expected, failed / length, failed, length, detector.log_statistic, log_threshold, dict(tools))


def compared_finding(reference: Baseline, runs: Memory, log_evidence: float, log_threshold: float) -> Finding:
    """Of a release: all that was seen of it."""
    total, failed = runs.total(), sum(runs.failed.values())
    expected = sum(count * _rate(reference.of(name)) for name, count in runs.runs.items()) / total
    return Finding(expected, failed / total, round(failed), round(total), log_evidence, log_threshold, {})


def shift_of(finding: Finding) -> float:
    """By how much the log odds differ from what was expected."""
    return _log_odds((finding.failed + 0.5) / (finding.runs + 1.0)) - _log_odds(finding.expected_rate)


def tool_of(name: str, finding: Finding) -> str:
    """The tool that a signature names: that of nearly all root causes, ``several`` where there is none, empty for
    replies."""
    if cause_of(name).tool or not finding.tools:
        return cause_of(name).tool
    tool, count = max(finding.tools.items(), key=lambda one: (one[1], one[0]))
    return tool if count >= _ONE_TOOL * finding.failed else SEVERAL


def _log_odds(rate: float) -> float:
    return math.log(rate / (1.0 - rate))


def _rate(log_odds: float) -> float:
    return 1.0 / (1.0 + math.exp(-log_odds))
