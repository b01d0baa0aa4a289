"""How often the comparison of values and of replies agrees with people, on both halves of a fixed split.

``python -m tests.benchmarks.values [DIRECTORY] [--no-kind] [--errors KIND] [--json FILE]``

DIRECTORY holds ``equivalence_pairs.jsonl``, ``consistency_pairs.jsonl`` and ``containment_negatives.jsonl``, whichever
there are; without one, the sample in ``tests/data/pairs`` is taken. Rows: ``accept`` is the share of equal (consistent,
complete) pairs that are accepted, ``reject`` the share of different ones that are rejected, each with its 95 % Wilson
interval; ``balanced`` is their mean. An answer "cannot be judged" raises no alarm and counts as accepted; "unsure" is
the share of answers marked uncertain or not judged. Baselines stand beside every row: accepting everything (0.5 by
definition), equality of folded texts, difflib's ratio, token overlap and the cosine of static embeddings, each at 0.5.

``--errors KIND`` prints the wrong answers of the development half, and of no other: rules are read off that one only.
"""

import argparse
import difflib
import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aem_monitor.scoring.compare import compare_line
from aem_monitor.scoring.scorers import EmbeddedScorer
from aem_monitor.scoring.values.words import plain
from tests.benchmarks.pairs import BUNDLED, DEVELOPMENT, HALVES, Pair, read_negatives, read_replies, read_values

_Z: Final = 1.959964
_ALL: Final = "all"
Answers = Sequence[bool]


def wilson(hits: int, count: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927); 0 to 1 where nothing was counted."""
    if not count:
        return 0.0, 1.0
    share, z2 = hits / count, _Z * _Z
    centre = (share + z2 / (2 * count)) / (1 + z2 / count)
    width = _Z * math.sqrt(share * (1 - share) / count + z2 / (4 * count * count)) / (1 + z2 / count)
    return max(centre - width, 0.0), min(centre + width, 1.0)


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of one kind in one half for one question and one scorer."""

    question: str
    kind: str
    half: str
    scorer: str
    equal: int
    accepted: int
    different: int
    rejected: int
    unsure: float

    @property
    def balanced(self) -> float | None:
        """Mean of the two shares; None where a side is empty."""
        if not self.equal or not self.different:
            return None
        return (self.accepted / self.equal + self.rejected / self.different) / 2

    def as_json(self) -> dict[str, Any]:
        return {
            "question": self.question,
            "kind": self.kind,
            "half": self.half,
            "scorer": self.scorer,
            "equal": self.equal,
            "different": self.different,
            "balanced": _rounded(self.balanced),
            "accept": _rounded(self.accepted / self.equal if self.equal else None),
            "accept_interval": [_rounded(bound) for bound in wilson(self.accepted, self.equal)],
            "reject": _rounded(self.rejected / self.different if self.different else None),
            "reject_interval": [_rounded(bound) for bound in wilson(self.rejected, self.different)],
            "unsure": _rounded(self.unsure),
        }

    def as_text(self) -> str:
        low_a, high_a = wilson(self.accepted, self.equal)
        low_r, high_r = wilson(self.rejected, self.different)
        accept = f"{self.accepted / self.equal:.3f} [{low_a:.2f} {high_a:.2f}]" if self.equal else "-"
        reject = f"{self.rejected / self.different:.3f} [{low_r:.2f} {high_r:.2f}]" if self.different else "-"
        balanced = "-" if self.balanced is None else f"{self.balanced:.3f}"
        return (
            f"{self.kind:<17}{self.half:<12}{self.scorer:<9}{self.equal:>6}{self.different:>6}{balanced:>9}  "
            f"{accept:<20}{reject:<20}{self.unsure:>6.3f}"
        )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _overlap(a: str, b: str) -> float:
    left, right = set(plain(a).split()), set(plain(b).split())
    return len(left & right) / len(left | right) if left | right else 1.0


def _ratio(a: str, b: str) -> float:
    return difflib.SequenceMatcher(None, a.lower(), b.lower(), autojunk=False).ratio()


def baselines(pairs: Sequence[Pair], scorer: EmbeddedScorer) -> dict[str, Answers]:
    """The answers of rules that know nothing of types."""
    cosines = [scorer.score([(pair.left, pair.right)])[0] for pair in pairs]
    return {
        "constant": [True] * len(pairs),
        "exact": [plain(pair.left) == plain(pair.right) for pair in pairs],
        "ratio": [_ratio(pair.left, pair.right) >= 0.5 for pair in pairs],
        "overlap": [_overlap(pair.left, pair.right) >= 0.5 for pair in pairs],
        "cosine": [cosine >= 0.5 for cosine in cosines],
    }


def figures(question: str, pairs: Sequence[Pair], answers: Mapping[str, Answers], unsure: Sequence[bool]) -> list[Row]:
    """Rows for all kinds together and each kind, both halves together and each half."""
    asked = [index for index, pair in enumerate(pairs) if question in pair.truth]
    rows = []
    for kind in (_ALL, *sorted({pairs[index].kind for index in asked})):
        for part in (_ALL, *HALVES):
            chosen = [
                index for index in asked if kind in (_ALL, pairs[index].kind) and part in (_ALL, pairs[index].half)
            ]
            equal = [index for index in chosen if pairs[index].truth[question]]
            different = [index for index in chosen if not pairs[index].truth[question]]
            if not chosen:
                continue
            for scorer, given in answers.items():
                own = scorer == "own"
                rows.append(
                    Row(
                        question=question,
                        kind=kind,
                        half=part,
                        scorer=scorer,
                        equal=len(equal),
                        accepted=sum(given[index] for index in equal),
                        different=len(different),
                        rejected=sum(not given[index] for index in different),
                        unsure=sum(unsure[index] for index in chosen) / len(chosen) if own else 0.0,
                    )
                )
    return rows


def ask(pairs: Iterable[Pair], scorer: EmbeddedScorer, with_kind: bool) -> list[dict[str, Any]]:
    """What ``aem-monitor compare`` answers."""
    lines = ({key: value for key, value in pair.line.items() if with_kind or key != "kind"} for pair in pairs)
    return [compare_line(line, scorer) for line in lines]


def gaps(rows: Iterable[Row]) -> list[str]:
    """By how many points the halves differ, a question and kind."""
    found = {(row.question, row.kind, row.half): row.balanced for row in rows if row.scorer == "own"}
    lines = []
    for (question, kind, part), here in found.items():
        there = found.get((question, kind, HALVES[1]))
        if part == DEVELOPMENT and here is not None and there is not None:
            lines.append(f"{question:<12}{kind:<17}{100 * (here - there):>+6.1f} points")
    return lines


def print_errors(question: str, pairs: Sequence[Pair], given: Sequence[dict[str, Any]], kind: str) -> None:
    """The wrong answers of the development half."""
    for pair, answer in zip(pairs, given, strict=True):
        if pair.half != DEVELOPMENT or kind not in (_ALL, pair.kind) or question not in pair.truth:
            continue
        if (answer[question] is not False) != pair.truth[question]:
            shown = {"asked": question, "kind": pair.kind, "truth": pair.truth[question], **pair.line, "answer": answer}
            print(json.dumps(shown, ensure_ascii=False), file=sys.stderr)


def measure(
    questions: Sequence[str],
    pairs: Sequence[Pair],
    scorer: EmbeddedScorer,
    *,
    with_kind: bool,
    errors: str,
    simple: Callable[[Sequence[Pair], EmbeddedScorer], dict[str, Answers]] = baselines,
) -> list[Row]:
    """All rows for one file of pairs."""
    if not pairs:
        return []
    given = ask(pairs, scorer, with_kind)
    rules = simple(pairs, scorer)
    rows = []
    for question in questions:
        unsure = [bool(answer.get("uncertain")) or answer[question] is None for answer in given]
        own = {"own": [answer[question] is not False for answer in given]}
        rows += figures(question, pairs, own | rules, unsure)
        if errors:
            print_errors(question, pairs, given, errors)
    return rows


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("directory", nargs="?", type=Path, default=BUNDLED)
    parser.add_argument("--no-kind", action="store_true", help="leave the hint out")
    parser.add_argument("--errors", default="", metavar="KIND", help="print wrong answers of the development half")
    parser.add_argument("--no-baselines", action="store_true")
    parser.add_argument("--json", type=Path, help="write the figures there, too")
    arguments = parser.parse_args()
    scorer = EmbeddedScorer()
    simple = (lambda _pairs, _scorer: {}) if arguments.no_baselines else baselines
    rows: list[Row] = []
    values, replies = read_values(arguments.directory), read_replies(arguments.directory)
    for questions, pairs in ((("equivalent",), values), (("consistent", "complete"), replies)):
        rows += measure(
            questions, pairs, scorer, with_kind=not arguments.no_kind, errors=arguments.errors, simple=simple
        )
    if not rows:
        print(f"no pairs in {arguments.directory}", file=sys.stderr)
        return 2
    header = (
        f"{'kind':<17}{'half':<12}{'scorer':<9}{'equal':>6}{'diff':>6}{'balanced':>9}  {'accept':<20}{'reject':<20}"
    )
    for question in dict.fromkeys(row.question for row in rows):
        print(f"\n{question}\n{header}unsure")
        for row in rows:
            if row.question == question:
                print(row.as_text())
    print("\ndevelopment half less the other half\n" + "\n".join(gaps(rows)))
    negatives = read_negatives(BUNDLED)
    if negatives:
        accepted = sum(answer["equivalent"] for answer in ask(negatives, scorer, with_kind=False))
        print(f"\ncontainment negatives accepted: {accepted} of {len(negatives)}")
    if arguments.json:
        text = json.dumps([row.as_json() for row in rows], indent=1)
        arguments.json.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
