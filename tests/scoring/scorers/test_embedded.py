"""The embedded scorer works from the installed wheel alone."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from aem_monitor.errors import ScorerError
from aem_monitor.scoring.scorers import EmbeddedScorer, Scorer
from tests.scoring.fixtures_scorer import embedded


def test_it_is_a_scorer() -> None:
    assert isinstance(embedded(), Scorer)


def test_scores_lie_between_zero_and_one_and_are_symmetric() -> None:
    pairs = [("refund the order", "give the money back"), ("cat", "revenue"), ("", "x"), ("same", "same")]
    scores = embedded().score(pairs)
    assert all(0 <= score <= 1 for score in scores)
    assert scores == embedded().score([(b, a) for a, b in pairs])
    assert scores[2] == 0.0
    assert scores[3] == 1.0


def test_a_batch_gives_what_single_calls_give() -> None:
    pairs = [("a short text", "a rather longer text about something else"), ("hello there", "hi"), ("x", "y")]
    pairs += [(f"order {number}", f"the order of number {number}") for number in range(20)]
    assert embedded().score(pairs) == [embedded().score([pair])[0] for pair in pairs]


def test_no_pairs_need_no_model(tmp_path: Path) -> None:
    assert EmbeddedScorer(tmp_path).score([]) == []


def test_missing_files_are_a_scorer_error_that_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ScorerError, match="reinstall wordllama"):
        EmbeddedScorer(tmp_path).load()


def test_a_broken_file_is_a_scorer_error(tmp_path: Path) -> None:
    for name in ("weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(b"not a model")
    with pytest.raises(ScorerError, match="cannot read"):
        EmbeddedScorer(tmp_path).load()


def test_threads_share_one_instance() -> None:
    scorer = EmbeddedScorer()
    pairs = [[(f"text {i}", f"other {i % 3}")] for i in range(60)]
    with ThreadPoolExecutor(6) as pool:
        parallel = list(pool.map(scorer.score, pairs))
    assert parallel == [embedded().score(pair) for pair in pairs]


def test_nothing_touches_the_network_and_nothing_is_imported_early() -> None:
    program = """
import socket, sys
def refuse(*args, **kwargs):
    raise AssertionError("the network was used")
socket.socket.connect = refuse
socket.getaddrinfo = refuse
from aem_monitor.scoring.scorers import EmbeddedScorer
scorer = EmbeddedScorer()
assert not {"numpy", "tokenizers", "safetensors", "wordllama"} & sys.modules.keys()
assert scorer.score([("refund", "money back")])[0] > 0
assert "wordllama" not in sys.modules
import logging
assert not logging.getLogger().handlers
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={"HOME": "/nonexistent"})
    assert done.returncode == 0, done.stderr
