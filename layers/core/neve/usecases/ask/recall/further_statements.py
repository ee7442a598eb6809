"""Other statements of a memory among the hits that share a word with the query (docs/rules/recall.md#answer).

A pass writes all that it has noted into one row, and a row is one hit: of two statements that answer, one is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from neve.domain.indexing.passage import Passage
from neve.domain.memories.text import statement_fingerprint
from neve.domain.recall.query import QueryTerms
from neve.domain.tokens import estimate
from neve.usecases.ask.recall.answer import FurtherStatement, Hit
from neve.usecases.ask.recall.recall_rows import RecallRow

MOST_FURTHER = 3
"""The most further statements of one hit: with three, memories alone find more among ten than BM25 over the messages
(docs/retrieval.md)."""
FURTHER_TOKENS = 150
"""Tokens of the further statements of one hit (*chosen*): three statements have 65 on average, and one may have 500."""


def with_further_statements(
    hits: Sequence[Hit],
    rows: Mapping[str, RecallRow],
    asked: QueryTerms,
    tokens: int,
    holds: Callable[[RecallRow, int], bool] = lambda _row, _n: True,
) -> list[Hit]:
    """Return the hits in their order, memories with up to ``MOST_FURTHER`` other statements of their row that hold most
    of the query's terms, without what another hit shows. ``rows``: of the memories, by id; ``tokens``: of all
    statements that are added; ``holds``: the n-th passage of a row says nothing else."""
    shown = _Shown.of(hits, rows, holds)
    left = tokens
    extended = []
    for hit in hits:
        row = rows.get(hit.id)
        also = shown.take(hit, row, asked, min(left, FURTHER_TOKENS)) if row else ()
        left -= sum(estimate(one.text) for one in also)
        extended.append(replace(hit, also=also) if also else hit)
    return extended


@dataclass(frozen=True, slots=True)
class _Shown:
    """Holds what the answer shows already: utterances by place, statements by fingerprint."""

    places: frozenset[tuple[str, int]]
    prints: set[str]
    holds: Callable[[RecallRow, int], bool] = lambda _row, _n: True

    @classmethod
    def of(cls, hits: Sequence[Hit], rows: Mapping[str, RecallRow], holds: Callable[[RecallRow, int], bool]) -> _Shown:
        places = frozenset((one.session_id, one.seq) for one in hits if one.session_id and one.seq is not None)
        statements = (rows[one.id].passages[one.n].text for one in hits if one.id in rows)
        return cls(places, {statement_fingerprint(text) for text in statements}, holds)

    def take(self, hit: Hit, row: RecallRow, asked: QueryTerms, tokens: int) -> tuple[FurtherStatement, ...]:
        """Take further statements of a hit's row until one has no room or there are ``MOST_FURTHER``; of equal ones the
        first of the row. From then on they count as shown."""
        taken: list[FurtherStatement] = []
        for n, one in self._matching(hit, row, asked):
            fingerprint = statement_fingerprint(one.text)
            if fingerprint in self.prints:
                continue
            tokens -= estimate(one.text)
            if tokens < 0 or len(taken) == MOST_FURTHER:
                break
            taken.append(FurtherStatement(n, one.text, one.seq_from, one.seq_to, row.trust_of(n)))
            self.prints.add(fingerprint)
        return tuple(taken)

    def _matching(self, hit: Hit, row: RecallRow, asked: QueryTerms) -> Iterator[tuple[int, Passage]]:
        """Yield the other statements with their places, those first that hold most of the query's terms."""
        others = [(n, one) for n, one in enumerate(row.passages) if n != hit.n]
        shares = {n: asked.share_of(one.text) for n, one in others}
        for n, one in sorted(others, key=lambda other: -shares[other[0]]):
            if shares[n] and not self._said(one) and self.holds(row, n):
                yield n, one

    def _said(self, one: Passage) -> bool:
        """Say whether a message that the statement was made from is a hit. The loop goes over the hits, which are few;
        an imported row may be made from a thousand million messages."""
        first, last = one.seq_from, one.seq_to
        if first is None or last is None:
            return False
        return any(session == one.session_id and first <= seq <= last for session, seq in self.places)
