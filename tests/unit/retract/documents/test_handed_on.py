"""Documents that a worker has no time for are taken back by the next one (docs/rules/retract.md#documents)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from neve.domain.documents.change import DocumentChange
from neve.domain.indexing.document_passages import indexed_texts
from neve.domain.memories.text import fingerprint
from neve.domain.records.jobs import Job
from neve.domain.records.retractions import RetractReason
from neve.observing import for_ever
from neve.ports.table import Put
from neve.store import rows
from neve.store.filings import read_filing
from neve.store.partitions import all_rows, pages
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.core.pack import purge_versions
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.tell.documents.write_document import write_document
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.work.librarian.file_session import file_session
from neve.usecases.work.retract.documents import filings, revert_documents
from neve.usecases.work.retract.documents.forget_descriptions import ForgetDescriptions
from neve.usecases.work.retract.run_retraction import run_retraction
from tests.unit.librarian.library_world import LibraryWorld, answer, change

PEOPLE = [f"/profile/people/{name}" for name in ("ada", "bob", "cid")]
"""Deleted: of what is taken back, and of what the other sessions wrote onto that."""
GOALS = [f"/profile/goals-{n}" for n in range(3)]
"""Put back."""
PLANS = [f"/profile/plan-{n}" for n in range(3)]
"""In a person's words, and called by what is deleted."""
OTHERS = ["s2", "s3", "s4"]


@pytest.fixture(autouse=True)
def one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revert_documents, "SESSIONS_AT_ONCE", 1)


def made(folder: Path) -> LibraryWorld:
    world = LibraryWorld.at(folder)
    world.open()
    world.say("I have goals.", "Noted.")
    filed(world, "s1", *(change("create", path, "Some goal.", seqs=(1,)) for path in GOALS))
    world.say("My zqmarker.", "Oh.")
    written = [change("append", path, "A zqmarker.", base_rev=1, seqs=(3,)) for path in GOALS]
    written += [change("create", path, "A zqmarker.", seqs=(3,)) for path in PEOPLE]
    written += [change("create", path, "It has two.", title="Of the zqmarker", seqs=(3,)) for path in PLANS]
    filed(world, "s1", *written)
    for path in PLANS:
        world.put(path, "A plan of my own.")
    for session, path in zip(OTHERS, PEOPLE, strict=True):
        world.open(session=session)
        world.say("They sing.", "Oh.", session=session)
        filed(world, session, change("append", path, "Sings.", base_rev=1, seqs=(1,)))
        build_pack(world.user().of_session(session), "initial")
    keys = world.user().keys
    revisions = [one for path in (*PEOPLE, *GOALS, *PLANS) for one in world.revisions(path)]
    for text in {text for one in revisions for text in indexed_texts(one)}:
        key = keys.vector(fingerprint(text), "fixture")
        world.table.write([Put({"pk": key.pk, "sk": key.sk, "type": "vector"})])
    return world


def filed(world: LibraryWorld, session: str, *actions: Any) -> None:
    world.observer.filings = [answer(*actions, account=None)]
    message = {"incarnation": 1, "job_id": f"job_{world.ids.token()}", "kind": "librarian"}
    file_session(world.user().of_session(session), message)


def retracted(world: LibraryWorld, reason: RetractReason) -> dict[str, Any]:
    """The message of its job."""
    retraction = retract_events(world.session, Retract(3, None, reason))
    return dict(message_of_row(world.table.get(world.tenant.keys.job(retraction.job_id)) or {}).body)


def job_of(world: LibraryWorld, message: dict[str, Any]) -> Job:
    return rows.read_job(world.table.get(world.tenant.keys.job(message["job_id"])) or {})


def place_of(world: LibraryWorld, message: dict[str, Any], seconds_left: Callable[[], float]) -> str | None:
    report = run_retraction(world.session, message, seconds_left)
    assert report is not None
    return report.left_off_at


def told(world: LibraryWorld, message: dict[str, Any]) -> dict[str, Any]:
    """What the job says, once nothing of what was taken back is shown, and all the sessions are filed again."""
    job = job_of(world, message)
    assert (job.status, [world.text(path) for path in PEOPLE]) == ("done", [None] * 3)
    assert {world.text(path) for path in GOALS} == {"Some goal."}
    if "erased" in job.result:
        assert "zqmarker" not in str(list(all_rows(world.table, world.user().keys.partition)))
        assert "zqmarker" not in "".join(str(read_pack(world.user().of_session(one)).text) for one in OTHERS)
    assert {cursor(world, session) for session in ("s1", *OTHERS)} == {0}
    asked = [row["session_id"] for row in all_rows(world.table, world.user().keys.jobs) if row["status"] == "queued"]
    assert sorted(asked) == ["s1", *OTHERS]
    counted = {name: job.result.get(name) for name in ("documents_replaced", "documents_deleted", "erased")}
    vectors = [row["sk"] for row in all_rows(world.table, world.user().keys.vectors)]
    return counted | {"paths_kept": len(job.result.get("paths_kept", ())), "vectors": vectors}


@pytest.fixture
def worked(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """What was done, by the names of what does it."""
    calls = Counter[str]()
    owners: list[tuple[Any, str]] = [(revert_documents, "delete_document"), (revert_documents._Reverting, "_put_back")]
    owners += [(ForgetDescriptions, "run"), (filings.Filings, "move_back"), (revert_documents, "ask_to_file")]
    for owner, name in owners:
        monkeypatch.setattr(owner, name, counted(calls, name, getattr(owner, name)))
    return calls


def counted(calls: Counter[str], name: str, work: Callable[..., Any]) -> Callable[..., Any]:
    def counting(*given: Any) -> Any:
        calls[name] += 1
        return work(*given)

    return counting


@pytest.mark.parametrize(("reason", "renamed"), [("edited", []), ("deleted", ["run"])], ids=["edited", "deleted"])
def test_what_a_worker_has_no_time_for_is_the_next_ones(
    tmp_path: Path, worked: Counter[str], reason: RetractReason, renamed: list[str]
) -> None:
    """Each has too little time left for another part as soon as it has begun, and none does again what another has
    done."""
    world, places = made(tmp_path / "in parts"), list[str]()
    message, most = retracted(world, reason), Counter[str]()
    while True:
        worked.clear()
        place = place_of(world, message, lambda: 5.0 if worked else 60.0)
        most |= worked
        if place is None:
            break
        places.append(place)
        assert len(places) < 50, "the job does not get on"
    assert len(set(places)) == len(places), "a message that stands where it stood is given up"
    assert most == dict.fromkeys(["delete_document", "_put_back", "move_back", "ask_to_file", *renamed], 1)
    worked.clear()
    at_once = made(tmp_path / "at once")
    whole = retracted(at_once, reason)
    assert place_of(at_once, whole, for_ever) is None
    assert told(world, message) == told(at_once, whole)
    said = told(world, message)
    assert (said["documents_replaced"], said["documents_deleted"]) == (4, 3), "the summary, too"
    if reason == "deleted":
        assert (said["paths_kept"], said["erased"]["revisions"], said["erased"]["vectors"]) == (3, 13, 14)
        assert said["vectors"] == [], "those of what was put back are made again with its rev"


def test_a_session_that_is_filed_between_two_workers_moves_back_again(tmp_path: Path, worked: Counter[str]) -> None:
    """Onto a document that turns out to be touched by what is taken back then."""
    world, [goal, *_] = made(tmp_path), GOALS
    message = retracted(world, "edited")
    while not job_of(world, message).state.get("file_again"):
        worked.clear()
        assert place_of(world, message, lambda: 5.0 if worked else 60.0) is not None
    assert cursor(world, "s2") == 0
    filed(world, "s2", change("append", goal, "Sings.", base_rev=world.rev(goal), seqs=(1,)))
    assert (cursor(world, "s2"), world.text(goal)) == (2, "Some goal.\n\nSings.")
    retract_events(world.session, Retract(1, 2, "edited"))
    assert place_of(world, message, for_ever) is None
    assert (cursor(world, "s2"), world.text(goal)) == (0, None)


def test_packs_of_what_says_some_of_it_are_handed_on_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each worker has time for one page of them. Most hold none of it, and are looked through as well."""
    world = LibraryWorld.at(tmp_path)
    for session in ("a1", "a2", "a3", "a4", "s1"):
        world.open(session=session)
        build_pack(world.user().of_session(session), "initial")
    world.say("My zqmarker.", "Oh.")
    filed(world, "s1", change("create", PLANS[0], "It has two.", title="Of the zqmarker", seqs=(1,)))
    write_document(world.user(), PLANS[0], DocumentChange(text="A plan of my own.", always_include=True))
    build_pack(world.session, "horizon")
    assert "zqmarker" in str(read_pack(world.session).text)
    looked, look = list[str](), purge_versions._purge_manifests

    def counting(*given: Any) -> Iterator[purge_versions.PurgedPage]:
        for page in look(*given):
            looked.append(page.place.behind)
            yield page

    monkeypatch.setattr(purge_versions, "pages", partial(pages, page=1))
    monkeypatch.setattr(purge_versions, "_purge_manifests", counting)
    retraction = retract_events(world.session, Retract(1, None, "deleted"))
    message = dict(message_of_row(world.table.get(world.tenant.keys.job(retraction.job_id)) or {}).body)
    places, most = list[str | None](), Counter[str]()
    while not places or places[-1] is not None:
        looked.clear()
        places.append(place_of(world, message, lambda: 5.0 if looked else 60.0))
        assert len(looked) <= 1
        most.update(looked)
    assert len(places) == len(set(places)) > 5, "a message that stands where it stood is given up"
    assert max(most.values()) <= 3, "for the descriptions, for what was made, and once more before packs are built"
    job = job_of(world, message)
    assert (job.status, job.result["erased"]["packs"], job.result["erased"]["verified"]) == ("done", 1, True)
    assert job.result["erased"]["rebuilt_packs"] == ["s1"]
    objects = (world.objects.get(name) or b"" for name in world.objects.list(world.user().keys.packs_prefix))
    assert not [body for body in objects if b"zqmarker" in body]


def cursor(world: LibraryWorld, session: str) -> int:
    return read_filing(session, world.table.get(world.user().of_session(session).keys.filing)).filed_seq
