"""What waits for a person's decision: listed without a scan, decided once, in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from neve.domain.cursors import InvalidCursor
from neve.domain.errors import NeveError
from neve.domain.librarian.filing import Proposal
from neve.domain.memories.storage_decision import FactCandidate
from neve.domain.records.memories import Memory, Provenance, Status
from neve.store import rows
from neve.usecases.ask.memories.list_inbox import list_inbox
from neve.usecases.ask.memories.list_memories import get_memory
from neve.usecases.core.memories import replace_rows
from neve.usecases.tell.documents.delete_document import delete_document
from neve.usecases.tell.inbox.decide import decide_item
from neve.usecases.tell.inbox.decision import Decision
from neve.usecases.tell.memories.fact_place import place_key
from neve.usecases.tell.memories.store_fact import store_fact
from neve.usecases.tell.requests.request_erasure import request_erasure
from tests.unit.librarian.library_world import LibraryWorld, answer, change

GOALS = "/profile/goals"


@pytest.fixture
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LibraryWorld]:
    world = LibraryWorld.at(tmp_path_factory.mktemp("inbox"))
    world.open()
    world.say("It is raining.", "You seem to like jazz.")
    yield world
    world.table.close()


def fact(world: LibraryWorld, text: str, **more: Any) -> Memory:
    """An assistant's guess, which waits; ``by`` the user, it is stored."""
    origin = Provenance(more.pop("by", "assistant"), "s1")
    stored = store_fact(world.user(), FactCandidate(text, "PREFERENCE", origin, **more), via="librarian")
    assert stored.memory is not None
    return stored.memory


def propose(world: LibraryWorld, *changes: Any, illegal: tuple[Any, ...] = ()) -> list[str]:
    """Ids of the proposals that a filing leaves."""
    world.observer.filings = [answer(*changes, illegal=illegal)]
    world.end()
    report = world.file()
    assert report is not None
    return list(report.result.get("inbox", ()))


def waiting(world: LibraryWorld) -> list[str]:
    return [one.id for one in list_inbox(world.user(), 50, None)[0]]


def say(world: LibraryWorld, item_id: str, choice: Any, **more: Any) -> Memory | Proposal:
    return decide_item(world.user(), item_id, Decision(choice, **more))


def guess(path: str = GOALS, text: str = "Learn jazz.", **more: Any) -> Any:
    return change("create", path, text, **({"seqs": (2,), "certainty": "high"} | more))


# --- the list -------------------------------------------------------------------------------------


def test_facts_and_documents_wait_in_one_list_oldest_first(world: LibraryWorld) -> None:
    first = fact(world, "The user likes jazz.")
    world.clock.move(seconds=1)
    [second] = propose(world, guess())
    world.clock.move(seconds=1)
    third = fact(world, "The user likes tea.")
    fact(world, "I live in Oslo.", by="user_stated")
    assert waiting(world) == [first.id, second, third.id]
    page, cursor = list_inbox(world.user(), 2, None)
    rest, end = list_inbox(world.user(), 2, cursor)
    assert ([one.id for one in page], [one.id for one in rest], end) == ([first.id, second], [third.id], None)
    assert list_inbox(world.user("bob"), 50, None) == ([], None)
    with pytest.raises(InvalidCursor):
        list_inbox(world.user("bob"), 2, cursor)


def test_of_a_user_who_is_being_erased_nothing_is_listed(world: LibraryWorld) -> None:
    fact(world, "The user likes jazz.")
    assert len(waiting(world)) == 1
    request_erasure(world.user(), close=False)
    assert waiting(world) == []


def test_what_was_decided_leaves_the_list(world: LibraryWorld) -> None:
    one, two = fact(world, "The user likes jazz."), fact(world, "The user likes tea.")
    say(world, one.id, "approve")
    say(world, two.id, "reject")
    assert waiting(world) == []


# --- facts ----------------------------------------------------------------------------------------


def test_an_approved_fact_holds_as_the_users_word(world: LibraryWorld) -> None:
    memory = fact(world, "The user likes jazz.")
    say(world, memory.id, "approve")
    now = get_memory(world.user(), memory.id)
    assert (now.status, now.rev, now.provenance.by, now.provenance.trust) == ("active", 2, "user_confirmed", "user")
    assert fact(world, "the user likes  JAZZ.", by="user_stated").id == memory.id, "and holds its place"


def test_a_rejected_fact_is_put_away_and_may_be_said_again(world: LibraryWorld) -> None:
    memory = fact(world, "The user likes jazz.")
    say(world, memory.id, "reject")
    assert get_memory(world.user(), memory.id).status is Status.ARCHIVED
    assert fact(world, "The user likes jazz.", by="user_stated").id != memory.id


def test_a_fact_is_kept_in_other_words(world: LibraryWorld) -> None:
    memory, known = fact(world, "The user likes jazz."), fact(world, "The user likes tea.", by="user_stated")
    for bad in ({"text": "One. Two."}, {}, {"path": GOALS}):
        with pytest.raises(NeveError, match="validation_failed"):
            say(world, memory.id, "edit", **bad)
    with pytest.raises(NeveError, match=f"conflict: Memory '{known.id}' is the same statement"):
        say(world, memory.id, "edit", text="the user likes TEA.")
    say(world, memory.id, "edit", text="The user likes bebop.", importance=5)
    assert world.table.get(place_key(world.user().keys, memory.text)) is None, "a hash of the words before"
    now = get_memory(world.user(), memory.id)
    assert (now.text, now.importance, now.status, now.provenance.by) == (
        "The user likes bebop.",
        5,
        "active",
        "human_edit",
    )
    assert fact(world, "The user likes bebop.", by="user_stated").id == memory.id


def test_a_fact_takes_the_place_of_what_it_contradicts(world: LibraryWorld) -> None:
    old = fact(world, "The user likes tea.", by="user_stated")
    memory = fact(world, "The user likes coffee.", relation="contradicts", target_id=old.id)
    assert memory.status is Status.INBOX
    say(world, memory.id, "supersede", reason="asked")
    gone, now = get_memory(world.user(), old.id), get_memory(world.user(), memory.id)
    assert (gone.status, gone.superseded_by, gone.superseded_reason) == ("superseded", memory.id, "asked")
    assert (now.status, now.supersedes) == ("active", (old.id,))
    marker = rows.read_marker(world.table.get(world.session.keys.marker))
    assert old.id not in {row.id for row in marker.live}


def test_what_is_superseded_is_named_and_active(world: LibraryWorld) -> None:
    memory, other = fact(world, "The user likes jazz."), fact(world, "The user likes tea.")
    for target, problem in ((None, "target_id"), ("mem_none", "memory_not_found"), (other.id, "conflict")):
        with pytest.raises(NeveError, match=problem):
            say(world, memory.id, "supersede", target_id=target)
    assert get_memory(world.user(), memory.id).status is Status.INBOX


# --- documents ------------------------------------------------------------------------------------


def test_an_approved_document_is_written(world: LibraryWorld) -> None:
    [item] = propose(world, guess(title="Goals", tags=("music",)))
    assert world.text(GOALS) is None
    done = say(world, item, "approve")
    assert isinstance(done, Proposal) and (done.status, done.decided_path, done.rev) == ("approved", GOALS, 1)
    assert world.text(GOALS) == "Learn jazz."


def test_a_path_that_may_not_be_is_changed_before_it_is_kept(world: LibraryWorld) -> None:
    [item] = propose(world, illegal=(guess("/profile/../x"),))
    with pytest.raises(NeveError, match=r"validation_failed.*path"):
        say(world, item, "approve")
    say(world, item, "edit", path=GOALS, text="Learn bebop.")
    assert world.text(GOALS) == "Learn bebop."


def test_a_document_that_changed_meanwhile_is_not_overwritten_by_an_approval(world: LibraryWorld) -> None:
    [item] = propose(world, guess())
    world.put(GOALS, "My own goals.")
    with pytest.raises(NeveError, match="conflict"):
        say(world, item, "approve")
    assert (world.text(GOALS), waiting(world)) == ("My own goals.", [item])
    say(world, item, "supersede")
    assert (world.text(GOALS), world.rev(GOALS)) == ("Learn jazz.", 2)


def test_another_document_at_the_same_path_and_rev_is_not_what_was_proposed_for(world: LibraryWorld) -> None:
    world.put(GOALS, "Run.")
    [item] = propose(world, change("update", GOALS, "Run. Learn jazz.", 1, seqs=(2,)))
    delete_document(world.user(), GOALS, None)
    world.put(GOALS, "Rest.")
    with pytest.raises(NeveError, match="conflict"):
        say(world, item, "approve")
    assert (world.text(GOALS), waiting(world)) == ("Rest.", [item])
    say(world, item, "supersede")
    assert world.text(GOALS) == "Run. Learn jazz."


def test_nor_is_anything_added_to_it(world: LibraryWorld) -> None:
    world.put(GOALS, "Run.")
    [item] = propose(world, change("append", GOALS, "Learn jazz.", 1, seqs=(2,)))
    delete_document(world.user(), GOALS, None)
    world.put(GOALS, "Rest.")
    with pytest.raises(NeveError, match="conflict"):
        say(world, item, "approve")
    assert world.text(GOALS) == "Rest."


def test_a_change_of_a_document_may_be_kept_at_a_path_that_is_free(world: LibraryWorld) -> None:
    world.put(GOALS, "Run.")
    [item] = propose(world, change("update", GOALS, "Run. Learn jazz.", 1, seqs=(2,)))
    world.put("/profile/aims", "Rest.")
    with pytest.raises(NeveError, match="conflict"):
        say(world, item, "edit", path="/profile/aims")
    say(world, item, "edit", path="/profile/wishes")
    assert (world.text(GOALS), world.text("/profile/wishes")) == ("Run.", "Run. Learn jazz.")


def test_an_addition_is_added_to_what_is_there_by_now(world: LibraryWorld) -> None:
    world.put(GOALS, "Run.")
    [item] = propose(world, change("append", GOALS, "Learn jazz.", 1, seqs=(2,)))
    world.put(GOALS, "Run far.")
    say(world, item, "approve")
    assert world.text(GOALS) == "Run far.\n\nLearn jazz."


def test_a_move_is_done_if_the_place_is_free(world: LibraryWorld) -> None:
    world.put(GOALS, "Run.")
    [item] = propose(world, change("move", GOALS, "", 1, to_path="/profile/aims", seqs=(2,)))
    world.put("/profile/aims", "There already.")
    with pytest.raises(NeveError, match="conflict"):
        say(world, item, "approve")
    say(world, item, "reject")
    assert world.text(GOALS) == "Run."


def test_a_move_goes_to_the_path_that_the_person_gives_it(world: LibraryWorld) -> None:
    world.put(GOALS, "Run.")
    world.put("/profile/aims", "My own aims.")
    [item] = propose(world, illegal=(change("move", GOALS, "", 1, to_path="/profile/../aims", seqs=(2,)),))
    with pytest.raises(NeveError, match=r"validation_failed.*path"):
        say(world, item, "approve")
    with pytest.raises(NeveError, match="conflict"):
        say(world, item, "edit", path="/profile/aims")
    done = say(world, item, "edit", path="/profile/plans")
    assert isinstance(done, Proposal) and done.decided_path == "/profile/plans"
    assert (world.text(GOALS), world.text("/profile/plans")) == (None, "Run.")
    assert world.text("/profile/aims") == "My own aims.", "what is at another path stays"


@pytest.mark.parametrize("choice", ["edit", "supersede"])
def test_a_move_takes_no_text_in_silence(world: LibraryWorld, choice: str) -> None:
    world.put(GOALS, "Run.")
    [item] = propose(world, change("move", GOALS, "", 1, to_path="/profile/aims", seqs=(2,)))
    with pytest.raises(NeveError, match=r"validation_failed.*text"):
        say(world, item, choice, text="Run far.")
    assert (world.text(GOALS), waiting(world)) == ("Run.", [item])


def test_a_move_that_supersedes_takes_the_text_of_now_along(world: LibraryWorld) -> None:
    world.put(GOALS, "Run.")
    [item] = propose(world, change("move", GOALS, "", 1, to_path="/profile/aims", seqs=(2,)))
    world.put(GOALS, "Run far.")
    with pytest.raises(NeveError, match="conflict"):
        say(world, item, "approve")
    say(world, item, "supersede")
    assert (world.text(GOALS), world.text("/profile/aims")) == (None, "Run far.")


# --- what must not be kept -------------------------------------------------------------------------


@pytest.mark.parametrize("choice", ["edit", "supersede"])
@pytest.mark.parametrize("make", ["fact", "document"])
def test_a_persons_words_pass_the_gate(world: LibraryWorld, make: str, choice: str) -> None:
    item = fact(world, "The user likes jazz.").id if make == "fact" else propose(world, guess())[0]
    with pytest.raises(NeveError, match=r"pii_blocked: text contains .*password"):
        say(world, item, choice, text="The user's password is hunter2.")
    assert waiting(world) == [item]


def test_the_reason_of_a_decision_passes_the_gate(world: LibraryWorld) -> None:
    item = fact(world, "The user likes jazz.").id
    with pytest.raises(NeveError, match=r"pii_blocked: reason contains .*card_number"):
        say(world, item, "supersede", reason="Card 4111 1111 1111 1111 says so.")


def test_the_path_of_a_decision_is_refused_and_never_another_one(world: LibraryWorld) -> None:
    [item] = propose(world, guess())
    for path, kind in (("/profile/MRN 12345678", "medical_record_number"), ("/4111 1111 1111 1111", "card_number")):
        with pytest.raises(NeveError, match=rf"pii_blocked: path contains .*{kind}"):
            say(world, item, "edit", path=path)
    assert waiting(world) == [item]


# --- once -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", ["fact", "document"])
@pytest.mark.parametrize("choice", ["approve", "reject"])
def test_what_was_decided_stays_decided(world: LibraryWorld, make: str, choice: str) -> None:
    item = fact(world, "The user likes jazz.").id if make == "fact" else propose(world, guess())[0]
    say(world, item, choice)
    for again in ("approve", "reject", "supersede"):
        with pytest.raises(NeveError, match="conflict"):
            say(world, item, again)


@pytest.mark.parametrize("make", ["fact", "document"])
def test_a_decision_whose_answer_is_lost_is_recognised(world: LibraryWorld, make: str) -> None:
    item = fact(world, "The user likes jazz.").id if make == "fact" else propose(world, guess())[0]
    world.table.lose_response = True
    done = say(world, item, "approve")
    assert done.status in ("active", "approved")
    assert make == "fact" or world.rev(GOALS) == 1


@pytest.mark.parametrize("make", ["fact", "document"])
def test_of_two_who_decide_one_wins(world: LibraryWorld, make: str) -> None:
    item = fact(world, "The user likes jazz.").id if make == "fact" else propose(world, guess())[0]

    def reject() -> None:
        say(world, item, "reject")

    world.table.before_write = reject
    with pytest.raises(NeveError, match="conflict"):
        say(world, item, "approve")
    assert make == "fact" or world.text(GOALS) is None


def test_a_fact_that_was_replaced_is_decided_already_before_its_row_says_so(
    world: LibraryWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = fact(world, "The user likes jazz.")
    monkeypatch.setattr(replace_rows._Replacing, "sweep", lambda *_: None)
    replace_rows.replace_rows(world.user(), 1, replace_rows.Replacement((), (memory,), "taken back"))
    assert get_memory(world.user(), memory.id).status is Status.SUPERSEDED
    with pytest.raises(NeveError, match="conflict"):
        say(world, memory.id, "approve")


@pytest.mark.parametrize("item", ["mem_none", "prp_none", "doc_x", "x"])
def test_what_does_not_wait_is_not_found(world: LibraryWorld, item: str) -> None:
    with pytest.raises(NeveError, match="inbox_item_not_found"):
        say(world, item, "approve")


def test_another_users_item_is_not_found(world: LibraryWorld) -> None:
    memory = fact(world, "The user likes jazz.")
    [proposal] = propose(world, guess())
    deciding: list[Callable[[], object]] = [
        lambda: decide_item(world.user("bob"), memory.id, Decision("approve")),
        lambda: decide_item(world.user("bob"), proposal, Decision("approve")),
    ]
    for one in deciding:
        with pytest.raises(NeveError, match="inbox_item_not_found"):
            one()
