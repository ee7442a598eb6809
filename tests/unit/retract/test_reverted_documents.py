"""What a librarian reads, and what becomes of what it wrote, when messages are taken back
(docs/rules/retract.md#librarian)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from neve.domain.documents.change import DocumentChange
from neve.domain.indexing.document_passages import indexed_texts
from neve.domain.librarian.filing import Account, Filing
from neve.domain.memories.text import fingerprint
from neve.domain.records.jobs import Job
from neve.domain.records.retractions import RetractReason
from neve.ports.errors import ModelRefused
from neve.ports.queue import QueueName
from neve.ports.table import Put
from neve.store.filings import read_filing
from neve.store.partitions import all_rows
from neve.store.rows import read_retraction
from neve.store.stream_records import Change
from neve.usecases.ask.memories.list_memories import MemoryFilter, list_memories
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.ask.sessions.read_sessions import get_session
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.core.jobs.read_jobs import get_job
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.tell.documents.delete_document import delete_document
from neve.usecases.tell.documents.write_document import write_document
from neve.usecases.tell.memories.delete_memory import delete_memory
from neve.usecases.tell.requests.end_session import end_session
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.tell.requests.wait_for_retraction import wait_for_retraction
from neve.usecases.tell.tenants.create_tenant import create_tenant
from neve.usecases.work.background.dispatch_changes import dispatch_changes
from neve.usecases.work.background.refill_queues import refill_queues
from neve.usecases.work.background.sweep_due import sweep_due
from neve.usecases.work.librarian.file_session import file_session
from neve.usecases.work.retract.deleted_before import deleted_before
from neve.usecases.work.retract.documents import revert_documents
from neve.usecases.work.retract.run_retraction import run_retraction
from tests.unit.librarian.library_world import ACCOUNT, LibraryWorld, answer, change, paths, proposals

OSLO = "/conversations/2026-03-10-a-trip-to-oslo"
SARAH = "/profile/people/sarah"
GOALS = "/profile/goals"


@pytest.fixture
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LibraryWorld]:
    world = LibraryWorld.at(tmp_path_factory.mktemp("taken-back"))
    world.open()
    world.say("We go to Oslo with Sarah.", "Noted.", "Sarah snores.", "Oh.")
    yield world
    world.table.close()


def retract(
    world: LibraryWorld, first: int, last: int | None = None, reason: RetractReason = "edited", session: Any = None
) -> Any:
    """The message of its job."""
    retraction = retract_events(session or world.session, Retract(first, last, reason))
    item = world.table.get(world.tenant.keys.job(retraction.job_id))
    assert item is not None
    return message_of_row(item).body


def summaries(world: LibraryWorld) -> list[Any]:
    return list_memories(world.user(), MemoryFilter(kind="session_summary"), 10, None)[0]


def filing(world: LibraryWorld) -> Filing:
    return filing_of(world, "s1")


def filing_of(world: LibraryWorld, session: str) -> Filing:
    return read_filing(session, world.table.get(world.user().of_session(session).keys.filing))


def shown(world: LibraryWorld) -> list[list[int]]:
    """Seqs, of each time that the librarian was asked."""
    return [[event.seq for event in given.events] for given in world.observer.filed]


def work(world: LibraryWorld, message: Any) -> Job:
    run_retraction(world.session, message)
    told_by_the_outbox(world)
    return get_job(world.user(), message["job_id"])


def told_by_the_outbox(world: LibraryWorld) -> list[str]:
    """Sessions that are to be filed again, of which nobody has been told."""
    jobs = [row for row in all_rows(world.table, world.user().keys.jobs) if row["kind"] == "librarian"]
    asked = [row for row in jobs if row["status"] == "queued"]
    dispatch_changes(world, [Change("", None, row) for row in asked])
    return [row["session_id"] for row in asked]


def filed(world: LibraryWorld, *actions: Any, account: Account = ACCOUNT) -> None:
    """What is new of the session, by its end."""
    world.end()
    world.observer.filings = [answer(*actions, account=account)]
    world.file()


def texts(world: LibraryWorld, path: str) -> list[str]:
    return [one.text for one in world.revisions(path)]


# --- what it reads --------------------------------------------------------------------------------


def test_events_that_are_taken_back_are_not_read(world: LibraryWorld) -> None:
    retract(world, 3)
    world.end()
    world.observer.filings = [answer(change("create", SARAH, "Travels along.", seqs=(1, 2)))]
    world.file()
    assert shown(world) == [[1, 2]]
    assert (filing(world).filed_seq, filing(world).left_out) == (4, ((3, 4),))
    [summary] = summaries(world)
    assert (summary.provenance.seq_to, summary.provenance.left_out) == (4, ((3, 4),))


def test_a_session_of_which_nothing_is_left_has_no_summary(world: LibraryWorld) -> None:
    retract(world, 1)
    world.end()
    world.file()
    assert (shown(world), summaries(world)) == ([], [])
    assert (filing(world).filed_seq, filing(world).account) == (4, None)
    assert get_session(world.session).head.status == "extracted"


def test_what_is_taken_back_while_the_librarian_thinks_is_not_filed(world: LibraryWorld) -> None:
    world.end()
    world.observer.filings = [
        answer(change("create", SARAH, "Snores.", seqs=(3,))),
        answer(change("create", SARAH, "Travels along.", seqs=(1,))),
    ]
    world.meanwhile(lambda: retract(world, 3))
    world.file()
    assert shown(world) == [[1, 2, 3, 4], [1, 2]]
    assert (world.text(SARAH), world.rev(SARAH)) == ("Travels along.", 1)
    assert len(summaries(world)) == 1


def test_what_is_taken_back_as_the_librarian_commits_is_not_filed(world: LibraryWorld) -> None:
    """Between its look at the lists and its write."""
    world.end()
    world.observer.filings = [
        answer(change("create", SARAH, "Snores.", seqs=(3,))),
        answer(change("create", SARAH, "Travels along.", seqs=(1,))),
    ]

    def before() -> None:
        retract(world, 3)

    def thinking() -> None:
        world.table.before_write = before

    world.observer.meanwhile = thinking
    world.file()
    assert shown(world) == [[1, 2, 3, 4], [1, 2]]
    assert world.text(SARAH) == "Travels along."


def test_an_action_says_what_of_its_range_was_left_out(world: LibraryWorld) -> None:
    retract(world, 2, 3)
    world.end()
    world.observer.filings = [answer(change("create", SARAH, "Travels along.", seqs=(1, 4)))]
    world.file()
    [revision] = world.revisions(SARAH)
    assert (revision.provenance.seq_from, revision.provenance.seq_to) == (1, 4)
    assert revision.provenance.left_out == ((2, 3),)


# --- what it wrote --------------------------------------------------------------------------------


def test_the_session_is_filed_again_from_what_is_left(world: LibraryWorld) -> None:
    filed(world, change("create", SARAH, "Snores.", seqs=(3,)))
    [before] = summaries(world)
    job = work(world, retract(world, 3))
    assert (job.status, job.result["documents_deleted"]) == ("done", 2)
    assert (world.text(SARAH), world.text(OSLO), summaries(world)) == (None, None, [])
    assert (filing(world).filed_seq, filing(world).account) == (0, None)
    world.observer.filings = [answer(change("create", SARAH, "Travels along.", seqs=(1,)))]
    world.file()
    assert shown(world)[-1] == [1, 2]
    assert world.observer.filed[-1].before is None
    [after] = summaries(world)
    assert (after.id != before.id, after.provenance.left_out) == (True, ((3, 4),))
    assert (world.text(SARAH), filing(world).memory_id) == ("Travels along.", after.id)
    assert "# A trip to Oslo" in str(world.text(OSLO))


def test_the_newest_revision_that_is_not_touched_comes_back(world: LibraryWorld) -> None:
    filed(world, change("create", SARAH, "Travels along.", seqs=(1,)))
    world.say("Sarah sings.", "Oh.")
    filed(world, change("append", SARAH, "Sings.", base_rev=1, seqs=(5,)))
    work(world, retract(world, 5))
    assert texts(world, SARAH) == ["Travels along.", "Travels along.\n\nSings.", "Travels along."]
    [*_, last] = world.revisions(SARAH)
    assert (last.provenance.seq_from, world.rev(SARAH)) == (1, 3)
    work(world, retract(world, 6, 6))
    assert world.rev(SARAH) == 3, "what was put back is not touched by what it was written onto"


def test_what_another_session_wrote_onto_it_is_filed_again_too(world: LibraryWorld) -> None:
    filed(world, change("create", SARAH, "Snores.", seqs=(3,)))
    world.open(session="s2")
    world.say("Sarah sings.", "Oh.", session="s2")
    other = world.user().of_session("s2")
    world.observer.filings = [answer(change("append", SARAH, "Sings.", base_rev=1, seqs=(1,)))]
    body = {"incarnation": 1, "job_id": "job_1", "kind": "librarian"}
    file_session(other, body)
    assert world.text(SARAH) == "Snores.\n\nSings."
    work(world, retract(world, 3))
    assert world.text(SARAH) is None
    assert asked(world) == ["s1", "s2"]
    assert read_filing("s2", world.table.get(other.keys.filing)).filed_seq == 0


def test_sessions_whose_message_is_lost_are_filed_again_by_the_sweep(world: LibraryWorld) -> None:
    """They are over, and their documents are gone: nothing else would ask a librarian."""
    filed(world, change("create", SARAH, "Snores.", seqs=(3,)))
    assert get_session(world.session).head.status == "extracted"
    world.open(session="s2")
    world.say("Sarah sings.", "Oh.", session="s2")
    other = world.user().of_session("s2")
    world.observer.filings = [answer(change("append", SARAH, "Sings.", base_rev=1, seqs=(1,)))]
    file_session(other, {"incarnation": 1, "job_id": "job_1", "kind": "librarian"})
    message = retract(world, 3)
    for _ in range(2):
        run_retraction(world.session, message)  # what the outbox was to send of it is lost
    [(one, first), (two, second)] = sent_by_the_sweep(world, 20)
    assert ((one, two), first["job_id"]) == (("s1", "s2"), job_of(world, message).result["librarian_job_id"])
    assert [session for session, _ in sent_by_the_sweep(world, 30)] == ["s1", "s2"], "a dead letter is sent again, too"
    file_session(world.session, first)
    file_session(other, second)
    assert (filing(world).filed_seq, filing_of(world, "s2").filed_seq) == (4, 2)
    assert sent_by_the_sweep(world, 1_000) == []


def test_a_session_that_the_model_refuses_to_file_again_waits_for_it(world: LibraryWorld) -> None:
    filed(world, change("create", SARAH, "Snores.", seqs=(3,)))
    again = work(world, retract(world, 3)).result["librarian_job_id"]
    told = []
    for why in ("status 401", "status 401", "status 403"):
        world.observer.filings = [ModelRefused(why)]
        report = world.file()
        job = get_job(world.user(), again)
        assert report is not None and (job.status, why in job.result["reason"]) == ("running", True)
        told.append(report.failed)
    assert told == [True, False, True], "each reason once"
    [(_, body)] = sent_by_the_sweep(world, 20)
    file_session(world.session, body)
    job = get_job(world.user(), again)
    assert (job.status, "reason" in job.result, filing(world).filed_seq) == ("done", False, 4)


def asked(world: LibraryWorld) -> list[str]:
    """The sessions that a librarian is to file again."""
    jobs = [item for item in all_rows(world.table, world.user().keys.jobs) if item["kind"] == "librarian"]
    return sorted({item["session_id"] for item in jobs if item["status"] == "queued"})


def job_of(world: LibraryWorld, message: Any) -> Job:
    return get_job(world.user(), message["job_id"])


def sent_by_the_sweep(world: LibraryWorld, minutes: float) -> list[tuple[str, Any]]:
    """Session and message of each that a librarian is told of."""
    world.clock.move(minutes=minutes)
    before = len(world.queue.sent)
    sweep_due(world)
    bodies = [dict(one.body) for queue, one in world.queue.sent[before:] if queue is QueueName.LIBRARIAN]
    return sorted((body["session"], body) for body in bodies)


def test_queues_that_are_lost_are_filled_with_sessions_that_are_filed_again(world: LibraryWorld) -> None:
    filed(world, change("create", SARAH, "Snores.", seqs=(3,)))
    job = work(world, retract(world, 3))
    [sent] = [one.body for queue, one in world.queue.sent if queue is QueueName.LIBRARIAN][-1:]
    create_tenant(world, "acme")
    world.queue.sent.clear()
    refill_queues(world, lambda _: None)
    again = [one.body for queue, one in world.queue.sent if queue is QueueName.LIBRARIAN]
    assert (again, sent["job_id"]) == ([sent], job.result["librarian_job_id"])


def test_a_session_that_two_retractions_move_back_keeps_its_account(
    world: LibraryWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second finds the session as a neighbour's, whose document the first has just deleted, before the first has
    noted that: the place of a missing document is kept, because a person may have deleted it."""
    world.open(session="s2")
    world.say("Sarah sings.", "Oh.", session="s2")
    other = world.user().of_session("s2")
    world.observer.filings = [answer(change("create", SARAH, "Sings.", seqs=(1,)), account=None)]
    file_session(other, {"incarnation": 1, "job_id": "job_1", "kind": "librarian"})
    filed(world, change("append", SARAH, "Snores.", base_rev=1, seqs=(3,)))
    first, second = retract(world, 3), retract(world, 1, session=other)
    met: list[str] = []

    def meeting(scope: Any, path: str, *of: Any) -> Any:
        gone = delete_document(scope, path, *of)
        if path == OSLO and not met:
            met.append(path)
            run_retraction(other, second)
        return gone

    monkeypatch.setattr("neve.usecases.work.retract.documents.revert_documents.delete_document", meeting)
    work(world, first)
    neighbour = get_job(world.user(), second["job_id"])
    assert (met, neighbour.status, asked(world)) == ([OSLO], "done", ["s1", "s2"])
    assert (filing(world).document_path, filing(world).filed_seq, world.text(OSLO)) == (None, 0, None)
    world.observer.filings = [answer()]
    world.file()
    assert shown(world)[-1] == [1, 2]
    assert "# A trip to Oslo" in str(world.text(OSLO))


@pytest.mark.parametrize("edit", ["edited", "deleted"])
def test_another_conversation_takes_the_place_of_a_deleted_document(
    world: LibraryWorld, monkeypatch: pytest.MonkeyPatch, edit: RetractReason
) -> None:
    """It has the same title and day, and is filed between the deletion and the note of it: it keeps its document, and
    what is left of the first one gets one of its own."""
    other = another_conversation(world)
    filed(world, change("create", SARAH, "Snores.", seqs=(3,)))

    def meeting(scope: Any, path: str, *of: Any) -> Any:
        gone = delete_document(scope, path, *of)
        if path == OSLO and filing_of(world, "s2").document_path is None:
            file_other(world, other)
        return gone

    monkeypatch.setattr("neve.usecases.work.retract.documents.revert_documents.delete_document", meeting)
    work(world, retract(world, 3, None, edit))
    assert (filing(world).document_path, filing_of(world, "s2").document_path) == (None, OSLO)
    world.observer.filings = [answer()]
    world.file()
    apart = str(filing(world).document_path)
    assert apart.startswith(f"{OSLO}-") and "# A trip to Oslo" in str(world.text(apart))
    assert (world.rev(OSLO), [one.provenance.session_id for one in world.revisions(OSLO)]) == (1, ["s2"])


def test_a_document_that_took_the_place_of_a_touched_one_is_not_deleted(
    world: LibraryWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person deleted that one, and another conversation was filed there: the same path and the same rev."""
    other = another_conversation(world)
    filed(world, change("create", SARAH, "Snores.", seqs=(3,)))

    def late(scope: Any, path: str, *of: Any) -> Any:
        if path == OSLO and filing_of(world, "s2").document_path is None:
            delete_document(scope, path, None)
            file_other(world, other)
        return delete_document(scope, path, *of)

    monkeypatch.setattr("neve.usecases.work.retract.documents.revert_documents.delete_document", late)
    job = work(world, retract(world, 3))
    assert (job.status, world.rev(OSLO)) == ("done", 1)
    assert [one.provenance.session_id for one in world.revisions(OSLO)] == ["s2"]


def another_conversation(world: LibraryWorld) -> Any:
    world.open(session="s2")
    world.say("Oslo it is.", "Fine.", session="s2")
    return world.user().of_session("s2")


def file_other(world: LibraryWorld, other: Any) -> None:
    world.observer.filings = [answer()]
    file_session(other, {"incarnation": 1, "job_id": "job_2", "kind": "librarian"})


def test_what_a_person_wrote_stays(world: LibraryWorld) -> None:
    filed(world, change("create", SARAH, "Snores.", seqs=(3,)))
    world.put(SARAH, "Snores, says he.")
    world.put(OSLO, "My own account.")
    job = work(world, retract(world, 3, None, "deleted"))
    assert (world.text(SARAH), world.text(OSLO)) == ("Snores, says he.", "My own account.")
    assert texts(world, SARAH) == ["Snores, says he."], "the librarian's own revision is erased"
    assert job.result["erased"]["revisions"] == 2
    world.observer.filings = [answer()]
    world.file()
    assert str(world.text(OSLO)).startswith("My own account.\n\n")


def test_nothing_happens_where_no_librarian_has_read_it(world: LibraryWorld) -> None:
    filed(world, change("create", SARAH, "Snores.", seqs=(3,)))
    world.say("And now?", "Oslo.")
    sent = world.last_message()
    job = work(world, retract(world, 5))
    assert (job.status, "file_again" in job.state, world.rev(SARAH)) == ("done", False, 1)
    assert (world.last_message(), filing(world).filed_seq) == (sent, 4)


def test_a_filing_waits_for_the_job_of_what_is_taken_back(world: LibraryWorld) -> None:
    filed(world, change("create", SARAH, "Snores.", seqs=(3,)))
    world.say("And now?", "Oslo.")
    message = retract(world, 3, 3)
    ended = world.end()
    for _ in range(2):
        report = world.file()
        assert report is not None and report.waits
        assert (len(shown(world)), filing(world).filed_seq) == (1, 4)
        assert get_job(world.user(), ended.id).status == "running"
    job = work(world, message)
    assert (job.state["waiting"], filing(world).waiting) == ([[ended.id, "compact"]], ())
    assert get_job(world.user(), job.result["librarian_job_id"]).status == "queued"
    waited, again = [one.body for queue, one in world.queue.sent if queue is QueueName.LIBRARIAN][-2:]
    assert (again["kind"], waited["job_id"], waited["kind"]) == ("librarian", ended.id, "compact")
    world.observer.filings = [answer(change("create", SARAH, "Travels along.", seqs=(1,)))]
    file_session(world.session, again)
    file_session(world.session, waited)
    assert (shown(world)[1:], filing(world).left_out) == ([[1, 2, 4, 5, 6]], ((3, 3),))
    assert get_job(world.user(), job.result["librarian_job_id"]).status == "done"
    done = get_job(world.user(), ended.id)
    assert (done.status, done.result["filed"]["seq_to"]) == ("done", 6)
    assert paths(world, done.result) == [SARAH]
    assert done.result["reason"] == "end"


def test_nobody_waits_for_a_cursor_that_has_moved(world: LibraryWorld) -> None:
    filed(world, change("create", SARAH, "Snores.", seqs=(3,)))
    message = retract(world, 3)
    assert wait_for_retraction(world.session, 1, ("job_1", "compact"))
    work(world, message)
    assert not wait_for_retraction(world.session, 1, ("job_1", "compact"))
    assert filing(world).waiting == ()


def test_a_session_that_is_ended_again_after_a_retraction_is_another_job(world: LibraryWorld) -> None:
    """The first one is done: what it wrote is being taken back."""
    filed(world, change("create", SARAH, "Snores.", seqs=(3,)))
    first = end_session(world.session)
    message = retract(world, 3)
    second = world.end()
    waiting = world.last_message()
    assert (first.status, second.id != first.id, second.status) == ("done", True, "running")
    world.file()
    assert get_job(world.user(), second.id).status == "running"
    work(world, message)
    file_session(world.session, waiting)
    assert get_job(world.user(), second.id).status == "done"
    assert (shown(world)[-1], end_session(world.session).id) == ([1, 2], second.id)


def test_somebody_who_writes_meanwhile_is_seen(world: LibraryWorld) -> None:
    """As the job puts an earlier revision back: a person, whose words stay."""
    filed(world, change("create", SARAH, "Travels along.", seqs=(1,)))
    world.say("Sarah sings.", "Oh.")
    filed(world, change("append", SARAH, "Sings.", base_rev=1, seqs=(5,)))
    message, write = retract(world, 5), world.table.write

    def meanwhile(ops: Any) -> None:
        if any(getattr(op, "item", {}).get("path") == SARAH for op in ops):
            del world.table.write
            world.put(SARAH, "Mine.")
        write(ops)

    world.table.write = meanwhile  # type: ignore[method-assign]
    work(world, message)
    assert texts(world, SARAH)[2:] == ["Mine."]


def test_a_message_that_comes_again_takes_nothing_back_again(world: LibraryWorld) -> None:
    filed(world, change("create", SARAH, "Snores.", seqs=(3,)))
    message = retract(world, 3)
    work(world, message)
    world.observer.filings = [answer(change("create", SARAH, "Travels along.", seqs=(1,)))]
    world.file()
    work(world, message)
    world.file()
    assert (world.text(SARAH), len(shown(world)), len(summaries(world))) == ("Travels along.", 2, 1)


def test_a_worker_whose_job_another_one_has_ended_stops(world: LibraryWorld) -> None:
    """The other one found nothing filed; a librarian came behind it, and only then the slow one looked."""
    message, ended, get_many = retract(world, 3), list[Job](), world.table.get_many

    def meanwhile(keys: Any, **how: Any) -> Any:
        if world.session.keys.filing in keys:
            del world.table.get_many
            ended.append(work(world, message))
            filed(world, change("create", SARAH, "Travels along.", seqs=(1,)))
        return get_many(keys, **how)

    world.table.get_many = meanwhile  # type: ignore[method-assign]
    job = work(world, message)
    assert [one.status for one in ended] == ["done"]
    assert (job, texts(world, SARAH)) == (ended[0], ["Travels along."])


def test_a_proposal_that_waits_is_asked_for_again(world: LibraryWorld) -> None:
    filed(world, change("create", SARAH, "Snores, perhaps.", certainty="low", seqs=(3,)))
    assert len(proposals(world)) == 1
    work(world, retract(world, 3))
    assert proposals(world) == []


def test_deleted_words_are_in_no_document(world: LibraryWorld) -> None:
    filed(world, change("create", SARAH, "Travels along.", seqs=(1,)))
    world.say("Sarah has a MARKER.", "A MARKER.")
    account = Account("MARKER", "SUCCESS", "neutral", ("marker",))
    actions = [
        change("append", SARAH, "Has a MARKER.", base_rev=1, seqs=(5,)),
        change("create", "/profile/goals", "A MARKER of her own.", seqs=(5,)),
        change("create", "/profile/identity", "MARKER, perhaps.", certainty="low", seqs=(5,)),
    ]
    filed(world, *actions, account=account)
    build_pack(world.session, "initial")
    assert "MARKER" in str(read_pack(world.session).text)
    job = work(world, retract(world, 5, None, "deleted"))
    counted = job.result["erased"]
    assert (counted["revisions"], counted["packs"], counted["verified"]) == (3, 1, True)
    assert texts(world, SARAH) == ["Travels along.", "Travels along."]
    assert (world.text("/profile/goals"), proposals(world)) == (None, [])
    assert "MARKER" not in str(read_pack(world.session).text)
    rows = [item for item in all_rows(world.table, world.user().keys.partition) if "MARKER" in str(item)]
    assert rows == []


def test_nor_is_a_vector_left_that_was_kept_before_their_revision_went(
    world: LibraryWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever embeds a revision looks behind it whether it is there."""
    filed(world, change("create", GOALS, "A MARKER of her own.", seqs=(3,)))
    keys, [revision] = world.user().keys, world.revisions(GOALS)

    def kept_first(*asked: Any) -> Any:
        for text in indexed_texts(revision):
            key = keys.vector(fingerprint(text), "fixture")
            world.table.write([Put({"pk": key.pk, "sk": key.sk, "type": "vector"})])
        return delete_document(*asked)

    monkeypatch.setattr(revert_documents, "delete_document", kept_first)
    work(world, retract(world, 3, None, "deleted"))
    assert list(all_rows(world.table, keys.vectors)) == []


def test_packs_keep_no_word_of_a_document_that_was_deleted_before(world: LibraryWorld) -> None:
    filed(world, change("create", GOALS, "A MARKER of her own.", seqs=(3,)))
    write_document(world.user(), GOALS, DocumentChange(prompt_label="Goals"))
    for memory in world.memories():
        delete_memory(world.user(), memory.id, None)
    world.open(session="s2")
    packs = world.user().of_session("s2")
    held = build_pack(packs, "initial")
    assert "MARKER" in held.text
    assert [layer for layer, entries in held.manifest.layers.items() if entries] == ["profile"]
    delete_document(world.user(), GOALS, None)
    receipt = work(world, retract(world, 3, None, "deleted")).result["erased"]
    assert (receipt["packs"], receipt["rebuilt_packs"], receipt["verified"]) == (1, ["s2"], True)
    names = world.objects.list(packs.keys.packs_prefix)
    assert [name for name in names if b"MARKER" in (world.objects.get(name) or b"")] == []


def test_what_a_person_wrote_and_deleted_was_made_of_no_message(world: LibraryWorld) -> None:
    filed(world, change("create", SARAH, "Snores.", seqs=(3,)))
    world.put(SARAH, "Snores, says he.")
    [sarah] = {one.id for one in world.revisions(SARAH)}
    world.put(GOALS, "A marathon.")
    for path in (SARAH, GOALS):
        delete_document(world.user(), path, None)
    message = retract(world, 3, 4, "deleted")
    taken = read_retraction(world.table.get(world.session.keys.retraction(message["retraction"])) or {})
    assert deleted_before(world.session, taken, "0") == {sarah: 2}, (
        "of which a librarian's words were the first revision"
    )
    assert deleted_before(world.session, replace(taken, seq_from=5, seq_to=5), "0") == {}
