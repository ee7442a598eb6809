"""Searches a segment in memory: a query in stored terms, a vector of length 1, a leg under a filter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from neve.adapters.segments.analysis import stored_terms
from neve.adapters.segments.search_legs import TermQuery, keyword_leg, vector_leg
from neve.adapters.segments.segment import Snapshot
from neve.adapters.segments.segment_filter import admitted
from neve.domain.indexing.passage import Passage
from neve.domain.recall.query import QueryTerms
from neve.ports.search import Candidate, FoundByWords, IndexModel, SearchFilter

_UNIT = 1e-6

TextOf = Callable[[int], str]
"""Gives the text of the passage of a row."""


def by_words(snapshot: Snapshot, asked: QueryTerms, text_of: TextOf, where: SearchFilter, depth: int) -> FoundByWords:
    """Search with the keyword leg. Raises what ``text_of`` raises, which is asked for phrases only."""

    def agrees_in_phrases(row: int) -> bool:
        return asked.agrees_in_phrases(text_of(row)) if asked.phrases or asked.excluded_phrases else True

    query = TermQuery(
        groups=[stored_terms(group) for group in asked.groups],
        min_match=asked.min_match,
        required=stored_terms(asked.phrase_terms),
        excluded=stored_terms(asked.excluded),
        accepts=agrees_in_phrases,
    )
    mask = admitted(snapshot, where)
    among = int(mask.sum())  # the leg takes out of it what holds no term
    return FoundByWords(keyword_leg(snapshot, query, mask, depth), among)


def by_vector(snapshot: Snapshot, unit: NDArray[np.float32], where: SearchFilter, depth: int) -> list[Candidate]:
    """Search with the vector leg, for a vector of length 1."""
    return vector_leg(snapshot, unit, admitted(snapshot, where), depth)


def unit_vector(model: IndexModel, vector: bytes) -> NDArray[np.float32]:
    """Give the vector at length 1. Raises ValueError for other dimensions, and for one without a direction."""
    dimensions = model.dimensions
    if not dimensions or len(vector) != 4 * dimensions:
        raise ValueError(f"a vector of {len(vector)} bytes in an index of {dimensions} dimensions")
    values: NDArray[np.float32] = np.frombuffer(vector, "<f4").astype(np.float32)
    length = float(np.linalg.norm(values))
    if not 0 < length < float("inf"):
        raise ValueError("a vector without a direction")
    return values if abs(length - 1) < _UNIT else values / np.float32(length)


def with_unit_vector(model: IndexModel, passage: Passage) -> Passage:
    """Give the passage with its vector, if it has one, at length 1. Raises ValueError as ``unit_vector`` does."""
    return passage if passage.vector is None else replace(passage, vector=unit_vector(model, passage.vector).tobytes())
