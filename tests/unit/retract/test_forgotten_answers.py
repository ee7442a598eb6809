"""The answers that are kept for idempotency keys hold no word of a deleted message either."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from functions.records.app import router
from neve.domain.compact.headings import SummaryText
from neve.domain.memories.storage_decision import FactCandidate
from neve.domain.records.jobs import Job
from neve.domain.records.memories import Provenance
from neve.observing import Summarised
from neve.usecases.ask.memories.list_inbox import list_inbox
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.core.jobs.read_jobs import get_job
from neve.usecases.tell.memories.delete_memory import delete_memory
from neve.usecases.tell.memories.store_fact import store_fact
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.work.retract.run_retraction import run_retraction
from tests.unit.api_world import Api, installed
from tests.unit.librarian.library_world import LibraryWorld, answer, change, proposals


@pytest.fixture
def world(tmp_path: Path) -> Iterator[LibraryWorld]:
    world = LibraryWorld.at(tmp_path)
    world.open()
    world.say("What is it?", "You seem to own a MARKER.")
    yield from installed(world)  # type: ignore[misc]
    world.table.close()


def guess(world: LibraryWorld, text: str, seq: int) -> str:
    """An assistant's, which waits."""
    origin = Provenance("assistant", "s1", seq, seq)
    stored = store_fact(world.user(), FactCandidate(text, "PREFERENCE", origin), via="librarian")
    assert stored.memory is not None
    return stored.memory.id


def decide(item_id: str, choice: str) -> None:
    reply = Api(router).call(
        "POST",
        f"/v1/users/{{user_id}}/inbox/{{item_id}}/{choice}",
        {},
        headers={"Idempotency-Key": "k1"},
        user_id="ann",
        item_id=item_id,
    )
    assert reply.status == 200


def answers(world: LibraryWorld) -> list[str]:
    return [str(item) for item in world.table.query(world.tenant.keys.answers, limit=50).items]


def deleted(world: LibraryWorld, seq: int) -> Job:
    retraction = retract_events(world.session, Retract(seq, seq, "deleted"))
    item = world.table.get(world.tenant.keys.job(retraction.job_id)) or {}
    run_retraction(world.session, message_of_row(item).body)
    return get_job(world.user(), retraction.job_id)


@pytest.mark.parametrize("choice", ["approve", "reject"])
def test_what_a_decision_about_a_fact_was_answered_goes(world: LibraryWorld, choice: str) -> None:
    decide(guess(world, "The user owns a MARKER.", 2), choice)
    decide(guess(world, "The user asks a lot.", 1), choice)
    assert "MARKER" in str(answers(world))
    assert deleted(world, 2).result["erased"]["verified"]
    [left] = answers(world)
    assert "asks a lot" in left


def test_also_where_the_fact_was_deleted_before(world: LibraryWorld) -> None:
    fact = guess(world, "The user owns a MARKER.", 2)
    decide(fact, "approve")
    delete_memory(world.user(), fact, None)
    deleted(world, 2)
    assert answers(world) == []


def test_what_a_decision_about_a_document_was_answered_goes_with_the_proposal(world: LibraryWorld) -> None:
    world.end()
    world.observer.filings = [answer(change("create", "/profile/goals", "A MARKER.", certainty="low", seqs=(2,)))]
    world.file()
    [waiting] = list_inbox(world.user(), 50, None)[0]
    decide(waiting.id, "reject")
    assert "MARKER" in str(answers(world))
    deleted(world, 2)
    assert (proposals(world), answers(world)) == ([], [])


def test_a_librarian_that_thinks_meanwhile_brings_no_summary_back(world: LibraryWorld) -> None:
    """The job of a session's end says what its compaction wrote; the librarian adds to that."""
    world.with_policy(window=2_000)
    for _ in range(12):
        world.say("u" * 320, "a" * 320)
    summary = SummaryText(insights=("The user owns a MARKER.",))
    world.observer.summaries.append(Summarised(summary, "scripted", prompt_version="1"))
    ended = world.end()
    assert "MARKER" in str(ended.result)
    world.meanwhile(lambda: deleted(world, ended.result["horizon_seq"]))
    world.file()
    found = get_job(world.user(), ended.id)
    assert (found.status, found.result["outcome"], "MARKER" in str(found)) == ("done", "covered", False)
