"""What a librarian called a document by words of deleted messages, when a person has rewritten its text since
(docs/rules/retract.md#described)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.documents.change import DocumentChange, changed_document, new_document
from neve.domain.documents.description import title_of
from neve.domain.indexing.document_passages import indexed_texts
from neve.domain.librarian.filing import Account
from neve.domain.memories.text import fingerprint
from neve.domain.records.documents import Document
from neve.domain.records.jobs import Job
from neve.domain.records.memories import Provenance
from neve.domain.records.retractions import RetractReason
from neve.domain.retract.described import History, carriers, without_drawn
from neve.ports.errors import StoreUnavailable
from neve.ports.table import Put
from neve.store.documents import MAX_ROW_TEXT_BYTES, put_revision
from neve.store.partitions import all_rows
from neve.usecases.ask.documents.get_document import find_document
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.core.jobs.read_jobs import get_job
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.tell.documents.document_writes import writes_of
from neve.usecases.tell.documents.evolve_document import DocumentEvolution, evolve_document
from neve.usecases.tell.documents.write_document import write_document
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.work.retract.run_retraction import run_retraction
from tests.unit.librarian.library_world import LibraryWorld, answer, change

PLAN, PINNED, CALLED = "/projects/plan", "/profile/plan", "Of the QUARTZ"
FORGETTING = "neve.usecases.work.retract.documents.forget_descriptions"
THEIRS = "A plan of my own. It has two parts."


@pytest.fixture
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LibraryWorld]:
    world = LibraryWorld.at(tmp_path_factory.mktemp("described"))
    world.open()
    world.say("My QUARTZ is a secret.", "Noted.", "I like tea.", "Oh.")
    yield world
    world.table.close()


def filed(world: LibraryWorld, *actions: Any, account: Account | None = None) -> None:
    world.end()
    world.observer.filings = [answer(*actions, account=account or Account("Tea", "SUCCESS", "calm", ("tea",)))]
    world.file()


def called(world: LibraryWorld, path: str = PLAN, **more: Any) -> None:
    """A document that a librarian has made of the first message."""
    given = {"title": CALLED, "tags": ("quartz", "plans"), "seqs": (1,)} | more
    filed(world, change("create", path, "There is a QUARTZ.", **given))


def put(world: LibraryWorld, text: str = THEIRS, path: str = PLAN, **more: Any) -> Document:
    return write_document(world.user(), path, DocumentChange(text=text, **more)).document


def deleted(world: LibraryWorld, first: int = 1, last: int = 2, reason: RetractReason = "deleted") -> Job:
    answered = retract_events(world.session, Retract(first, last, reason))
    message = message_of_row(world.table.get(world.tenant.keys.job(answered.job_id)) or {}).body
    run_retraction(world.session, message)
    return get_job(world.user(), answered.job_id)


def head(world: LibraryWorld, path: str = PLAN) -> Document:
    found = find_document(world.user(), path)
    assert found is not None
    return found


def saying(world: LibraryWorld, *words: str) -> list[str]:
    """Keys of the rows of the user that say one of them in any case."""
    rows = all_rows(world.table, world.user().keys.partition)
    return [item["sk"] for item in rows if any(word in str(item).casefold() for word in words)]


def test_neither_title_nor_summary_nor_tags_outlive_the_message(world: LibraryWorld) -> None:
    called(world)
    put(world)
    put(world, f"{THEIRS} And a third one.")
    job = deleted(world)
    found = head(world)
    assert (found.text, found.provenance.by) == (f"{THEIRS} And a third one.", "human_edit")
    assert (found.name, found.summary, found.tags) == (title_of(found.text), found.text, ())
    assert [one.text for one in world.revisions(PLAN)] == [THEIRS, *[f"{THEIRS} And a third one."] * 2]
    assert saying(world, "quartz") == []
    assert (job.status, job.result["erased"]["verified"]) == ("done", True)


def test_the_summary_of_a_conversation_is_made_of_what_the_person_wrote(world: LibraryWorld) -> None:
    filed(world, account=Account("The QUARTZ", "SUCCESS", "calm", ("quartz",)))
    path = "/conversations/2026-03-10-the-quartz"
    before = head(world, path)
    assert before.summary == "The QUARTZ (SUCCESS): quartz"
    put(world, "# Tea\n\nMostly tea.", path)
    job = deleted(world)
    found = head(world, path)
    assert (found.name, found.summary, found.tags) == ("Tea", "Mostly tea.", before.tags)
    assert job.result["paths_kept"] == [found.id], "it stands where it stood"


def test_what_a_person_gave_stays(world: LibraryWorld) -> None:
    called(world)
    put(world, name="Mine", summary="Of my QUARTZ.", tags=("plans", "mine"))
    deleted(world)
    found = head(world)
    assert (found.name, found.summary, found.rev) == ("Mine", "Of my QUARTZ.", 3)
    assert found.tags == ("mine",), "plans was the librarian's"


def test_what_a_person_gave_before_they_wrote_stays(world: LibraryWorld) -> None:
    called(world)
    write_document(world.user(), PLAN, DocumentChange(name="Mine", tags=()))
    put(world)
    deleted(world)
    assert (head(world).name, head(world).rev) == ("Mine", 3)


def test_a_later_append_of_another_message_keeps_no_title(world: LibraryWorld) -> None:
    called(world)
    put(world)
    world.say("It has a third part.", "Good.")
    filed(world, change("append", PLAN, "A third part.", base_rev=2, seqs=(5,)))
    assert (head(world).name, head(world).provenance.by) == (CALLED, "assistant")
    deleted(world)
    text = f"{THEIRS}\n\nA third part."
    assert (head(world).name, head(world).text) == (title_of(text), text)
    assert saying(world, "quartz") == []


def test_what_took_its_place_elsewhere_loses_it_too(world: LibraryWorld) -> None:
    called(world)
    change_ = DocumentChange(text=THEIRS)
    evolve_document(world.user(), DocumentEvolution(PLAN, "/projects/other", change_, "mine"))
    assert head(world, "/projects/other").name == CALLED
    deleted(world)
    assert head(world, "/projects/other").name == title_of(THEIRS)
    assert saying(world, "quartz") == []


@pytest.mark.parametrize(
    ("path", "title"), [("/profile/preferences", "Preferences"), ("/profile/people/sarah", "Sarah")]
)
def test_what_says_where_it_stands_stays(world: LibraryWorld, path: str, title: str) -> None:
    called(world, path, title=title, tags=())
    put(world, path=path)
    deleted(world)
    assert (head(world, path).name, head(world, path).rev) == (title, 2)


def test_words_that_are_only_edited_keep_their_title(world: LibraryWorld) -> None:
    called(world)
    put(world)
    deleted(world, reason="edited")
    assert (head(world).name, head(world).rev) == (CALLED, 2)
    deleted(world)
    assert head(world).name == title_of(THEIRS)


def test_another_message_takes_nothing(world: LibraryWorld) -> None:
    called(world)
    put(world)
    deleted(world, 3, 4)
    assert (head(world).name, head(world).rev) == (CALLED, 2)


def test_a_text_that_says_the_title_itself_is_called_otherwise(world: LibraryWorld) -> None:
    called(world)
    put(world, f"# {CALLED}\n\nWords of my own.")
    deleted(world)
    assert (head(world).name, head(world).text) == ("Untitled", f"# {CALLED}\n\nWords of my own.")


def test_a_long_text_stays_readable(world: LibraryWorld) -> None:
    called(world)
    long = f"My plan. {'word ' * (MAX_ROW_TEXT_BYTES // 5)}"
    put(world, long)
    put(world, f"{long} and more")
    deleted(world)
    assert (head(world).name[:9], head(world).text) == ("My plan. ", f"{long} and more")
    assert [len(one.text) for one in world.revisions(PLAN)] == [0, 0, 0], "they are objects"
    assert saying(world, "quartz") == []


def test_packs_that_said_it_go_and_are_built_again(world: LibraryWorld) -> None:
    called(world, PINNED)
    put(world, path=PINNED, always_include=True)
    for session in ("s2", "s3"):
        world.open(session=session)
    held = build_pack(world.user().of_session("s2"), "initial")
    assert "QUARTZ" in held.text and THEIRS in held.text
    job = deleted(world)
    receipt = job.result["erased"]
    assert (receipt["packs"], receipt["rebuilt_packs"], receipt["verified"]) == (1, ["s2"], True)
    again = read_pack(world.user().of_session("s2"))
    assert THEIRS in str(again.text) and "QUARTZ" not in str(again.text)
    names = world.objects.list(world.user().keys.packs_prefix)
    assert [name for name in names if b"QUARTZ" in (world.objects.get(name) or b"")] == []


def test_no_vector_is_left_of_a_text_below_the_title(world: LibraryWorld) -> None:
    called(world)
    put(world)
    keys, vectors = world.user().keys, []
    for revision in world.revisions(PLAN):
        for text in indexed_texts(revision):
            key = keys.vector(fingerprint(text), "fixture")
            world.table.write([Put({"pk": key.pk, "sk": key.sk, "type": "vector"})])
            vectors.append(key)
    job = deleted(world)
    assert world.table.get_many(vectors) == {}
    assert job.result["erased"]["vectors"] >= len(vectors)


def test_a_person_who_writes_meanwhile_is_not_overwritten(world: LibraryWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    called(world)
    put(world)

    def meanwhile(*given: Any) -> Any:
        monkeypatch.setattr(f"{FORGETTING}.writes_of", writes_of)
        put(world, "Another text.")
        return writes_of(*given)

    monkeypatch.setattr(f"{FORGETTING}.writes_of", meanwhile)
    deleted(world)
    assert (head(world).text, head(world).name) == ("Another text.", "Another text")
    assert saying(world, "quartz") == []


def test_a_worker_that_dies_between_is_followed(world: LibraryWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    called(world, PINNED)
    put(world, path=PINNED, always_include=True)
    world.open(session="s2")
    build_pack(world.user().of_session("s2"), "initial")
    answered = retract_events(world.session, Retract(1, 2, "deleted"))
    message = message_of_row(world.table.get(world.tenant.keys.job(answered.job_id)) or {}).body

    def dies(*_: Any) -> Any:
        monkeypatch.setattr(f"{FORGETTING}.put_revision", put_revision)
        raise StoreUnavailable("table", "gone")

    monkeypatch.setattr(f"{FORGETTING}.put_revision", dies)
    with pytest.raises(StoreUnavailable):
        run_retraction(world.session, message)
    assert saying(world, "quartz"), "the revision before it has the title"
    run_retraction(world.session, message)
    receipt = get_job(world.user(), answered.job_id).result["erased"]
    assert (saying(world, "quartz"), receipt["rebuilt_packs"], receipt["verified"]) == ([], ["s2"], True)


def test_a_commit_whose_answer_is_lost_is_not_made_twice(world: LibraryWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    called(world)
    put(world)

    def lost(*given: Any) -> Any:
        world.table.lose_response = True
        return writes_of(*given)

    monkeypatch.setattr(f"{FORGETTING}.writes_of", lost)
    deleted(world)
    assert (head(world).rev, saying(world, "quartz")) == (3, [])


# --- against a model --------------------------------------------------------------------------------

WRITERS = st.sampled_from(["deleted", "other", "person", "person's marks"])
WORDS = st.sampled_from(["red", "green", "blue", "# Heading\n\ntext", ""])
CHANGES = st.builds(
    DocumentChange,
    text=WORDS,
    name=st.none() | WORDS,
    summary=st.none() | WORDS,
    tags=st.none() | st.lists(st.sampled_from(["x", "y", "z"]), unique=True).map(tuple),
)


@given(st.lists(st.tuples(WRITERS, CHANGES), min_size=1, max_size=6))
def test_nothing_that_stays_says_what_only_a_librarian_said_of_the_deleted(
    writes: list[tuple[str, DocumentChange]],
) -> None:
    revisions: list[Document] = []
    erased = set[int]()
    for n, (who, wanted) in enumerate(writes):
        given = _by(who, wanted, n)
        before = revisions[-1] if revisions else None
        if before is None:
            after = new_document(PLAN, "doc_1", given, f"{n}", len)
        else:
            after = changed_document(before, PLAN, given, f"{n}", len)
        if before is None or after.rev != before.rev:
            revisions.append(after)
            if after.provenance.session_id == "deleted":
                erased.add(after.rev)
    found = carriers([History(revisions, frozenset(erased), frozenset())])
    staying = [one for one in revisions if one.rev not in erased]
    left = [without_drawn(one, found[0].drawn, staying[-1].path) if found else one for one in staying]
    assert [one.text for one in left] == [one.text for one in staying]
    assert not left or carriers([History(left, frozenset(), frozenset())]) == []
    said = {one.name for one in revisions if one.rev in erased and "name" not in one.derived}
    theirs = {change_.name for who, change_ in writes if who != "deleted"} | {"Untitled"}
    assert not [one for one in left if "name" not in one.derived and one.name in said - theirs - {title_of(one.text)}]


def _by(who: str, wanted: DocumentChange, n: int) -> DocumentChange:
    if who == "person":
        return wanted
    if who == "person's marks":
        return replace(wanted, text=None) if n else wanted
    origin = Provenance("assistant", who, 1, 1)
    return replace(wanted, text=f"{wanted.text} of {n}", extracted_at=f"{n}", provenance=origin)
