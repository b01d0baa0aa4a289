"""Sentence encoders: cosine of what they give, sentence by sentence for mentions, and no verdict where they fail."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from aem_monitor.errors import ConfigError
from aem_monitor.experts.sentence import SentenceExpert
from aem_monitor.scoring.oracle import Question


class Letters:
    """Counts of letters, as unit vectors."""

    def encode(self, texts: Sequence[str], normalize_embeddings: bool) -> NDArray[np.float64]:
        if any("!" in text for text in texts):
            raise RuntimeError("no model")
        counts = np.array([[text.lower().count(chr(97 + i)) + 1e-9 for i in range(26)] for text in texts])
        return np.asarray(counts / np.linalg.norm(counts, axis=1, keepdims=True))


def score(kind: str, expected: str, actual: str) -> float | None:
    question = Question("k", kind, expected, actual)  # type: ignore[arg-type]
    return SentenceExpert(Path("letters"), Letters()).answer([question])["k"]


def test_equal_texts_score_one_and_unrelated_ones_little() -> None:
    assert score("value", "revenue", "revenue") == pytest.approx(1.0)
    found = score("value", "aaa", "zzz")
    assert found is not None
    assert found < 0.01


def test_a_mention_is_looked_for_in_each_sentence() -> None:
    assert score("mention", "abc", "zzz. abc. yyy.") == pytest.approx(1.0)
    whole = score("value", "abc", "zzz. abc. yyy.")
    assert whole is not None
    assert whole < 0.9


def test_a_failure_is_no_verdict() -> None:
    assert score("value", "fails!", "x") is None


def test_a_model_that_is_not_there_is_never_fetched(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no folder"):
        SentenceExpert(tmp_path / "missing")
