"""The order of the candidates: RRF of the legs, then the priors (docs/rules/recall.md#fusion,
docs/rules/recall.md#priors).

The rerank stage re-orders the result where utterances are among it (``rerank.py``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from neve.domain.memories.text import statement_fingerprint
from neve.domain.recall.fusion import (
    NEUTRAL_IMPORTANCE,
    QUOTED_PRIOR,
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
from neve.domain.recall.query import QueryTerms
from neve.domain.records.memories import Status
from neve.usecases.ask.recall.recall_rows import RecallRow


@dataclass(frozen=True, slots=True)
class CandidateScores:
    """The shares and priors of one search's rows. ``now``: when the search began. ``time_bound``: the query has a time
    of its own, so that what is new is no better for it."""

    terms: QueryTerms
    now: datetime
    time_bound: bool
    _shares: dict[tuple[str, int, int], float] = field(default_factory=dict)
    _priors: dict[tuple[str, int], dict[str, float]] = field(default_factory=dict)

    def share_of(self, row: RecallRow, n: int) -> float:
        """Return the share of the query's terms that the ``n``-th passage holds."""
        place = (row.id, row.version, n)
        share = self._shares.get(place)
        if share is None:
            share = self._shares[place] = self.terms.share_of(row.passages[n].text)
        return share

    def best_passage(self, row: RecallRow) -> tuple[int, float]:
        """Return the number of the passage with the largest share of the query's terms, and that share."""
        shares = [self.share_of(row, n) for n in range(len(row.passages))]
        share = max(shares)
        return shares.index(share), share

    def priors_of(self, row: RecallRow) -> dict[str, float]:
        """Return the row's priors, which are components of the answer; ``prior`` is their product."""
        place = (row.id, row.version)
        found = self._priors.get(place)
        if found is None:
            found = self._priors[place] = self._prior_components(row)
        return found

    def _prior_components(self, row: RecallRow) -> dict[str, float]:
        passage, memory = row.passages[0], row.memory
        item = memory or row.document
        stored = item.importance if item else NEUTRAL_IMPORTANCE
        last_used_at = memory.last_used_at if memory else passage.observed_at
        recency = recency_prior(passage.observed_at, self.now, time_bound=self.time_bound)
        importance = importance_prior(effective_importance(stored, passage.kind, last_used_at, self.now))
        kind = kind_prior(passage.kind)
        found = {"recency": recency, "importance": importance, "kind": kind, "prior": priors(recency, importance, kind)}
        if any(self.terms.quotes(one.text) for one in row.passages):
            found |= {"quoted": QUOTED_PRIOR, "prior": found["prior"] * QUOTED_PRIOR}
        return found


class Match(NamedTuple):
    """The match of a row: the passage that stands for it in each leg, and its score. ``share``: of query terms in the
    passage; ``length``: index terms of its whole message. The score is None for a row that is too new for the index."""

    n: int
    share: float
    length: int
    score: float | None = None
    calibrated: float | None = None


class Ranked(NamedTuple):
    """A row in its place. ``components`` are those of the answer. ``share``: of query terms in the passage ``n``;
    ``length``: index terms of its whole message. ``shown_rrf``: of the legs that found the passage ``n``, without a leg
    that found another one of the same row. ``text``: of the passage, where not all of it is shown as it stands."""

    row: RecallRow
    n: int
    final: float
    components: Mapping[str, float]
    share: float
    length: int
    shown_rrf: float
    text: str | None = None

    def placed(self, final: float, made_by: Mapping[str, float]) -> Ranked:
        """Return it with another score, and with what made that score among its components."""
        joined = {**self.components, **made_by}
        return Ranked(self.row, self.n, final, joined, self.share, self.length, self.shown_rrf, self.text)

    def raised_to(self, final: float) -> Ranked:
        """Return it with the score of what it takes back. Its component ``corrects`` is what was added."""
        return self.placed(final, {"corrects": round(final - self.final + self.components.get("corrects", 0.0), 6)})


def rank_candidates(
    scores: CandidateScores,
    rows: Mapping[str, RecallRow],
    lexical: Mapping[str, Match] | None,
    vector: Mapping[str, Match] | None,
) -> list[Ranked]:
    """Rank the candidates, best first; ties by best single rank, then id. Each leg is in its own order."""
    legs = {name: list(leg) for name, leg in (("lexical", lexical), ("vector", vector)) if leg is not None}
    fused = rrf(legs)
    best = {item.id: min(item.ranks.values()) for item in fused}
    ranked = [_ranked(scores, rows[item.id], item, lexical or {}, vector or {}) for item in fused]
    return sorted(ranked, key=lambda one: (-one.final, best[one.row.id], one.row.id))


def without_repeats(ranked: Sequence[Ranked]) -> tuple[list[Ranked], list[Ranked]]:
    """Return the best placed of rows with the same text, and of memories that matched by the same statement (a fact and
    the line that it was drawn from); and, apart, the others. An active row goes before one that is not: a user who
    said, took back and said the same again must not be told that it no longer holds."""
    prints = [_prints(one) for one in ranked]
    stand = [_stands(one) for one in ranked]
    standing: set[str] = set()
    if not all(stand):
        standing.update(*(of_one for stands, of_one in zip(stand, prints, strict=True) if stands))
    seen: set[str] = set()
    distinct: list[Ranked] = []
    repeats: list[Ranked] = []
    for one, stands, of_one in zip(ranked, stand, prints, strict=True):
        if not stands and not standing.isdisjoint(of_one):
            repeats.append(one)
            continue
        (distinct if seen.isdisjoint(of_one) else repeats).append(one)
        seen.update(of_one)
    return distinct, repeats


def _stands(one: Ranked) -> bool:
    return one.row.passages[0].status == Status.ACTIVE


def _prints(one: Ranked) -> tuple[str, ...]:
    own = one.row.fingerprint
    return (own, statement_fingerprint(one.row.passages[one.n].text)) if one.row.memory else (own,)


def _ranked(
    scores: CandidateScores, row: RecallRow, fused: Fused, lexical: Mapping[str, Match], vector: Mapping[str, Match]
) -> Ranked:
    words, near = lexical.get(fused.id), vector.get(fused.id)
    rank_lex, rank_vec = fused.ranks.get("lexical"), fused.ranks.get("vector")
    shown = _shown(words, rank_lex, near, rank_vec, parts_of_one=row.memory is None)
    weights = scores.priors_of(row)
    final = round(fused.score * weights["prior"], SCORE_DIGITS)
    components: dict[str, float] = {"rrf": fused.score, **weights, "final": final}
    shown_rrf = fused.score
    if near and rank_vec:
        components["rank_vec"] = rank_vec
        components["sim_raw"], components["sim_cal"] = near.score or 0.0, near.calibrated or 0.0
    if words and rank_lex:
        components["rank_lex"] = rank_lex
        if words.score is not None:
            components["bm25"] = words.score
        if near and rank_vec and near.n != words.n:
            shown_rrf = reciprocal_sum(RRF_K, rank_lex if shown is words else rank_vec)
    components["weighted_70_30"] = shadow_score((near and near.calibrated) or 0.0, shown.share)
    return Ranked(row, shown.n, final, components, shown.share, shown.length, shown_rrf)


def _shown(
    words: Match | None, rank_lex: int | None, near: Match | None, rank_vec: int | None, *, parts_of_one: bool
) -> Match:
    """Choose the passage of the leg that places the row better; of equal ones that of the keyword leg, which has the
    words. Of ``parts_of_one`` text, a message or a document, that which has more of the query's terms: the leg may have
    found another part because all of them are about the same. The statements of a memory are each one for itself."""
    if parts_of_one and words and near and rank_lex and rank_vec and words.share != near.share:
        return max(words, near, key=lambda match: match.share)
    if words and rank_lex and not (rank_vec and rank_vec < rank_lex):
        return words
    if near is None:
        raise ValueError("a candidate that no leg found")
    return near
