"""What a model remembers and corrects, by the tenant's policy."""

from __future__ import annotations

from typing import Any

import pytest

from neve.domain.errors import NeveError
from neve.domain.records.memories import Status
from neve.usecases.ask.memories.list_memories import get_memory
from neve.usecases.tell.memories.evolve_memory import Evolution
from neve.usecases.tell.memories.stored_fact import StoredFact
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.tell.tools.correct import correct
from neve.usecases.tell.tools.remember import ToRemember, remember
from tests.unit.recall_world import RecallWorld


@pytest.fixture
def world(new_recall_world: RecallWorld) -> RecallWorld:
    new_recall_world.with_policy(write_tools="on")
    new_recall_world.open()
    new_recall_world.say("I'm living in Rome with my cat Tom.", "Tom likes you.")
    return new_recall_world


def told(world: RecallWorld, text: str, **more: Any) -> StoredFact:
    return remember(world.user(), ToRemember(text, **more), "s1")


@pytest.mark.parametrize(
    ("text", "seq", "trust"),
    [
        ("User lives in Rome.", 1, "user"),
        ("User's cat is Tom.", 1, "user"),
        ("User lives in Milan.", 1, "assistant"),
        ("User lives in Rome.", None, "assistant"),
        ("Tom likes the user.", 2, "assistant"),
        ("User lives in Rome.", 99, "assistant"),
    ],
)
def test_it_is_the_users_word_where_the_message_holds_all_of_it(
    world: RecallWorld, text: str, seq: int | None, trust: str
) -> None:
    memory = told(world, text, seq=seq).memory
    assert memory is not None and (memory.provenance.trust, memory.status) == (trust, Status.ACTIVE)
    assert memory.written_by == "model"
    assert memory.provenance.by == ("user_stated" if trust == "user" else "assistant")


def test_a_message_that_was_taken_back_says_nothing(world: RecallWorld) -> None:
    retract_events(world.session, Retract(1, 1, "edited"))
    memory = told(world, "User lives in Rome.", seq=1).memory
    assert memory is not None and (memory.provenance.trust, memory.provenance.seq_from) == ("assistant", None)


def test_off_refuses_before_anything_is_read(world: RecallWorld) -> None:
    world.with_policy()
    with pytest.raises(NeveError, match="write_tools"):
        told(world, "User lives in Rome.")
    with pytest.raises(NeveError, match="write_tools"):
        correct(world.user(), "mem_x", Evolution("x", "y"), None)


def test_a_proposal_waits_even_where_the_user_said_it(world: RecallWorld) -> None:
    world.with_policy(write_tools="propose")
    stored = told(world, "User lives in Rome.", seq=1)
    assert stored.decision == "inbox" and stored.memory is not None and stored.memory.judged is not None
    assert (stored.memory.judged.via, stored.reason) == ("model", "A model proposes it.")


def test_a_correction_is_the_assistants(world: RecallWorld) -> None:
    old = told(world, "User lives in Rome.", seq=1).memory
    assert old is not None
    made = correct(world.user(), old.id, Evolution("User lives in Milan.", "moved"), "s1").memory
    assert made is not None
    new = get_memory(world.user(), made.id)
    assert (new.provenance.by, new.provenance.trust, new.written_by, new.person_at) == (
        *("assistant", "assistant", "model"),
        None,
    )
    assert get_memory(world.user(), old.id).superseded_reason == "moved"


def test_a_proposed_correction_of_what_is_superseded_is_a_conflict(world: RecallWorld) -> None:
    old = told(world, "User lives in Rome.", seq=1).memory
    assert old is not None
    correct(world.user(), old.id, Evolution("User lives in Milan.", "moved"), "s1")
    world.with_policy(write_tools="propose")
    with pytest.raises(NeveError) as refused:
        correct(world.user(), old.id, Evolution("User lives in Turin.", "moved"), "s1")
    assert refused.value.code == "conflict"


def test_a_correction_lets_nothing_in_that_waits(world: RecallWorld) -> None:
    old = told(world, "User lives in Rome.", seq=1).memory
    world.with_policy(write_tools="propose")
    told(world, "User lives in Milan.")
    world.with_policy(write_tools="on")
    with pytest.raises(NeveError) as refused:
        correct(world.user(), old.id if old else "", Evolution("User lives in Milan.", "moved"), "s1")
    assert refused.value.code == "conflict"
