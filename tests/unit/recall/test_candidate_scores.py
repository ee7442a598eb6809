"""What was found out about a candidate is not found out again."""

from __future__ import annotations

from datetime import timedelta

import pytest

from neve.domain.indexing.utterances import Utterance, utterance_passages
from neve.domain.recall.query import QueryTerms, TextQuery, query_terms
from neve.domain.times import parse
from neve.usecases.ask.recall.recall_rows import RecallRow
from neve.usecases.ask.recall.stages.rank_candidates import CandidateScores

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


def test_a_row_is_compared_once_and_another_rev_anew(read: list[str]) -> None:
    scores = _scores()
    before, after = _said("I row a green boat."), _said("I row a red ship.", rev=2)
    assert (scores.share_of(before, 0), scores.share_of(before, 0), scores.share_of(after, 0)) == (0.5, 0.5, 0.0)
    assert len(read) == 2


def _scores() -> CandidateScores:
    terms = query_terms(TextQuery((("boat",), ("yellow",)), min_match=1))
    return CandidateScores(terms, parse(AT) + timedelta(days=1), time_bound=False)


def _said(text: str, rev: int = 1) -> RecallRow:
    said = Utterance("s1", 1, "user", "user", (text,), AT)
    return RecallRow(utterance_passages([said], version=rev), utterance=said)
