"""A pack is never larger than one answer and one row, whatever budgets a policy has: what has no room is left out and
told (docs/rules/pack.md#room)."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from functions.pack.app import router as pack_router
from local.limits.payloads import check_answer
from neve.adapters.table_rules import item_size
from neve.domain.documents.change import DocumentChange
from neve.domain.memories.text import fingerprint
from neve.domain.pack import room
from neve.domain.pack.render import escape
from neve.domain.pack.room import PACK_BYTES, Shown, Size, answer_bytes, named, row_bytes, served, with_room
from neve.domain.records.memories import Kind
from neve.domain.records.packs import PackEntry, PackManifest
from neve.domain.tenants.policy import Policy
from neve.http.schemas.compile.context import ContextOut
from neve.http.schemas.pack.packs import PACK, PackOut
from neve.http.schemas.sessions.sessions import SESSIONS
from neve.store import rows
from neve.store.keys import UserKeys
from neve.store.tenants.tenant_rows import TenantRow, put_tenant
from neve.usecases.ask.compile.command import CompileCommand
from neve.usecases.ask.compile.compile_context import compile_context
from neve.usecases.ask.pack.read_pack import PackView, preview_pack, read_pack
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.tell.documents.write_document import write_document
from neve.usecases.tell.memories.delete_memory import delete_memory
from neve.usecases.tell.memories.import_memories import ImportedRow, import_memories
from neve.usecases.tell.sessions.open_session import OpenSession, open_session
from tests.unit.api_world import Api, Reply, installed
from tests.unit.world import World

LARGE = {
    "window": 10_000_000,
    "global_budget": 2_000_000,
    "local_rows_budget": 2_000_000,
    "always_budget": 1_000_000,
    "profile_budget": 1_000_000,
    "session_start_budget_ms": 20_000,
}
DRAWN = random.Random(7)


@pytest.fixture
def world(new_world: World) -> World:
    new_world.with_policy(**LARGE)
    new_world.open()
    return new_world


def bring(world: World, texts: Sequence[str], kind: Kind = Kind.NOTE, session: str | None = None) -> None:
    lines = [ImportedRow(text=text, kind=kind, id=f"{kind}-{n}", session_id=session) for n, text in enumerate(texts)]
    import_memories(world.user(), lines)


def rebuilt(world: World) -> PackView:
    build_pack(world.user().of_session("s1"), "horizon")
    return read_pack(world.user().of_session("s1"))


def ids(entries: Sequence[PackEntry]) -> set[str]:
    return {entry.id for entry in entries}


def all_shown(view: PackView) -> set[str]:
    assert view.manifest is not None
    return {entry.id for entries in view.manifest.layers.values() for entry in entries}


def ids_of(reply: Reply) -> set[str]:
    return {entry["id"] for entry in reply.json["left_out"]}


def check(text: str | None) -> str:
    """That one answer has room for it."""
    assert text is not None and served(text)
    return text


def answered(view: PackView) -> None:
    body = PackOut.of(view).model_dump_json(exclude_none=True, by_alias=True)
    check_answer({"statusCode": 200, "body": body})


# --- bytes --------------------------------------------------------------------------------------


def quotes(count: int) -> list[str]:
    """60,000 characters each, of which a quote takes four bytes in an answer, and a control character seven."""
    return [f"{n} " + '"\x01' * 29_990 for n in range(count)]


@pytest.mark.parametrize("session", [None, "s1"], ids=["of the user", "of the session"])
def test_memories_that_no_answer_has_room_for_are_left_out(world: World, session: str | None) -> None:
    bring(world, quotes(16), session=session)
    view = rebuilt(world)
    shown, left_out = all_shown(view), ids(view.left_out)
    assert shown and left_out and (shown | left_out, shown & left_out) == ({f"note-{n}" for n in range(16)}, set())
    assert answer_bytes(check(view.text)) > PACK_BYTES - 400_000, "it is as full as it can be"
    answered(view)
    answered(preview_pack(world.user()))


def test_what_the_session_observed_comes_before_what_it_noted_and_what_others_say(world: World) -> None:
    half = ['"' * 60_000 + f" {n}" for n in range(10)]
    bring(world, half)
    bring(world, half, Kind.REFLECTION, "s1")
    bring(world, ["User likes tea."], Kind.MANUAL, "s1")
    view = rebuilt(world)
    assert {f"reflection-{n}" for n in range(10)} | {"manual-0"} <= all_shown(view)
    assert ids(view.left_out) < {f"note-{n}" for n in range(10)}


def test_what_a_line_that_is_left_out_said_is_said_again(world: World) -> None:
    """A note that another one repeats is shown where the other has no room."""
    bring(world, [*quotes(16), "User likes tea."])
    bring(world, ["User likes tea."], Kind.MANUAL, "s1")
    assert check(rebuilt(world).text).count("User likes tea.") == 1


def test_documents_that_no_answer_has_room_for_are_left_out(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where nothing but documents can be told."""
    for n in range(20):
        change = DocumentChange(text=f"{n} " + '"' * 70_000)
        write_document(world.user(), f"/always-load/rule{n}", change)
    view = rebuilt(world)
    assert check(view.text) and view.left_out and all(entry.path for entry in view.left_out)
    assert len(all_shown(view)) + len(view.left_out) == 20
    world.forget()
    monkeypatch.setattr(world.objects, "get", lambda _: None)
    partial = read_pack(world.user().of_session("s1"))
    assert (partial.state, ids(partial.left_out)) == ("partial", ids(view.left_out))
    check(partial.text)


def test_every_read_of_the_chat_path_answers_with_a_pack_that_would_be_too_large(world: World) -> None:
    bring(world, quotes(24))
    for _ in installed(world):
        policy = Policy.model_validate(LARGE)
        world.table.write([put_tenant(TenantRow("acme", "2026-03-10T09:30:00.000Z", version=1, policy=policy))])
        packs = Api(pack_router)
        replies = [
            packs.call("GET", PACK, query="session_id=s1", user_id="ann"),
            packs.call("GET", PACK, query="session_id=s1&format=text", user_id="ann"),
            packs.call("GET", PACK, user_id="ann"),
            packs.call("POST", SESSIONS, {"session_id": "s1", "budget_ms": 20_000}, user_id="ann"),
        ]
        for reply in replies:
            assert reply.status == 200, reply.text[:300]
            check_answer({"statusCode": 200, "body": reply.text})
        assert replies[0].json["left_out"] and "also_left_out" not in replies[0].json
        assert ids_of(replies[2]) == ids_of(replies[0]), "a preview says it, too"
        assert set(replies[3].json["transparency"][1].partition(": ")[2].split(", ")) == ids_of(replies[0])


def test_a_prompt_has_room_for_the_largest_pack_and_a_log_beside_it(world: World) -> None:
    bring(world, quotes(24))
    for _ in range(24):
        world.say('"' * 60_000, "ok")
    made = compile_context(world.user().of_session("s1"), CompileCommand(message="hi", retrieval="none"))
    body = ContextOut.of(made).model_dump(mode="json", exclude_none=True, by_alias=True)
    check_answer({"statusCode": 200, "body": json.dumps(body, ensure_ascii=False)})
    assert body["report"]["pack_left_out"] and made.metrics()["PackRowsLeftOut"] == len(body["report"]["pack_left_out"])
    assert body["report"]["history"]["hidden"]


def test_a_version_from_before_the_bound_is_made_anew(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    bring(world, quotes(24))
    with monkeypatch.context() as before:
        before.setattr(room, "PACK_BYTES", 10**9)
        old = build_pack(world.user().of_session("s1"), "initial")
    assert not served(old.text)
    world.forget()
    view = read_pack(world.user().of_session("s1"))
    assert (view.state, view.manifest and view.manifest.pack_version, view.degraded) == ("ready", 2, ())
    check(view.text)
    assert read_pack(world.user().of_session("s1"), version=1).state == "unavailable"


# --- the row ------------------------------------------------------------------------------------


def drawn(count: int, alphabet: str = string.ascii_letters + string.digits + "-_") -> str:
    return "".join(DRAWN.choices(alphabet, k=count))


def entry(*, path: bool = False, own: bool = False) -> PackEntry:
    memory_id = "mem_01KKBH9" + drawn(19, "0123456789ABCDEFGHJKMNPQRSTVWXYZ") if own else drawn(64)
    kind, tokens = DRAWN.choice(list(Kind)), DRAWN.randint(0, 99_999)
    found = PackEntry(memory_id, DRAWN.randint(1, 999), fingerprint(memory_id), tokens, kind)
    return replace(found, path="/" + drawn(500), kind="document") if path else found


@pytest.mark.parametrize("kind", ["own", "drawn", "document"])
@pytest.mark.parametrize("left", [0, 400, 5_000])
def test_the_row_of_the_largest_pack_is_one(kind: str, left: int) -> None:
    entries = [entry(path=kind == "document", own=kind == "own") for _ in range(5_000)]
    shown = [entries[at] for at in with_room([Shown("x", one) for one in entries])]
    left_out, more = named(entries[:left])
    assert len(shown) < 5_000 and len(left_out) + more == left
    layers = {"always": (), "profile": (), "global": (), "local": tuple(shown)}
    manifest = PackManifest("s" * 128, 1, "initial", "", "a" * 64, 9, "b" * 64, layers, left_out, more)
    item = rows.put_manifest(UserKeys("t" * 128, "u" * 128), manifest).item
    assert 200_000 < item_size(item) < 390_000
    assert rows.read_manifest(dict(item)) == manifest


def test_a_pack_of_more_rows_than_its_own_row_can_name_is_built(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "LAYERS_BYTES", 6_000)
    monkeypatch.setattr(room, "LEFT_OUT_BYTES", 1_000)
    bring(world, [f"{n:x}" for n in range(200)], session="s1")
    view = rebuilt(world)
    shown, left_out = all_shown(view), ids(view.left_out)
    assert 80 < len(shown) < 120 and 10 < len(left_out) < 20 and not shown & left_out
    assert len(shown) + len(left_out) + view.also_left_out == 200
    assert PackOut.of(view).also_left_out == view.also_left_out
    opened = open_session(world.user(), OpenSession(session_id="s1", budget_ms=20_000))
    assert opened.transparency[1].endswith(f", and {view.also_left_out} more")
    assert "note-199" in shown, "the newest are kept"


def test_what_takes_the_place_of_words_in_a_full_row_makes_a_version(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever deletes it has to find it."""
    bring(world, [f"{n:x}" for n in range(40)], session="s1")
    first = rebuilt(world)
    assert first.manifest is not None
    monkeypatch.setattr(room, "LAYERS_BYTES", row_bytes(first.manifest.layers["local"]))
    monkeypatch.setattr("neve.usecases.core.pack.build_pack.LAYERS_BYTES", room.LAYERS_BYTES)
    delete_memory(world.user(), "note-39", None)
    again = ImportedRow(text="27", kind=Kind.NOTE, id="note-40", session_id="s1")
    import_memories(world.user(), [again])
    view = rebuilt(world)
    assert view.manifest is not None
    assert (view.text, view.manifest.pack_version) == (first.text, 2)
    assert "note-40" in all_shown(view)


TEXTS = st.lists(st.tuples(st.text(max_size=30), st.integers(0, 40)), max_size=12)


@settings(max_examples=200)
@given(TEXTS, st.integers(0, 1_500), st.integers(0, 2_000), st.integers(0, 400), st.integers(0, 400))
def test_what_is_kept_has_room_and_what_is_not_has_none(
    given_: list[tuple[str, int]], text: int, row: int, taken_text: int, taken_row: int
) -> None:
    items = [Shown(said, PackEntry("x" * size, 1, "", 0, "note")) for said, size in given_]
    with pytest.MonkeyPatch.context() as bounds:
        bounds.setattr(room, "PACK_BYTES", text)
        bounds.setattr(room, "LAYERS_BYTES", row)
        kept = with_room(items, Size(taken_text, taken_row))
    for at, one in enumerate(items):
        before = [items[n] for n in kept if n < at]
        spent = taken_text + sum(answer_bytes(escape(b.text)) + room.BESIDE_A_TEXT for b in [*before, one])
        named_ = taken_row + row_bytes(b.entry for b in [*before, one])
        has_room = spent <= text and named_ <= row
        assert (at in kept) == has_room
