"""The one door through which scoring asks whether two things mean the same.

It answers from exact and typed rules and the cheap scorer. Where those are uncertain and an expert (a better scorer,
outside the engine) is configured, it looks for the expert's stored answer and otherwise notes a question, answering
with the cheap opinion meanwhile. So one evaluation is run twice: once to collect questions, once with the answers.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import orjson

from aem_monitor.errors import ScorerError
from aem_monitor.golden.reference import JSONPath
from aem_monitor.model.jsonvalue import JSON
from aem_monitor.scoring.responses import Claim, ResponseJudgement, judge, mentions, other_unit, supports
from aem_monitor.scoring.responses.evidence import Evidence
from aem_monitor.scoring.scorers import Scorer
from aem_monitor.scoring.values import (
    Comparison,
    Leeway,
    ValueContext,
    compare_values,
    compare_with_leeway,
    occurrences,
    trivial,
)
from aem_monitor.strictjson import json_bytes

Answers: TypeAlias = Mapping[str, float | None]
"""Expert scores in [0, 1] by question key; None: the expert was asked and failed."""


@dataclass(frozen=True, slots=True)
class Question:
    """A pair that the cheap scorer cannot decide. ``key`` is the content hash under which the answer is stored."""

    key: str
    kind: Literal["value", "mention"]
    expected: str
    actual: str


class UnansweredError(ScorerError):
    """The expert failed on a question; what depended on it is not scored."""

    def __init__(self, question: Question) -> None:
        super().__init__(f"the scorer did not answer question {question.key}")
        self.question = question


class Oracle:
    """Compares for one run. Not thread-safe; answers are kept for the life of the object."""

    def __init__(
        self, scorer: Scorer, context: ValueContext, answers: Answers | None = None, expert: str | None = None
    ) -> None:
        """``expert`` names the scorer whose answers are wanted for uncertain pairs; None asks nobody."""
        self._scorer = scorer
        self._context = context
        self._answers = answers or {}
        self._expert = expert
        self._known: dict[bytes, Comparison] = {}
        # Keyed by identity; the sources are kept beside, so that no id is given to another object meanwhile.
        self._evidence: dict[tuple[int, ...], tuple[tuple[JSON, ...], Evidence]] = {}
        self.questions: dict[str, Question] = {}

    @property
    def context(self) -> ValueContext:
        """What comparisons of this run know besides the two values."""
        return self._context

    def same(
        self,
        actual: JSON,
        expected: JSON,
        kind: str | None = None,
        threshold: float | None = None,
        leeway: Leeway | None = None,
    ) -> Comparison:
        """Whether an argument's value is the expected one; ``kind`` is the author's word of what it is, ``threshold``
        the author's least similarity, ``leeway`` what the author allows a date or time.

        Raises ``UnansweredError``.
        """
        if leeway is not None and kind is not None:
            near = compare_with_leeway(actual, expected, kind, leeway, self._context.reference_date)
            if near is not None:
                return near
        key = _canonical(actual, [kind, threshold, expected])
        known = self._known.get(key)
        if known is None:
            context = self._context if threshold is None else replace(self._context, threshold=threshold)
            known = compare_values(actual, expected, context, self._scorer, kind)
            self._known[key] = known
        return self._settle(known, "value", _text(expected), _text(actual), threshold)

    def mentioned(self, text: str, wanted: str) -> Comparison:
        """Whether ``wanted`` is said in ``text``, in any equivalent form. Raises ``UnansweredError``."""
        return self._settle(mentions(text, wanted, self._context, self._scorer), "mention", wanted, text)

    def judge(self, reference: str, reply: str) -> ResponseJudgement:
        """A reply against a reference text."""
        return judge(reference, reply, self._context, self._scorer)

    def supports(self, claim: Claim, evidence: JSON) -> bool:
        """Whether a tool's result or arguments say what the claim says."""
        return supports(claim, evidence, self._context, self._scorer)

    def other_unit(self, claim: Claim, reference: str) -> bool:
        """Whether the claim states a number of the reference text in another unit."""
        return other_unit(claim, reference, self._context)

    def evidence(self, sources: Sequence[JSON]) -> Evidence:
        """Sources made ready for look-ups of facts; kept, since one run asks the same sources often."""
        key = tuple(id(source) for source in sources)
        known = self._evidence.get(key)
        if known is None:
            known = self._evidence[key] = (tuple(sources), Evidence.read(sources, self._context))
        return known[1]

    def occurs(self, value: JSON, within: JSON) -> Sequence[JSONPath]:
        """Where ``value`` stands in ``within``, in any typed form; a trivial value stands nowhere."""
        return () if trivial(value) else occurrences(value, within, self._context)

    def _settle(
        self,
        comparison: Comparison,
        kind: Literal["value", "mention"],
        expected: str,
        actual: str,
        threshold: float | None = None,
    ) -> Comparison:
        if not comparison.uncertain or self._expert is None:
            return comparison
        content = json_bytes([self._expert, kind, expected, actual])
        question = Question(hashlib.sha256(content).hexdigest(), kind, expected, actual)
        if question.key not in self._answers:
            self.questions[question.key] = question
            return comparison
        score = self._answers[question.key]
        if score is None:
            raise UnansweredError(question)
        holds = score >= (self._context.threshold if threshold is None else threshold)
        return Comparison(holds, score, uncertain=False, rule=self._expert)


def _canonical(actual: JSON, expected: JSON) -> bytes:
    return json_bytes([actual, expected], orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else json_bytes(value).decode()
