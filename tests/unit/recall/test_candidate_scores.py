"""What is found out about a candidate while the query is being embedded is not found out again."""

from __future__ import annotations

from datetime import timedelta

import pytest

from neve.domain.indexing.passage import Source
from neve.domain.indexing.utterances import Utterance, utterance_passages
from neve.domain.recall.query import TextQuery
from neve.domain.recall.query_terms import QueryTerms, query_terms
from neve.domain.times import parse
from neve.ports.search import Candidate
from neve.usecases.ask.recall.recall_rows import GONE, Hidden, RecallRow
from neve.usecases.ask.recall.stages.candidate_scores import CandidateScores

AT = "2026-01-05T10:00:00.000Z"


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were compared with the query."""
    texts: list[str] = []
    share_of = QueryTerms.share_of

    def listened(terms: QueryTerms, text: str) -> float:
        texts.append(text)
        return share_of(terms, text)

    monkeypatch.setattr(QueryTerms, "share_of", listened)
    return texts


def test_what_was_looked_at_ahead_is_known(read: list[str]) -> None:
    scores, row = _scores(), _said("I row a green boat.")
    found = [_candidate(row.id, 0), _candidate("evt:s1:2", 0), _candidate(row.id, 1), _candidate("evt:s1:3", 0)]
    scores.look_ahead(found, {row.id: row, "evt:s1:3": Hidden(GONE)})
    assert len(read) == 1, "only what is there has a passage"
    assert scores.share_of(row, 0) == 0.5 and scores.best_passage(row) == (0, 0.5)
    assert scores.priors_of(row) == {"recency": 1.2, "importance": 1.0, "kind": 1.0, "prior": 1.2}
    assert len(read) == 1


def test_another_rev_is_read_anew(read: list[str]) -> None:
    scores = _scores()
    before, after = _said("I row a green boat."), _said("I row a red ship.", rev=2)
    scores.look_ahead([_candidate(before.id, 0)], {before.id: before})
    assert (scores.share_of(before, 0), scores.share_of(after, 0)) == (0.5, 0.0)
    assert len(read) == 2


def _scores() -> CandidateScores:
    terms = query_terms(TextQuery((("boat",), ("yellow",)), min_match=1))
    return CandidateScores(terms, parse(AT) + timedelta(days=1), time_bound=False)


def _said(text: str, rev: int = 1) -> RecallRow:
    said = Utterance("s1", 1, "user", "user", (text,), AT, rev=rev)
    return RecallRow(utterance_passages([said]), utterance=said)


def _candidate(identifier: str, n: int) -> Candidate:
    return Candidate(identifier, n, 1.0, 1, "", Source.EVENT, 5)
