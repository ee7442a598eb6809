"""Which memory lends to which utterance, and how much."""

from __future__ import annotations

from neve.domain.recall.lending import Range, best_lent, lenders

PLACES = {"u1": ("s1", 1), "u2": ("s1", 2), "u9": ("s1", 9), "v2": ("s2", 2)}


def test_a_memory_lends_to_what_is_there_of_its_range() -> None:
    memories = {"m": Range("s1", 1, 2), "wide": Range("s1", 2, 20), "gone": Range("s1", 3, 8), "manual": None}
    assert lenders(memories, PLACES) == {"m": ["u1", "u2"], "wide": ["u2", "u9"]}


def test_another_session_is_another_range() -> None:
    assert lenders({"m": Range("s2", 1, 9)}, PLACES) == {"m": ["v2"]}
    assert lenders({"m": Range("s3", 1, 9)}, PLACES) == {}


def test_an_utterance_borrows_a_quarter_of_the_best() -> None:
    lending = {"m": ["u1", "u2"], "n": ["u2"]}
    assert best_lent(lending, {"m": -0.4, "n": 2.0, "other": 9.0}) == {"u1": -0.1, "u2": 0.5}
