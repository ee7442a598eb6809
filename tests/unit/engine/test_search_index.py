"""The embedded search index: literal scores, its segments against its file, and what only this engine promises."""

from __future__ import annotations

import sqlite3
import struct
import threading
from collections.abc import Iterator
from contextlib import closing
from math import log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import MonkeyPatch

from local.engine.search.passage_file import PassageFile
from local.engine.search.search_index import SqliteSearchIndex
from local.engine.sqlite_file import damage_of
from neve.adapters.segments import postings, search_legs, segment
from neve.adapters.segments.analysis import Analyzer, stored_terms
from neve.adapters.segments.search_legs import TermQuery, keyword_leg, vector_leg
from neve.adapters.segments.segment import Segment
from neve.adapters.segments.segment_cache import SegmentCache
from neve.adapters.segments.segment_filter import admitted
from neve.domain.indexing.passage import Passage, Source, removal_version
from neve.domain.recall.query import TextQuery, shape
from neve.domain.terms import whole_terms
from neve.domain.words import INDEX_STOP_WORDS, plain_words
from neve.ports.errors import StoreUnavailable
from neve.ports.search import Candidate, IndexModel, Owner, SearchFilter
from tests.contract.engines.passages import ANY, passage, vector

MODEL = IndexModel("unit", 4)
ADA = Owner("t1", "ada")
EAST = vector(1, 0, 0, 0)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SqliteSearchIndex]:
    with closing(SqliteSearchIndex(tmp_path / "search.db", MODEL)) as opened:
        yield opened


def find(
    index: SqliteSearchIndex, query: str, where: SearchFilter = ANY, *, owner: Owner = ADA, depth: int = 20
) -> list[Candidate]:
    return index.search_text(owner, shape(query).text_query, where, depth).candidates


def scores(found: list[Candidate]) -> dict[str, float]:
    return {candidate.item_id: candidate.score for candidate in found}


# --- literal scores -----------------------------------------------------------------------------


def test_bm25_by_hand(index: SqliteSearchIndex) -> None:
    """Four passages. kayak: in the text of two, idf ln(1 + 2.5 / 2.5) = 0.693147; river: in the text of one, idf
    ln(1 + 3.5 / 1.5) = 1.203973. tf 1 gives 1.9 / 1.9 = 1, tf 2 gives 3.8 / 2.9 = 1.310345. Fields add up
    before they saturate, and nine bits are kept: b has 1 + 3 x 0.6 = 2.796875 kayaks, 5.314062 / 3.696875 = 1.437447;
    c has 2 x 0.6 + 0.3 = 1.5, 2.85 / 2.4 = 1.1875; d has 0.199707 river, 0.379443 / 1.099707 = 0.345040."""
    index.upsert(
        ADA,
        [
            passage("a", "kayak, kayak"),
            passage("b", "kayak on the river", around={-1: "kayak kayak kayak"}),
            passage("c", "tent", around={-1: "kayak kayak", 1: "kayak"}),
            passage("d", "stove", around={-2: "river"}, date_text="8 May, 2023"),
        ],
    )
    assert scores(find(index, "kayak")) == pytest.approx(
        {"a": 0.693147 * 1.310345, "b": 0.693147 * 1.437447, "c": 0.693147 * 1.1875}, abs=1e-5
    )
    assert scores(find(index, "kayaks river")) == pytest.approx(
        {"b": 0.996362 + 1.203973, "a": 0.908263, "c": 0.823112, "d": 0.345040 * 1.203973}, abs=1e-5
    )
    assert scores(find(index, "May")) == pytest.approx({"d": log(1 + 4.5 / 0.5)}, abs=1e-5)


def test_idf_is_of_the_user_and_of_live_passages(index: SqliteSearchIndex) -> None:
    index.upsert(Owner("t1", "bob"), [passage(f"b{i}", "kayak") for i in range(50)])
    index.upsert(ADA, [passage("a", "kayak"), passage("b", "tent"), passage("c", "kayak"), passage("d", "stove")])
    index.trim(ADA, "c", keep=0, version=1)
    assert scores(find(index, "kayak")) == pytest.approx({"a": log(1 + 2.5 / 1.5)}, abs=1e-6)
    index.upsert(ADA, [passage("b", "kayak"), passage("d", "tent")])
    assert scores(find(index, "tent")) == pytest.approx({"d": log(1 + 2.5 / 1.5)}, abs=1e-6)


def test_the_dated_words_of_a_session_reach_its_passages(index: SqliteSearchIndex) -> None:
    index.upsert(ADA, [passage("a", "kayak", date_text="8 May, 2023"), passage("b", "kayak", date_text="9 June, 2023")])
    assert [c.item_id for c in find(index, "kayak in June")] == ["b", "a"]


def test_scores_are_the_same_however_many_postings_are_taken_at_once(
    index: SqliteSearchIndex, monkeypatch: MonkeyPatch
) -> None:
    """Terms in the text of some passages and beside others, one of them held by every passage, one by none."""
    index.upsert(
        ADA, [passage(f"i{i}", f"kayak number{i % 7} of {'river' * (i % 2)}", around={-1: "tent"}) for i in range(60)]
    )
    asked = "kayak river tent number3 number4 hovercraft"
    at_once = find(index, asked)
    for postings_a_batch in (1, 61, 100):
        monkeypatch.setattr(search_legs, "_BATCH_POSTINGS", postings_a_batch)
        assert find(index, asked) == at_once
    assert len(set(scores(at_once).values())) == 5, "number 3 and number 4, each with a river and without; a river"


# --- analysis -----------------------------------------------------------------------------------


@given(st.text(max_size=80))
def test_every_plain_word_of_a_text_is_indexed(text: str) -> None:
    """Phrases are looked up by their plain words before the stored text decides."""
    assert set(stored_terms(whole_terms(plain_words(text)))) <= set(Analyzer().terms(text))


def test_stop_words_are_not_indexed(index: SqliteSearchIndex) -> None:
    analyzer = Analyzer()
    assert list(analyzer.terms(" ".join(sorted(INDEX_STOP_WORDS)))) == []
    assert len(list(analyzer.terms("not will no kayak"))) == 4
    index.upsert(ADA, [passage("a", "this is it"), passage("b", "not this one")])
    assert find(index, '"this is"') == [] and find(index, "is it") == []
    assert [c.item_id for c in find(index, '"not this"')] == ["b"]


def test_a_phrase_is_compared_as_written(index: SqliteSearchIndex) -> None:
    index.upsert(
        ADA, [passage("a", "two red bicycles"), passage("b", "the red bicycle"), passage("c", "red, bicycle!")]
    )
    assert [c.item_id for c in find(index, '"red bicycle"')] == ["b", "c"]
    assert [c.item_id for c in find(index, '"the red bicycle"')] == ["b"]
    only_phrase = TextQuery(groups=(), phrases=(("red", "bicycle"),))
    assert scores(index.search_text(ADA, only_phrase, ANY, 20).candidates) == {"b": 0.0, "c": 0.0}


def test_phrases_are_looked_for_until_the_depth_is_full(index: SqliteSearchIndex) -> None:
    index.upsert(ADA, [passage(f"a{i:03d}", "bicycle red red bicycles") for i in range(300)])
    index.upsert(ADA, [passage(f"b{i}", "red bicycle") for i in range(3)])
    assert [c.item_id for c in find(index, '"red bicycle"', depth=2)] == ["b0", "b1"]


@pytest.mark.parametrize("query", ['"red bicycle"', "bicycle -自転車"])
def test_a_phrase_is_found_in_what_is_written_again_meanwhile(
    index: SqliteSearchIndex, monkeypatch: MonkeyPatch, query: str
) -> None:
    """The vector worker writes a passage again once it has its vector: between a search's look at the words and its
    look at the text."""
    index.upsert(ADA, [passage("a", "the red bicycle"), passage("b", "bicycle 自転車"), passage("c", "red bicycle")])
    text_of, vectors, writes = PassageFile.text, [EAST, vector(0, 1, 0, 0)], list[threading.Thread]()

    def text_after_a_write(file: PassageFile, row: int) -> str | None:
        if vectors:
            again = [passage("a", "the red bicycle", vector=vectors.pop())]
            writes.append(threading.Thread(target=index.upsert, args=(ADA, again)))
            writes[-1].start()
            writes[-1].join(0.2)  # not longer: it may have to wait for this search
        return text_of(file, row)

    monkeypatch.setattr(PassageFile, "text", text_after_a_write)
    found = find(index, query)
    for write in writes:
        write.join()
    assert {c.item_id for c in found} == {"a", "c"}
    assert not vectors


def test_a_phrase_is_not_found_in_what_is_removed_meanwhile(index: SqliteSearchIndex, monkeypatch: MonkeyPatch) -> None:
    index.upsert(ADA, [passage("a", "the red bicycle"), passage("b", "a red bicycle")])
    text_of = PassageFile.text

    def text_after_a_removal(file: PassageFile, row: int) -> str | None:
        monkeypatch.setattr(PassageFile, "text", text_of)
        index.trim(ADA, "a", keep=0, version=removal_version(1))
        return text_of(file, row)

    monkeypatch.setattr(PassageFile, "text", text_after_a_removal)
    assert [c.item_id for c in find(index, '"red bicycle"')] == ["b"]


# --- the file and the segment -------------------------------------------------------------------

WORDS = ("kayak", "tent", "river", "stove", "paddle")
ITEMS = ("i0", "i1", "i2", "i3")
TEXT = st.lists(st.sampled_from(WORDS), min_size=0, max_size=4).map(" ".join)
VECTOR = st.none() | st.tuples(*[st.sampled_from([-1.0, 0.5, 2.0])] * 4).map(lambda values: vector(*values))
PASSAGE = st.builds(
    lambda item, n, version, following, text, previous, stored_vector, status, session: passage(
        item,
        text,
        n=n,
        version=version,
        following_known=following,
        around={-1: previous},
        vector=stored_vector,
        status=status,
        session_id=session,
        fingerprint=f"{item}-{n}",
    ),
    st.sampled_from(ITEMS),
    st.integers(0, 2),
    st.integers(1, 4),
    st.integers(0, 2),
    TEXT,
    TEXT,
    VECTOR,
    st.sampled_from(["active", "superseded"]),
    st.sampled_from([None, "s1", "s2"]),
)
UPSERT = st.lists(PASSAGE, min_size=1, max_size=6)
TRIM = st.tuples(st.sampled_from(ITEMS), st.integers(0, 2), st.integers(1, 4))
FILTERS = (
    ANY,
    SearchFilter(statuses=()),
    SearchFilter(session_id="s1"),
    SearchFilter(statuses=(), not_session_id="s1", exclude_ids=frozenset({"i0"})),
    SearchFilter(statuses=(), exclude_fingerprints=frozenset({"i1-0", "i2-1"})),
)
QUERIES = ("kayak", "tent river", "paddle OR stove -kayak", '"kayak tent"')

Stored = dict[tuple[str, int], Passage]


def answers(index: SqliteSearchIndex, depth: int) -> list[list[Candidate]]:
    by_words = [find(index, query, where, depth=depth) for query in QUERIES for where in FILTERS]
    return by_words + [index.search_vector(ADA, vector(1, 2, 0, 1), where, depth) for where in FILTERS]


def follow(
    stored: Stored, removed: dict[str, list[tuple[int, int]]], step: list[Passage] | tuple[str, int, int]
) -> None:
    """The versions of the contract, in a dictionary."""
    if isinstance(step, tuple):
        item, keep, version = step
        for key in [k for k, p in stored.items() if k[0] == item and k[1] >= keep and p.version <= version]:
            del stored[key]
        removed.setdefault(item, []).append((keep, version))
        return
    for each in step:
        present = stored.get((each.item_id, each.n))
        floors = [removal_version(version) for keep, version in removed.get(each.item_id, []) if keep <= each.n]
        if each.document_version >= max([present.document_version if present else 0, *floors]):
            stored[each.item_id, each.n] = each


@settings(max_examples=25, deadline=None)
@given(
    steps=st.lists(UPSERT | TRIM, min_size=1, max_size=12), depth=st.integers(1, 5), tail=st.sampled_from([1, 6, 1_000])
)
def test_a_segment_that_followed_every_write_equals_one_built_from_the_file(
    tmp_path_factory: pytest.TempPathFactory, steps: list[list[Passage] | tuple[str, int, int]], depth: int, tail: int
) -> None:
    path = tmp_path_factory.mktemp("segments") / "search.db"
    stored: Stored = {}
    removed: dict[str, list[tuple[int, int]]] = {}
    with MonkeyPatch.context() as patch, closing(SqliteSearchIndex(path, MODEL)) as followed:
        patch.setattr(postings, "TAIL_POSTINGS", tail)
        patch.setattr(segment, "MAX_DEAD_ROWS", 3)
        find(followed, "kayak")
        for step in steps:
            if isinstance(step, tuple):
                followed.trim(ADA, step[0], keep=step[1], version=step[2])
            else:
                followed.upsert(ADA, step)
            follow(stored, removed, step)
            with closing(SqliteSearchIndex(path, MODEL)) as rebuilt:
                assert answers(followed, depth) == answers(rebuilt, depth)
        assert followed.count(ADA) == len(stored)
        found = followed.search_vector(ADA, EAST, SearchFilter(statuses=()), 20)
        assert {c.item_id for c in found} == {item for (item, _), each in stored.items() if each.vector is not None}


def test_passages_survive_the_process(tmp_path: Path) -> None:
    path = tmp_path / "deeper" / "search.db"
    path.parent.mkdir()
    with closing(SqliteSearchIndex(path, MODEL)) as index:
        index.upsert(ADA, [passage(f"i{i}", f"kayak {i}", vector=EAST, tags=("red",)) for i in range(30)])
        index.trim(ADA, "i3", keep=0, version=4)
        before = (find(index, "kayak"), index.search_vector(ADA, EAST, SearchFilter(tags=("red",)), 40))
    with closing(SqliteSearchIndex(path, MODEL)) as index:
        assert (find(index, "kayak"), index.search_vector(ADA, EAST, SearchFilter(tags=("red",)), 40)) == before
        index.upsert(ADA, [passage("i3", "late kayak", version=3)])
        assert find(index, "late") == [] and index.count(ADA) == 29


@pytest.mark.parametrize("column", ["vector", "terms"])
def test_content_that_cannot_be_read_is_made_again_by_the_next_start(tmp_path: Path, column: str) -> None:
    path = tmp_path / "search.db"
    with closing(SqliteSearchIndex(path, MODEL)) as index:
        index.upsert(ADA, [passage("a", "kayak", vector=EAST)])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"UPDATE passages SET {column} = x'ff00'")  # noqa: S608
        connection.commit()
    assert damage_of(path, thorough=True) is None, "SQLite finds nothing wrong"
    with closing(SqliteSearchIndex(path, MODEL)) as index, pytest.raises(StoreUnavailable, match="makes it again"):
        find(index, "kayak")
    assert damage_of(path, thorough=False) == "what it holds could not be read"


def test_a_file_keeps_the_model_that_it_was_made_with(tmp_path: Path) -> None:
    path = tmp_path / "search.db"
    with closing(SqliteSearchIndex(path, MODEL)) as index:
        index.upsert(ADA, [passage("a", "kayak", vector=EAST)])
    with closing(SqliteSearchIndex(path, IndexModel("other", 3))) as index:
        assert index.model() == MODEL
        with pytest.raises(ValueError, match="4 dimensions"):
            index.search_vector(ADA, vector(1, 0, 0), ANY, 5)
        with pytest.raises(ValueError, match="4 dimensions"):
            index.upsert(ADA, [passage("b", "tent", vector=vector(1, 0, 0))])
        assert [c.item_id for c in find(index, "kayak tent")] == ["a"]


def test_an_index_without_vectors(tmp_path: Path) -> None:
    with closing(SqliteSearchIndex(tmp_path / "search.db", IndexModel("none", 0))) as index:
        index.upsert(ADA, [passage("a", "kayak")])
        assert [c.item_id for c in find(index, "kayak")] == ["a"]
        for refused in (b"", EAST):
            with pytest.raises(ValueError, match="0 dimensions"):
                index.search_vector(ADA, refused, ANY, 5)


@pytest.mark.parametrize("values", [(0, 0, 0, 0), (float("nan"), 0, 0, 0), (float("inf"), 0, 0, 0)])
def test_a_vector_without_a_direction_is_refused(index: SqliteSearchIndex, values: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="direction"):
        index.upsert(ADA, [passage("a", vector=vector(*values))])
    with pytest.raises(ValueError, match="direction"):
        index.search_vector(ADA, vector(*values), ANY, 5)


def test_an_erased_text_is_in_no_file(tmp_path: Path) -> None:
    with closing(SqliteSearchIndex(tmp_path / "search.db", MODEL)) as index:
        index.upsert(Owner("t1", "bob"), [passage("b", "staying kayak")])
        for version in (1, 2):
            index.upsert(
                ADA, [passage("a", f"zzmarker{version} text", version=version, around={-1: "zzmarker before"})]
            )
        find(index, "zzmarker2")
        assert index.erase(ADA) == 1
        left = b"".join(file.read_bytes() for file in tmp_path.iterdir()).replace(b"metadata", b"")
        assert b"zzmarker" not in left and b"ada" not in left and b"staying" in left


def test_a_broken_or_closed_file_is_an_unavailable_store(tmp_path: Path) -> None:
    (tmp_path / "broken.db").write_bytes(b"not a database " * 100)
    with pytest.raises(StoreUnavailable):
        SqliteSearchIndex(tmp_path / "broken.db", MODEL)
    index = SqliteSearchIndex(tmp_path / "search.db", MODEL)
    index.close()
    for call in (
        lambda: find(index, "kayak"),
        lambda: index.search_vector(ADA, EAST, ANY, 5),
        lambda: index.upsert(ADA, [passage("a", "kayak")]),
        lambda: index.trim(ADA, "a", keep=0, version=1),
        lambda: index.count(ADA),
        lambda: index.erase(ADA),
    ):
        with pytest.raises(StoreUnavailable):
            call()


def test_a_time_that_is_none_is_refused(index: SqliteSearchIndex) -> None:
    with pytest.raises(ValueError, match="isoformat"):
        index.upsert(ADA, [passage("a", "kayak", observed_at="yesterday")])
    assert index.count(ADA) == 0


# --- many users, many passages ------------------------------------------------------------------


def test_a_small_owner_among_a_thousand_finds_all_of_its_passages(index: SqliteSearchIndex) -> None:
    for other in range(1_000):
        index.upsert(Owner("t1", f"u{other}"), [passage("theirs", "kayak kayak", vector=EAST)])
    index.upsert(ADA, [passage(f"m{i:02d}", "a kayak trip", vector=vector(1, 1, 0, 0)) for i in range(30)])
    for deleted in range(20, 30):
        index.trim(ADA, f"m{deleted}", keep=0, version=1)
    expected = [f"m{i:02d}" for i in range(20)]
    assert [c.item_id for c in find(index, "kayak", depth=20)] == expected
    assert [c.item_id for c in index.search_vector(ADA, EAST, ANY, 20)] == expected
    assert index.count(ADA) == 20


def test_more_passages_than_a_block_or_a_run_holds(index: SqliteSearchIndex) -> None:
    """Appends beside a loaded segment, through several sorted runs and blocks of the ranking."""
    find(index, "kayak")
    for start in range(0, 6_000, 500):
        batch = [
            passage(
                f"i{i:04d}",
                f"kayak word{i} word{i // 2}" + " kayak" * (i % 3),
                around={-2: " ".join(f"n{i}w{j}" for j in range(12))},
                vector=struct.pack("<4f", 1, i, 0, 0),
            )
            for i in range(start, start + 500)
        ]
        index.upsert(ADA, batch)
    found = [c.item_id for c in find(index, "kayak", depth=2_500)]
    assert found[:2_000] == [f"i{i:04d}" for i in range(2, 6_000, 3)]
    assert found[2_000:] == [f"i{i:04d}" for i in range(1, 1_501, 3)]
    assert [c.item_id for c in index.search_vector(ADA, EAST, ANY, 3)] == ["i0000", "i0001", "i0002"]
    assert {c.item_id for c in find(index, "word2100")} == {"i2100", "i4200", "i4201"}


def test_a_full_cache_forgets_users_but_not_passages(tmp_path: Path) -> None:
    owners = [Owner("t1", f"u{i}") for i in range(4)]
    with closing(SqliteSearchIndex(tmp_path / "search.db", MODEL, cache_bytes=1)) as index:
        for turn in range(3):
            for number, owner in enumerate(owners):
                index.upsert(owner, [passage(f"i{turn}", f"kayak user{number}", source=Source.EVENT)])
                assert len(find(index, f"user{number}", owner=owner)) == turn + 1
                assert find(index, f"user{(number + 1) % 4}", owner=owner) == []


def test_a_cache_keeps_the_segments_used_last_up_to_its_bytes() -> None:
    owners = [Owner("t1", f"u{i}") for i in range(4)]
    one = Segment(0).nbytes
    cache = SegmentCache[Segment](3 * one)
    for owner in (*owners[:3], owners[0], *owners[:3]):
        cache.put(owner, Segment(0))
    assert all(cache.get(owner) for owner in owners[:3])
    cache.get(owners[0])
    cache.put(owners[3], Segment(0))
    assert [cache.get(owner) is not None for owner in owners] == [True, False, True, True]
    cache.drop(owners[0])
    cache.put(owners[1], Segment(0))
    assert [cache.get(owner) is not None for owner in owners] == [False, True, True, True]
    cache.put(owners[2], Segment(4, room=10 * one))
    assert [cache.get(owner) is not None for owner in owners] == [False, False, True, False]


def test_replaced_passages_do_not_pile_up_in_memory(index: SqliteSearchIndex, monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setattr(segment, "MAX_DEAD_ROWS", 10)
    find(index, "kayak")
    sizes = []
    for version in range(1, 60):
        index.upsert(ADA, [passage(f"i{i}", "kayak", version=version) for i in range(5)])
        sizes.append(len(index._snapshot(ADA).alive))
    assert max(sizes) == 20


def test_sorted_runs_are_merged_so_that_they_stay_few(monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setattr(postings, "TAIL_POSTINGS", 10)
    analyzer, held = Analyzer(), postings.Postings()
    [kayak] = analyzer.terms("kayak")
    most = 0
    for doc in range(500):
        held.append(doc, [analyzer.analyse(passage("a", f"kayak number{doc} of five hundred")).terms])
        held.settle()
        most = max(most, len(held.view().runs))
    view = held.view()
    assert most == 3
    assert sorted(row for held in view.of_terms([kayak]) for row in held.docs.tolist()) == list(range(500))


def test_a_snapshot_stays_as_it_was(index: SqliteSearchIndex, monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setattr(postings, "TAIL_POSTINGS", 100)
    index.upsert(ADA, [passage(f"i{i}", "kayak", vector=EAST) for i in range(10)])
    taken = index._snapshot(ADA)
    index.upsert(ADA, [passage(f"i{i}", "tent", vector=vector(0, 1, 0, 0), group="g", version=2) for i in range(5)])
    index.trim(ADA, "i7", keep=0, version=1)
    index.upsert(ADA, [passage(f"n{i}", f"kayak word{i}", vector=EAST) for i in range(300)])
    assert index._snapshot(ADA).live == 309
    query = TermQuery([tuple(Analyzer().terms("kayak"))], min_match=1, required=(), excluded=(), accepts=lambda _: True)
    by_words = keyword_leg(taken, query, admitted(taken, ANY), 50)
    by_vector = vector_leg(taken, np.array([1, 0, 0, 0], np.float32), admitted(taken, ANY), 50)
    for found in (by_words, by_vector):
        assert [(c.item_id, c.version) for c in found] == [(f"i{i}", 1) for i in range(10)]
    assert not admitted(taken, SearchFilter(group="g")).any()


def test_searches_beside_a_writer_see_each_write_whole(index: SqliteSearchIndex, monkeypatch: MonkeyPatch) -> None:
    """Every upsert replaces all ten items at once: a search finds ten, all of one version, or the state is torn."""
    monkeypatch.setattr(segment, "MAX_DEAD_ROWS", 200)
    monkeypatch.setattr(postings, "TAIL_POSTINGS", 500)
    items = [f"i{i}" for i in range(10)]
    index.upsert(ADA, [passage(item, "kayak", vector=EAST, version=1) for item in items])
    done = threading.Event()
    torn: list[set[tuple[str, int]]] = []

    def search() -> None:
        while not done.is_set():
            for found in (find(index, "kayak"), index.search_vector(ADA, EAST, ANY, 20)):
                seen = {(c.item_id, c.version) for c in found}
                if {item for item, _ in seen} != set(items) or len({version for _, version in seen}) != 1:
                    torn.append(seen)

    readers = [threading.Thread(target=search) for _ in range(2)]
    for reader in readers:
        reader.start()
    for version in range(2, 60):
        index.upsert(ADA, [passage(item, "kayak", vector=EAST, version=version) for item in items])
    done.set()
    for reader in readers:
        reader.join()
    assert torn == []
    assert {c.version for c in find(index, "kayak")} == {59}
