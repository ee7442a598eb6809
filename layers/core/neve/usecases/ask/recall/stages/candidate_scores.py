"""Work out once what the ranking needs to know of a row and the query: the share of the query's terms that a passage
holds, and the row's priors."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from neve.domain.recall.fusion import (
    NEUTRAL_IMPORTANCE,
    QUOTED_PRIOR,
    effective_importance,
    importance_prior,
    kind_prior,
    priors,
    recency_prior,
)
from neve.domain.recall.query_terms import QueryTerms
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
