"""What the contract leaves open, on a real OpenSearch: the same ranking as the embedded engine, indexes that come and
go, and versions of passages that no search can see yet."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opensearchpy import OpenSearch

from local.aws.local_servers import READ_S
from local.engine.search.search_index import SqliteSearchIndex
from neve.adapters.opensearch import bulk_writes
from neve.adapters.opensearch import index as opensearch_index
from neve.adapters.opensearch.calls import Calls, LineOutcome
from neve.adapters.opensearch.client import open_search_client
from neve.adapters.opensearch.index import OpenSearchIndex
from neve.adapters.opensearch.mapping import MAPPING_VERSION, NEVER, index_name, write_alias
from neve.adapters.opensearch.places import ALIAS_TTL_S, create_index, prepare_index, switch_alias
from neve.domain.recall.query import MAX_OPERATORS, TextQuery, shape
from neve.ports.errors import StoreUnavailable
from neve.ports.search import Candidate, IndexModel, Owner, SearchFilter
from tests.contract.engines.passages import ANY, new_owner, passage, vector
from tests.servers import opensearch_url

MODEL = IndexModel("only here", 4)
OTHER = IndexModel("Another/Model", 4)
EAST, NORTH = vector(1, 0, 0, 0), vector(0, 1, 0, 0)


@dataclass
class Server:
    """``alias``: a name of its own, with nothing behind it yet."""

    client: OpenSearch
    alias: str

    @property
    def calls(self) -> Calls:
        return Calls(self.client)

    def index(self, name: str | None = None, model: IndexModel = MODEL) -> OpenSearchIndex:
        return OpenSearchIndex(self.client, name or self.alias, model, wait=False)

    def refresh(self) -> None:
        self.calls.refresh(self.alias)


@pytest.fixture(scope="module")
def client() -> Iterator[OpenSearch]:
    with closing(open_search_client(opensearch_url(), read_s=READ_S)) as opened:
        yield opened


@pytest.fixture
def server(client: OpenSearch) -> Iterator[Server]:
    made = Server(client, f"only-{uuid.uuid4().hex}")
    yield made
    client.indices.delete(index=f"{made.alias}-*")


def find(index: OpenSearchIndex | SqliteSearchIndex, owner: Owner, query: str) -> list[Candidate]:
    return index.search_text(owner, shape(query).text_query, ANY, 20).candidates


def ids(candidates: list[Candidate]) -> list[str]:
    return [candidate.item_id for candidate in candidates]


# --- the same ranking ---------------------------------------------------------------------------

SPOKEN = """kayak kayaks river ports.py v2.19.1 Ann's May 8 snake_case tent the not 5,000 café cafe
Straße 東京タワー 京 도서관에서 도서관 ข้าวผัด किताब 👍🏽"""
WORDS = st.sampled_from(SPOKEN.split())
TEXTS = st.lists(WORDS, max_size=8).map(" ".join)
LONG = st.integers(0, 90).map(lambda n: " ".join(f"word{k}" for k in range(n)))
PASSAGES = st.lists(st.tuples(TEXTS, TEXTS, TEXTS, TEXTS, TEXTS, LONG), min_size=1, max_size=12)
QUERIES = st.lists(
    st.one_of(WORDS, st.sampled_from(["-tent", '"kayak river"', "river OR May", "-東京タワー", '"東京"', "-cafe"])),
    min_size=1,
    max_size=6,
)


@dataclass
class Both:
    opensearch: OpenSearchIndex
    embedded: SqliteSearchIndex
    refresh: Callable[[], None]


@pytest.fixture(scope="module")
def both(client: OpenSearch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    alias = f"both-{uuid.uuid4().hex}"
    create_index(Calls(client), alias, MODEL, live=True)
    path = tmp_path_factory.mktemp("both") / "search.db"
    with closing(SqliteSearchIndex(path, MODEL)) as embedded:
        yield Both(OpenSearchIndex(client, alias, MODEL, wait=False), embedded, lambda: Calls(client).refresh(alias))
    client.indices.delete(index=f"{alias}-*")


@settings(deadline=None, max_examples=40, derandomize=True, suppress_health_check=list(HealthCheck))
@given(texts=PASSAGES, asked=QUERIES, min_match=st.integers(1, 2))
def test_both_engines_give_the_same_scores_and_order(
    both: Both,
    texts: list[tuple[str, str, str, str, str, str]],
    asked: list[str],
    min_match: int,
) -> None:
    owner = new_owner()
    passages = [
        passage(f"i{n:02d}", text, {-1: previous, 1: f"{following} {rest}", 2: near}, date_text=date, rest=(rest,))
        for n, (text, previous, following, near, date, rest) in enumerate(texts)
    ]
    for index in (both.opensearch, both.embedded):
        index.upsert(owner, passages)
    both.refresh()
    query = replace(shape(" ".join(asked)).text_query, min_match=min_match)
    theirs, ours = (index.search_text(owner, query, ANY, 20).candidates for index in (both.opensearch, both.embedded))
    assert theirs == ours
    in_order = [(-one.score, one.item_id) for one in theirs]
    assert in_order == sorted(in_order)


def test_a_score_says_nothing_about_other_users(server: Server) -> None:
    prepare_index(server.calls, server.alias, MODEL)
    index, ann = server.index(), new_owner()
    index.upsert(ann, [passage("a", "kayak"), passage("b", "tent")])
    server.refresh()
    before = find(index, ann, "kayak tent")
    for _ in range(3):
        index.upsert(new_owner(), [passage(f"i{n}", "kayak") for n in range(50)])
    server.refresh()
    assert find(index, ann, "kayak tent") == before


def test_the_longest_queries_and_words_are_answered(server: Server) -> None:
    prepare_index(server.calls, server.alias, MODEL)
    index, owner = server.index(), new_owner()
    long = "supercalifragilistic" * 50
    index.upsert(owner, [passage("a", f"kayak {long} end"), passage("b", f"kayak {long}x end")])
    server.refresh()
    assert ids(find(index, owner, long)) == ["a"] == ids(find(index, owner, f'kayak "{long} end"'))
    letters = " ".join(chr(0x4E00 + n) for n in range(4_000))
    assert find(index, owner, f'"{letters}"') == []
    many = TextQuery(
        groups=tuple((f"w{n}.x{n}.y{n}",) for n in range(150)),
        phrases=tuple(tuple("kayak" for _ in range(100)) for _ in range(MAX_OPERATORS)),
        excluded=tuple(f"not{n}" for n in range(MAX_OPERATORS)),
    )
    where = SearchFilter(kinds=("note",), tags=tuple("abcdefgh"), exclude_ids=frozenset(f"x{n}" for n in range(500)))
    assert index.search_text(owner, many, where, 20).candidates == []


# --- many passages ------------------------------------------------------------------------------


def test_an_item_of_many_near_passages_does_not_hide_the_others(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opensearch_index, "NEIGHBOURS", 20)
    prepare_index(server.calls, server.alias, MODEL)
    index, owner = server.index(), new_owner()
    index.upsert(owner, [passage("long", n=n, vector=EAST) for n in range(150)])
    index.upsert(owner, [passage(f"short{n}", vector=vector(1, 0.5, 0, 0)) for n in range(5)])
    server.refresh()
    found = index.search_vector(owner, EAST, ANY, 6)
    assert ids(found) == ["long", *(f"short{n}" for n in range(5))]


def test_a_long_write_is_sent_in_parts(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_writes, "MAX_CHARACTERS", 2_000)
    prepare_index(server.calls, server.alias, MODEL)
    index, owner = server.index(), new_owner()
    index.upsert(owner, [passage(f"i{n}", "kayak", vector=EAST) for n in range(40)])
    server.refresh()
    assert index.count(owner) == 40


# --- what no search can see yet -----------------------------------------------------------------


@pytest.fixture
def unseen(server: Server) -> Server:
    """An index that shows a write only when it is told to."""
    create_index(server.calls, server.alias, MODEL, live=True)
    server.calls.refresh_every(index_name(server.alias, MODEL), NEVER)
    return server


def test_a_removal_reaches_what_was_written_a_moment_ago(unseen: Server) -> None:
    index, owner = unseen.index(), new_owner()
    index.upsert(owner, [passage("doc", "kayak", n=n, version=3) for n in range(30)])
    index.trim(owner, "doc", keep=2, version=4)
    unseen.refresh()
    assert index.count(owner) == 2
    index.upsert(owner, [passage("a", "kayak", version=3), passage("b", "kayak", version=3)])
    assert index.erase(owner) == 4
    unseen.refresh()
    assert index.count(owner) == 0


@pytest.mark.parametrize("refused", [1, 2, 3])
def test_a_removal_that_broke_off_is_ended_by_the_next(
    unseen: Server, monkeypatch: pytest.MonkeyPatch, refused: int
) -> None:
    index, owner, sent = unseen.index(), new_owner(), list[str]()
    index.upsert(owner, [passage("doc", "kayak", n=n, version=3) for n in range(100)])
    bulk = Calls.bulk

    def breaking_off(calls: Calls, alias: str, lines: str, *, wait: bool = False) -> list[LineOutcome]:
        sent.append(lines)
        if len(sent) == refused:
            raise StoreUnavailable("search", "429")
        return bulk(calls, alias, lines, wait=wait)

    monkeypatch.setattr(bulk_writes, "MAX_CHARACTERS", 2_000)
    monkeypatch.setattr(Calls, "bulk", breaking_off)
    with pytest.raises(StoreUnavailable):
        index.trim(owner, "doc", keep=1, version=4)
    index.trim(owner, "doc", keep=1, version=4)
    unseen.refresh()
    assert index.count(owner) == 1


def test_erasing_goes_on_until_nothing_is_left(unseen: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opensearch_index, "_PAGE", 7)
    index, owner = unseen.index(), new_owner()
    index.upsert(owner, [passage(f"i{n}", "kayak", version=n + 1) for n in range(20)])
    assert index.erase(owner) == 20


def test_erasing_in_pieces_ends_a_piece_with_the_page_that_fills_it(
    unseen: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opensearch_index, "_PAGE", 7)
    index, owner = unseen.index(), new_owner()
    index.upsert(owner, [passage(f"i{n}", "kayak", version=n + 1) for n in range(20)])
    assert [index.erase(owner, at_most=10) for _ in range(3)] == [14, 6, 0]


def test_a_late_version_with_more_passages_leaves_nothing_behind(unseen: Server) -> None:
    """Its first passages are refused; those that the deletion did not reckon with are taken back."""
    index, owner = unseen.index(), new_owner()
    index.upsert(owner, [passage("doc", "kayak", version=7)])
    index.trim(owner, "doc", keep=1, version=7)
    index.upsert(owner, [passage("doc", "late", n=n, version=4) for n in range(30)])
    unseen.refresh()
    assert index.count(owner) == 1 and ids(find(index, owner, "late")) == []
    index.trim(owner, "doc", keep=0, version=9)
    index.upsert(owner, [passage("doc", "late", n=n, version=8) for n in range(30)])
    unseen.refresh()
    assert index.count(owner) == 0


def test_a_write_returns_when_searches_see_it(server: Server) -> None:
    index, owner = OpenSearchIndex(server.client, server.alias, MODEL), new_owner()
    index.upsert(owner, [passage("a", "kayak", vector=EAST)])
    assert ids(find(index, owner, "kayak")) == ["a"] == ids(index.search_vector(owner, EAST, ANY, 5))


# --- indexes that come and go -------------------------------------------------------------------


def test_the_first_write_makes_the_index_and_reading_does_not(server: Server) -> None:
    index, owner = server.index(), new_owner()
    assert index.model() == MODEL
    with pytest.raises(StoreUnavailable, match="no index"):
        find(index, owner, "kayak")
    assert not server.client.indices.exists(index=f"{server.alias}-*", params={"allow_no_indices": "false"})
    index.upsert(owner, [passage("a", "kayak", vector=EAST)])
    server.refresh()
    assert ids(find(index, owner, "kayak")) == ["a"] and server.index(model=OTHER).model() == MODEL


def test_preparing_twice_changes_nothing(server: Server) -> None:
    for model in (MODEL, OTHER):
        prepare_index(server.calls, server.alias, model)
    assert server.index().model() == MODEL
    assert list(server.calls.mappings(f"{server.alias}-*")) == [index_name(server.alias, MODEL)]


def test_without_dimensions_an_index_takes_words_only(server: Server) -> None:
    none = IndexModel("none", 0)
    index, owner = server.index(model=none), new_owner()
    index.upsert(owner, [passage("a", "kayak")])
    server.refresh()
    assert index.model() == none and ids(find(index, owner, "kayak")) == ["a"]
    with pytest.raises(ValueError):
        index.upsert(owner, [passage("b", "tent", vector=EAST)])
    with pytest.raises(ValueError):
        index.search_vector(owner, EAST, ANY, 5)


def test_a_switch_replaces_the_index_at_once_and_keeps_the_old_one(server: Server) -> None:
    prepare_index(server.calls, server.alias, MODEL)
    owner, old = new_owner(), server.index()
    old.upsert(owner, [passage("a", "kayak")])
    name = create_index(server.calls, server.alias, OTHER, live=False)
    assert name == f"{server.alias}-v{MAPPING_VERSION}-another-model-4"
    server.index(name, OTHER).upsert(owner, [passage("b", "tent")])
    server.refresh()
    assert ids(find(server.index(), owner, "kayak tent")) == ["a"]
    assert switch_alias(server.calls, server.alias, name) == [index_name(server.alias, MODEL)]
    new = server.index()
    assert new.model() == OTHER and ids(find(new, owner, "kayak tent")) == ["b"]
    assert ids(find(old, owner, "kayak tent")) == ["a"], f"a process goes on with what it saw for {ALIAS_TTL_S} s"
    assert switch_alias(server.calls, server.alias, name) == []


def test_what_an_erasure_removed_is_let_in_again_once_its_versions_are_forgotten(server: Server) -> None:
    """The next life of an id has the same sessions, whose events begin at rev 1, without what follows and without
    vectors."""
    index, owner = server.index(), new_owner()
    index.upsert(owner, [passage("evt:s:1", "kayak", version=3, vector=EAST)])
    server.refresh()
    assert index.erase(owner) == 1
    index.upsert(owner, [passage("evt:s:1", "tent", following_known=0)])
    server.refresh()
    assert find(index, owner, "tent") == [], "a late write of the life before would come in as well"
    settings = {"index": {"gc_deletes": "50ms"}}
    server.client.indices.put_settings(index=index_name(server.alias, MODEL), body=settings)
    for _ in range(200):
        index.upsert(owner, [passage("evt:s:1", "tent", following_known=0)])
        server.refresh()
        if found := find(index, owner, "tent"):
            break
        time.sleep(0.05)
    assert ids(found) == ["evt:s:1"]


def test_a_write_to_an_index_that_was_deleted_makes_no_other(server: Server) -> None:
    index, owner = server.index(), new_owner()
    index.upsert(owner, [passage("a", "kayak")])
    name = index_name(server.alias, MODEL)
    server.client.indices.delete(index=name)
    with pytest.raises(StoreUnavailable):
        index.upsert(owner, [passage("b", "kayak")])
    for gone in (name, write_alias(name)):
        assert not server.client.indices.exists(index=gone)
    index.upsert(owner, [passage("b", "kayak")])
    server.refresh()
    assert ids(find(index, owner, "kayak")) == ["b"]


def test_an_index_with_a_field_less_is_an_unavailable_store(server: Server) -> None:
    """What the server says of a mapping conflict."""
    name = index_name(server.alias, MODEL)
    about = {"model": MODEL.tag, "dimensions": MODEL.dimensions, "mapping": MAPPING_VERSION}
    body = {"mappings": {"dynamic": "strict", "_meta": about}, "aliases": {server.alias: {}, write_alias(name): {}}}
    server.client.indices.create(index=name, body=body)
    with pytest.raises(StoreUnavailable, match="strict_dynamic_mapping_exception"):
        server.index().upsert(new_owner(), [passage("a", "kayak")])


def test_a_passage_that_the_index_cannot_take_fails_by_itself(server: Server) -> None:
    index, owner = server.index(), new_owner()
    too_long = passage("a", "kayak", category="x" * 40_000)
    with pytest.raises(ValueError, match="the index refuses"):
        index.upsert(owner, [too_long])
