"""Labelled pairs of values and of replies, and the fixed split into two halves.

Rules are read off the development half only; the other half says whether they hold for pairs that nobody looked at.
The split goes by ``group`` (one slot of one service, one source document, one topic ..), so that near copies of a pair
never lie on both sides.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

DEVELOPMENT: Final = "development"
OTHER: Final = "other"
HALVES: Final = (DEVELOPMENT, OTHER)
BUNDLED: Final = Path(__file__).parents[1] / "data" / "pairs"
"""A small sample that may be redistributed; see its README."""


def half(group: str) -> str:
    """The half that a group belongs to: development if the first byte of its SHA-256 is even. Never to be changed."""
    return OTHER if hashlib.sha256(group.encode()).digest()[0] % 2 else DEVELOPMENT


@dataclass(frozen=True, slots=True)
class Pair:
    """One labelled row. ``truth`` holds the labels by question (equivalent, consistent, complete); a question that
    nobody answered is not in it. ``line`` is what ``aem-monitor compare`` is asked."""

    kind: str
    half: str
    source: str
    left: str
    right: str
    truth: Mapping[str, bool]
    line: Mapping[str, Any]


def read_values(directory: Path) -> list[Pair]:
    """``equivalence_pairs.jsonl``: two values and whether they mean the same. Rows marked ``loose`` have a doubtful
    label and are left out."""
    pairs = []
    for row in _rows(directory / "equivalence_pairs.jsonl"):
        line = {key: row[key] for key in ("a", "b", "kind", "reference_date") if row.get(key) is not None}
        truth = {"equivalent": bool(row["equivalent"])}
        pairs.append(_pair(row, str(row["a"]), str(row["b"]), truth, line))
    return pairs


def read_replies(directory: Path) -> list[Pair]:
    """``consistency_pairs.jsonl``: a reference and a reply, whether it is consistent and whether it is complete."""
    pairs = []
    for row in _rows(directory / "consistency_pairs.jsonl"):
        truth = {name: bool(row[name]) for name in ("consistent", "complete") if row.get(name) is not None}
        line = {"reference": row["reference"], "response": row["response"]}
        pairs.append(_pair(row, row["reference"], row["response"], truth, line))
    return pairs


def read_negatives(directory: Path) -> list[Pair]:
    """``containment_negatives.jsonl``: a value inside a longer one that means something else."""
    return [
        Pair(row["kind"], OTHER, "written", row["a"], row["b"], {"equivalent": False}, {"a": row["a"], "b": row["b"]})
        for row in _rows(directory / "containment_negatives.jsonl")
    ]


def _pair(row: Mapping[str, Any], left: str, right: str, truth: Mapping[str, bool], line: Mapping[str, Any]) -> Pair:
    source = str(row.get("source", "")).partition(":")[0]
    return Pair(row["kind"], half(row["group"]), source, left, right, truth, line)


def _rows(path: Path) -> Sequence[Mapping[str, Any]]:
    """Rows of a file; none if it is not there."""
    if not path.is_file():
        return ()
    with path.open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file if line.strip()]
    return [row for row in rows if not row.get("loose")]
