"""bge-small-en-v1.5 as an int8 ONNX file inside the process: 384 dimensions, English, no network.

One text a run, on purpose: the file quantises activations with one scale a run, so a text embedded beside others gets
another vector (cosine down to 0.992 measured). Alone, the same text gives the same bytes on every machine and in every
batch, which storing vectors by content relies on. Texts run in parallel on the cores instead, without padding: 1.9 ms a
chat turn on two cores, against 2.5 ms in padded batches of 32."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from pathlib import Path
from threading import Condition, Lock
from typing import Any

from neve.adapters.embedders.calibration_file import read_calibration
from neve.ports import Calibration, EmbeddingRetryable, EmbeddingUnavailable, IndexModel

MODEL_SHA256 = "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743"
DIMENSIONS = 384
MODEL_TAG = f"bge-small-en-v1.5-int8-{MODEL_SHA256[:8]}-{DIMENSIONS}"
MODEL = IndexModel(MODEL_TAG, DIMENSIONS)
MAX_TOKENS = 512
"""Longer texts are cut: the model has no more positions."""
QUERY_PREFIX = "Represent this sentence for searching relevant passages: "
"""The instruction this model was trained with, in front of queries only."""
MAX_THREADS = 4
LONGEST_WAY_S = 0.5
"""A batch of 50 then takes 25 s at worst, which is within its worker's timeout."""


class BgeSmall:
    """``folder`` is the encoder layer: ``calibration.json`` and ``model/{model.onnx,tokenizer.json}``. Nothing is
    imported or read until the first text; two threads may ask at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loading = Lock()
        self._queries = _QueriesFirst()
        self._encoder: _Encoder | None = None

    @property
    def model(self) -> IndexModel:
        return MODEL

    @cached_property
    def calibration(self) -> Calibration:
        """The medians that ``layers/encoder/calibrate.py`` measured. Raises EmbeddingUnavailable without them."""
        return read_calibration(self._folder / "calibration.json", MODEL_TAG)

    @property
    def languages(self) -> tuple[str, ...]:
        return ("en",)

    def load(self) -> None:
        """See ``wiring.Loads``: the first run of the session costs more than the next ones, so it is made here."""
        if self._encoder is None:
            self._ready().encode("")

    def embed_query(self, text: str) -> bytes:
        encoder = self._ready()
        with self._queries.one():
            return encoder.encode(QUERY_PREFIX + text)

    def embed_passages(self, texts: Sequence[str]) -> list[bytes]:
        encoder = self._ready()

        def encode(text: str) -> bytes:
            self._queries.give_way()
            return encoder.encode(text)

        threads = min(len(texts), os.cpu_count() or 1, MAX_THREADS)
        if threads <= 1:
            return [encode(text) for text in texts]
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(encode, texts))

    def _ready(self) -> _Encoder:
        with self._loading:
            if self._encoder is None:
                self._encoder = _Encoder(self._folder / "model")
            return self._encoder


class _QueriesFirst:
    """Somebody waits for the vector of a query; for a passage's, nobody. A batch gives way between two passages."""

    def __init__(self) -> None:
        self._asked = 0
        self._none = Condition()

    @contextmanager
    def one(self) -> Iterator[None]:
        with self._none:
            self._asked += 1
        try:
            yield
        finally:
            with self._none:
                self._asked -= 1
                self._none.notify_all()

    def give_way(self) -> None:
        """At most for ``LONGEST_WAY_S``: however many queries there are, a batch comes to its end."""
        with self._none:
            self._none.wait_for(lambda: not self._asked, LONGEST_WAY_S)


class _Encoder:
    """The loaded files. Raises EmbeddingUnavailable when they, or the packages that read them, are missing."""

    def __init__(self, folder: Path) -> None:
        try:
            numpy, onnxruntime, tokenizers = map(import_module, ("numpy", "onnxruntime", "tokenizers"))
        except ImportError as error:
            raise EmbeddingUnavailable(f"the encoder's packages are not installed: {error}") from error
        missing = [name for name in ("model.onnx", "tokenizer.json") if not (folder / name).is_file()]
        if missing:
            raise EmbeddingUnavailable(
                f"{', '.join(missing)} not in {folder}: run 'python layers/encoder/fetch.py' once to download them"
            )
        self._numpy: Any = numpy
        try:
            self._tokenizer = _tokenizer(tokenizers, folder / "tokenizer.json")
            self._session = _session(onnxruntime, folder / "model.onnx")
        except Exception as error:  # tokenizers raises nothing more specific
            raise EmbeddingUnavailable(f"the encoder in {folder} cannot be read: {error}") from error

    def encode(self, text: str) -> bytes:
        """The L2-normalised state of the first token, as float32 little-endian bytes."""
        numpy = self._numpy
        ids = numpy.array([self._tokenizer.encode(_encodable(text)).ids], dtype=numpy.int64)
        inputs = {"input_ids": ids, "attention_mask": numpy.ones_like(ids), "token_type_ids": numpy.zeros_like(ids)}
        try:
            first = self._session.run(["last_hidden_state"], inputs)[0][0, 0]
        except Exception as error:  # the runtime's errors, memory above all, share no base class
            raise EmbeddingRetryable(f"the encoder failed on a text of {len(text)} characters: {error}") from error
        normalised = first / numpy.linalg.norm(first)
        vector: bytes = normalised.astype("<f4").tobytes()
        return vector


def _tokenizer(tokenizers: Any, path: Path) -> Any:
    tokenizer = tokenizers.Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer


def _session(onnxruntime: Any, path: Path) -> Any:
    """One thread a run: texts run beside each other instead."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _encodable(text: str) -> str:
    """A lone surrogate cannot cross into the tokenizer: it is replaced by a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")
