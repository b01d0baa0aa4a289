"""An LLM as judge, behind the OpenAI-compatible chat completions interface.

Every answer is one JSON object that is checked before it is believed. What is compared goes in as JSON strings inside
the user message, apart from the instructions, so that no recorded text can pose as one.
"""

import hashlib
import json
import logging
import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Final

import httpx
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aem_monitor.experts.base import Scores
from aem_monitor.experts.breaker import CircuitBreaker, HourlyBudget
from aem_monitor.scoring.oracle import Question

_LOG = logging.getLogger(__name__)

PROMPT: Final = files("aem_monitor.experts").joinpath("judge_prompt.md").read_text(encoding="utf-8")
_RETRYABLE: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_MAX_ANSWER_BYTES: Final = 64 * 2**10
_MAX_RETRY_AFTER: Final = 30.0


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """``url`` is the base of the interface (``http://host:port/v1``). Times in seconds.

    ``votes`` are asked where the first answer's confidence is below ``sure``: the majority decides. ``calls_per_hour``
    bounds all calls, retries and votes included.
    """

    url: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    timeout: float = 20.0
    attempts: int = 3
    backoff: float = 0.5
    concurrency: int = 4
    calls_per_hour: int = 1000
    votes: int = 3
    sure: float = 0.8
    breaker_failures: int = 5
    breaker_pause: float = 30.0


class _Opinion(BaseModel):
    model_config = ConfigDict(extra="ignore")

    equivalent: bool
    confidence: float = Field(ge=0.0, le=1.0)


class LlmJudge:
    """Answers questions by asking a model. Thread-safe."""

    def __init__(
        self,
        settings: JudgeSettings,
        *,
        transport: httpx.BaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        prompt = hashlib.sha256(PROMPT.encode()).hexdigest()[:12]
        self.name = f"judge:{settings.model}:{prompt}"
        self._settings = settings
        self._sleep = sleep
        self._budget = HourlyBudget(settings.calls_per_hour, clock)
        self._breaker = CircuitBreaker(settings.breaker_failures, settings.breaker_pause, clock)
        headers = {"Authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
        self._client = httpx.Client(
            timeout=settings.timeout, headers=headers, transport=transport, follow_redirects=False, trust_env=False
        )
        self._threads = ThreadPoolExecutor(settings.concurrency, thread_name_prefix="judge")
        self._jitter = random.Random()  # noqa: S311 - spreads retries, keeps no secret

    def answer(self, questions: Sequence[Question]) -> Scores:
        """Ask about each question, ``concurrency`` at a time."""
        return dict(
            zip((question.key for question in questions), self._threads.map(self._settle, questions), strict=True)
        )

    def close(self) -> None:
        """Close the connections."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._client.close()

    def _settle(self, question: Question) -> float | None:
        first = self._ask(question)
        if first is None:
            return None
        if first.confidence >= self._settings.sure or self._settings.votes <= 1:
            return _score(first)
        opinions = [first]
        while len(opinions) < self._settings.votes:
            further = self._ask(question)
            if further is None:
                break
            opinions.append(further)
        holding = sum(opinion.equivalent for opinion in opinions)
        if 2 * holding == len(opinions):
            return None  # the votes that came do not agree: no verdict is better than a coin
        winner = 2 * holding > len(opinions)
        agreeing = [_score(opinion) for opinion in opinions if opinion.equivalent is winner]
        return sum(agreeing) / len(agreeing)

    def _ask(self, question: Question) -> _Opinion | None:
        if not self._breaker.allows():
            return None
        for attempt in range(self._settings.attempts):
            if not self._budget.spend():
                _LOG.warning("The judge's calls of this hour are spent; its questions stay open")
                return None
            opinion, retry_in = self._call(question, attempt)
            if opinion is not None:
                self._breaker.succeeded()
                return opinion
            if retry_in is None:
                break
            if attempt + 1 < self._settings.attempts:
                self._sleep(retry_in)
        self._breaker.failed()
        return None

    def _call(self, question: Question, attempt: int) -> tuple[_Opinion | None, float | None]:
        """An opinion, or how long to wait before the next attempt; (None, None) when another one is of no use."""
        pause = self._settings.backoff * 2**attempt * (0.5 + self._jitter.random())
        try:
            with self._client.stream(
                "POST", f"{self._settings.url.rstrip('/')}/chat/completions", json=self._body(question)
            ) as response:
                if response.status_code in _RETRYABLE:
                    return None, _retry_after(response, pause)
                if response.status_code != httpx.codes.OK:
                    _LOG.error("The judge answered %d; check its url, model and key", response.status_code)
                    return None, None
                content = _bounded(response)
        except httpx.HTTPError:
            return None, pause
        return _opinion(content), pause

    def _body(self, question: Question) -> dict[str, Any]:
        asked = {"kind": question.kind, "expected": question.expected, "actual": question.actual}
        return {
            "model": self._settings.model,
            "temperature": 0,
            "response_format": {"type": "json_object"},
            "messages": [
                {"role": "system", "content": PROMPT},
                {"role": "user", "content": json.dumps(asked, ensure_ascii=False)},
            ],
        }


def _score(opinion: _Opinion) -> float:
    """A verdict with its confidence as a score: 1 is surely the same, 0 surely not, and never exactly between."""
    certain = 0.51 + 0.49 * opinion.confidence
    return certain if opinion.equivalent else 1.0 - certain


def _bounded(response: httpx.Response) -> bytes:
    """The body, or nothing when it is larger than any sound answer."""
    content = b""
    for chunk in response.iter_bytes():
        content += chunk
        if len(content) > _MAX_ANSWER_BYTES:
            return b""
    return content


def _opinion(content: bytes) -> _Opinion | None:
    """The opinion in a completion; None when the model did not keep to the form."""
    try:
        text = json.loads(content)["choices"][0]["message"]["content"]
        return _Opinion.model_validate_json(text)
    except (ValueError, KeyError, IndexError, TypeError, ValidationError, RecursionError):
        return None


def _retry_after(response: httpx.Response, otherwise: float) -> float:
    try:
        return min(max(float(response.headers["retry-after"]), 0.0), _MAX_RETRY_AFTER)
    except (KeyError, ValueError):
        return otherwise
