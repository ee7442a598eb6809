"""ms-marco-MiniLM as an int8 ONNX file inside the process: how well a text answers a question, English, no network.

One pair a run, as the sentence encoder reads one text a run: a pair read beside others would get another score. Pairs
run beside each other on the cores, and between two of them it is asked whether anybody still waits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic

from neve.adapters.embedders.load_once import LoadOnce
from neve.adapters.embedders.onnx_model import OnnxModel, beside_each_other
from neve.ports.errors import EmbeddingRetryable
from neve.ports.models import ModelFile, ModelFiles

MODEL = ModelFile("model.onnx", "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1")
TOKENIZER = ModelFile("tokenizer.json", "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448")
FILES = (MODEL, TOKENIZER)
FETCH = "layers/encoder/fetch_reranker.py"
MAX_TOKENS = 256
"""Of question and text together (*chosen*): twice a message of a chat with the one before it; of a page its begin."""


class MiniLmCrossEncoder:
    """``ports.models.CrossEncoder``. Nothing is imported, fetched or read until somebody needs it; two threads may ask
    at once."""

    def __init__(self, files: ModelFiles, monotonic: Callable[[], float] = monotonic) -> None:
        self._files = files
        self._model = LoadOnce(self._load, monotonic)

    def load(self) -> None:
        self._model.get()

    def scores(self, question: str, texts: Sequence[str], still_wanted: Callable[[], bool]) -> list[float]:
        model = self._model.get()

        def one(text: str) -> float:
            if not still_wanted():
                raise EmbeddingRetryable("nobody waits for the scores any more")
            return model.score(question, text)

        return beside_each_other(one, texts)

    def _load(self) -> OnnxModel:
        model = OnnxModel(self._files.path(MODEL), self._files.path(TOKENIZER), FETCH, MAX_TOKENS)
        model.score("", "")  # the first run of a session costs more than the next ones
        return model
