"""Vectors for texts, from an embedder that may fail: attempts, back-off, and one bad text that must not fail others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from neve.ports.errors import EmbeddingRetryable, EmbeddingUnavailable
from neve.ports.models import Embedder
from neve.ports.runtime import Clock
from neve.usecases.work.indexing.vectors.worker_time import NoTimeLeft

BATCH = 16
"""Texts of one call: what a worker does between two looks at its time, 3 s for the longest ones (*chosen*)."""
ATTEMPTS = 3
FIRST_PAUSE_S, MAX_PAUSE_S = 0.5, 60.0
"""The pause before the second attempt, doubled before each later one."""


@dataclass
class Embedded:
    """The result of an embedding. ``vectors`` by fingerprint. ``unavailable``: why no text at all can be embedded until
    an operator changes something. ``failed``: the fingerprints of texts that a later attempt may embed; ``late``: of
    those that another worker will, because this one has no time left."""

    vectors: dict[str, bytes] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)
    late: set[str] = field(default_factory=set)
    unavailable: str | None = None


def embed_texts(embedder: Embedder, texts: Mapping[str, str], clock: Clock) -> Embedded:
    """Embed the texts, batch by batch. ``texts`` by fingerprint. Never raises what an embedder may raise."""
    result = Embedded()
    prints = list(texts)
    for start in range(0, len(prints), BATCH):
        part = {fingerprint: texts[fingerprint] for fingerprint in prints[start : start + BATCH]}
        try:
            result.vectors |= _with_attempts(embedder, part, clock)
        except EmbeddingUnavailable as error:
            result.unavailable = str(error)
            return result
        except EmbeddingRetryable:
            _each_alone(embedder, part, result)
        except NoTimeLeft:
            result.late |= set(prints[start:])
            return result
    return result


def _with_attempts(embedder: Embedder, texts: Mapping[str, str], clock: Clock) -> dict[str, bytes]:
    wait_s = FIRST_PAUSE_S
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return dict(zip(texts, embedder.embed_passages(list(texts.values())), strict=True))
        except EmbeddingRetryable:
            if attempt == ATTEMPTS:
                raise
        clock.sleep(wait_s)
        wait_s = min(2 * wait_s, MAX_PAUSE_S)
    raise AssertionError("the last attempt returns or raises")


def _each_alone(embedder: Embedder, texts: Mapping[str, str], result: Embedded) -> None:
    """Embed each text in one attempt, so that the text which breaks its batch fails by itself."""
    if len(texts) == 1:
        result.failed |= texts.keys()
        return
    for fingerprint, text in texts.items():
        try:
            [result.vectors[fingerprint]] = embedder.embed_passages([text])
        except (EmbeddingRetryable, EmbeddingUnavailable, NoTimeLeft):
            result.failed.add(fingerprint)
