"""The search engine of objects and rows: against the embedded one, and what only this engine promises."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from random import randbytes

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import MonkeyPatch

from local.controls.delta_search import find_in_deltas
from local.controls.raw_search import find_raw
from local.engine.file_objects import FileObjects
from local.engine.search.search_index import SqliteSearchIndex
from local.engine.sqlite_table import SqliteTable
from neve.adapters.clock import SystemClock
from neve.adapters.segments import index as module
from neve.adapters.segments.index import SegmentsIndex
from neve.domain.recall.query import shape
from neve.ports.errors import StoreUnavailable
from neve.ports.search import Candidate, IndexModel, Owner, SearchIndex
from neve.ports.table import Item, Put
from neve.store.keys import UserKeys, leg_health
from neve.store.tenants.leg_health import REPORTED, read_leg_troubles
from neve.troubles import Trouble
from tests.contract.engines.passages import ANY, passage, vector
from tests.contract.engines.search_engines import EVERY_SIGN, MODEL, segments

ADA = Owner("t1", "ada")
KEYS = UserKeys(*ADA)
WORDS = ("kayak", "tent", "stove", "river")
VECTORS = (None, vector(1, 0, 0, 0), vector(0.6, 0.8, 0, 0), vector(0, 0.5, 0.5, 0.1))

LAST_CHANGE = 1 << 40
"""Behind all of them."""

Make = Callable[..., SegmentsIndex]


@pytest.fixture
def table(tmp_path: Path) -> Iterator[SqliteTable]:
    with closing(SqliteTable(tmp_path / "table.db")) as opened:
        yield opened


@pytest.fixture
def make(tmp_path: Path, table: SqliteTable) -> Make:
    """Another process on the same rows and objects."""
    return lambda **merging: segments(tmp_path, table, **merging)


@pytest.fixture
def objects(tmp_path: Path) -> FileObjects:
    return FileObjects(tmp_path / "objects", SystemClock(), "")


def rows(table: SqliteTable) -> list[Item]:
    return table.query(KEYS.passages, limit=1_000).items


def found(index: SearchIndex, words: str = "kayak") -> list[str]:
    return [one.item_id for one in index.search_text(ADA, shape(words).text_query, ANY, 20).candidates]


def everything(index: SearchIndex) -> list[list[Candidate]]:
    queries = (*WORDS, "kayak river", '"kayak tent"', "stove -river")
    legs = [index.search_text(ADA, shape(words).text_query, ANY, 10).candidates for words in queries]
    return [*legs, *(index.search_vector(ADA, one, ANY, 10) for one in VECTORS if one is not None)]


def without_scores(legs: list[list[Candidate]]) -> list[list[Candidate]]:
    return [[one._replace(score=round(one.score, 2)) for one in leg] for leg in legs]


ITEMS = st.sampled_from("abc")
UPSERT = st.tuples(
    st.just("upsert"), ITEMS, st.integers(0, 1), st.integers(1, 6), st.lists(st.sampled_from(WORDS)), st.integers(0, 3)
)
TRIM = st.tuples(st.just("trim"), ITEMS, st.integers(0, 1), st.integers(1, 6))
OTHER = st.sampled_from([("merge",), ("process",), ("erase",)])


@given(st.lists(st.one_of(UPSERT, UPSERT, UPSERT, TRIM, OTHER), max_size=25))
@settings(max_examples=60)
def test_it_finds_what_the_embedded_engine_finds(tmp_path_factory: pytest.TempPathFactory, done: list[tuple]) -> None:  # type: ignore[type-arg]
    """Whatever is written and removed, merged or not, by whichever process."""
    folder = tmp_path_factory.mktemp("segments")
    with (
        closing(SqliteTable(folder / "table.db")) as table,
        closing(SqliteSearchIndex(folder / "s.db", MODEL)) as other,
    ):
        index = segments(folder, table, merged_from=1, looked_at="")
        for what, *given_ in done:
            if what == "upsert":
                item, n, version, words, which = given_
                one = passage(item, " ".join(words), n=n, version=version, vector=VECTORS[which])
                index.upsert(ADA, [one])
                other.upsert(ADA, [one])
            elif what == "trim":
                item, keep, version = given_
                index.trim(ADA, item, keep=keep, version=version)
                other.trim(ADA, item, keep=keep, version=version)
            elif what == "erase":
                assert index.erase(ADA) == other.erase(ADA)
            elif what == "merge":
                index.merge(ADA)
            else:
                index = segments(folder, table, merged_from=1, looked_at="")
            assert index.count(ADA) == other.count(ADA)
        assert without_scores(everything(index)) == without_scores(everything(other))
        fresh = segments(folder, table)
        assert everything(fresh) == everything(index), "to the bit, whoever has merged or loaded it"


def test_a_merge_leaves_one_object_and_no_row_but_its_pointer(
    make: Make, table: SqliteTable, objects: FileObjects
) -> None:
    index = make(merged_from=3, looked_at=EVERY_SIGN)
    for n in range(9):
        index.upsert(ADA, [passage(f"m{n}", "kayak")])
    assert [row["type"] for row in rows(table)] == ["passage_base"]
    bases = {name.rpartition("/")[2] for name in objects.list(KEYS.segments_prefix)}
    assert len(bases) == 2, "and the one before, which somebody may be loading"
    assert len(found(make())) == 9


@pytest.mark.parametrize("taken_back", ["removed", "said otherwise", "given another title", "too late"])
def test_words_that_are_taken_back_are_in_nothing_that_is_kept(
    make: Make, table: SqliteTable, tmp_path: Path, taken_back: str
) -> None:
    """At once, in rows and objects, also of the base before."""
    make(merged_from=1, looked_at=EVERY_SIGN).upsert(ADA, [passage("a", "zanzibar one"), passage("b", "kayak")])
    index = make(looked_at="")
    if taken_back == "removed":
        index.trim(ADA, "a", keep=0, version=1)
    elif taken_back == "said otherwise":
        index.upsert(ADA, [passage("a", "two", version=2, fingerprint="fp-two")])
    elif taken_back == "given another title":  # what is embedded is the same, and so is its fingerprint
        index.upsert(ADA, [passage("a", "one", version=2)])
    else:
        index.trim(ADA, "a", keep=0, version=3)
        index.upsert(ADA, [passage("a", "zanzibar again", version=2, fingerprint="fp-again")])
    table.discard_changes(LAST_CHANGE)
    left = [path.name for path in tmp_path.rglob("*.0") if b"zanzibar" in path.read_bytes()]
    assert find_in_deltas(tmp_path / "table.db", "zanzibar") == []
    assert left == [] and found(make()) == ["b"]


def test_words_that_are_packed_are_seen_by_who_looks_for_what_is_left(
    make: Make, table: SqliteTable, tmp_path: Path
) -> None:
    """No raw byte of a write shows them, so the proofs of an erasure would find nothing, whatever was left."""
    make(looked_at="").upsert(ADA, [passage("a", "zanzibar"), passage("b", "kayak")])
    assert find_raw([tmp_path], b"zanzibar") == []
    assert find_in_deltas(tmp_path / "table.db", "zanzibar") != []
    make().trim(ADA, "a", keep=0, version=1)
    assert find_in_deltas(tmp_path / "table.db", "zanzibar") != [], "a change that nobody has handled holds them"
    table.discard_changes(LAST_CHANGE)
    assert find_in_deltas(tmp_path / "table.db", "zanzibar") == []
    assert find_in_deltas(tmp_path / "table.db", "kayak") == [], "it is in the base, whose bytes are read"
    assert find_raw([tmp_path], b"kayak") != [] and find_raw([tmp_path], b"zanzibar") == []


def test_what_a_merge_left_that_died_behind_the_pointer_is_deleted_when_its_message_comes_again(
    make: Make, table: SqliteTable, objects: FileObjects, monkeypatch: MonkeyPatch
) -> None:
    make(merged_from=1, looked_at=EVERY_SIGN).upsert(ADA, [passage("a", "zanzibar"), passage("b", "kayak")])
    with monkeypatch.context() as patch:
        patch.setattr(SegmentsIndex, "_forget", died)
        with pytest.raises(StoreUnavailable):
            make().trim(ADA, "a", keep=0, version=1)
    assert len(objects.list(KEYS.segments_prefix)) == 2 and len(rows(table)) == 2
    make().trim(ADA, "a", keep=0, version=1)
    assert all(b"zanzibar" not in (objects.get(name) or b"") for name in objects.list(KEYS.segments_prefix))
    assert found(make()) == ["b"]


def died(*_: object) -> None:
    raise StoreUnavailable("table", "the worker died here")


@pytest.mark.parametrize("merged", [True, False], ids=["a base", "deltas"])
def test_an_erased_users_words_leave_the_memory_of_another_process_with_its_next_search(
    make: Make, monkeypatch: MonkeyPatch, merged: bool
) -> None:
    """None of them is on a disk of its own (docs/adr/0091)."""
    monkeypatch.setattr(module, "SHARED_MS", 0.0)
    writer, reader = make(merged_from=1, looked_at=EVERY_SIGN if merged else ""), make()
    writer.upsert(ADA, [passage("a", "zanzibar kayak")])
    assert found(reader) == ["a"]
    writer.erase(ADA)
    assert found(reader) == []
    known = reader._cache.get(ADA)
    assert known is not None and known.held.base is None and known.held.texts.nbytes == 0


def test_a_base_of_several_pieces_is_whole(make: Make, objects: FileObjects, monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SPLIT_FROM_BYTES", 500)
    index = make(merged_from=1, looked_at=EVERY_SIGN)
    index.upsert(ADA, [passage(f"m{n}", "kayak", vector=VECTORS[1]) for n in range(5)])
    names = objects.list(KEYS.segments_prefix)
    sizes = [len(objects.get(name) or b"") for name in names]
    assert len(names) == 4 and max(sizes) - min(sizes) < 4, "none of them is waited for longer than for the others"
    assert len(found(make())) == 5 == len(make().search_vector(ADA, vector(1, 0, 0, 0), ANY, 9))


def test_a_write_larger_than_a_row_is_several(make: Make, table: SqliteTable, monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MERGED_FROM_BYTES", 1 << 30)
    index = make(looked_at="", merged_from=1_000)
    metadata = tuple(f"k{n}={randbytes(160).hex()}" for n in range(16))
    index.upsert(ADA, [passage(f"m{n:03}", "kayak", metadata=metadata) for n in range(200)])
    index.upsert(ADA, [passage(f"n{n}", f"kayak {randbytes(40_000).hex()}") for n in range(8)])
    assert len(rows(table)) > 4 and all(len(row["packed"]) < 400_000 for row in rows(table))
    assert make().count(ADA) == 208


def test_vectors_of_another_model_are_not_compared(make: Make) -> None:
    """The stage's row says whose they are; a process that was made for another model goes by it."""
    index = make()
    index.upsert(ADA, [passage("a", "kayak", vector=VECTORS[1])])
    assert make().model() == MODEL and not index.is_made(), "a write is not all of it"
    assert len(index.search_vector(ADA, vector(1, 0, 0, 0), ANY, 9)) == 1
    index.take_over(IndexModel("newer", 4))
    assert index.is_made() and index.search_vector(ADA, vector(1, 0, 0, 0), ANY, 9) == [], "what it held already"
    other = make()
    assert other.model() == IndexModel("newer", 4)
    assert other.search_vector(ADA, vector(1, 0, 0, 0), ANY, 9) == [] and found(other) == ["a"]
    other.upsert(ADA, [passage("a", "kayak", vector=VECTORS[1])])
    assert [one.item_id for one in make().search_vector(ADA, vector(1, 0, 0, 0), ANY, 9)] == ["a"]


@pytest.mark.parametrize("left", [b"", b"NVSEG001 and nothing else", None])
def test_a_base_that_cannot_be_read_fails_the_search_and_is_erased(
    make: Make, table: SqliteTable, objects: FileObjects, left: bytes | None
) -> None:
    make(merged_from=1, looked_at=EVERY_SIGN).upsert(ADA, [passage("a", "kayak"), passage("b", "kayak")])
    [name] = objects.list(KEYS.segments_prefix)
    objects.delete(name)
    if left is not None:
        objects.put(name, left, content_type="application/octet-stream")
    with pytest.raises(StoreUnavailable, match="segments"):
        found(make())
    assert make().erase(ADA) == 2
    assert rows(table) == [] and objects.list(KEYS.segments_prefix) == [] and found(make()) == []


def test_a_delta_that_cannot_be_read_fails_the_search(make: Make, table: SqliteTable) -> None:
    make().upsert(ADA, [passage("a", "kayak")])
    [row] = rows(table)
    table.write([Put(row | {"packed": b"\x05\0\0\0 nothing"})])
    with pytest.raises(StoreUnavailable, match="no delta"):
        found(make())


@pytest.mark.parametrize("first_to_see_it", ["who merges", "who loads"])
def test_health_hears_of_a_user_who_is_too_large_also_where_another_process_is_asked(
    make: Make, table: SqliteTable, monkeypatch: MonkeyPatch, first_to_see_it: str
) -> None:
    """On AWS a worker merges, recall loads, and a third function answers for health."""
    loads = first_to_see_it == "who loads"
    monkeypatch.setattr(module, "LARGE", 3 if loads else 2)
    make(merged_from=1, looked_at=EVERY_SIGN).upsert(ADA, [passage(f"m{n}", "kayak") for n in range(3)])
    if loads:
        monkeypatch.setattr(module, "LARGE", 2)
        assert troubles(table) == []
        found(make())
    [trouble] = troubles(table)
    assert (trouble.what, trouble.kind) == ("search_large", "full") and "search domain" in trouble.reason


def test_health_hears_of_a_merge_that_fails(make: Make, table: SqliteTable, monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setattr(SegmentsIndex, "_put_pieces", died)
    make(merged_from=1, looked_at=EVERY_SIGN).upsert(ADA, [passage("a", "kayak")])
    [trouble] = troubles(table)
    assert (trouble.what, trouble.kind) == ("search", "failing") and "merge" in trouble.reason


def troubles(table: SqliteTable) -> list[Trouble]:
    """Give what a process hears that has neither merged nor loaded."""
    return read_leg_troubles(table.get_many([leg_health(leg) for leg in REPORTED]), SystemClock().now())
