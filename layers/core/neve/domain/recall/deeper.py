"""The order of the first candidates, once a cross-encoder has read them (docs/rules/recall.md#deeper)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from neve.domain.recall.weighted_counts import gate

READ = 30
"""Candidates, the best of the linear order (*measured*: docs/retrieval.md#deeper)."""


def weight_among(lengths: Sequence[int]) -> float:
    """Return the weight of the standardised score beside the standardised linear one: 1 among short messages, 0 where
    half are pages, of which the model reads only the beginning (*measured*). ``lengths``: index terms of the whole
    messages."""
    return max(0.0, 2 * math.fsum(map(gate, lengths)) / len(lengths) - 1) if lengths else 0.0


def deeper_order(linear: Sequence[float], deep: Sequence[float], weight: float = 1.0) -> list[int]:
    """Return the places of the candidates, best first: by the sum of both scores, each in its standard deviations.
    ``linear`` is in its own order, which ties keep; where all are alike in one, the other decides."""
    total = [a + weight * b for a, b in zip(_standardised(linear), _standardised(deep), strict=True)]
    return sorted(range(len(total)), key=lambda place: -total[place])


def _standardised(values: Sequence[float]) -> list[float]:
    mean = math.fsum(values) / len(values) if values else 0.0
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values)) if values else 0.0
    return [round((value - mean) / deviation, 9) if deviation else 0.0 for value in values]
