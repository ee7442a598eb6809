"""The order of the candidates: RRF of the legs, then the priors (docs/rules/recall.md#fusion,
docs/rules/recall.md#priors).

The rerank stage re-orders the result where utterances are among it (``rerank.py``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from neve.domain.memories.text import statement_fingerprint
from neve.domain.recall.fusion import (
    RRF_K,
    SCORE_DIGITS,
    Fused,
    effective_importance,
    importance_prior,
    kind_prior,
    priors,
    recency_prior,
    reciprocal_sum,
    rrf,
    shadow_score,
)
from neve.usecases.recall.recall_rows import RecallRow

NEUTRAL_IMPORTANCE = 3
"""Of rows that carry none (events)."""


class Match(NamedTuple):
    """How a row matched: the passage that stands for it in each leg, and with what score. ``share``: of query terms in
    the passage; ``length``: index terms of its whole message. The score is None for a row that is too new for the
    index."""

    n: int
    share: float
    length: int
    score: float | None = None
    calibrated: float | None = None


class Ranked(NamedTuple):
    """A row in its place. ``components`` are those of the answer. ``share``: of query terms in the passage ``n``;
    ``length``: index terms of its whole message. ``shown_rrf``: of the legs that found the passage ``n``, without a leg
    that found another one of the same row."""

    row: RecallRow
    n: int
    final: float
    components: Mapping[str, float]
    share: float
    length: int
    shown_rrf: float

    def placed(self, final: float, made_by: Mapping[str, float]) -> Ranked:
        """With another score, and what made it among its components."""
        joined = {**self.components, **made_by}
        return Ranked(self.row, self.n, final, joined, self.share, self.length, self.shown_rrf)


def rank_candidates(
    rows: Mapping[str, RecallRow],
    lexical: Mapping[str, Match] | None,
    vector: Mapping[str, Match] | None,
    now: datetime,
    *,
    time_bound: bool,
) -> list[Ranked]:
    """Best first; ties by best single rank, then id. Each leg is in its own order."""
    legs = {name: list(leg) for name, leg in (("lexical", lexical), ("vector", vector)) if leg is not None}
    fused = rrf(legs)
    best = {item.id: min(item.ranks.values()) for item in fused}
    ranked = [_ranked(rows[item.id], item, lexical or {}, vector or {}, now, time_bound) for item in fused]
    return sorted(ranked, key=lambda one: (-one.final, best[one.row.id], one.row.id))


def without_repeats(ranked: Sequence[Ranked]) -> tuple[list[Ranked], list[Ranked]]:
    """Of rows with the same text, and of memories that matched by the same statement (a fact and the line that it was
    drawn from), the best placed one, and the others."""
    seen: set[str] = set()
    distinct: list[Ranked] = []
    repeats: list[Ranked] = []
    for one in ranked:
        prints = {
            one.row.fingerprint,
            *([statement_fingerprint(one.row.passages[one.n].text)] if one.row.memory else []),
        }
        (distinct if prints.isdisjoint(seen) else repeats).append(one)
        seen |= prints
    return distinct, repeats


def _ranked(
    row: RecallRow,
    fused: Fused,
    lexical: Mapping[str, Match],
    vector: Mapping[str, Match],
    now: datetime,
    time_bound: bool,
) -> Ranked:
    words, near = lexical.get(fused.id), vector.get(fused.id)
    rank_lex, rank_vec = fused.ranks.get("lexical"), fused.ranks.get("vector")
    shown = _shown(words, rank_lex, near, rank_vec)
    weights = _priors(row, now, time_bound)
    final = round(fused.score * weights["prior"], SCORE_DIGITS)
    components: dict[str, float] = {"rrf": fused.score, **weights, "final": final}
    shown_rrf = fused.score
    if near and rank_vec:
        components |= {"rank_vec": rank_vec, "sim_raw": near.score or 0.0, "sim_cal": near.calibrated or 0.0}
    if words and rank_lex:
        components["rank_lex"] = rank_lex
        if words.score is not None:
            components["bm25"] = words.score
        if near and rank_vec and near.n != words.n:
            shown_rrf = reciprocal_sum(RRF_K, rank_lex if shown is words else rank_vec)
    components["weighted_70_30"] = shadow_score((near and near.calibrated) or 0.0, shown.share)
    return Ranked(row, shown.n, final, components, shown.share, shown.length, shown_rrf)


def _shown(words: Match | None, rank_lex: int | None, near: Match | None, rank_vec: int | None) -> Match:
    """The passage of the leg that places the row better; of equal ones that of the keyword leg, which has the words."""
    if words and rank_lex and not (rank_vec and rank_vec < rank_lex):
        return words
    if near is None:
        raise ValueError("a candidate that no leg found")
    return near


def _priors(row: RecallRow, now: datetime, time_bound: bool) -> dict[str, float]:
    passage, memory = row.passages[0], row.memory
    item = memory or row.document
    stored = item.importance if item else NEUTRAL_IMPORTANCE
    last_used_at = memory.last_used_at if memory else passage.observed_at
    recency = recency_prior(passage.observed_at, now, time_bound=time_bound)
    importance = importance_prior(effective_importance(stored, passage.kind, last_used_at, now))
    kind = kind_prior(passage.kind)
    return {
        "recency": recency,
        "importance": importance,
        "kind": kind,
        "prior": priors(recency, importance, kind),
    }
