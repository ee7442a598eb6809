"""The documents of a pack: which they are, in which order, what fits, and what an edit does."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier, current_thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.adapters.clock import WORKERS
from neve.domain.documents.change import DocumentChange
from neve.domain.documents.pins import EXCERPT, Pin, pin_of
from neve.domain.pack.pinned import choose_pins, pin_tokens
from neve.domain.records.documents import Document
from neve.domain.records.memories import Status
from neve.domain.records.packs import PackEntry
from neve.ports.errors import StoreUnavailable
from neve.store import rows
from neve.store.documents import MAX_ROW_TEXT_BYTES
from neve.store.pins import pins_of
from neve.usecases.ask.pack.read_pack import PackView, preview_pack, read_pack
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.tell.documents.delete_document import delete_document
from neve.usecases.tell.documents.to_another_path import move_document
from neve.usecases.tell.documents.write_document import write_document
from neve.usecases.tell.sessions.open_session import OpenSession, open_session
from tests.patience import PATIENCE_S
from tests.unit.world import World


@pytest.fixture
def world(new_world: World) -> World:
    return new_world


def put(world: World, path: str, text: str | None = None, **more: Any) -> Document:
    return write_document(world.user(), path, DocumentChange(text=text, **more)).document


def read(world: World, session: str = "s1") -> PackView:
    return read_pack(world.user().of_session(session))


def rebuild(world: World, session: str = "s1") -> PackView:
    build_pack(world.user().of_session(session), "horizon")
    return read(world, session)


def text(view: PackView) -> str:
    assert view.text is not None
    return view.text


def paths(entries: tuple[PackEntry, ...]) -> list[str | None]:
    return [entry.path for entry in entries]


def layer(view: PackView, name: str) -> list[str | None]:
    assert view.manifest is not None
    return paths(view.manifest.layers[name])


def test_as_many_first_packs_at_once_as_there_are_threads(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    put(world, "/always-load/tone", "Be brief.")
    for n in range(WORKERS):
        world.open(session=f"s{n}")
    real, all_of_them, met = world.table.get_many, Barrier(WORKERS, timeout=PATIENCE_S), set[str]()

    def get_many(keys: Any, **how: Any) -> Any:
        thread = current_thread().name
        if thread.startswith("neve-task") and thread not in met:
            met.add(thread)
            all_of_them.wait()  # every thread of the pool is about to wait for the pins
        return real(keys, **how)

    monkeypatch.setattr(world.table, "get_many", get_many)
    with ThreadPoolExecutor(WORKERS) as clients:
        ids = [f"s{n}" for n in range(WORKERS)]
        opened = clients.map(lambda i: open_session(world.user(), OpenSession(i, budget_ms=20_000)), ids)
        assert [(one.pack.state, one.degraded) for one in opened] == [("ready", [])] * WORKERS
    assert len(met) == WORKERS


# --- which, and in which order --------------------------------------------------------------------


def document(path: str, **more: Any) -> Document:
    return Document(path, more.pop("text", "Text."), 2, 1, "", id=f"doc_{path}", name=more.pop("name", "Name"), **more)


@pytest.mark.parametrize(
    ("given", "place"),
    [
        (document("/notes/a"), None),
        (document("/notes/a", always_include=True), "always"),
        (document("/notes/a", prompt_label="Notes"), None),
        (document("/notes/a", always_include=True, status=Status.ARCHIVED), None),
        (document("/profile/a"), None),
        (document("/profile/a", prompt_label="A"), "profile"),
        (document("/profile/a", always_include=True), "profile"),
        (document("/profile/people/a"), "people"),
        (document("/profile/people/a", always_include=True, prompt_label="A"), "people"),
        (document("/profile/people/a", status=Status.SUPERSEDED), None),
        (document("/profiles/a", prompt_label="A"), None),
        (replace(document("/artifacts/a", always_include=True), id=None), None),
    ],
)
def test_which_documents_stand_in_a_pack(given: Document, place: str | None) -> None:
    pin = pin_of(given)
    assert (pin.place if pin else None) == place


@pytest.mark.parametrize(("length", "shown"), [(199, 199), (200, 200), (201, 201), (500, 201)])
def test_a_person_is_a_name_and_200_characters(length: int, shown: int) -> None:
    pin = pin_of(document("/profile/people/sarah", name="Sarah", text=f"\n {'x' * length}\n"))
    assert pin is not None
    assert len(pin.line) == len("Sarah: ") + shown
    assert pin.cut == pin.line.endswith("…") == (length > EXCERPT)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# Clara\n\n- User said: she paints", "Clara: - User said: she paints"),
        ("#tag first\n# Clara", "Clara: #tag first\n# Clara"),
        ("# Clara", "Clara: "),
    ],
)
def test_a_persons_line_does_without_the_heading(text: str, line: str) -> None:
    pin = pin_of(document("/profile/people/clara", name="Clara", text=text))
    assert pin is not None
    assert pin.line == line
    assert Pin("people", 0, pin.path, "doc_1", 1, "f", 9, "Clara", text).line == line  # a row of before


def test_the_heading_takes_none_of_the_200_characters() -> None:
    pin = pin_of(document("/profile/people/clara", name="Clara", text=f"# Clara\n\n{'x' * EXCERPT}"))
    assert pin is not None
    assert (pin.line, pin.cut) == (f"Clara: {'x' * EXCERPT}", False)


def test_a_title_is_one_line() -> None:
    pin = pin_of(document("/profile/a", prompt_label="Who\nthey  are", prompt_hint="address\nthem so"))
    assert pin is not None
    assert pin.title == "Who they are - address them so"


def pin(place: Any, path: str, tokens: int, order: int = 0) -> Pin:
    return Pin(place, order, path, f"doc_{path}", 1, path, tokens, "", "" if place == "people" else None)


def test_whole_or_not_at_all_and_skip_and_go_on() -> None:
    """As in docs/rules/values.md#greedy-fit, each layer by itself."""
    always = [pin("always", f"/a{n}", size, n) for n, size in enumerate((60, 50, 30, 10))]
    profile = [pin("profile", f"/profile/{n}", size, n) for n, size in enumerate((90, 20, 10))]
    chosen = choose_pins(reversed([*always, *profile]), 100, 100)
    assert [one.tokens for one in chosen.always] == [60, 30, 10]
    assert [one.tokens for one in chosen.profile] == [90, 10]
    assert [one.path for one in chosen.left_out] == ["/a1", "/profile/1"]


pins = st.builds(
    pin,
    st.sampled_from(["always", "profile", "people"]),
    st.text("abc", min_size=1, max_size=3).map("/".__add__),
    st.integers(0, 60),
    st.integers(0, 2),
)


@given(st.lists(pins, max_size=12, unique_by=lambda one: (one.place, one.path)), st.integers(0, 100), st.data())
def test_what_is_chosen_fits_is_in_order_and_follows_from_the_pins_alone(
    given: list[Pin], budget: int, data: st.DataObject
) -> None:
    chosen = choose_pins(given, budget, budget)
    assert choose_pins(data.draw(st.permutations(given)), budget, budget) == chosen
    assert sum(one.tokens for one in chosen.always) <= budget
    assert sum(map(pin_tokens, chosen.profile + chosen.people)) <= budget
    pins_chosen = [*chosen.always, *chosen.profile, *chosen.people]
    assert pins_chosen == sorted(pins_chosen, key=lambda one: one.sort_key)
    assert sorted([*pins_chosen, *chosen.left_out], key=lambda one: one.sort_key) == sorted(
        given, key=lambda o: o.sort_key
    )


# --- packs ----------------------------------------------------------------------------------------


def test_what_does_not_fit_is_told(world: World) -> None:
    world.with_policy(always_budget=40, profile_budget=20)
    put(world, "/always-load/long", "x" * 100)
    put(world, "/always-load/too-long", "x" * 40)
    put(world, "/always-load/zero", "x" * 16)
    put(world, "/profile/identity", "x" * 640, prompt_label="Identity")
    put(world, "/profile/people/tom", "A friend.")
    opened = open_session(world.user(), OpenSession("s1"))
    assert opened.transparency == [
        "Loaded 2 always-load entries: long, zero",
        "Left out for want of room: too-long, identity",
    ]
    assert opened.pack.manifest is not None
    assert paths(opened.pack.manifest.left_out) == ["/always-load/too-long", "/profile/identity"]
    again = open_session(world.user(), OpenSession("s1"))
    assert (again.transparency, again.pack.manifest) == (opened.transparency, opened.pack.manifest)


def test_a_pin_follows_its_document(world: World) -> None:
    def pinned() -> list[tuple[str, str, int, int]]:
        found = pins_of(world.table, world.user().keys)
        return [(one.place, one.path, one.order, one.rev) for one in found]

    put(world, "/notes/a", "Text.")
    assert pinned() == []
    put(world, "/notes/a", always_include=True)
    assert pinned() == [("always", "/notes/a", 1, 1)]
    put(world, "/notes/a", "Other text.", include_priority="high")
    assert pinned() == [("always", "/notes/a", 0, 2)]
    put(world, "/notes/a", always_include=False)
    assert pinned() == []
    put(world, "/profile/a", "Text.", prompt_label="A", prompt_order=7)
    put(world, "/profile/a", prompt_label="")
    assert pinned() == []
    put(world, "/profile/people/a", "A friend.")
    move_document(world.user(), "/profile/people/a", "/profile/people/b")
    assert [path for _, path, _, _ in pinned()] == ["/profile/people/b"]
    delete_document(world.user(), "/profile/people/b", None)
    assert pinned() == []


def test_the_partial_pack_is_straight_from_the_table(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    put(world, "/always-load/rules", "Be brief.")
    put(world, "/always-load/long", "word " * (MAX_ROW_TEXT_BYTES // 4))
    put(world, "/profile/people/tom", "t" * (MAX_ROW_TEXT_BYTES + 1))
    world.with_policy(always_budget=150_000, window=1_000_000)
    world.open()
    whole = read(world)
    assert (layer(whole, "always"), paths(whole.left_out)) == (["/always-load/rules"], ["/always-load/long"])

    def fail(*_: object, **__: object) -> None:
        raise StoreUnavailable("objects", "down")

    for name in ("get", "put_new"):
        monkeypatch.setattr(world.objects, name, fail)
    world.forget()
    view = read(world)
    assert (view.state, view.degraded, view.manifest) == ("partial", ("pack:partial",), None)
    assert (paths(view.always), paths(view.left_out)) == (["/always-load/rules"], ["/always-load/long"])
    assert text(view) == text(whole)
    opened = open_session(world.user(), OpenSession("s2"))
    assert opened.transparency[0] == "Loaded 1 always-load entries: rules"
    assert opened.degraded == ["pack:partial"]


def test_a_preview_holds_them_too(world: World) -> None:
    put(world, "/always-load/rules", "Be brief.")
    assert "Be brief." in text(preview_pack(world.user()))


def test_port_calls_of_a_build(world: World) -> None:
    """docs/access-patterns.md: one query more where there are any."""
    world.open()
    rebuild(world)
    world.table.calls.clear()
    build_pack(world.user().of_session("s1"), "horizon")
    assert dict(world.table.calls) == {"get_many": 2, "query": 1}
    put(world, "/always-load/rules", "Be brief.")
    world.table.calls.clear()
    build_pack(world.user().of_session("s1"), "horizon")
    assert dict(world.table.calls) == {"get_many": 3, "query": 2, "write": 1}


def test_the_head_notes_once_that_there_are_any(world: World) -> None:
    keys = world.user().keys
    put(world, "/notes/a", "Text.")
    assert rows.read_head(world.table.get(keys.head)).pinned is False
    put(world, "/notes/a", always_include=True)
    noted = rows.read_head(world.table.get(keys.head))
    assert noted.pinned
    put(world, "/notes/a", always_include=False)
    put(world, "/notes/a", always_include=True)
    assert rows.read_head(world.table.get(keys.head)) == noted
