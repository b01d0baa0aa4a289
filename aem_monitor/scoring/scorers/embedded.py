"""The default scorer: static word embeddings that lie inside the wordllama wheel.

wordllama's own loader looks for the tokenizer beside the package, does not find it and downloads it. Both files are
read from the installed package here and put together with numpy and tokenizers alone: nothing can reach the network,
and wordllama's start-up side effects (it configures the root logger) never happen.
"""

import importlib.util
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from aem_monitor.errors import ScorerError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

_WEIGHTS: Final = "weights/l2_supercat_256.safetensors"
_TOKENIZER: Final = "tokenizers/l2_supercat_tokenizer_config.json"
_TENSOR: Final = "embedding.weight"
_MAX_CHARS: Final = 8192
_CACHED_TEXTS: Final = 8192
_FEW_TEXTS: Final = 16
"""Up to so many texts are tokenised one by one: a batch wakes a pool of threads, and waits for it on a busy machine."""


class EmbeddedScorer:
    """Cosine of mean token embeddings, negative values cut to 0.

    Nothing is read before the first ``score`` or an explicit ``load`` (about 0.2 s, 32 MB). One instance may be
    shared by threads: the model is immutable once loaded and the cache of vectors is guarded.
    """

    name = "embedded"

    def __init__(self, package: Path | None = None) -> None:
        """``package`` is the folder of the installed wordllama package; found by itself if left out."""
        self._package = package
        self._lock = threading.Lock()
        self._model: tuple[NDArray[np.float32], Tokenizer] | None = None
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def load(self) -> None:
        """Read the model now. Raises ScorerError if its files are not there."""
        with self._lock:
            self._loaded()

    def score(self, pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        """How alike the texts of each pair are, in [0, 1]; 1.0 for equal texts, 0.0 where one is empty."""
        if not pairs:
            return []
        with self._lock:
            self._embed({text for pair in pairs for text in pair})
            scores = [1.0 if a == b else self._cosine(a, b) for a, b in pairs]
            if len(self._vectors) > _CACHED_TEXTS:
                self._vectors.clear()
        return scores

    def _cosine(self, a: str, b: str) -> float:
        cosine = float(self._vectors[a] @ self._vectors[b])
        return min(max(cosine, 0.0), 1.0)

    def _embed(self, texts: set[str]) -> None:
        # Not the difference of two sets: that walks through all vectors there are.
        missing = sorted(text for text in texts if text not in self._vectors)
        if not missing:
            return
        import numpy as np

        matrix, tokenizer = self._loaded()
        for text, found in zip(missing, _token_ids(tokenizer, [text[:_MAX_CHARS] for text in missing]), strict=True):
            ids = np.asarray(found, dtype=np.int64)
            if not len(ids):
                self._vectors[text] = np.zeros(matrix.shape[1], dtype=np.float32)
                continue
            mean = matrix[np.minimum(ids, len(matrix) - 1)].mean(axis=0)
            norm = float(np.linalg.norm(mean))
            self._vectors[text] = mean / norm if norm else mean

    def _loaded(self) -> "tuple[NDArray[np.float32], Tokenizer]":
        if self._model is None:
            self._model = self._read()
        return self._model

    def _read(self) -> "tuple[NDArray[np.float32], Tokenizer]":
        import numpy as np
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        package = self._package or _installed_package()
        weights, config = package / _WEIGHTS, package / _TOKENIZER
        for path in (weights, config):
            if not path.is_file():
                raise ScorerError(f"the embedded scorer needs {path}, which is not there: reinstall wordllama")
        try:
            matrix = np.ascontiguousarray(load_file(weights)[_TENSOR], dtype=np.float32)
            tokenizer = Tokenizer.from_file(str(config))
        except Exception as error:  # tokenizers raises bare Exception for a file that it cannot read
            raise ScorerError(f"the embedded scorer cannot read the model in {package}: {error}") from error
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return matrix, tokenizer


def _token_ids(tokenizer: "Tokenizer", texts: Sequence[str]) -> list[list[int]]:
    """The tokens of each text."""
    if len(texts) <= _FEW_TEXTS:
        return [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
    return [encoding.ids for encoding in tokenizer.encode_batch(texts, add_special_tokens=False)]


def _installed_package() -> Path:
    # find_spec does not import the package, whose import configures logging and loads compiled extensions.
    spec = importlib.util.find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise ScorerError("the embedded scorer needs the package wordllama: pip install wordllama")
    return Path(spec.origin).parent
