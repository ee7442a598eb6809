"""Everything of a user as lines, and the same brought in elsewhere."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlparse

import pytest

from neve.domain.documents.change import DocumentChange
from neve.domain.errors import NeveError
from neve.domain.librarian.filing import Action, Proposal
from neve.domain.records.jobs import Job
from neve.domain.records.memories import Kind, Memory, Status
from neve.http.schemas.memories.imports import ImportText
from neve.ports.queue import Message, QueueName
from neve.store import rows
from neve.store.filings import put_proposal
from neve.usecases.ask.memories.list_memories import MemoryFilter, get_memory, list_memories
from neve.usecases.core.memories.replace_rows import Replacement, replace_rows
from neve.usecases.tell.documents.write_document import write_document
from neve.usecases.tell.memories.fact_place import place_key
from neve.usecases.tell.memories.import_memories import ImportedRow, ImportReport, import_memories
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from neve.usecases.tell.requests.request_erasure import request_erasure
from neve.usecases.tell.requests.request_export import request_export
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.work.background.read_admin_job import read_admin_job
from neve.usecases.work.export import export_lines, export_user
from neve.workers.job_worker import work
from tests.unit.recall_world import RecallWorld


@pytest.fixture
def world(new_recall_world: RecallWorld) -> RecallWorld:
    new_recall_world.with_policy()
    new_recall_world.open()
    return new_recall_world


def deliver(world: RecallWorld) -> int:
    messages = waiting(world)
    for message in messages:
        work(world, message.body, lambda: 900.0)
    return len(messages)


def waiting(world: RecallWorld) -> list[Message]:
    """What the jobs queue holds."""
    world.dispatch()
    messages = [message for queue, message in world.queue.sent if queue is QueueName.JOBS]
    world.queue.sent = []
    return messages


def exported(world: RecallWorld, job: Job | None = None) -> list[dict[str, Any]]:
    """The lines that are behind the addresses of the ended job."""
    job = job or request_export(world.user())
    deliver(world)
    return written(world, job)


def written(world: RecallWorld, job: Job) -> list[dict[str, Any]]:
    done = read_admin_job(world.scope, job.id)
    assert done.status == "done", done
    bodies = []
    for part in done.result["parts"]:
        found = world.objects.download(urlparse(part["url"]).path.rpartition("/")[2])
        assert found is not None
        assert (found[0], len(found[1])) == ("application/jsonl", part["bytes"])
        assert found[1].count(b"\n") == part["lines"]
        bodies.append(found[1])
    return [json.loads(line) for line in b"".join(bodies).splitlines()]


def of_type(lines: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [line for line in lines if line["type"] == kind]


def brought_in(world: RecallWorld, lines: list[dict[str, Any]], user: str = "bob") -> ImportReport:
    read = ImportText("\n".join(json.dumps(line) for line in lines)).read()
    report = import_memories(world.user(user), read.rows())
    assert (read.rejected, report.refused) == ([], [])
    return report


def test_everything_of_a_user_is_in_it_and_nothing_of_others(world: RecallWorld) -> None:
    world.say("I moved to Lisbon.", "Noted.")
    world.remember("Likes tea.", tags=("drinks",), importance=4)
    write_document(world.user(), "/notes/lisbon", DocumentChange(text="A city on the Tagus.", tags=("places",)))
    write_document(world.user(), "/notes/long", DocumentChange(text="long " * 70_000))
    world.open(user="bob")
    world.say("I live in Porto.", user="bob")
    lines = exported(world)
    assert lines[0] | {"at": ""} == {"type": "export", "format": 1, "user_id": "ann", "at": ""}
    assert [line["text"] for line in of_type(lines, "memory")] == ["Likes tea."]
    assert [(line["path"], line["text"][:10]) for line in of_type(lines, "document")] == [
        ("/notes/lisbon", "A city on "),
        ("/notes/long", "long long "),
    ]
    assert len(of_type(lines, "document")[1]["text"]) == 350_000
    assert [(line["seq"], line["content"]) for line in of_type(lines, "event")] == [
        (1, "I moved to Lisbon."),
        (2, "Noted."),
    ]
    assert [line["session_id"] for line in of_type(lines, "session")] == ["s1"]
    assert "Porto" not in json.dumps(lines)


def test_no_address_of_a_user_who_is_being_erased(world: RecallWorld) -> None:
    """The parts are still there until the worker comes to them."""
    world.say("I moved to Lisbon.", "Noted.")
    job = request_export(world.user())
    assert exported(world, job)
    request_erasure(world.user(), close=False)
    done = read_admin_job(world.scope, job.id)
    assert done.status == "done"
    assert ["url" in part for part in done.result["parts"]] == [False]
    assert "urls_expire_at" not in done.result


def test_what_was_taken_back_is_told_apart(world: RecallWorld) -> None:
    """Whoever plays the log elsewhere would bring it back, and a person would be shown what they had corrected."""
    world.say("I moved to Lisbon.", "Noted.", "I moved to Porto.", "Noted.")
    retract_events(world.user().of_session("s1"), Retract(1, 2, "edited"))
    lines = of_type(exported(world), "event")
    assert [(line["content"], line.get("retracted")) for line in lines] == [
        ("I moved to Lisbon.", True),
        ("Noted.", True),
        ("I moved to Porto.", None),
        ("Noted.", None),
    ]


def test_memories_come_back_as_they_were(world: RecallWorld) -> None:
    world.remember("Likes tea.", tags=("drinks",), importance=4, label="home", group="g")
    done = world.remember("Will call Ann.")
    update_memory(world.user(), done, MemoryChange({"status": Status.RESOLVED}), None)
    foreign = ImportedRow("From elsewhere", Kind.NOTE, id="x", created_at="2025-01-01T00:00:00.000Z")
    old: dict[str, Any] = {
        "superseded_by": "x",
        "superseded_at": "2026-01-01T00:00:00.000Z",
        "superseded_reason": "moved",
    }
    import_memories(
        world.user(),
        [
            foreign,
            ImportedRow("Ann is a doctor.", Kind.FACT, id="f", category="PERSON", occurrences=3),
            ImportedRow("Lives in Lisbon.", Kind.NOTE, id="old", status=Status.SUPERSEDED, **old),
        ],
    )
    lines = exported(world)
    report = brought_in(world, lines)
    assert len(report.imported) == 5
    for line in of_type(lines, "memory"):
        before, after = get_memory(world.user(), line["id"]), get_memory(world.user("bob"), line["id"])
        assert _exported(after) == _exported(before)
        assert (after.provenance.by, after.provenance.trusted) == ("import", "import")
    again = brought_in(world, lines)
    assert (again.imported, again.conflicting, len(again.unchanged)) == ([], [], 5)
    listed, _ = list_memories(world.user("bob"), MemoryFilter(), 10, None)
    assert listed[0].id == "x", "in the order of time"
    assert world.rows.get(place_key(world.user("bob").keys, get_memory(world.user("bob"), "f").text))


def test_the_local_day_comes_along(world: RecallWorld) -> None:
    """Half past midnight in Vienna is the evening before in UTC."""
    at = "2026-03-10T23:30:00.000Z"
    late = ImportedRow("Likes tea.", Kind.NOTE, id="t", observed_at=at, observed_date="2026-03-11", time_of_day="night")
    import_memories(world.user(), [late, ImportedRow("Likes jazz.", Kind.NOTE, id="j", observed_at=at)])
    brought_in(world, exported(world))
    found = {one: get_memory(world.user("bob"), one) for one in ("t", "j")}
    assert [(found[one].observed_date, found[one].time_of_day) for one in ("t", "j")] == [
        ("2026-03-11", "night"),
        ("2026-03-10", "night"),
    ]


def test_what_waits_in_the_inbox_is_in_it(world: RecallWorld) -> None:
    action = Action("create", "/profile/goals", "Learn jazz.", seqs=(1,))
    waits = Proposal("prp_0", action, "low", "s1", "2026-03-10T09:00:00.000Z", "m", "user")
    for made in (waits, replace(waits, id="prp_1", status="rejected")):
        world.rows.write([put_proposal(world.user().keys, made)])
    first, second = of_type(exported(world), "proposal")
    assert (first["id"], first["status"], second["status"]) == ("prp_0", "inbox", "rejected")
    assert first["action"]["text"] == "Learn jazz."
    place = export_lines.Place("proposals", world.user().keys.proposal("prp_0").sk)
    behind = [line for line, _ in export_lines.export_lines(world.user(), place)]
    assert [line["id"] for line in behind if line["type"] == "proposal"] == ["prp_1"]
    assert ImportText(json.dumps(first)).read().skipped == {"proposal": 1}


def _exported(memory: Memory) -> dict[str, Any]:
    moved = ("provenance", "rev", "rev_at", "words_at", "version", "embedding_state", "write_id", "born_gen")
    names = [name for name in Memory.__slots__ if name not in moved]
    return {name: getattr(memory, name) for name in names}


def test_a_large_export_is_in_parts(world: RecallWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export_user, "PART_BYTES", 1_000)
    for n in range(20):
        world.remember(f"Memory {n} " + "x" * 100)
    job = request_export(world.user())
    lines = exported(world, job)
    assert len(of_type(lines, "memory")) == 20
    assert len(read_admin_job(world.scope, job.id).result["parts"]) > 3


def test_what_is_folded_between_two_workers_is_not_in_it_twice(world: RecallWorld) -> None:
    """The second one reads on in the generation in which the first one began."""
    keys = world.user().keys
    old = [rows.read_memory(world.rows.get(keys.memory(world.remember(f"Part {n}."))) or {}) for n in range(3)]
    job = request_export(world.user())
    [message] = waiting(world)
    work(world, message.body, lambda: 0.0)
    world.clock.move(seconds=1)
    whole = replace(old[0], id=f"mem_{world.ids.ulid(world.clock.now())}", text="The whole.", version=0)
    replace_rows(world.user(), 1, Replacement((whole,), tuple(old), "folded"))
    deliver(world)
    found = [(line["text"], line["status"]) for line in of_type(written(world, job), "memory")]
    assert found == [(f"Part {n}.", "active") for n in range(3)]
    assert [line["text"] for line in of_type(exported(world), "memory") if line["status"] == "active"] == ["The whole."]


def test_addresses_end_and_are_recreated(world: RecallWorld) -> None:
    job = request_export(world.user())
    exported(world, job)
    [part] = read_admin_job(world.scope, job.id).result["parts"]
    world.clock.move(seconds=901)
    with pytest.raises(PermissionError):
        world.objects.download(urlparse(part["url"]).path.rpartition("/")[2])
    assert exported(world, job) != []
    assert "http" not in str(world.rows.get(world.tenant.keys.job(job.id)))


def test_an_erased_user_is_not_exported(world: RecallWorld) -> None:
    world.remember("Likes tea.")
    job = request_export(world.user())
    erasure = request_erasure(world.user(), close=True)
    with pytest.raises(NeveError, match="erasing"):
        request_export(world.user())
    deliver(world)
    assert rows.read_job(world.rows.get(world.tenant.keys.job(erasure.id)) or {}).status == "running"
    assert world.rows.get(world.tenant.keys.job(job.id)) is None


def test_no_address_is_given_of_parts_that_are_gone(world: RecallWorld) -> None:
    """They are kept for a week, and the job for a month: an address would only answer that there is nothing."""
    world.say("I moved to Lisbon.")
    job = request_export(world.user())
    deliver(world)
    world.clock.move(days=6, hours=23)
    assert all("url" in part for part in read_admin_job(world.scope, job.id).result["parts"])
    world.clock.move(hours=1)
    after = read_admin_job(world.scope, job.id)
    assert after.status == "done"
    assert after.finished_at is not None
    removed_at = datetime.fromisoformat(after.finished_at) + timedelta(days=7)
    assert datetime.fromisoformat(after.result["parts_removed_at"]) == removed_at
    assert not any("url" in part for part in after.result["parts"])
    assert "urls_expire_at" not in after.result
