"""Two workers of one retraction's job, one of which knows of more that is taken back than the other
(docs/rules/retract.md#documents)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from neve.domain.errors import NeveError
from neve.observing import for_ever
from neve.usecases.tell.documents.delete_document import delete_document
from neve.usecases.work.retract.documents import revert_documents
from neve.usecases.work.retract.retracting import JobEnded, Retracting
from tests.unit.librarian.library_world import LibraryWorld, answer
from tests.unit.retract.test_reverted_documents import OSLO, filed, filing, retract, work


class Slow(Exception):
    """It goes on after the other one."""


def slow(*_: Any) -> Any:
    raise Slow


@pytest.fixture
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LibraryWorld]:
    world = LibraryWorld.at(tmp_path_factory.mktemp("by-two"))
    world.open()
    world.say("We go to Oslo with Sarah.", "Noted.", "Sarah snores.", "Oh.")
    yield world
    world.table.close()


def before_the_step_ends(monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[], object]) -> None:
    """Once, as the first worker is about to note that it has reverted the documents."""
    done = revert_documents._Reverting._finish

    def after(self: Any, *given: Any) -> Any:
        monkeypatch.setattr(revert_documents._Reverting, "_finish", done)
        meanwhile()
        return done(self, *given)

    monkeypatch.setattr(revert_documents._Reverting, "_finish", after)


def test_a_document_that_a_slower_worker_deletes_is_written_again(
    world: LibraryWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has seen the second retraction, and is about to delete the conversation's document when the faster one, which
    has not, ends the step: the row of filings would go on to name a document that no person has deleted."""
    first, later = retract(world, 3), list[Any]()
    filed(world)
    document = str(filing(world).document_id)

    def meanwhile() -> None:
        later.append(retract(world, 1, 1))
        with monkeypatch.context() as patched, contextlib.suppress(Slow):
            patched.setattr(revert_documents, "delete_document", slow)
            work(world, first)

    before_the_step_ends(monkeypatch, meanwhile)
    work(world, first)
    with contextlib.suppress(NeveError):  # the slower one goes on, and is killed then
        delete_document(world.user(), OSLO, (1,), document)
    work(world, later[0])
    world.observer.filings = [answer()]
    world.file()
    assert filing(world).document_id not in (None, document)
    assert "# A trip to Oslo" in str(world.text(OSLO))


def test_nothing_is_deleted_once_the_step_is_done(world: LibraryWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a worker finds that comes late is for the job of the later retraction: it moves the cursor as well."""
    first, later, plan = retract(world, 3), list[Any](), revert_documents._Reverting._plan
    filed(world)

    def late(self: Any, _: Any) -> Any:
        monkeypatch.setattr(revert_documents._Reverting, "_plan", plan)
        reverted(world, first)
        later.append(retract(world, 1, 1))
        return plan(self, self._read()[1])

    monkeypatch.setattr(revert_documents._Reverting, "_plan", late)
    reverted(world, first)
    assert world.text(OSLO) is not None
    work(world, later[0])
    assert (world.text(OSLO), filing(world).document_id) == (None, None)


def test_a_worker_that_found_nothing_read_does_what_another_one_has_noted(
    world: LibraryWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The session is filed, and something else of it taken back, before it notes that there is nothing to do: it stops
    there, and the other one's message is delivered again."""
    first, read = retract(world, 3), revert_documents._Reverting._read

    def early(self: Any) -> Any:
        found = read(self)
        monkeypatch.setattr(revert_documents._Reverting, "_read", read)
        filed(world)
        retract(world, 1, 1)
        with monkeypatch.context() as patched, contextlib.suppress(Slow):
            patched.setattr(revert_documents, "delete_document", slow)
            reverted(world, first)
        return found

    monkeypatch.setattr(revert_documents._Reverting, "_read", early)
    reverted(world, first)
    work(world, first)
    assert (world.text(OSLO), filing(world).document_id, filing(world).filed_seq) == (None, None, 0)


def reverted(world: LibraryWorld, message: Any) -> None:
    """That step alone."""
    with contextlib.suppress(JobEnded):
        revert_documents.revert_documents(Retracting.read(world.session, message, for_ever))
