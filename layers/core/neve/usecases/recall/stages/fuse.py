"""From two legs and the rows behind them to one order (docs/rules/recall.md#fusion)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from neve.domain.recall.keyword_ranking import Placed, keyword_ranking
from neve.domain.recall.query_terms import share_of_terms
from neve.domain.records import UserHead
from neve.ports import Candidate, Item
from neve.usecases.recall.command import ResolvedRequest
from neve.usecases.recall.dropped import CHANGED, REPEATS, Dropped, LeftOut
from neve.usecases.recall.recall_rows import Hidden, RecallRow, read_row
from neve.usecases.recall.stages.gate import Gated
from neve.usecases.recall.stages.hydrate import Hydrated
from neve.usecases.recall.stages.legs import Reading
from neve.usecases.recall.stages.rank_candidates import Match, Ranked, rank_candidates, without_repeats
from neve.usecases.recall.stages.rerank import reranked


@dataclass(frozen=True, slots=True)
class Ranking:
    """``ranked``: best first."""

    ranked: Sequence[Ranked]
    dropped: tuple[Dropped, ...]


def new_candidates(
    request: ResolvedRequest, seen: UserHead, out: LeftOut, items: Iterable[Item]
) -> tuple[list[str], list[Dropped]]:
    """Of the rows that are too new for the index, the ``depth`` that match most: more cannot be in the ranking."""
    placed: list[Placed] = []
    dropped: list[Dropped] = []
    for item in items:
        row = read_row(item, seen, request.where)
        if isinstance(row, Hidden):
            continue
        share = _best_passage(request, row).share
        if share and (reason := out.reason(row.id, row.fingerprint)):
            dropped.append(Dropped(row.id, reason))
        elif share:
            placed.append(Placed(row.id, share, row.written_at))
    return keyword_ranking((), placed)[: request.depth], dropped


def fuse(
    request: ResolvedRequest, reading: Reading, gated: Gated, rows: Hydrated, new: Sequence[str], now: datetime
) -> Ranking:
    """``new``: rows that may be too new for the index; they compete in the keyword leg where it completed. ``rows``
    holds every candidate of ``gated`` and every one of them."""
    dropped: list[Dropped] = []
    vector = None
    if gated.vector is not None:
        vector = _matches(request, gated.vector, rows, reading.similarity)
        dropped += _unmatched("vector", gated.vector, rows)
    lexical = None
    if gated.lexical is not None:
        competing = [*new, *(c.item_id for c in gated.found if _state(c, rows) == CHANGED)]
        lexical = _by_words(request, gated.lexical, rows, competing)
        dropped += _unmatched("lexical", gated.lexical, rows)
    visible = {i: row for i, row in rows.items() if isinstance(row, RecallRow)}
    ranked = rank_candidates(visible, lexical, vector, now, time_bound=request.time_bound)
    if request.rerank and lexical is not None and gated.near is not None:
        ranked = reranked(request.vector_text, ranked, {c.item_id: reading.nearness(c) for c in gated.near})
    kept, repeats = without_repeats(ranked)
    return Ranking(kept, (*dropped, *(Dropped(one.row.id, REPEATS) for one in repeats)))


def _state(candidate: Candidate, rows: Hydrated) -> str | None:
    """Why the row behind a candidate is not the one that was found; None when it is."""
    row = rows[candidate.item_id]
    if isinstance(row, Hidden):
        return row.reason
    current = candidate.version == row.version and candidate.n < len(row.passages)
    return None if current else CHANGED


def _unmatched(leg: str, candidates: Iterable[Candidate], rows: Hydrated) -> list[Dropped]:
    states = ((candidate, _state(candidate, rows)) for candidate in candidates)
    return [Dropped(c.item_id, state, {leg: c.score}) for c, state in states if state is not None]


def _matches(
    request: ResolvedRequest,
    candidates: Iterable[Candidate],
    rows: Hydrated,
    similarity: Callable[[Candidate], float] | None = None,
) -> dict[str, Match]:
    """The candidates that a row of the same rev stands behind, in their order. ``similarity``: of the vector leg."""
    matches = {}
    for candidate in candidates:
        row = rows[candidate.item_id]
        if isinstance(row, RecallRow) and _state(candidate, rows) is None:
            share = share_of_terms(request.shaped, row.passages[candidate.n].text)
            calibrated = similarity(candidate) if similarity else None
            matches[candidate.item_id] = Match(candidate.n, share, candidate.score, calibrated)
    return matches


def _by_words(
    request: ResolvedRequest, candidates: Iterable[Candidate], rows: Hydrated, others: Iterable[str]
) -> dict[str, Match]:
    """The keyword leg: what the index found, and by their share of the query's terms the rows that are too new."""
    matches = _matches(request, candidates, rows)
    indexed = [Placed(identifier, match.share) for identifier, match in matches.items()]
    placed = []
    for identifier in dict.fromkeys(others):
        row = rows[identifier]
        if identifier in matches or isinstance(row, Hidden):
            continue
        best = _best_passage(request, row)
        if best.share > 0:
            matches[identifier] = best
            placed.append(Placed(identifier, best.share, row.written_at))
    return {identifier: matches[identifier] for identifier in keyword_ranking(indexed, placed)[: request.depth]}


def _best_passage(request: ResolvedRequest, row: RecallRow) -> Match:
    shares = [share_of_terms(request.shaped, passage.text) for passage in row.passages]
    share = max(shares)
    return Match(shares.index(share), share)
