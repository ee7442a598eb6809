"""Keyword recall only: there is no embedder, and every question for a vector says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from neve.ports.errors import EmbeddingUnavailable
from neve.ports.models import Calibration
from neve.ports.search import IndexModel

MODEL = IndexModel("none", 0)


class NoEmbedder:
    """The embedder ``none``: zero dimensions, nothing to compare."""

    @property
    def model(self) -> IndexModel:
        return MODEL

    @property
    def calibration(self) -> Calibration:
        """Give a calibration that is never applied: there is no similarity to calibrate."""
        return Calibration(random_median=0.0, paraphrase_median=1.0)

    @property
    def languages(self) -> tuple[str, ...]:
        return ()

    def embed_query(self, text: str) -> NoReturn:
        raise EmbeddingUnavailable(f"no embedder is configured: no vector for a query of {len(text)} characters")

    def embed_passages(self, texts: Sequence[str]) -> NoReturn:
        raise EmbeddingUnavailable(f"no embedder is configured: no vectors for {len(texts)} texts")
