"""The order of the pack's global layer as a stored sort key (docs/rules/pack.md#rank).

``P · K · 0.5^((now - t) / H)`` and ``log2(P · K) + t / H`` give the same order for every ``now``, so the second one is
stored once and never refreshed. Ranks are whole multiples of 1e-10 half-lives, so that equal weights tie exactly; one
millisecond is 1.65e-9 half-lives."""

from __future__ import annotations

from collections.abc import Mapping
from math import log2

from neve.domain.records.memories import Kind, Priority
from neve.domain.times import epoch_ms

HALF_LIFE_MS = 7 * 24 * 60 * 60 * 1000
"""H: seven days (docs/rules/pack.md#rank)."""
PRIORITY_WEIGHT: Mapping[Priority, float] = {Priority.HIGH: 3.0, Priority.MEDIUM: 2.0, Priority.LOW: 1.0}
"""P (docs/rules/pack.md#rank)."""
KIND_BIAS: Mapping[Kind, float] = {Kind.REFLECTION: 1.3, Kind.MANUAL: 100.0, Kind.NOTE: 1.5}
"""K (docs/rules/pack.md#rank); every other kind has 1.0."""

RANK_UNITS = 10**10
"""A rank is a whole number of these parts of a half-life."""


def pack_rank(kind: Kind, priority: Priority, last_used_at: str) -> float:
    """Give ``log2(P · K) + last_used_at / H`` in half-lives since 1970, a multiple of 1e-10."""
    weight = PRIORITY_WEIGHT[priority] * KIND_BIAS.get(kind, 1.0)
    return (round(log2(weight) * RANK_UNITS) + epoch_ms(last_used_at) * RANK_UNITS // HALF_LIFE_MS) / RANK_UNITS
