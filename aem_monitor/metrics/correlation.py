"""Rank correlation of latency and correctness: what Pearson's moments cannot give, because ranks do not add up."""

from collections.abc import Iterable

import numpy as np

from aem_monitor.calibration.statistics import spearman
from aem_monitor.metrics.catalogue import CATALOGUE, MIN_CORRELATED
from aem_monitor.metrics.registry import Reading
from aem_monitor.model.verdict import UNKNOWN
from aem_monitor.store.records import LatencyOfRun

COEFFICIENT = "aem_latency_correctness_spearman"
SAMPLES = "aem_latency_correctness_spearman_samples"


def correlate(runs: Iterable[LatencyOfRun]) -> tuple[list[Reading], list[Reading]]:
    """Coefficients and sample sizes by agent and release.

    A release with fewer than ``MIN_CORRELATED`` runs, or of which all runs are equally right or equally slow, has a
    sample size and no coefficient: a NaN would poison every sum that it is part of.
    """
    pairs: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for run in runs:
        pairs.setdefault((run.agent, run.release or UNKNOWN), []).append((run.latency_seconds, run.success_rate))
    coefficients: list[Reading] = []
    samples: list[Reading] = []
    for (agent, release), found in pairs.items():
        labels = CATALOGUE[COEFFICIENT].label_set(agent=agent, release=release)
        samples.append((labels, float(len(found))))
        if len(found) < MIN_CORRELATED:
            continue
        latencies, rates = np.array(found).T
        coefficient = spearman(latencies, rates)
        if coefficient is not None:
            coefficients.append((labels, coefficient))
    return coefficients, samples
