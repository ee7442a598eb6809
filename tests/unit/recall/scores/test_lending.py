"""Which memory lends to which utterance, and how much."""

from __future__ import annotations

from neve.domain.recall.lending import Range, lenders, lent_to_each

SAID = {"u1": ("s1", 1), "u2": ("s1", 2), "u9": ("s1", 9), "v2": ("s2", 2)}
NAMES = ("words", "meaning")


def test_a_memory_lends_to_what_is_there_of_its_range() -> None:
    memories = {"m": Range("s1", 1, 2), "wide": Range("s1", 2, 20), "gone": Range("s1", 3, 8), "manual": None}
    assert lenders(memories, SAID) == {"m": ["u1", "u2"], "wide": ["u2", "u9"]}


def test_another_session_is_another_range() -> None:
    assert lenders({"m": Range("s2", 1, 9)}, SAID) == {"m": ["v2"]}
    assert lenders({"m": Range("s3", 1, 9)}, SAID) == {}


def test_an_utterance_borrows_half_of_what_the_best_memory_matches_better() -> None:
    lending = {"m": ["u1", "u2"], "n": ["u2"]}
    matches = {"m": {"words": 3.0}, "n": {"words": 5.0, "meaning": 1.0}, "u1": {"words": 1.0}, "u2": {"words": 1.0}}
    assert lent_to_each(lending, matches, NAMES) == {"u1": {"words": 1.0}, "u2": {"words": 2.0, "meaning": 0.5}}


def test_a_memory_that_matches_worse_takes_nothing_and_gives_nothing() -> None:
    matches = {"m": {"words": 1.0, "meaning": -2.0}, "u": {"words": 2.0, "meaning": -1.0}}
    assert lent_to_each({"m": ["u"]}, matches, NAMES) == {"u": {}}


def test_each_match_is_borrowed_of_the_memory_that_has_most_of_it() -> None:
    matches = {"m": {"words": 4.0, "meaning": 0.0}, "n": {"words": 0.0, "meaning": 4.0}, "u": {}}
    assert lent_to_each({"m": ["u"], "n": ["u"]}, matches, NAMES) == {"u": {"words": 2.0, "meaning": 2.0}}
