"""The storage decision (docs/rules/facts.md#decision)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from neve.domain.memories.statements import statements
from neve.domain.memories.storage_decision import FactCandidate, KnownFacts, Rules, StorageVerdict, decide
from neve.domain.records.memories import By, Kind, Memory, Priority, Provenance, Scope, Status, Tier

AT = "2026-03-10T09:30:00.000Z"
BEFORE, AFTER = "2026-03-01T00:00:00.000Z", "2026-03-20T00:00:00.000Z"


def candidate(text: str = "Anna lives in Lyon.", by: By = "user_stated", **more: Any) -> FactCandidate:
    return FactCandidate(text, "PLACE", Provenance(by, trust="user"), **more)


def fact(**more: Any) -> Memory:
    stored = Memory(
        id="mem_old",
        kind=Kind.FACT,
        tier=Tier.SEMANTIC,
        scope=Scope.GLOBAL,
        text="Anna lives in Oslo.",
        priority=Priority.MEDIUM,
        importance=3,
        fingerprint="f",
        status=Status.ACTIVE,
        provenance=Provenance("user_stated", trust="user"),
        created_at=BEFORE,
        observed_at=BEFORE,
        last_used_at=BEFORE,
        tokens=5,
        rev=1,
        born_gen=1,
    )
    return replace(stored, **more)


def verdict(given: FactCandidate, *, rules: Rules | None = None, **known: Memory | None) -> StorageVerdict:
    return decide(given, KnownFacts(**known), rules or Rules(), AT, "observer")


def test_what_the_user_states_is_stored_with_its_reasons() -> None:
    found = verdict(candidate(relation="new"))
    assert found.decision == "stored"
    assert (found.criteria.pii, found.criteria.provenance, found.criteria.importance) == ("clear", True, True)
    assert (found.criteria.novelty, found.criteria.contradiction) == (True, "new")


@pytest.mark.parametrize("by", ["assistant", "tool"])
def test_what_others_say_of_the_user_waits(by: By) -> None:
    found = verdict(candidate("Anna always takes the train.", by=by, importance=5, confidence=1.0))
    assert (found.decision, found.criteria.provenance) == ("inbox", False)


def test_a_tools_word_is_no_statement_whatever_a_model_calls_it() -> None:
    given = replace(candidate(), origin=Provenance("user_stated", trust="tool"))
    assert verdict(given).decision == "inbox"


@pytest.mark.parametrize(
    ("importance", "minimum", "text", "decision"),
    [
        (1, 2, "Anna had soup.", "rejected"),
        (2, 2, "Anna had soup.", "stored"),
        (3, 4, "Anna had soup.", "rejected"),
        (1, 2, "Remember this: Anna had soup.", "stored"),
        (1, 5, "Please don't forget that Anna had soup.", "stored"),
        (1, 2, "Anna could not remember this.", "rejected"),
    ],
)
def test_the_minimum_importance_holds_unless_asked_to_remember(
    importance: int, minimum: int, text: str, decision: str
) -> None:
    found = verdict(candidate(text, importance=importance), rules=Rules(min_importance=minimum))
    assert (found.decision, found.criteria.importance) == (decision, decision == "stored")


def test_what_the_gate_blocks_is_rejected() -> None:
    assert verdict(candidate(pii="blocked"), same=fact()).decision == "rejected"
    assert verdict(candidate(pii="redacted")).criteria.pii == "redacted"


def test_what_is_known_is_reinforced() -> None:
    said = replace(fact(), text="Anna lives in Lyon with Ben.")
    for found in (verdict(candidate(), same=said), verdict(candidate(relation="reinforces"), target=said)):
        assert (found.decision, found.criteria.novelty) == ("reinforced", False)
        assert said.id in found.judged.reason


def test_a_model_that_takes_two_statements_for_one_is_not_believed() -> None:
    """Both stand: that they differ does not make one of them wrong."""
    found = verdict(candidate(relation="reinforces"), target=fact())
    assert (found.decision, found.criteria.novelty, found.criteria.contradiction) == ("stored", True, "new")
    assert fact().id in found.judged.reason


@pytest.mark.parametrize("relation", ["updates", "contradicts"])
def test_a_correction_takes_the_place_of_what_it_corrects(relation: Any) -> None:
    found = verdict(candidate(relation=relation, target_id="mem_old"), target=fact())
    assert (found.decision, found.judged.target_id, found.judged.route) == ("superseded", "mem_old", "high")


@pytest.mark.parametrize(
    ("by", "old", "decision"),
    [
        ("user_stated", {"provenance": Provenance("human_edit")}, "superseded"),
        ("user_stated", {"observed_at": AFTER}, "inbox"),
        ("assistant", {}, "inbox"),
        ("import", {}, "inbox"),
        ("import", {"provenance": Provenance("import")}, "superseded"),
        ("import", {"provenance": Provenance("assistant")}, "superseded"),
        ("human_edit", {"provenance": Provenance("human_edit")}, "superseded"),
    ],
)
def test_a_correction_needs_as_much_authority_and_a_later_time(by: By, old: dict[str, Any], decision: str) -> None:
    found = verdict(candidate(by=by, relation="contradicts", target_id="mem_old"), target=fact(**old))
    assert found.decision == decision
    assert found.judged.target_id == "mem_old"


def test_a_relation_to_what_is_gone_is_none() -> None:
    found = verdict(candidate(relation="updates", target_id="mem_gone"))
    assert (found.decision, found.criteria.contradiction, found.judged.target_id) == ("stored", "new", None)


def test_a_plain_write_was_not_checked_for_contradictions() -> None:
    assert verdict(candidate(by="human_edit")).criteria.contradiction == "not_checked"


@pytest.mark.parametrize(
    ("given", "auto", "interactive"),
    [
        (candidate("Anna prefers tea."), "stored", "stored"),
        (candidate("Anna never eats meat.", confidence=0.1), "stored", "stored"),
        (candidate("Anna has a dog."), "stored", "inbox"),
        (candidate("Anna has a dog.", confidence=0.8), "stored", "inbox"),
        (candidate("Anna has a dog.", confidence=0.79), "inbox", "inbox"),
        (candidate("Anna has a dog.", by="human_edit"), "stored", "stored"),
    ],
)
def test_how_plainly_it_was_said_decides_who_decides(given: FactCandidate, auto: str, interactive: str) -> None:
    assert verdict(given).decision == auto
    assert verdict(given, rules=Rules(review_mode="interactive")).decision == interactive


def test_what_waits_is_let_in_when_it_was_said_often_or_plainly() -> None:
    unsure = candidate("Anna has a dog.", confidence=0.5)

    def again(given: FactCandidate, occurrences: int, **rules: Any) -> str:
        waiting = fact(status=Status.INBOX, occurrences=occurrences)
        return verdict(given, rules=Rules(**rules), same=waiting).decision

    assert again(unsure, 1) == "reinforced"
    assert again(unsure, 2) == "stored"
    assert again(unsure, 2, review_mode="interactive") == "reinforced"
    assert again(candidate("Anna has a dog."), 1) == "stored"
    assert again(candidate("Anna has a dog.", by="assistant"), 9) == "reinforced"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Anna lives in Lyon.", 1),
        ("Anna lives in Lyon. She works at Airbus.", 2),
        ("A. B.", 2),
        ("Anna lives in Lyon\nAnna works at Airbus", 2),
        ("Dr. J. R. Tolkien lives at 5 St. John Street.", 1),
        ("Anna gets up at 6 a.m. every day.", 1),
        ("Anna said “no.” She left!", 2),
        ("Version 2.19 costs 3.50 a month", 1),
        ("Anna wonders... whether to go.", 1),
        ("安娜住在里昂。她养了一只狗。", 2),
        ("「里昂は好きです。」", 1),
        ("  ", 0),
    ],
)
def test_statements_are_counted(text: str, parts: int) -> None:
    assert len(statements(text)) == parts


@pytest.mark.parametrize("sign", [".", "?", "…", "。", " ", "\t", "\r", "\u3000", " \n", "1. "])
def test_256_kib_of_one_sign_are_read_at_once(sign: str) -> None:
    """Read again from each of its signs, this takes minutes."""
    parts = statements(f"Anna{sign * (256 * 1024 // len(sign))}lives in Lyon.")
    assert parts[0].startswith("Anna")
    assert parts[-1].endswith("lives in Lyon.")
