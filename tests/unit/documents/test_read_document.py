"""Documents read page by page, and which paths there may be: literals of docs/rules/values.md#paths."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neve.adapters.table_rules import MAX_SORT_KEY_BYTES
from neve.domain.documents.change import DocumentChange
from neve.domain.documents.paths import MAX_BYTES, normal_path
from neve.domain.errors import NeveError
from neve.domain.records.documents import Document
from neve.domain.tokens import estimate
from neve.ports.errors import StoreUnavailable
from neve.store import rows
from neve.store.pins import pins_of
from neve.usecases.ask.documents.get_document import PAGE_TOKENS, PageRead, read_page
from neve.usecases.tell.documents.write_document import write_document
from tests.unit.world import World

PATH = "/artifacts/01HZX"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    yield World.make(tmp_path_factory.mktemp("documents"))


def keep(world: World, text: str, path: str = PATH, user: str = "ann") -> None:
    keys = world.user(user).keys
    before = world.table.get(keys.document(path))
    document = Document(
        path, text, estimate(text), 1, "2026-03-10T09:30:00.000Z", "s1", 4, version=before["version"] if before else 0
    )
    world.table.write([rows.put_artifact(keys, document)])


def pages(world: World, path: str = PATH) -> list[PageRead]:
    found = [read_page(world.user(), path)]
    while found[-1].next_offset is not None:
        found.append(read_page(world.user(), path, found[-1].next_offset))
    return found


# --- paths --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        *("/profile/people/sarah", "/people/josé", "/a/b c/d.e/f_g/h'i/j-k/7/ß", "/हिन्दी", "/...", "/" + "x" * 899),
        *("/a\\b", "/a#b", "/a~b", "/a²", "/ a ", "/100%", '/"*?', "/a\u3000b", "/🎉", "/\U0010fffd", "/a+b&c=d"),
        "/a" * 20,
    ],
)
def test_paths_that_may_be(path: str) -> None:
    assert normal_path(path) == path


@pytest.mark.parametrize(
    "path",
    [
        "/a/../b",
        "/.",
        "people/x",
        "/",
        "",
        "//x",
        "/a/",
        "/a" * 21,
        "/" + "x" * 900,
        "/a\nb",
        "/a\u200bb",
        "/a\u2028b",
        "/ /b",
        "/\u3000",
        "/\uffff",
        "/\ufdd0",
        "/\ud800",
    ],
)
def test_paths_that_may_not_be(path: str) -> None:
    with pytest.raises(ValueError, match="1 to 20 segments"):
        normal_path(path)


@pytest.mark.parametrize("letter", ["記", "ह", "\U00020000"])
def test_a_path_fits_the_keys_of_its_rows(world: World, letter: str) -> None:
    """In signs it may be far longer than a key."""
    user = world.user(f"user-{ord(letter)}")
    whole = f"/{letter * 64}" * 19
    most = next(n for n in range(len(whole), 0, -1) if len(whole[:n].encode()) <= MAX_BYTES)
    change = DocumentChange(text="x", always_include=True)
    assert write_document(user, whole[:most], change).created
    assert [pin.path for pin in pins_of(world.table, user.keys)] == [whole[:most]]
    bounds = user.keys.documents_below(f"{whole[:most]}/", None)
    assert max(len(bound.encode()) for bound in bounds) <= MAX_SORT_KEY_BYTES
    with pytest.raises(NeveError, match="at most 900 bytes in UTF-8"):
        write_document(user, whole[: most + 1], change)


def test_a_path_is_kept_composed() -> None:
    assert normal_path(unicodedata.normalize("NFD", "/people/josé")) == "/people/josé"


# --- pages --------------------------------------------------------------------------------------


def test_a_short_document_is_one_page(world: World) -> None:
    keep(world, "  exactly\r\nthis \n")
    [page] = pages(world)
    assert page.document is not None
    assert (page.text, page.offset, page.next_offset) == ("  exactly\r\nthis \n", 0, None)
    assert (page.document.session_id, page.document.seq) == ("s1", 4)


def test_a_long_one_takes_pages_of_4000_tokens(world: World) -> None:
    keep(world, "x" * 12_800 * 2 + "y")
    assert [len(page.text) for page in pages(world)] == [12_800, 12_800, 1]
    assert estimate(pages(world)[0].text) == PAGE_TOKENS == 4_000


@settings(max_examples=25, deadline=None)
@given(st.text(st.sampled_from("aé👩🏽‍🚀\n\u0301🇫🇷"), min_size=1, max_size=30), st.integers(0, 3_000))
def test_the_pages_together_are_the_exact_text(world: World, text: str, times: int) -> None:
    whole = "z" * times + text * (times // 3)
    keep(world, whole)
    found = pages(world)
    assert "".join(page.text for page in found) == whole
    assert all(estimate(page.text) <= PAGE_TOKENS for page in found)
    assert all(page.text for page in found[:-1])


def test_behind_the_end_there_is_nothing(world: World) -> None:
    keep(world, "short")
    page = read_page(world.user(), PATH, 99)
    assert (page.text, page.next_offset, page.document is not None) == ("", None, True)


# --- what cannot be read ------------------------------------------------------------------------


def test_what_is_not_there_and_what_is_anothers_is_not_found(world: World) -> None:
    keep(world, "his", "/artifacts/bobs", "bob")
    for path in ("/artifacts/none", "/artifacts/bobs"):
        assert read_page(world.user(), path) == PageRead(path)


def test_a_document_is_read_where_it_is(world: World) -> None:
    write_document(world.user(), "/notes/tea", DocumentChange("Green tea."))
    assert read_page(world.user(), "/notes/tea").text == "Green tea."
    assert read_page(world.user("bob"), "/notes/tea") == PageRead("/notes/tea")


def test_a_store_that_is_down_is_not_an_empty_one(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def down(_: object) -> None:
        raise StoreUnavailable("table", "down")

    monkeypatch.setattr(world.table, "get_many", down)
    assert read_page(world.user(), PATH) == PageRead(PATH, degraded=("hydrate:error",))


def test_of_an_erased_user_nothing_is_read(tmp_path: Path) -> None:
    world = World.make(tmp_path)
    world.open()
    keep(world, "text")
    keys = world.user().keys

    def become(state: Any) -> None:
        world.table.write([rows.put_head(keys, replace(rows.read_head(world.table.get(keys.head)), state=state))])

    become("erasing")
    assert read_page(world.user(), PATH).document is None
    become("closed")
    with pytest.raises(NeveError) as refused:
        read_page(world.user(), PATH)
    assert refused.value.code == "user_closed"
