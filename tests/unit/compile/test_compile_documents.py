"""What a prompt says of the documents that stand in its pack, and of those that changed since."""

from __future__ import annotations

from typing import Any

import pytest

from neve.domain.documents.change import DocumentChange
from neve.usecases.ask.compile import updates as compile_updates
from neve.usecases.ask.compile.command import CompileCommand
from neve.usecases.ask.compile.compile_context import Compiled, compile_context
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.tell.documents.delete_document import delete_document
from neve.usecases.tell.documents.to_another_path import move_document
from neve.usecases.tell.documents.write_document import write_document
from tests.unit.recall_world import RecallWorld

IDENTITY = "/profile/identity"


@pytest.fixture
def world(new_recall_world: RecallWorld) -> RecallWorld:
    put(new_recall_world, IDENTITY, "Ana, nurse.", prompt_label="Identity", prompt_hint="who they are")
    put(new_recall_world, "/profile/people/tom", "A friend.")
    put(new_recall_world, "/always-load/rules", "Be brief.")
    new_recall_world.open()
    compiled(new_recall_world)  # builds the pack
    return new_recall_world


def put(world: RecallWorld, path: str, text: str | None = None, **more: Any) -> None:
    write_document(world.user(), path, DocumentChange(text=text, **more))


def compiled(world: RecallWorld, session: str = "s1") -> Compiled:
    command = CompileCommand("what is the weather?", retrieval="none")
    return compile_context(world.user().of_session(session), command)


def updates(made: Compiled) -> list[str]:
    """The lines of the block, without its frame."""
    text = "\n".join(block.text for block in made.plan.prompt.last if hasattr(block, "text"))
    if "<neve-updates>" not in text:
        return []
    return text.partition("<neve-updates>\n")[2].partition("\n</neve-updates>")[0].splitlines()[1:]


def test_what_changes_nothing_that_is_shown_is_not_told(world: RecallWorld) -> None:
    put(world, IDENTITY, tags=("x",))
    put(world, "/profile/people/long", "x" * 300)
    build_pack(world.user().of_session("s1"), "horizon")
    put(world, "/profile/people/long", "x" * 400)
    assert updates(compiled(world)) == []
    put(world, "/profile/people/long", "y" * 400)
    assert updates(compiled(world)) == [f"- Now: long: {'y' * 200}…"]


@pytest.mark.parametrize(
    ("path", "text", "more"),
    [
        ("/always-load/rules", "Be brief.", {}),
        (IDENTITY, "Ana, nurse.", {"prompt_label": "Identity", "prompt_hint": "who they are"}),
        ("/profile/people/tom", "A friend.", {}),
    ],
)
def test_one_that_was_deleted_and_written_anew_still_holds(
    world: RecallWorld, path: str, text: str, more: dict[str, Any]
) -> None:
    """As who brings a folder up to date by deleting and writing does."""
    delete_document(world.user(), path, None)
    put(world, path, text, **more)
    assert updates(compiled(world)) == []
    build_pack(world.user().of_session("s1"), "horizon")
    assert updates(compiled(world)) == []


def test_one_that_was_written_anew_with_other_words_is_told_once(world: RecallWorld) -> None:
    delete_document(world.user(), "/always-load/rules", None)
    put(world, "/always-load/rules", "Be long.")
    assert updates(compiled(world)) == ["- Now: rules: Be long."]


def test_one_in_the_place_of_one_that_moved_away_is_new(world: RecallWorld) -> None:
    move_document(world.user(), "/always-load/rules", "/always-load/style")
    put(world, "/always-load/rules", "Be kind.")
    assert updates(compiled(world)) == ["- Now: rules: Be kind."]


def test_a_shorter_text_that_was_part_of_the_older_one_is_told(world: RecallWorld) -> None:
    put(world, IDENTITY, "Ana")
    assert updates(compiled(world)) == ["- Now: Identity - who they are: Ana"]


def test_a_long_edit_is_told_as_far_as_there_is_room(world: RecallWorld) -> None:
    put(world, IDENTITY, "word " * 2_000)
    [line] = updates(compiled(world))
    assert line.startswith("- Now: Identity - who they are: word word") and line.endswith("…")
    assert len(line) < 1_700


def test_what_had_no_room_is_no_update(world: RecallWorld) -> None:
    put(world, "/always-load/long", "word " * 4_000)
    world.open("s2")
    assert [updates(compiled(world, "s2")) for _ in range(2)] == [[], []]


def test_documents_behind_those_that_are_looked_at_are_told_as_outdated(
    world: RecallWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compile_updates, "MAX_DOCUMENTS", 1)
    put(world, "/always-load/rules", "Be long.")
    put(world, "/profile/people/tom", "A good friend.")
    put(world, "/profile/people/sarah", "A sister.")
    put(world, IDENTITY, tags=("x",))
    made = compiled(world)
    assert updates(made) == [
        "- Now: rules: Be long.",
        "- No longer holds, its new text is not shown: /profile/people/tom",
    ]
    [pruned] = made.plan.pruned
    assert (pruned.section, len(pruned.items), pruned.why) == ("updates", 2, "more than are looked at")


def test_a_document_without_room_beside_others_is_told_as_outdated(world: RecallWorld) -> None:
    for n in range(18):
        put(world, f"/profile/people/p{n:02}", "A friend.")
    build_pack(world.user().of_session("s1"), "horizon")
    world.clock.move(minutes=1)
    for n in range(18):
        put(world, f"/profile/people/p{n:02}", f"{n} " + "x" * 198)
    rules = world.remember("r" * 1_000)
    made = compiled(world)
    lines = updates(made)
    short = [line for line in lines if line.startswith("- No longer holds, its new text is not shown: /profile/people")]
    assert len(lines) == 18 and 0 < len(short) < 18
    [pruned] = made.plan.pruned
    assert rules in pruned.items and len(pruned.items) == len(short) + 1


def test_port_calls_with_documents(world: RecallWorld) -> None:
    world.rows.calls.clear()
    compiled(world)
    quiet = dict(world.rows.calls)
    put(world, IDENTITY, "Ana, doctor.")
    world.rows.calls.clear()
    compiled(world)
    # both heads, the state and who is behind; new memories and pins; then the texts that are not what they were
    assert quiet == {"get_many": 1, "query": 4, "write": 1}
    assert dict(world.rows.calls) == {"get_many": 2, "query": 4, "write": 1}
