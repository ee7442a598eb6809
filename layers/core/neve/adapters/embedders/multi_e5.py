"""multilingual-e5-small as a 4-bit ONNX file inside the process: 384 dimensions, about a hundred languages, no network.

For tenants whose policy says ``languages: multi`` (docs/rules/recall.md#encoders); its files are those of an optional
model. One text a run, as the other encoders (``onnx_model``). Before the tokenizer every code point is replaced by what
the model was trained with; the words ``query:`` and ``passage:`` are part of the model.

Any two texts of one language are alike to it, in Chinese more (median cosine 0.83) than in English (0.77), and so are
any two questions. A vector is therefore taken without its part in the ``DIRECTIONS`` that say these two things: then
one threshold serves every language (ADR 73)."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from time import monotonic
from typing import Any

from neve.adapters.embedders.calibration_file import read_calibration
from neve.adapters.embedders.load_once import LoadOnce
from neve.adapters.embedders.onnx_model import OnnxModel, QueriesFirst
from neve.adapters.model_files import FolderFiles
from neve.ports.errors import EmbeddingRetryable, EmbeddingUnavailable, ModelMissing, StoreUnavailable
from neve.ports.models import ANY_LANGUAGE, Calibration, ModelFile, ModelFiles
from neve.ports.search import IndexModel

WEIGHTS = ModelFile("model.onnx", "4048b61967202a2708409bd03f90093379897efe5241735f9e2ead12e5955c79")
TOKENIZER = ModelFile("tokenizer.json", "0ae0217dbdcd7a952422418216df957464873e451a85bdee65516ba7c6406620")
CODE_POINTS = ModelFile("code_points.json", "398220022c6239126b2ff8254454f169db1d411a7ce9380a9cdf7ddb2761c916")
DIRECTIONS = ModelFile("multi_directions.json", "d603295fcb62a571c8a28f86b524bfbf3d25645b87f5dd6a7eb8cc2697134b71")
"""Orthonormal rows of 384 numbers, beside the calibrations, by ``layers/encoder/calibrate.py``."""
FILES = (WEIGHTS, TOKENIZER, CODE_POINTS)
DIMENSIONS = 384
MODEL_TAG = f"multilingual-e5-small-q4-{WEIGHTS.sha256[:8]}-{DIRECTIONS.sha256[:8]}-{DIMENSIONS}"
MODEL = IndexModel(MODEL_TAG, DIMENSIONS)
FETCH = "layers/encoder/fetch_multi.py"


class MultilingualE5:
    """The embedder that runs multilingual-e5-small inside the process. ``folder`` is the encoder layer:
    ``calibration.json`` and ``DIRECTIONS``; None in a function that only has to know the model's name. Nothing is
    imported, fetched or read until the first text; two threads may ask at once."""

    def __init__(self, files: ModelFiles, folder: Path | None, monotonic: Callable[[], float] = monotonic) -> None:
        self._files = files
        self._folder = folder
        self._encoder = LoadOnce(self._load, monotonic)
        self._queries = QueriesFirst()

    @property
    def model(self) -> IndexModel:
        return MODEL

    @cached_property
    def calibration(self) -> Calibration:
        """Give the medians that ``layers/encoder/calibrate.py`` measured. Raises EmbeddingUnavailable without them."""
        return read_calibration(self._encoder_layer / "calibration.json", MODEL_TAG)

    @property
    def languages(self) -> tuple[str, ...]:
        """List any language: it was trained on a hundred, and measured here in English and ten others."""
        return (ANY_LANGUAGE,)

    def load(self) -> bool:
        """See ``wiring.Loads``."""
        if self._encoder.is_loaded:
            return False
        self._ready()
        return True

    def embed_query(self, text: str) -> bytes:
        encoder = self._ready()
        with self._queries.one():
            return encoder.encode(f"query: {text}")

    def embed_passages(self, texts: Sequence[str]) -> list[bytes]:
        encoder = self._ready()
        return self._queries.batch(texts, lambda text: encoder.encode(f"passage: {text}"))

    def _ready(self) -> _Encoder:
        try:
            return self._encoder.get()
        except ModelMissing as error:
            raise EmbeddingUnavailable(f"{MODEL_TAG}: {error}") from error
        except StoreUnavailable as error:
            raise EmbeddingRetryable(f"{MODEL_TAG}: {error}") from error

    @property
    def _encoder_layer(self) -> Path:
        if self._folder is None:
            raise EmbeddingUnavailable(f"{MODEL_TAG}: this function has no encoder layer")
        return self._folder

    def _load(self) -> _Encoder:
        encoder = _Encoder(PlainE5(self._files), FolderFiles(self._encoder_layer).path(DIRECTIONS))
        encoder.encode("")  # the first run of a session costs more than the next ones
        return encoder


class PlainE5:
    """The model as it was published. Raises EmbeddingUnavailable, ModelMissing, StoreUnavailable."""

    def __init__(self, files: ModelFiles) -> None:
        self._model = OnnxModel(files.path(WEIGHTS), files.path(TOKENIZER), FETCH)
        self._code_points = str.maketrans(json.loads(files.path(CODE_POINTS).read_text(encoding="utf-8")))

    def mean(self, text: str) -> Any:
        """Give the mean of the tokens' states, 384 float32, of any length. Raises EmbeddingRetryable."""
        return self._model.states(unicodedata.normalize("NFC", text).translate(self._code_points)).mean(axis=0)


class _Encoder:
    """The loaded files."""

    def __init__(self, plain: PlainE5, directions: Path) -> None:
        self._plain = plain
        rows = json.loads(directions.read_text(encoding="utf-8"))
        self._directions: Any = import_module("numpy").array(rows, dtype="<f4")

    def encode(self, text: str) -> bytes:
        """Give the L2-normalised vector of a text, as float32 little-endian bytes."""
        mean = self._plain.mean(text)
        meant = mean - (self._directions @ mean) @ self._directions
        vector: bytes = (meant / (meant @ meant) ** 0.5).astype("<f4").tobytes()
        return vector
