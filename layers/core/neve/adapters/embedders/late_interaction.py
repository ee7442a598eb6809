"""answerai-colbert-small-v1 as an int8 ONNX file inside the process: a vector for each token, English, no network.

The file has no projection of its own: it gives 384 dimensions a token. They are normalised, the mean of our own text is
taken off, 64 principal directions of it are kept, evened out (``basis.bin``, ``layers/late/make_basis.py``), and what
is left is normalised. A passage is stored at 2 bits a dimension (``token_codes``), a query is compared as it is. [CLS]
and [SEP] count in a passage and not in a query. There are no marker tokens, and a query is not filled up with masks:
with this file both make it worse."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from neve.adapters.embedders.onnx_model import OnnxModel, QueriesFirst
from neve.ports.errors import EmbeddingUnavailable

if TYPE_CHECKING:
    from neve.adapters.embedders.token_codes import Vectors

MODEL_SHA256 = "4980983628c18e4f0a4c756114abd2d7c097c6ccad9cffc70e77302d21e05df0"
BASIS_SHA256 = "8617af4ce492b731e725e99b255a6f7c6aedd1c75186cffe8538e3f3b045ea39"
MODEL_TAG = f"answerai-colbert-small-int8-{MODEL_SHA256[:8]}-pca64-{BASIS_SHA256[:8]}-2bit"
STATE, DIMENSIONS = 384, 64
FETCH = "layers/late/fetch.py"


class LateInteraction:
    """``ports.models.TokenEncoder``. ``folder`` is the layer: ``basis.bin`` and ``model/{model.onnx,tokenizer.json}``.
    Nothing is imported or read until the first text; two threads may ask at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loading = Lock()
        self._queries = QueriesFirst()
        self._encoder: _Encoder | None = None

    @property
    def model(self) -> str:
        return MODEL_TAG

    def load(self) -> bool:
        """See ``wiring.Loads``."""
        if self._encoder is not None:
            return False
        self._ready().query("")
        return True

    def encode_query(self, text: str) -> bytes:
        encoder = self._ready()
        with self._queries.one():
            return encoder.query(text)

    def encode_passages(self, texts: Sequence[str]) -> list[bytes]:
        return self._queries.batch(texts, self._ready().passage)

    def similarities(self, query: bytes, messages: Sequence[Sequence[bytes]]) -> list[float]:
        from neve.adapters.embedders.token_codes import max_sims

        return max_sims(_Encoder.read_query(query), messages)

    def _ready(self) -> _Encoder:
        with self._loading:
            if self._encoder is None:
                self._encoder = _Encoder(self._folder)
            return self._encoder


class _Encoder:
    """The loaded files. Raises EmbeddingUnavailable when they, or the packages that read them, are missing."""

    def __init__(self, folder: Path) -> None:
        self._model = OnnxModel(folder / "model", FETCH)
        self._mean, self._directions = read_basis(folder / "basis.bin")

    def query(self, text: str) -> bytes:
        """Float32, tokens x 64, without [CLS] and [SEP]."""
        vectors: bytes = self._projected(text)[1:-1].astype("<f4").tobytes()
        return vectors

    @staticmethod
    def read_query(query: bytes) -> Vectors:
        import numpy as np

        return np.frombuffer(query, dtype="<f4").reshape(-1, DIMENSIONS)

    def passage(self, text: str) -> bytes:
        from neve.adapters.embedders.token_codes import to_codes

        return to_codes(self._projected(text))

    def _projected(self, text: str) -> Vectors:
        from neve.adapters.embedders.token_codes import normalised, product

        return normalised(product(normalised(self._model.states(text)) - self._mean, self._directions))


def read_basis(path: Path) -> tuple[Any, Any]:
    """The mean, and 384 x 64 directions. Raises EmbeddingUnavailable for any other file than the one that the stored
    vectors were made with."""
    import numpy as np

    try:
        content = path.read_bytes()
    except OSError as error:
        raise EmbeddingUnavailable(f"{path} cannot be read: {error}") from error
    if sha256(content).hexdigest() != BASIS_SHA256:
        raise EmbeddingUnavailable(f"{path} is not the basis that {MODEL_TAG} names")
    numbers = np.frombuffer(content, dtype="<f4").reshape(1 + DIMENSIONS, STATE)
    return numbers[0], numbers[1:].T
