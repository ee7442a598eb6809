"""A list of what is to be forgotten, its confirmation, and the job."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from neve.domain.errors import NeveError
from neve.domain.records.jobs import Job
from neve.domain.records.memories import Kind, Provenance, Status
from neve.ports.errors import StoreUnavailable
from neve.ports.queue import QueueName
from neve.usecases.ask.memories.list_memories import MemoryFilter, get_memory, list_memories
from neve.usecases.core.jobs.read_jobs import find_job
from neve.usecases.tell.forget import list_to_forget as listing
from neve.usecases.tell.forget import listed
from neve.usecases.tell.forget.confirm import confirm_forgetting
from neve.usecases.tell.forget.list_to_forget import ForgetList, ToForget, list_to_forget
from neve.usecases.tell.memories.delete_memory import delete_listed
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from neve.usecases.tell.requests.request_erasure import request_erasure
from neve.usecases.tell.requests.retract_events import WHOLE, retract_events
from neve.usecases.work.forget import forget_listed
from neve.workers.job_worker import work
from tests.unit.recall_world import RecallWorld

NOTES = ToForget(MemoryFilter(kind="note"))


@pytest.fixture
def world(new_recall_world: RecallWorld) -> RecallWorld:
    new_recall_world.with_policy()
    new_recall_world.open()
    return new_recall_world


def forget(world: RecallWorld, wanted: ToForget, **options: Any) -> dict[str, Any]:
    """The receipt."""
    return ended(world, confirm_forgetting(world.user(), list_to_forget(world.user(), wanted).confirm or "", **options))


def ended(world: RecallWorld, job: Job) -> dict[str, Any]:
    world.dispatch()
    while messages := [message for queue, message in world.queue.sent if queue is QueueName.JOBS]:
        world.queue.sent = []
        for message in messages:
            work(world, message.body, lambda: 900.0)
    done = find_job(world.scope, job.id)
    assert done is not None and done.status == "done"
    return done.result


def left(world: RecallWorld) -> list[str]:
    return [memory.text for memory in list_memories(world.user(), MemoryFilter(), 50, None)[0]]


def refusal(call: Callable[[], object]) -> tuple[str, list[str]]:
    with pytest.raises(NeveError) as refused:
        call()
    return refused.value.code, [error.field for error in refused.value.errors]


def test_the_rows_of_a_list_hold_no_words(world: RecallWorld) -> None:
    world.remember("The secret.", kind=Kind.NOTE)
    shown = list_to_forget(world.user(), NOTES)
    keys = world.user().keys
    page = world.rows.query(keys.partition, prefix="JOBL#", limit=9)
    assert len(page.items) == 1 and "secret" not in str(page.items)
    assert find_job(world.scope, (shown.confirm or "").replace("forget_", "job_")) is None, "no job yet"


def test_nothing_found_gives_nothing_to_confirm(world: RecallWorld) -> None:
    shown = list_to_forget(world.user(), NOTES)
    assert (shown.count, shown.confirm) == (0, None)


def test_a_long_list_is_forgotten_whole(world: RecallWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listed, "PART_ENTRIES", 3)
    monkeypatch.setattr(forget_listed, "BATCH", 2)
    for n in range(8):
        world.remember(f"Note {n}.", kind=Kind.NOTE)
    world.remember("By hand.")
    assert forget(world, NOTES)["forgotten"] == 8
    assert left(world) == ["By hand."]


def test_more_than_a_list_holds_is_said(world: RecallWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "MAX_LISTED", 2)
    for n in range(3):
        world.remember(f"Note {n}.", kind=Kind.NOTE)
    shown = list_to_forget(world.user(), NOTES)
    assert (shown.count, shown.complete) == (2, False)
    assert ended(world, confirm_forgetting(world.user(), shown.confirm or ""))["forgotten"] == 2
    assert left(world) == ["Note 2."]
    assert list_to_forget(world.user(), NOTES).complete


def test_a_confirm_is_good_for_an_hour_and_for_one_user(world: RecallWorld) -> None:
    world.remember("Note.", kind=Kind.NOTE)
    confirm = list_to_forget(world.user(), NOTES).confirm or ""
    assert refusal(lambda: confirm_forgetting(world.user("bob"), confirm)) == ("validation_failed", ["confirm"])
    world.clock.move(minutes=59)
    assert confirm_forgetting(world.user(), confirm).status == "queued"
    world.clock.move(minutes=2)
    assert refusal(lambda: confirm_forgetting(world.user(), confirm)) == ("validation_failed", ["confirm"])
    for other in ("", "forget_", "x", "job_01KJ0000000000000000000000"):
        assert refusal(partial(confirm_forgetting, world.user(), other))[0] == "validation_failed"


def test_a_user_who_is_being_erased_lists_and_confirms_nothing(world: RecallWorld) -> None:
    world.remember("Note.", kind=Kind.NOTE)
    confirm = list_to_forget(world.user(), NOTES).confirm or ""
    request_erasure(world.user(), close=False)
    assert refusal(lambda: list_to_forget(world.user(), NOTES))[0] == "erasing"
    assert refusal(lambda: confirm_forgetting(world.user(), confirm))[0] == "erasing"


def test_an_edit_between_the_look_and_the_deletion_saves_the_memory(
    world: RecallWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory_id = world.remember("Note.", kind=Kind.NOTE)

    inner = delete_listed

    def edited_first(*given: Any) -> None:
        update_memory(world.user(), memory_id, MemoryChange({"text": "Note, edited."}), None)
        inner(*given)

    monkeypatch.setattr(forget_listed, "delete_listed", edited_first)
    assert forget(world, NOTES)["moved"] == [memory_id]
    assert left(world) == ["Note, edited."]


def test_a_job_that_a_store_interrupts_is_done_again(world: RecallWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(4):
        world.remember(f"Note {n}.", kind=Kind.NOTE)
    inner, count = delete_listed, 0

    def fails_once(*given: Any) -> None:
        nonlocal count
        count += 1
        if count == 3:
            raise StoreUnavailable("table", "down")
        inner(*given)

    monkeypatch.setattr(forget_listed, "delete_listed", fails_once)
    job = confirm_forgetting(world.user(), list_to_forget(world.user(), NOTES).confirm or "")
    world.dispatch()
    [message] = [message for queue, message in world.queue.sent if queue is QueueName.JOBS]
    with pytest.raises(StoreUnavailable):
        work(world, message.body, lambda: 900.0)
    assert len(left(world)) == 2
    world.clock.move(seconds=1_000)
    work(world, message.body, lambda: 900.0)
    done = find_job(world.scope, job.id)
    assert done is not None and (done.result["forgotten"], done.result["gone"]) == (4, [])


def test_a_fact_that_was_said_elsewhere_stays_with_a_conversation_that_goes(world: RecallWorld) -> None:
    world.open("s2")
    world.say("Hello.", "Hi.")
    world.say("Hello.", "Hi.", session="s2")
    made = world.remember("Of one.", session_id="s1")
    both = world.remember("Of two.", session_id="s2")
    world.change(both, provenance=Provenance("user_stated", "s1", 1, 1, trust="user"))
    shown = list_to_forget(world.user(), ToForget(MemoryFilter(of_sessions=("s1",))))
    assert [memory.id for memory in shown.memories] == [made]
    shown = list_to_forget(world.user(), ToForget(MemoryFilter(of_sessions=("s1", "s2"))))
    assert [memory.id for memory in shown.memories] == [made, both]


def test_a_conversation_that_was_deleted_meanwhile_is_named(world: RecallWorld) -> None:
    world.say("Hello.", "Hi.")
    shown = list_to_forget(world.user(), ToForget(MemoryFilter(of_sessions=("s1",)), conversations=True))
    retract_events(world.session, WHOLE)
    receipt = ended(world, confirm_forgetting(world.user(), shown.confirm or ""))
    assert (receipt["gone"], receipt.get("conversations")) == (["s1"], None)


def test_superseded_rows_of_a_conversation_are_listed_and_others_are_not(world: RecallWorld) -> None:
    old = world.remember("Old.", session_id="s1")
    world.change(old, status=Status.SUPERSEDED)
    assert shown_ids(list_to_forget(world.user(), ToForget(MemoryFilter(of_sessions=("s1",))))) == [old]
    assert shown_ids(list_to_forget(world.user(), ToForget(MemoryFilter(session_id="s1")))) == []


def test_an_id_that_there_is_not_is_refused(world: RecallWorld) -> None:
    assert refusal(lambda: list_to_forget(world.user(), ToForget(ids=("mem_x",))))[0] == "memory_not_found"


def test_a_degraded_search_says_so(world: RecallWorld) -> None:
    world.remember("User's kayak is green.", kind=Kind.NOTE)
    world.pump()
    world.broken("vector=error")
    shown = list_to_forget(world.user(), ToForget(query="kayak"))
    assert shown.count == 1 and shown.degraded


def shown_ids(shown: ForgetList) -> list[str]:
    return [memory.id for memory in shown.memories]


def test_what_a_memory_says_is_not_in_the_receipt(world: RecallWorld) -> None:
    memory_id = world.remember("The secret.", kind=Kind.NOTE)
    receipt = forget(world, NOTES, purge_packs=True)
    assert "secret" not in str(receipt)
    assert refusal(lambda: get_memory(world.user(), memory_id))[0] == "memory_not_found"
    item = world.rows.get(world.user().keys.deleted_memory(memory_id))
    assert item is not None and "secret" not in str(item)
