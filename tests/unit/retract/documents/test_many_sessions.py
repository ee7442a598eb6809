"""A deletion ends however many other sessions have written onto the documents that go with it
(docs/rules/retract.md#documents)."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha512
from typing import Any

import pytest

from neve.adapters import table_rules
from neve.domain.records.jobs import Job
from neve.store import rows
from neve.store.filings import read_filing
from neve.store.partitions import all_rows
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.tell.requests.wait_for_retraction import wait_for_retraction
from neve.usecases.work.librarian.file_session import file_session
from neve.usecases.work.retract.run_retraction import run_retraction
from tests.unit.librarian.library_world import LibraryWorld, answer, change

SARAH, PLAN = "/profile/people/sarah", "/projects/plan"


@pytest.fixture
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LibraryWorld]:
    world = LibraryWorld.at(tmp_path_factory.mktemp("many-sessions"))
    world.open()
    world.say("We go to Oslo with Sarah.", "Noted.", "My zqmarker.", "Oh.")
    yield world
    world.table.close()


def names(count: int) -> list[str]:
    """Of sessions, as long as they may be, and such as are not compressed."""
    return sorted((sha512(str(n).encode()).hexdigest() * 2)[:128] for n in range(count))


def files(world: LibraryWorld, session: str, *actions: Any) -> None:
    """A librarian reads a session of one turn."""
    world.open(session=session)
    world.say("Sarah sings.", "Oh.", session=session)
    world.observer.filings = [answer(*actions, account=None)]
    file_session(world.user().of_session(session), {"incarnation": 1, "job_id": f"job_{session}", "kind": "librarian"})


def one_document_of(world: LibraryWorld, sessions: list[str]) -> None:
    """Which all of them have written onto, behind the one whose words are to be deleted; and one that stays where that
    one has put it."""
    world.end()
    made = [change("create", path, "A zqmarker.", title="Plan", seqs=(3,)) for path in (SARAH, PLAN)]
    world.observer.filings = [answer(*made)]
    world.file()
    world.put(PLAN, "A plan of mine.")
    for rev, session in enumerate(sessions, 1):
        files(world, session, change("append", SARAH, f"Sings no. {rev}.", base_rev=rev, seqs=(1,)))


def deletion(world: LibraryWorld) -> dict[str, Any]:
    """The message of its job, for which another one waits."""
    retraction = retract_events(world.session, Retract(3, None, "deleted"))
    assert wait_for_retraction(world.session, 1, ("job_waiting", "compact"))
    return dict(message_of_row(world.table.get(world.tenant.keys.job(retraction.job_id)) or {}).body)


def job_of(world: LibraryWorld, message: dict[str, Any]) -> Job:
    return rows.read_job(world.table.get(world.tenant.keys.job(message["job_id"])) or {})


def ended(world: LibraryWorld, message: dict[str, Any], sessions: list[str]) -> None:
    """Nothing of what was deleted is left, and all of the sessions are filed again."""
    job = job_of(world, message)
    assert (job.status, job.result["erased"]["verified"], world.text(SARAH)) == ("done", True, None)
    assert "zqmarker" not in str(list(all_rows(world.table, world.user().keys.partition)))
    filings = [world.table.get(world.user().of_session(one).keys.filing) for one in ("s1", *sessions)]
    assert {read_filing("s1", item).filed_seq for item in filings} == {0}
    asked = {row["session_id"] for row in all_rows(world.table, world.user().keys.jobs) if row["kind"] == "librarian"}
    assert asked == {"s1", *sessions}
    assert (job.state["sessions"], job.state["file_again"]) == ([], [])
    assert job.state["waiting"] == [["job_waiting", "compact"]]


def test_a_deletion_ends_however_many_sessions_wrote_onto_the_same_document(
    world: LibraryWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of 8 KB have as much room for their 50 names as those of 400 KB for 2,500 of that length."""
    sessions = names(50)
    one_document_of(world, sessions)
    message = deletion(world)
    monkeypatch.setattr(table_rules, "MAX_ITEM_BYTES", 8_000)
    run_retraction(world.session, message)
    ended(world, message, sessions)
