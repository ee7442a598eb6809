"""Which sentences say a fact that does not hold (docs/rules/facts.md#what-does-not-hold)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.memories.unheld import (
    Unheld,
    is_unheld,
    last_successors,
    may_repeat,
    retold,
    unheld_facts,
    with_successors,
)
from neve.domain.records.memories import Criteria, Judged, Kind, Memory, Provenance, Statement, Status
from tests.unit.pack.test_repeated_statements import row

LYON, NICE = "User lives in Lyon", "User moved to Nice"


def fact(text: str = LYON, status: Status = Status.SUPERSEDED, **more: object) -> Memory:
    by = {"superseded_by": "new"} if status is Status.SUPERSEDED else {}
    return replace(row("old", text), **{"status": status, **by, **more})  # type: ignore[arg-type]


def told(text: str, *unheld: Unheld, at: tuple[int, int] | None = (1, 1), session: str = "s1", **more: bool) -> str:
    """A mark in front of what says more, ``?`` where it is one of the inbox."""
    marks = {Status.SUPERSEDED: "[old]", Status.INBOX: None, Status.ARCHIVED: None}
    return retold(text, session, at, unheld, lambda one, also: marks[one.why] if also else None, **more).text


MOVED = Unheld(fact(), Status.SUPERSEDED, row("new", NICE, at=(5, 5)))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("I live in Lyon.", ""),
        ("🔴 User lives in Lyon", ""),
        ("Hi! I'm now living in Lyon at the moment.", "Hi!"),
        ("I live in Lyon. I work at Acme.", "I work at Acme."),
        ("I work at Acme. I live in Lyon.", "I work at Acme."),
        ("🔴 User lives in Lyon and works at Acme", "🔴 [old] User lives in Lyon and works at Acme"),
        ("I live in Lyon with Anna.", "[old] I live in Lyon with Anna."),
        ("User works at Acme", "User works at Acme"),
        ("I used to live in Lyon.", "I used to live in Lyon."),
        ("ok", "ok"),
        ("", ""),
    ],
)
def test_what_is_left_of_the_words_that_a_superseded_fact_was_drawn_from(text: str, left: str) -> None:
    assert told(text, MOVED) == left


def test_only_words_of_its_events_say_it() -> None:
    assert told("I live in Lyon.", MOVED, at=(2, 2)) == "I live in Lyon."
    assert told("I live in Lyon.", MOVED, session="s2") == "I live in Lyon."
    assert (
        told(
            "I live in Lyon.",
            Unheld(replace(fact(), restatements=(Statement("user_stated", "s2", 1, 1),)), Status.SUPERSEDED),
            session="s2",
        )
        == ""
    )


def test_of_more_events_than_the_fact_all_of_its_words_are_needed() -> None:
    assert told("Lyon is a nice home", MOVED, at=(1, 1)) == "[old] Lyon is a nice home"
    assert told("Lyon is a nice home", MOVED, at=(1, 9)) == "Lyon is a nice home"
    assert told("User lives in Lyon\nUser has a cat", MOVED, at=(1, 9)) == "User has a cat"
    assert told("User lives in Lyon", MOVED, at=None, session="") == "", "of a night, over several sessions"


def test_an_answer_that_repeats_it_says_it() -> None:
    assert told("So you live in Lyon!", MOVED, at=(2, 2), reply=True) == ""
    assert told("Lyon has good food.", MOVED, at=(2, 2), reply=True) == "Lyon has good food."
    assert told("So you live in Lyon!", MOVED, at=(3, 3), reply=True) == "So you live in Lyon!"


def test_a_fact_of_two_clauses_leaves_its_words_with_the_mark() -> None:
    """Nobody knows which of them was meant."""
    both = Unheld(fact("User lives in Lyon and they work at Acme"), Status.SUPERSEDED, row("new", NICE, at=(5, 5)))
    assert told("I live in Lyon and I work at Acme.", both) == "[old] I live in Lyon and I work at Acme."


def test_one_message_may_say_the_old_and_the_new_one() -> None:
    corrected = replace(MOVED, successor=row("new", NICE, at=(1, 1)))
    assert told("I live in Lyon. No, I moved to Nice.", corrected) == "No, I moved to Nice."


@pytest.mark.parametrize("status", [Status.INBOX, Status.ARCHIVED])
def test_what_was_rejected_or_waits_takes_its_sentence_along(status: Status) -> None:
    one = Unheld(fact("User is pregnant", status), status)
    assert told("I work at Acme. I'm pregnant with twins, due in May.", one) == "I work at Acme."
    assert told("Congratulations on your pregnancy!", one, at=(2, 2), reply=True) == ""


def test_which_facts_do_not_hold() -> None:
    assert [is_unheld(fact(status=status)) for status in Status] == [
        status in (Status.INBOX, Status.SUPERSEDED, Status.ARCHIVED) for status in Status
    ]
    assert not is_unheld(fact(superseded_by=None)), "it was taken back"
    assert not is_unheld(fact(provenance=Provenance("user_stated"))), "it is in no log"
    assert not is_unheld(fact(kind=Kind.NOTE))
    criteria = Criteria("clear", provenance=False, importance=True, novelty=True, contradiction="new")
    of_a_tool = fact(status=Status.INBOX, judged=Judged(criteria, "low", "", "observer"))
    assert not is_unheld(of_a_tool), "its lines are marked as a tool's"
    assert unheld_facts([fact(born_gen=3)], gen=2, at="") == []


def test_what_a_person_wrote_repeats_nothing() -> None:
    line = row("line", LYON, Kind.OBSERVATION)
    assert may_repeat(line)
    assert not may_repeat(replace(line, provenance=replace(line.provenance, by="human_edit")))
    assert not may_repeat(replace(line, provenance=replace(line.provenance, by="import")))
    assert not may_repeat(row("note", LYON, Kind.NOTE))


def test_the_last_successor_holds_and_the_same_words_again_undo_it() -> None:
    first, second = fact(superseded_by="b"), replace(fact(NICE, superseded_by="c"), id="b")
    assert last_successors([first, second]) == {"old": "c", "b": "c"}
    oslo, back = (row("c", text, at=(9, 9)) for text in ("User moved to Oslo", LYON))
    assert [one.successor for one in with_successors([first, second], {"c": oslo}, 1, "")] == [oslo, oslo]
    assert [one.fact.id for one in with_successors([first, second], {"c": back}, 1, "")] == ["b"]
    assert [one.successor for one in with_successors([first], {}, 1, "")] == [None]
    circle = [replace(first, superseded_by="b"), replace(second, superseded_by="old")]
    assert set(last_successors(circle)) == {"old", "b"}


@given(st.text(max_size=60), st.sampled_from(["", "I live in Lyon. ", "I live in Lyon, "]))
def test_whatever_is_said_nothing_else_is_changed(text: str, before: str) -> None:
    whole = before + text
    assert told(whole, replace(MOVED, fact=replace(fact(), text="zzz")), at=(1, 1)) == whole
    assert told(whole, MOVED, at=(7, 7)) == whole
    assert told(whole, MOVED).count("[old]") <= 1 + text.casefold().count("lyon")


@pytest.mark.parametrize(
    ("old", "new", "holds"),
    [
        ("User is vegan", "User is not vegan anymore", False),
        ("User works at Acme", "User no longer works at Acme", False),
        ("User is vegan", "User is vegan again", True),
    ],
)
def test_what_denies_it_in_its_words_does_not_say_it_again(old: str, new: str, holds: bool) -> None:
    successor = row("new", new, at=(5, 5))
    assert (with_successors([fact(old)], {"new": successor}, 1, "") == ()) == holds
