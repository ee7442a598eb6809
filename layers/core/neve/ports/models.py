"""The embedder, which makes vectors, and the language model."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from neve.domain.languages import ANY_LANGUAGE as ANY_LANGUAGE
from neve.domain.tokens import estimate
from neve.ports.search import IndexModel


@dataclass(frozen=True, slots=True)
class Calibration:
    """Raw cosine medians of random pairs and of known paraphrases for one model: they map to 0.3 and 0.9."""

    random_median: float
    paraphrase_median: float


class Embedder(Protocol):
    """Vectors are L2-normalised float32 little-endian bytes. Raises EmbeddingUnavailable or EmbeddingRetryable."""

    @property
    def model(self) -> IndexModel: ...

    @property
    def calibration(self) -> Calibration: ...

    @property
    def languages(self) -> tuple[str, ...]:
        """List the languages whose meaning it knows, as ISO 639-1 codes, or ``ANY_LANGUAGE``; nothing for none."""

    def embed_query(self, text: str) -> bytes: ...

    def embed_passages(self, texts: Sequence[str]) -> list[bytes]: ...


@dataclass(frozen=True, slots=True)
class ModelFile:
    """``sha256`` of its bytes, in hex: what has another one is not it."""

    name: str
    sha256: str


class ModelFiles(Protocol):
    """Files of models that a stage may do without."""

    def path(self, file: ModelFile) -> Path:
        """Return where the file lies on this machine, brought there if need be, its sum compared. Raises ModelMissing,
        EmbeddingUnavailable (it is damaged), StoreUnavailable."""


class CrossEncoder(Protocol):
    """Reads a question and a text together: how well the one answers the other. Raises ModelMissing,
    EmbeddingUnavailable, EmbeddingRetryable, StoreUnavailable."""

    def load(self) -> None:
        """Load the model once; other callers wait for it."""

    def scores(self, question: str, texts: Sequence[str], still_wanted: Callable[[], bool]) -> list[float]:
        """Score each text; larger is better, and there is no scale to it. A score that no caller wants any more ends
        with EmbeddingRetryable."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One forced tool call. ``content``: blocks ``{"type": "text", "text"}`` or
    ``{"type": "image", "media_type", "data": base64 | "url"}`` in order. ``within_s``: seconds that the call may take
    with all its attempts; later no caller is there to take the answer."""

    system: str
    content: tuple[Mapping[str, Any], ...]
    tool_name: str
    tool_description: str
    tool_schema: Mapping[str, Any]
    max_tokens: int
    purpose: str
    within_s: float = field(default=math.inf, compare=False)


def constant_tokens(request: ModelRequest) -> int:
    """Estimate what comes first and is the same in every request of a purpose: the tool and the system prompt."""
    schema = json.dumps(request.tool_schema)
    return sum(map(estimate, (request.tool_name, request.tool_description, schema, request.system)))


def request_name(request: ModelRequest) -> str:
    """Name a request by what it shows the model and asks of it: an answer to another one never passes for its own."""
    asked: list[Any] = [request.purpose, request.system, list(map(dict, request.content)), request.tool_name]
    asked += [request.tool_description, dict(request.tool_schema)]
    return sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    tool_input: Mapping[str, Any]
    model: str
    usage: Mapping[str, int] = field(default_factory=dict)
    """``input, cache_read, cache_write, output`` tokens; of those that were paid at half the price ``batch_input,
    batch_output`` once more."""


class LanguageModel(Protocol):
    def call_tool(self, request: ModelRequest) -> ModelAnswer:
        """Ask the model for one forced tool call. Raises ModelUnavailable (also AnswerCutOff, AnswerOutOfForm),
        ModelRefused or ContentRefused, with the usage of an answer that was given."""


class MessageBatches(Protocol):
    """Has requests answered within a day, at half the price. Raises ModelUnavailable, ModelRefused."""

    def submit(self, requests: Sequence[ModelRequest]) -> str:
        """Hand requests in, no two of the same ``request_name``, and give the id of the batch."""

    def answer_of(self, batch: str, request: ModelRequest) -> ModelAnswer | None:
        """Give the answer to a request of the batch; None where there is none: it expired, failed or was cancelled, or
        no such request was handed in. Raises as ``call_tool`` for an answer that cannot be used, NotYetAnswered."""

    def delete(self, batch: str) -> None:
        """Delete the batch with its answers, if there is any. Raises NotYetAnswered for one that has to be cancelled
        first: call again later."""
