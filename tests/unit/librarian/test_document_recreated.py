"""A document that is not at its path any more when more is filed (docs/rules/librarian.md#people)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from neve.usecases.tell.documents.delete_document import delete_document
from neve.usecases.tell.documents.to_another_path import move_document
from tests.unit.librarian.library_world import LibraryWorld, answer, change, proposals

SARAH, ANNA = "/profile/people/sarah", "/profile/people/anna"


@pytest.fixture
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LibraryWorld]:
    world = LibraryWorld.at(tmp_path_factory.mktemp("recreated"))
    world.open()
    world.say("We go to Oslo with Sarah.", "Noted.")
    yield world
    world.table.close()


def test_another_document_at_the_same_path_and_rev_is_not_written_over(world: LibraryWorld) -> None:
    world.put(SARAH, "Snores.")
    world.end()
    world.observer.filings = [
        answer(change("update", SARAH, "Snores. Travels along.", base_rev=1)),
        answer(change("update", SARAH, "Sings. Travels along.", base_rev=1)),
    ]

    def recreated() -> None:
        delete_document(world.user(), SARAH, None)
        world.put(SARAH, "Sings.")

    world.meanwhile(recreated)
    world.file()
    asked = [one.text for given in world.observer.filed for one in given.documents if one.path == SARAH]
    assert asked == ["Snores.", "Sings."]
    assert (world.text(SARAH), world.rev(SARAH)) == ("Sings. Travels along.", 2)


def test_where_a_person_moved_its_document_away_another_one_is_made(world: LibraryWorld) -> None:
    world.observer.filings = [answer(change("create", SARAH, "Goes to Oslo."))]
    world.end()
    world.file()
    move_document(world.user(), SARAH, ANNA)
    world.say("Sarah sings.", "Nice.")
    world.observer.filings = [answer(change("create", SARAH, "Sings.", seqs=(3,)))]
    world.end()
    report = world.file()
    assert report is not None and (report.asked, report.raced, proposals(world)) == (1, 0, [])
    assert (world.text(ANNA), world.text(SARAH)) == ("Goes to Oslo.", "Sings.")
