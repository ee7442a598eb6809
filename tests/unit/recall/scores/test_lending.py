"""Which memory lends to which utterance, and how much."""

from __future__ import annotations

import pytest

from neve.domain.recall.lending import RRF_TERMS, Range, Terms, best_lent, lenders

PLACES = {"u1": ("s1", 1), "u2": ("s1", 2), "u9": ("s1", 9), "v2": ("s2", 2)}


def test_a_memory_lends_to_what_is_there_of_its_range() -> None:
    memories = {"m": Range("s1", 1, 2), "wide": Range("s1", 2, 20), "gone": Range("s1", 3, 8), "manual": None}
    assert lenders(memories, PLACES) == {"m": ["u1", "u2"], "wide": []}


def test_what_was_made_from_many_events_lends_to_none_and_does_not_stand() -> None:
    assert lenders({"four": Range("s1", 1, 4), "five": Range("s1", 1, 5)}, PLACES) == {"four": ["u1", "u2"], "five": []}


def test_another_session_is_another_range() -> None:
    assert lenders({"m": Range("s2", 1, 3)}, PLACES) == {"m": ["v2"]}
    assert lenders({"m": Range("s3", 1, 9)}, PLACES) == {}


def test_an_utterance_borrows_of_what_its_memory_matches_better_and_of_what_it_matches() -> None:
    scores = {"m": 2.0, "u1": 1.0, "u2": 5.0, "other": 9.0}
    assert best_lent({"m": ["u1", "u2"]}, scores, Terms(of_lead=0.5, of_score=0.25)) == {"u1": 1.0, "u2": 0.5}


def test_of_several_memories_the_one_that_lends_most_counts() -> None:
    lending = {"m": ["u1", "u2"], "n": ["u2"]}
    scores = {"m": -0.4, "n": 2.0, "u1": 0.0, "u2": 0.0}
    assert best_lent(lending, scores, Terms(of_lead=0.0, of_score=0.25)) == {"u1": -0.1, "u2": 0.5}


def test_by_rrf_an_utterance_comes_to_stand_where_its_memory_would() -> None:
    scores = {"m": 1 / 61, "u1": 1 / 90, "u2": 1 / 61}
    lent = best_lent({"m": ["u1"]}, scores, RRF_TERMS)
    assert scores["u1"] + lent["u1"] == pytest.approx(scores["m"] * 1.01)
