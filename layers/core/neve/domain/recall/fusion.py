"""Fuse the ranks of the recall legs into one order: RRF, priors, calibration (docs/rules/recall.md#fusion)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, Protocol

from neve.domain.ids import is_event_id
from neve.domain.times import parse


def within_depth(ids: Iterable[str], depth: int) -> list[str]:
    """Keep of a leg, best first, the best ``depth`` utterances, and other items that are among the first ``depth``."""
    utterances = 0
    within: list[str] = []
    for place, identifier in enumerate(ids, start=1):
        if not is_event_id(identifier):
            if place <= depth:
                within.append(identifier)
        elif utterances < depth:
            utterances += 1
            within.append(identifier)
        if utterances == depth and place >= depth:
            break
    return within


def places_of(ids: Iterable[str]) -> dict[str, int]:
    """Return the place of each id, from 1: of an utterance among the utterances, of anything else in the whole list. An
    id that is named twice counts where it stands first."""
    found: dict[str, int] = {}
    utterances = 0
    for place, identifier in enumerate(dict.fromkeys(ids), start=1):
        if not is_event_id(identifier):
            found[identifier] = place
        else:
            utterances += 1
            found[identifier] = utterances
    return found


@dataclass(frozen=True, slots=True)
class Placed:
    """A row to be placed. ``share`` of query terms in the row's own matched passage. ``at``: when it was written (new
    rows)."""

    id: str
    share: float
    at: str = ""


def keyword_ranking(indexed: Sequence[Placed], new: Sequence[Placed]) -> list[str]:
    """Merge both lists into one ranking of ids, best first. ``indexed`` is in BM25 order; no id is in both."""
    by_id = sorted(new, key=lambda row: row.id)
    by_age = sorted(by_id, key=lambda row: row.at, reverse=True)
    waiting = sorted(by_age, key=lambda row: row.share, reverse=True)
    shares = sorted(hit.share for hit in indexed)
    places = [len(shares) - bisect_right(shares, row.share) for row in waiting]
    ranking: list[str] = []
    taken = 0
    for position in range(len(indexed) + 1):
        while taken < len(waiting) and places[taken] == position:
            ranking.append(waiting[taken].id)
            taken += 1
        if position < len(indexed):
            ranking.append(indexed[position].id)
    return ranking


RRF_K = 60
SCORE_DIGITS = 12
MEASURED_DIGITS = 6
"""Digits shown of what an engine measured in single precision: further digits are noise, and a ledger row of a
hundred candidates would be half as large again."""
CACHED_SUMS = 10_000
"""All pairs of ranks of two legs of 100; exact arithmetic takes 10 µs a sum."""
RECENT = timedelta(days=7)
RECENCY_BOOST = 1.2
PRIOR_CAP = 1.35
"""The most that all priors together may multiply a score by (docs/rules/recall.md#priors)."""
IMPORTANCE_STEP = 0.05
NEUTRAL_IMPORTANCE = 3
IMPORTANCE_DECAY = timedelta(days=90)
"""A row without a citation for this long counts as one step less important."""
CALIBRATED_RANDOM = 0.3
CALIBRATED_PARAPHRASE = 0.9

_KIND_PRIOR = {"manual": 1.25, "note": 1.1, "reflection": 1.05}
_NEVER_LESS_IMPORTANT = frozenset({"fact", "document"})


class Medians(Protocol):
    """The two medians that ``ports.Calibration`` measures for an embedding model."""

    @property
    def random_median(self) -> float: ...

    @property
    def paraphrase_median(self) -> float: ...


class Fused(NamedTuple):
    """An item with its rank, from 1, in each leg that found it. ``score`` is rounded to ``SCORE_DIGITS``."""

    id: str
    ranks: Mapping[str, int]
    score: float


def rrf(legs: Mapping[str, Sequence[str]], k: int = RRF_K) -> list[Fused]:
    """Fuse ranked item ids by reciprocal rank (RRF), best first: ``Σ 1/(k + rank)`` summed exactly, ties by best single
    rank, then id. ``leg_places.places_of`` says which rank an id has in a leg."""
    ranks: dict[str, dict[str, int]] = {}
    for leg, ids in legs.items():
        for identifier, rank in places_of(ids).items():
            ranks.setdefault(identifier, {})[leg] = rank
    fused = [Fused(identifier, found, reciprocal_sum(k, *found.values())) for identifier, found in ranks.items()]
    return sorted(fused, key=lambda item: (-item.score, min(item.ranks.values()), item.id))


@lru_cache(maxsize=CACHED_SUMS)
def reciprocal_sum(k: int, *ranks: int) -> float:
    """Return ``Σ 1/(k + rank)``, summed exactly and rounded to ``SCORE_DIGITS``."""
    exact = sum((Fraction(1, k + rank) for rank in ranks), Fraction(0))
    return float(round(exact, SCORE_DIGITS))


def priors(recency: float, importance: float, kind: float) -> float:
    """Multiply the priors, to at most ``PRIOR_CAP``."""
    return min(PRIOR_CAP, recency * importance * kind)


QUOTED_PRIOR = 1.2
"""*Chosen*: prior of a row that says in the same words what a message quotes, on top of the others."""


def recency_prior(observed_at: str, now: datetime, *, time_bound: bool) -> float:
    """Return 1.2 for what was observed less than 7 days ago, unless the query has a time bound of its own; else 1."""
    fresh = now - parse(observed_at) < RECENT
    return RECENCY_BOOST if fresh and not time_bound else 1.0


def effective_importance(importance: int, kind: str, last_used_at: str, now: datetime) -> int:
    """Return ``importance`` less one step for every full 90 days without a citation, at least 1; facts and documents
    keep theirs. ``kind`` is a memory kind, ``document`` or ``event``; an event is always neutral. Never stored."""
    if kind == "event":
        return NEUTRAL_IMPORTANCE
    if kind in _NEVER_LESS_IMPORTANT:
        return importance
    steps = max(0, (now - parse(last_used_at)) // IMPORTANCE_DECAY)
    return max(1, importance - steps)


def importance_prior(effective: int) -> float:
    """Return 0.90 to 1.10 for an effective importance of 1 to 5."""
    return 1 + IMPORTANCE_STEP * (effective - NEUTRAL_IMPORTANCE)


def kind_prior(kind: str) -> float:
    """Return the prior of a kind: manual 1.25, note 1.1, reflection 1.05, anything else 1.0."""
    return _KIND_PRIOR.get(kind, 1.0)


def calibrate(raws: Iterable[float], medians: Medians) -> list[float]:
    """Bring raw cosines onto a scale that means the same for every embedding model: linear through the medians of
    random pairs (0.3) and paraphrases (0.9), clamped to 0..1. Raises ValueError when the medians are not in that
    order."""
    width = medians.paraphrase_median - medians.random_median
    if width <= 0:
        raise ValueError(f"paraphrase median {medians.paraphrase_median} must be above {medians.random_median}")
    slope = (CALIBRATED_PARAPHRASE - CALIBRATED_RANDOM) / width
    low = medians.random_median
    return [min(1.0, max(0.0, CALIBRATED_RANDOM + (raw - low) * slope)) for raw in raws]


def shadow_score(calibrated_similarity: float, share: float) -> float:
    """Return ``weighted_70_30``: 0.7 · calibrated similarity + 0.3 · share of query terms matched. Logged for
    comparison, never used to order."""
    return round(0.7 * calibrated_similarity + 0.3 * share, SCORE_DIGITS)
