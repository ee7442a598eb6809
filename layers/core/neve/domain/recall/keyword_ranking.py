"""One keyword ranking from the index's answer and from rows that are too new to be in it.

BM25 scores of rows outside the index do not exist, so a new row is placed by its share of the query's terms: behind as
many indexed hits as match a larger share, that is, before the hits of an equal share. Indexed hits keep their BM25
order, and between new rows the larger share comes first, then the newer row, then the smaller id."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass


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
