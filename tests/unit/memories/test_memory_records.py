"""E9: create, list, change, delete, import, cite."""

from __future__ import annotations

import pytest

from neve.domain.cursors import InvalidCursor
from neve.domain.errors import NeveError
from neve.domain.records.memories import EmbeddingState, Kind, Priority, Scope, Status
from neve.domain.times import iso
from neve.usecases.ask.memories.list_memories import MemoryFilter, get_memory, list_memories
from neve.usecases.ask.sessions.read_sessions import get_session
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve.usecases.tell.memories.delete_memory import delete_memory
from neve.usecases.tell.memories.import_memories import ImportedRow, import_memories
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from tests.unit.world import World

ID = "mem_01KJ0000000000000000000000"


def texts(world: World, **where: object) -> list[str]:
    memories, _ = list_memories(world.user("ann"), MemoryFilter(**where), 200, None)  # type: ignore[arg-type]
    return [memory.text for memory in memories]


def test_a_created_memory_has_its_defaults_and_two_port_calls(world: World) -> None:
    world.table.calls.clear()
    memory = create_memory(world.user("ann"), NewMemory("likes tea"))
    assert dict(world.table.calls) == {"get_many": 1, "write": 1}
    assert get_memory(world.user("ann"), memory.id) == memory
    assert (memory.kind, memory.priority, memory.importance, memory.scope) == (
        Kind.MANUAL,
        Priority.HIGH,
        3,
        Scope.GLOBAL,
    )
    assert (memory.rev, memory.embedding_state, memory.status) == (1, EmbeddingState.PENDING, Status.ACTIVE)


def test_rev_moves_with_what_is_searched_and_only_then(world: World) -> None:
    memory_id = create_memory(world.user("ann"), NewMemory("likes tea")).id

    def rev_after(**fields: object) -> int:
        return update_memory(world.user("ann"), memory_id, MemoryChange(fields), None).rev

    assert rev_after(importance=5, priority=Priority.LOW, label="a", confidence=0.5) == 1
    assert rev_after(text="likes green tea") == 2
    assert rev_after(tags=("drinks",)) == 3
    assert rev_after(group="g") == 4
    assert rev_after(status=Status.RESOLVED) == 5
    assert rev_after(status=Status.RESOLVED) == 5
    memory = get_memory(world.user("ann"), memory_id)
    assert (memory.text, memory.provenance.by, memory.embedding_state) == (
        "likes green tea",
        "human_edit",
        EmbeddingState.PENDING,
    )


def test_a_changed_text_recounts_the_live_list(world: World) -> None:
    memory_id = create_memory(world.user("ann"), NewMemory("a", session_id="s1")).id
    update_memory(world.user("ann"), memory_id, MemoryChange({"text": "x" * 320}), None)
    [row] = get_session(world.user("ann").of_session("s1")).marker.live
    assert row.tokens == 100


def test_listing_filters_and_pages(world: World) -> None:
    for number in range(7):
        create_memory(world.user("ann"), NewMemory(str(number), group="even" if number % 2 == 0 else "odd"))
    create_memory(world.user("bob"), NewMemory("of bob"))
    assert texts(world) == list("0123456")
    assert texts(world, group="even") == list("0246")
    pages: list[str] = []
    cursor = None
    while True:
        page, cursor = list_memories(world.user("ann"), MemoryFilter(group="odd"), 2, cursor)
        pages.append("".join(memory.text for memory in page))
        if cursor is None:
            break
    assert pages == ["13", "5"]
    with pytest.raises(InvalidCursor):
        list_memories(world.user("ann"), MemoryFilter(), 2, "garbage")


def test_archived_rows_are_listed_when_asked_for_and_readable_by_id(world: World) -> None:
    memory_id = create_memory(world.user("ann"), NewMemory("old")).id
    update_memory(world.user("ann"), memory_id, MemoryChange({"status": Status.ARCHIVED}), None)
    assert texts(world) == []
    assert texts(world, status="archived") == ["old"]
    assert get_memory(world.user("ann"), memory_id).status is Status.ARCHIVED


def test_an_import_keeps_ids_and_times_and_repeats_to_nothing(world: World) -> None:
    line = ImportedRow(
        "likes tea",
        Kind.NOTE,
        id=ID,
        created_at="2026-01-01T00:00:00.000Z",
        last_used_at="2026-02-01T00:00:00.000Z",
    )
    assert import_memories(world.user("ann"), [line, line]).imported == [ID]
    again = import_memories(world.user("ann"), [line])
    assert (again.imported, again.unchanged) == ([], [ID])
    other = import_memories(world.user("ann"), [ImportedRow("likes milk", Kind.NOTE, id=ID)])
    assert other.conflicting == [ID]
    memory = get_memory(world.user("ann"), ID)
    assert (memory.text, memory.created_at, memory.last_used_at, memory.provenance.by) == (
        "likes tea",
        "2026-01-01T00:00:00.000Z",
        "2026-02-01T00:00:00.000Z",
        "import",
    )


@pytest.mark.parametrize("text", ["likes Tea", "likes  tea", "likes\ntea", "likes tea\u0301"])
def test_what_is_the_same_but_for_case_or_spaces_is_another_text(world: World, text: str) -> None:
    """A name that is spelt otherwise by now, a list in its lines: which one holds is for the caller to say."""
    import_memories(world.user("ann"), [ImportedRow("likes tea", Kind.NOTE, id=ID)])
    again = import_memories(world.user("ann"), [ImportedRow(text, Kind.NOTE, id=ID)])
    assert (again.imported, again.unchanged, again.conflicting) == ([], [], [ID])
    assert get_memory(world.user("ann"), ID).text == "likes tea"


def test_what_was_used_in_the_future_was_used_now(world: World) -> None:
    """It would lead every pack until then."""
    line = ImportedRow("likes tea", Kind.NOTE, id=ID, last_used_at="2199-01-01T00:00:00.000Z")
    import_memories(world.user("ann"), [line])
    assert get_memory(world.user("ann"), ID).last_used_at == iso(world.clock.now())


def test_what_is_imported_after_its_deletion_goes_on_behind_the_rev_of_that(world: World) -> None:
    line = ImportedRow("likes tea", Kind.NOTE, id=ID)
    import_memories(world.user("ann"), [line])
    update_memory(world.user("ann"), ID, MemoryChange({"text": "likes milk"}), None)
    delete_memory(world.user("ann"), ID, [2])
    import_memories(world.user("bob"), [line])
    assert import_memories(world.user("ann"), [line, ImportedRow("other", Kind.NOTE)]).conflicting == []
    assert [m.rev for m in list_memories(world.user("ann"), MemoryFilter(), 10, None)[0]] == [4, 1]
    assert get_memory(world.user("bob"), ID).rev == 1
    with pytest.raises(NeveError, match="precondition_failed"):
        delete_memory(world.user("ann"), ID, [2])


def test_nothing_of_a_deleted_text_stays_behind(world: World) -> None:
    memory_id = create_memory(world.user("ann"), NewMemory("the secret recipe", label="recipe")).id
    delete_memory(world.user("ann"), memory_id, None)
    left = world.table.query(world.tenant.keys.of_user("ann").partition, limit=100).items
    assert "recipe" not in str(left)
    [tombstone] = [item for item in left if item["type"] == "deleted_memory"]
    assert tombstone.keys() == {"pk", "sk", "type", "rev", "write_id", "made_of", "unsaid", "version"}
    assert tombstone["unsaid"] == []
    assert tombstone["made_of"] == [], "a call brought it"
    assert (tombstone["rev"], tombstone["version"]) == (1, 0)


def test_a_large_import_is_whole(world: World) -> None:
    lines = [ImportedRow(f"row {number}", Kind.NOTE, session_id="s1") for number in range(100)]
    assert len(import_memories(world.user("ann"), lines).imported) == 100
    assert texts(world) == [f"row {number}" for number in range(100)]
    assert len(get_session(world.user("ann").of_session("s1")).marker.live) == 100
