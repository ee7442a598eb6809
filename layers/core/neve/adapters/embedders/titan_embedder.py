"""Amazon Titan Text Embeddings V2 on Bedrock: vectors of text in more than a hundred languages, for a price a token.

512 dimensions: by Amazon's own measurement they keep 99 % of the accuracy of 1,024 (256 keep 97 %), at half of what an
index, its memory and a scan of vectors cost.

The model has no instruction for queries and takes one text a call. It is not calibrated here: that takes an account
with access to it. ``python layers/encoder/calibrate.py titan`` measures it and writes ``CALIBRATIONS``, for less than a
cent. Until then it embeds nothing: recall is by keyword and says ``vector:embed_error``, health names the command."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError, CredentialRetrievalError, NoCredentialsError

from neve.adapters.aws.errors import SDK_ERRORS, http_status, reason
from neve.adapters.embedders.calibration_file import read_calibration
from neve.ports.errors import EmbeddingRetryable, EmbeddingUnavailable
from neve.ports.models import ANY_LANGUAGE, Calibration
from neve.ports.search import IndexModel

if TYPE_CHECKING:
    from types_boto3_bedrock_runtime import BedrockRuntimeClient

MODEL_ID = "amazon.titan-embed-text-v2:0"
DIMENSIONS = 512
MODEL_TAG = f"titan-embed-text-v2-{DIMENSIONS}"
MODEL = IndexModel(MODEL_TAG, DIMENSIONS)
MAX_BYTES = 8_000
"""The bytes of a text in UTF-8; a longer one is cut. The model takes 8,192 tokens, and a token has at least a byte."""
MAX_THREADS = 8
"""Texts of one call that are embedded beside each other: 50 texts of 0.2 s each take a little over a second."""
NOTHING = "."
"""Stands for a text without any letter, which the model refuses: one text must not fail the others."""
PASSING_STATUSES = frozenset({408, 424, 429})
"""Model timeout, model error, throttling; beside every 5xx."""
WITHOUT_CREDENTIALS = (NoCredentialsError, CredentialRetrievalError)
CALIBRATIONS = Path(__file__).with_name("titan_calibration.json")


class TitanEmbedder:
    """Needs ``bedrock:InvokeModel`` on the model. ``calibrations`` is a file that ``calibrate.py`` wrote; None is for
    that program itself, which has to embed before there is one."""

    def __init__(self, client: BedrockRuntimeClient, calibrations: Path | None = CALIBRATIONS) -> None:
        self._client = client
        self._calibrations = calibrations

    @property
    def model(self) -> IndexModel:
        return MODEL

    @cached_property
    def calibration(self) -> Calibration:
        """Give the medians of the model. Raises EmbeddingUnavailable when the model was not calibrated."""
        if self._calibrations is None:
            raise EmbeddingUnavailable(f"{MODEL_TAG} is being calibrated")
        try:
            return read_calibration(self._calibrations, MODEL_TAG)
        except EmbeddingUnavailable as error:
            raise EmbeddingUnavailable(f"{error}; run 'python layers/encoder/calibrate.py titan'") from error

    @property
    def languages(self) -> tuple[str, ...]:
        """List any language: it knows more than a hundred, English best (the model card of Titan Text Embeddings
        V2)."""
        return (ANY_LANGUAGE,)

    def embed_query(self, text: str) -> bytes:
        self._must_be_comparable()
        return self._embed(text)

    def embed_passages(self, texts: Sequence[str]) -> list[bytes]:
        """Embed all or none: the first text that fails ends the call."""
        self._must_be_comparable()
        with ThreadPoolExecutor(min(max(len(texts), 1), MAX_THREADS)) as pool:
            tasks = [pool.submit(self._embed, text) for text in texts]
            try:
                return [task.result() for task in tasks]
            finally:
                pool.shutdown(cancel_futures=True)

    def _must_be_comparable(self) -> None:
        """Refuse to embed without a calibration: the vector could not be used, but it would be paid for."""
        if self._calibrations is not None:
            _ = self.calibration

    def _embed(self, text: str) -> bytes:
        body = {"inputText": _fit_to_model(text), "dimensions": DIMENSIONS, "normalize": True}
        try:
            answer = self._client.invoke_model(
                modelId=MODEL_ID, contentType="application/json", accept="application/json", body=json.dumps(body)
            )
            with closing(answer["body"]) as stream:
                content = stream.read()
        except SDK_ERRORS as error:
            raise _translated(error) from error
        return _vector(content)


def _fit_to_model(text: str) -> str:
    """Give what the model sees of a text: Unicode, not empty, not too long."""
    cut = text.encode("utf-8", "replace")[:MAX_BYTES].decode("utf-8", "ignore")
    return cut if cut.strip() else NOTHING


def _vector(content: bytes) -> bytes:
    """Give the normalised vector of an answer, as float32 little-endian bytes."""
    try:
        answer: Any = json.loads(content)
        numbers = [float(number) for number in answer["embedding"]]
    except (ValueError, TypeError, KeyError):
        raise EmbeddingRetryable(f"{MODEL_TAG}: an answer that holds no vector") from None
    if len(numbers) != DIMENSIONS:
        raise EmbeddingUnavailable(f"{MODEL_TAG}: a vector of {len(numbers)} dimensions")
    length = math.hypot(*numbers)
    if not length or not math.isfinite(length):
        raise EmbeddingRetryable(f"{MODEL_TAG}: a vector without a direction")
    return struct.pack(f"<{DIMENSIONS}f", *(number / length for number in numbers))


def _translated(error: Exception) -> EmbeddingRetryable | EmbeddingUnavailable:
    message = f"{MODEL_TAG}: {reason(error)}"
    if isinstance(error, ClientError):
        status = http_status(error)
        passing = status >= 500 or status in PASSING_STATUSES
        return EmbeddingRetryable(message) if passing else EmbeddingUnavailable(message)
    return EmbeddingUnavailable(message) if isinstance(error, WITHOUT_CREDENTIALS) else EmbeddingRetryable(message)
