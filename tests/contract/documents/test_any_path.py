"""A path of any signs that one may have is kept, listed and searched below each of its folders, and below no other one,
on every engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from neve.adapters.table_rules import MAX_SORT_KEY_BYTES
from neve.domain.cursors import make_cursor, read_cursor
from neve.domain.documents.change import DocumentChange, new_document
from neve.domain.documents.paths import MAX_BYTES, folders_of, is_below, normal_path
from neve.domain.recall.query import shape
from neve.http.schemas.fields import MAX_CURSOR
from neve.ports.search import SearchFilter
from neve.ports.table import Table
from neve.store.documents import read_document, written_ops
from neve.store.keys import UserKeys
from neve.usecases.ask.documents.list_documents import heads_below
from tests.contract.engines.passages import new_owner, passage
from tests.contract.engines.search_engines import SEARCHES, SearchEngine

NUMBERS = count()
SIGNS = st.sampled_from("ab/ \"'\\*?%_#~+&=<>[]{}()|^$.-:;,@!`²é記\u3000\U0001f389\U0010fffd\u0301~") | st.characters()


def _path(text: str) -> str | None:
    try:
        return normal_path(f"/{text}")
    except ValueError:
        return None


PATHS = st.text(SIGNS, min_size=1, max_size=12).map(_path).filter(bool)
SETS = st.lists(PATHS, min_size=1, max_size=6, unique=True)
ANY_SIGNS = settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
TRICKY = ["/a", "/a!", "/a b", "/a*", "/a%", "/a\\", "/a/b", "/a/\U0010fffd", "/a0", '/"' + '"' * (MAX_BYTES - 2)]


@example(TRICKY)
@given(SETS)
@ANY_SIGNS
def test_a_list_below_a_path_is_what_begins_with_its_segments(table: Table, paths: list[str]) -> None:
    keys = UserKeys("t1", f"u{next(NUMBERS)}")
    for n, path in enumerate(paths):
        made = new_document(path, f"doc_{n}", DocumentChange(text=path, always_include=True), "2026-03-10", len)
        ops = written_ops(keys, None, made, None)
        table.write(ops)
        assert all(len(op.item["sk"].encode()) <= MAX_SORT_KEY_BYTES for op in ops if hasattr(op, "item"))
        head = table.get(keys.document(path))
        assert head is not None and read_document(head).path == path
    for prefix in {"/", *paths, *(folder for path in paths for folder in folders_of(path))}:
        below = sorted(path for path in paths if is_below(path, prefix) or path == prefix)
        assert sorted(head.path for head in heads_below(table, keys, prefix)) == below
        for n, path in enumerate(below):
            rest = [head.path for head in heads_below(table, keys, prefix, path)]
            assert path == prefix or sorted(rest) == below[n + 1 :]


@pytest.mark.parametrize("path", [*TRICKY, "/" + "\\" * (MAX_BYTES - 1), "/" + "\U0010fffd" * 224])
def test_a_cursor_holds_any_path(path: str) -> None:
    cursor = make_cursor(b"list", [path])
    assert len(cursor) <= MAX_CURSOR and read_cursor(b"list", cursor, 1) == (path,)


@pytest.fixture(params=sorted(SEARCHES))
def search(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SearchEngine]:
    with SEARCHES[request.param](tmp_path) as engine:
        yield engine


@example(TRICKY)
@given(SETS)
@settings(ANY_SIGNS, max_examples=5)
def test_a_filter_by_prefix_admits_what_begins_with_its_segments(search: SearchEngine, paths: list[str]) -> None:
    owner = new_owner()
    passages = [replace(passage(f"i{n}", "lighthouse"), path=path) for n, path in enumerate(paths)]
    search.index.upsert(owner, passages)
    search.refresh()
    for prefix in {"/", *paths, *(folder for path in paths for folder in folders_of(path))}:
        where = SearchFilter(path_prefix=prefix)
        found = search.index.search_text(owner, shape("lighthouse").text_query, where, 20).candidates
        admitted = {f"i{n}" for n, path in enumerate(paths) if is_below(path, prefix) or path == prefix}
        assert {one.item_id for one in found} == admitted
