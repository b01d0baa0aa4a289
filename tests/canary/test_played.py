"""Runs for the gate from verdict lines."""

import itertools
from typing import Any

from aem_monitor.canary.pairs import pair
from aem_monitor.canary.played import releases_of_lines


def test_runs_come_in_the_order_in_which_they_became_final_whatever_file_they_are_in() -> None:
    several: list[dict[str, Any]] = [
        {
            "run_id": f"{release}-{number}",
            "dialog": "refund",
            "release": release,
            "conversation_id": f"{release}-{number}",
            "test_pass": True,
            "root_cause": None,
            "turns": [],
            "final_at": 100.0 + number,
        }
        for number in range(2)
        for release in ("1", "2")
    ]
    for order in itertools.permutations(several):
        found = releases_of_lines((("", line) for line in order), None, ("1", "2"))
        paired = pair(found["1"].plays, found["2"].plays)
        assert [one.baseline.conversation.strip("\0") for one in paired.pairs] == ["1-0", "1-1"]
        assert [one.candidate.conversation.strip("\0") for one in paired.pairs] == ["2-0", "2-1"]
