"""What is found not to be as it was."""

import numpy as np
import pytest

from aem_monitor.canary.changes import find_changes
from aem_monitor.canary.endpoints import difference, latest
from aem_monitor.canary.pairs import Part, Played, clustered, pair
from aem_monitor.sequential.betting import log_evidence_above
from aem_monitor.sequential.shifts import Floats


def test_the_few_pairs_that_a_part_is_in_say_the_same_as_all_pairs() -> None:
    chance = np.random.default_rng(5)
    tools = [Part("tool", f"t{number}") for number in range(8)]

    def runs(rates: Floats, side: str) -> list[Played]:
        drawn = chance.random((300, len(tools))) < rates
        parts = [frozenset(tool for tool, has in zip(tools, row, strict=True) if has) for row in drawn]
        return [
            Played("d", f"{side}{number // 3}", not own, float(not own), parts=own) for number, own in enumerate(parts)
        ]

    paired = pair(runs(np.linspace(0.0, 0.4, 8), "b"), runs(np.linspace(0.4, 0.0, 8), "c"))
    found = find_changes(paired, np.zeros(len(paired.pairs)), alpha=0.3, latency=0.1)
    assert {one.worse for one in found} == {True, False}
    for one in found:
        part = Part("tool", one.name)
        dense = [(part in two.candidate.parts) - (part in two.baseline.parts) for two in paired.pairs]
        values = clustered(np.array(dense, float), paired.clusters)
        assert one.difference == difference(values, 0.3)
        evidence = latest(log_evidence_above(values if one.worse else -values, 0.0))
        assert one.log_evidence == pytest.approx(evidence)
