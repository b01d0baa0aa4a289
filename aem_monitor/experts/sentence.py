"""Sentence encoders as experts. Needs the extra ``sentence``; models come from a folder and are never fetched."""

import logging
import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from aem_monitor.errors import ConfigError
from aem_monitor.experts.base import Scores
from aem_monitor.scoring.oracle import Question

_LOG = logging.getLogger(__name__)
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_MAX_SENTENCES: Final = 50


class SentenceExpert:
    """Cosine of a sentence-transformers model, negative values cut to 0.

    A mention is looked for sentence by sentence: the best one counts. Typed rules and guards have been asked before
    this is, so that it never decides between two numbers, dates or identifiers.
    """

    def __init__(self, folder: Path, encoder: Any = None) -> None:
        """Load the model of ``folder``. Raises ConfigError when the extra or the model is missing.

        ``encoder`` stands in for the model: an object with ``encode(texts, normalize_embeddings=True)``.
        """
        self.name = f"sentence:{folder.name}"
        self._encoder = encoder if encoder is not None else _load(folder)
        self._lock = threading.Lock()

    def answer(self, questions: Sequence[Question]) -> Scores:
        """Score every question."""
        found: dict[str, float | None] = {}
        for question in questions:
            try:
                found[question.key] = self._score(question)
            except Exception:  # noqa: BLE001 - whatever a model raises is no verdict
                _LOG.exception("The sentence encoder failed on a question")
                found[question.key] = None
        return found

    def close(self) -> None:
        """Nothing to free."""

    def _score(self, question: Question) -> float:
        parts = [question.actual]
        if question.kind == "mention":
            parts = [part for part in _SENTENCE.split(question.actual) if part.strip()][:_MAX_SENTENCES] or parts
        with self._lock:
            wanted, *found = self._encoder.encode([question.expected, *parts], normalize_embeddings=True)
        return max(0.0, min(1.0, max(float((wanted * one).sum()) for one in found)))


def _load(folder: Path) -> Any:
    if not folder.is_dir():
        raise ConfigError(f"experts.sentence.model: {folder} is no folder; download the model and name its folder")
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        message = "experts.sentence: sentence-transformers is not installed; pip install 'aem-monitor[sentence]'"
        raise ConfigError(message) from error
    return SentenceTransformer(str(folder), local_files_only=True, device="cpu")
