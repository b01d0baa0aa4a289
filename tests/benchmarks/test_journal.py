"""The benchmark of the journal measures each way it names."""

from pathlib import Path

import pytest

from tests.benchmarks.journal import measure


def test_each_way_is_measured_against_its_ceiling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = measure(requests=8, size=100, rounds=1)
    assert [name for name, _, _ in rows] == [
        "write",
        "write and flush",
        "fsync: off, 1 sender",
        "fsync: off, 16 senders",
        "fsync: interval, 1 sender",
        "fsync: interval, 16 senders",
        "fsync: always, 1 sender",
        "fsync: always, 16 senders",
    ]
    assert all(rate > 0 and ratio > 0 for _, rate, ratio in rows)
    assert not list(tmp_path.iterdir())
