"""What a person has made of a session's summary, when an answer of the session is regenerated
(docs/rules/retract.md#corrected)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from neve.domain.librarian.filing import Filed
from neve.domain.records.memories import Kind, Memory, Priority, Status
from neve.domain.records.retractions import RetractReason
from neve.store import rows
from neve.store.filings import read_filing
from neve.usecases.ask.sessions.read_sessions import get_session
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.tell.memories.evolve_memory import Evolution, evolve_memory
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.work.librarian.file_session import file_session
from neve.usecases.work.retract.run_retraction import run_retraction
from tests.unit.librarian.library_world import LibraryWorld, answer, change

THEIRS = "We talked about Bergen."
GOALS = "/profile/goals"


@pytest.fixture
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LibraryWorld]:
    world = LibraryWorld.at(tmp_path_factory.mktemp("summaries"))
    world.open()
    world.say("We go to Oslo with Sarah.", "Noted.")
    filed(world)
    yield world
    world.table.close()


def filed(world: LibraryWorld) -> None:
    world.end()
    world.observer.filings = [answer()]
    world.file()
    assert get_session(world.session).head.status == "extracted"


def summaries(world: LibraryWorld) -> list[Memory]:
    """Those that nothing has replaced."""
    found = [m for m in world.memories() if m.kind is Kind.SESSION_SUMMARY]
    return [memory for memory in found if memory.status is not Status.SUPERSEDED]


def take_back(world: LibraryWorld, first: int, reason: RetractReason = "edited") -> None:
    """And the session is filed again."""
    answered = retract_events(world.session, Retract(first, None, reason))
    run_retraction(world.session, message_of_row(world.table.get(world.tenant.keys.job(answered.job_id)) or {}).body)
    filed(world)


def test_one_in_their_words_stays_the_only_one(world: LibraryWorld) -> None:
    [before] = summaries(world)
    update_memory(world.user(), before.id, MemoryChange({"text": THEIRS}), None)
    take_back(world, 2)
    assert [(m.id, m.text, m.status) for m in summaries(world)] == [(before.id, THEIRS, Status.ACTIVE)]
    take_back(world, 1)
    assert summaries(world) == []


def test_one_that_they_put_away_is_not_written_again(world: LibraryWorld) -> None:
    [before] = summaries(world)
    update_memory(world.user(), before.id, MemoryChange({"status": Status.ARCHIVED}), None)
    take_back(world, 2)
    assert [(m.id, m.status) for m in summaries(world)] == [(before.id, Status.ARCHIVED)]


def test_nothing_is_written_beside_what_took_its_place(world: LibraryWorld) -> None:
    [before] = summaries(world)
    evolve_memory(world.user(), before.id, Evolution(text=THEIRS, reason="wrong"))
    take_back(world, 2)
    assert [m.text for m in summaries(world)] == [THEIRS]


@pytest.mark.parametrize("reason", ["edited", "deleted"])
def test_one_that_nobody_touched_is_written_again(world: LibraryWorld, reason: RetractReason) -> None:
    [before] = summaries(world)
    take_back(world, 2, reason)
    [after] = summaries(world)
    assert after.id != before.id
    assert after.provenance.left_out == ((2, 2),)


@pytest.mark.parametrize("reason", ["edited", "deleted"])
def test_what_took_its_place_keeps_no_topic_of_a_deleted_message(world: LibraryWorld, reason: RetractReason) -> None:
    """Successors used to have the topics and the tone of the log, and did not say what they were written over."""
    [before] = summaries(world)
    theirs = evolve_memory(world.user(), before.id, Evolution(text=THEIRS, reason="wrong"))
    again = evolve_memory(world.user(), theirs.id, Evolution(text="Of Bergen.", reason="short"))
    for memory in (theirs, again):
        inherited = replace(
            world.memory(memory.id),
            key_topics=(*before.key_topics, "mine"),
            emotional_tone=before.emotional_tone,
            written_over=(),
        )
        world.table.write([rows.put_memory(world.user().keys, inherited)])
    assert before.key_topics and before.emotional_tone
    take_back(world, 2, reason)
    found = [world.memory(memory.id) for memory in (theirs, again)]
    kept = (before.emotional_tone, (*before.key_topics, "mine")) if reason == "edited" else (None, ("mine",))
    assert [(one.emotional_tone, one.key_topics) for one in found] == [kept, kept]
    assert [one.text for one in found] == [THEIRS, "Of Bergen."]


@pytest.mark.parametrize(
    "mark",
    [
        {"label": "trip"},
        {"group": "home"},
        {"tags": ("session-summary", "trip")},
        {"importance": 5},
        {"confidence": 0.5},
        {"priority": Priority.HIGH},
        {"outcome": "INTERRUPTED"},
        {"emotional_tone": "merry"},
        {"key_topics": ("mine",)},
        {"status": Status.RESOLVED},
    ],
)
def test_a_mark_passes_to_the_one_that_is_written_again(world: LibraryWorld, mark: dict[str, Any]) -> None:
    [before] = summaries(world)
    update_memory(world.user(), before.id, MemoryChange(mark), None)
    take_back(world, 2)
    [after] = summaries(world)
    assert after.id != before.id
    assert {name: getattr(after, name) for name in mark} == mark
    if mark != {"status": Status.RESOLVED}:
        world.say("And to Bergen.", "Noted.")
        filed(world)
        assert {name: getattr(world.memory(after.id), name) for name in mark} == mark, "also behind the next filing"


def test_it_passes_on_where_more_is_taken_back_before_it_is_written(world: LibraryWorld) -> None:
    world.say("And to Bergen.", "Noted.")
    filed(world)
    [before] = summaries(world)
    update_memory(world.user(), before.id, MemoryChange({"label": "trip"}), None)
    for first in (4, 2):
        answered = retract_events(world.session, Retract(first, first, "edited"))
        row = world.table.get(world.tenant.keys.job(answered.job_id)) or {}
        run_retraction(world.session, message_of_row(row).body)
    filed(world)
    assert [one.label for one in summaries(world)] == ["trip"]


def test_a_deletion_leaves_none_of_the_marks_of_a_summary(world: LibraryWorld) -> None:
    [before] = summaries(world)
    update_memory(world.user(), before.id, MemoryChange({"label": "Oslo", "importance": 5}), None)
    take_back(world, 2, "deleted")
    [after] = summaries(world)
    assert (after.label, after.importance) == (None, 3)


def of_first(world: LibraryWorld) -> Memory:
    [found] = [memory for memory in summaries(world) if memory.session_id == "s1"]
    return found


def read_by_librarian(world: LibraryWorld, session: str, filed: Filed) -> None:
    world.observer.filings = [filed]
    message = {"incarnation": 1, "job_id": f"job_{world.ids.token()}", "kind": "librarian"}
    file_session(world.user().of_session(session), message)


def edited(world: LibraryWorld, session: str, seq: int) -> None:
    scope = world.user().of_session(session)
    answered = retract_events(scope, Retract(seq, None, "edited"))
    run_retraction(scope, message_of_row(world.table.get(world.tenant.keys.job(answered.job_id)) or {}).body)


@pytest.mark.parametrize(
    "mark",
    [
        {"priority": Priority.LOW},
        {"outcome": "INTERRUPTED"},
        {"emotional_tone": "merry"},
        {"key_topics": ("mine",)},
    ],
)
@pytest.mark.parametrize("own", [False, True], ids=["it stays", "its answer is regenerated, too"])
def test_what_a_person_changed_stays_where_another_session_has_it_filed_again(
    world: LibraryWorld, mark: dict[str, Any], own: bool
) -> None:
    """A message is edited by which another session had made a document, onto which this one has written since."""
    world.open(session="s2")
    world.say("We sing.", "Oh.", session="s2")
    read_by_librarian(world, "s2", answer(change("create", GOALS, "Sings."), account=None))
    world.say("And dance.", "Noted.")
    read_by_librarian(world, "s1", answer(change("append", GOALS, "Dances.", 1, seqs=(3,))))
    update_memory(world.user(), of_first(world).id, MemoryChange(mark), None)
    edited(world, "s2", 1)
    assert read_filing("s1", world.table.get(world.session.keys.filing)).filed_seq == 0
    if own:
        edited(world, "s1", 4)
    read_by_librarian(world, "s1", answer())
    assert {name: getattr(of_first(world), name) for name in mark} == mark
    world.say("And to Bergen.", "Noted.")
    read_by_librarian(world, "s1", answer())
    assert {name: getattr(of_first(world), name) for name in mark} == mark, "also behind the next filing"
