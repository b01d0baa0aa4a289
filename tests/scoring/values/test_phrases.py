"""Families of phrases, broad rather than deep: what an English speaker takes for the same value, and what not."""

from collections.abc import Iterator, Sequence
from datetime import date
from itertools import combinations
from pathlib import Path

import pytest

from aem_monitor.scoring.scorers import EmbeddedScorer
from aem_monitor.scoring.values import ValueContext, compare_values

PHRASES = Path(__file__).parents[2] / "data" / "phrases"
SCORER = EmbeddedScorer()
_FEW = 4
"""Phrases of a line that are held against those of every other line; all would be a hundred thousand pairs."""


def blocks() -> Iterator[tuple[str, str, str, Sequence[Sequence[str]]]]:
    """Kind, reference date, title and lines of phrases of each block."""
    for path in sorted(PHRASES.glob("*.txt")):
        for block in path.read_text(encoding="utf-8").strip().split("\n\n"):
            head, *lines = block.splitlines()
            kind, reference, title = head.removeprefix("# ").split(" ", 2)
            yield kind, reference, title, [line.split(" | ") for line in lines]


BLOCKS = [pytest.param(*block, id=f"{block[0]}: {block[2]}") for block in blocks()]


def equivalent(a: str, b: str, kind: str, reference: str) -> bool:
    context = ValueContext(reference_date=None if reference == "-" else date.fromisoformat(reference))
    return compare_values(a, b, context, SCORER, kind).equivalent


@pytest.mark.parametrize(("kind", "reference", "title", "lines"), BLOCKS)
def test_phrases_of_a_line_say_the_same(kind: str, reference: str, title: str, lines: Sequence[Sequence[str]]) -> None:
    missed = [
        (first, other) for first, *others in lines for other in others if not equivalent(first, other, kind, reference)
    ]
    assert not missed


@pytest.mark.parametrize(("kind", "reference", "title", "lines"), BLOCKS)
def test_phrases_of_different_lines_do_not(
    kind: str, reference: str, title: str, lines: Sequence[Sequence[str]]
) -> None:
    confused = [
        (one, other)
        for some, others in combinations(lines, 2)
        for one in some[:_FEW]
        for other in others[:_FEW]
        if equivalent(one, other, kind, reference)
    ]
    assert not confused
