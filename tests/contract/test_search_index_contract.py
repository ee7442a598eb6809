"""What every SearchIndex must do. Orders and sets are compared, never absolute BM25 values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from neve.domain.indexing.passage import Passage, Source, version_at
from neve.domain.recall.query import TextQuery, shape
from neve.ports.search import Candidate, Owner, SearchFilter
from tests.contract.engines.passages import ANY, new_owner, passage, vector
from tests.contract.engines.search_engines import MODEL, SEARCHES, SearchEngine
from tests.ids import AWKWARD

DEPTH = 20
EAST, NORTH, UP = vector(1, 0, 0, 0), vector(0, 1, 0, 0), vector(0, 0, 1, 0)


@dataclass
class Desk:
    """One user's view of an index; writes are refreshed."""

    engine: SearchEngine
    owner: Owner

    def put(self, *passages: Passage) -> None:
        self.engine.index.upsert(self.owner, passages)
        self.engine.refresh()

    def trim(self, item_id: str, *, keep: int = 0, version: int) -> None:
        self.engine.index.trim(self.owner, item_id, keep=keep, version=version)
        self.engine.refresh()

    def erase(self, at_most: int | None = None) -> int:
        erased = self.engine.index.erase(self.owner, at_most=at_most)
        self.engine.refresh()
        return erased

    def count(self) -> int:
        return self.engine.index.count(self.owner)

    def find(self, query: str | TextQuery, where: SearchFilter = ANY, depth: int = DEPTH) -> list[Candidate]:
        text_query = shape(query).text_query if isinstance(query, str) else query
        return self.engine.index.search_text(self.owner, text_query, where, depth).candidates

    def among(self, query: str, where: SearchFilter) -> int:
        return self.engine.index.search_text(self.owner, shape(query).text_query, where, DEPTH).among

    def near(self, query: bytes, where: SearchFilter = ANY, depth: int = DEPTH) -> list[Candidate]:
        return self.engine.index.search_vector(self.owner, query, where, depth)

    def of(self, owner: Owner) -> Desk:
        return replace(self, owner=owner)


@pytest.fixture(params=sorted(SEARCHES))
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    with SEARCHES[request.param](tmp_path) as engine:
        yield Desk(engine, new_owner())


def ids(candidates: list[Candidate]) -> list[str]:
    return [candidate.item_id for candidate in candidates]


def test_users_and_sessions_of_any_id_are_apart(desk: Desk) -> None:
    for n, name in enumerate(AWKWARD):
        mine = replace(passage("a", f"lighthouse word{n}", vector=EAST), session_id=name)
        desk.engine.index.upsert(Owner("t1", name), [mine])
    desk.engine.refresh()
    for n, name in enumerate(AWKWARD):
        user = desk.of(Owner("t1", name))
        assert ids(user.find(f"word{n}", SearchFilter(session_id=name))) == ["a"]
        assert ids(user.find(f"word{n}", SearchFilter(not_session_id=name))) == []
        assert ids(user.find(f"word{n + 1}")) == []
        assert (len(user.near(EAST)), user.count()) == (1, 1)
    assert desk.of(Owner("t1", AWKWARD[0])).erase() == 1
    assert [desk.of(Owner("t1", name)).count() for name in AWKWARD] == [0, *[1] * (len(AWKWARD) - 1)]


# --- keyword leg --------------------------------------------------------------------------------


def test_inflections_and_case_match_and_other_texts_do_not(desk: Desk) -> None:
    desk.put(
        passage("a", "Henrike painted a lighthouse"), passage("b", "Two PAINTINGS"), passage("c", "A walk on the beach")
    )
    assert set(ids(desk.find("painting"))) >= {"b"}
    assert set(ids(desk.find("painted"))) == set(ids(desk.find("paint"))) >= {"a"}
    assert "c" not in ids(desk.find("painting paint"))


def test_every_field_is_searched_and_the_own_text_counts_most(desk: Desk) -> None:
    desk.put(
        passage("near", "one", around={-2: "the kayak"}),
        passage("previous", "two", around={-1: "the kayak"}),
        passage("own", "the kayak"),
        passage("following", "three", around={1: "the kayak"}),
        passage("dated", "four", date_text="kayak day"),
    )
    found = ids(desk.find("kayak"))
    assert set(found) == {"own", "dated", "previous", "following", "near"}
    assert set(found[:2]) == {"own", "dated"} and found[2] == "previous"


@pytest.mark.parametrize(
    ("where", "among"),
    [
        (ANY, 4),
        (SearchFilter(sources=(Source.EVENT,)), 1),
        (SearchFilter(session_id="s1"), 2),
        (SearchFilter(not_session_id="s1", exclude_ids=frozenset({"long"})), 1),
        (SearchFilter(tags=("boats",)), 0),
    ],
)
def test_it_says_how_many_passages_it_looked_through(desk: Desk, where: SearchFilter, among: int) -> None:
    """Whether or not they hold a word; those of another user are none of them."""
    desk.put(
        passage("long", "the kayak", n=0, session_id="s2", rest=("of oak",)),
        passage("long", "of oak", n=1, session_id="s1", rest=("the kayak",)),
        passage("said", "a kayak", source=Source.EVENT, session_id="s1"),
        passage("other", "a walk"),
    )
    for words in ("kayak", "oak beach", "nothing that anybody said"):
        assert desk.among(words, where) == among
    assert desk.among('"the kayak"', ANY) == 4, "a phrase has terms, too"


def test_who_asks_for_nothing_looks_through_nothing(desk: Desk) -> None:
    desk.put(passage("a", "the kayak"))
    assert desk.among("???", ANY) == 0


MANY = " ".join(f"word{n}" for n in range(100))


def test_the_length_of_a_short_text_does_not_count_and_ties_go_by_item_id(desk: Desk) -> None:
    desk.put(
        passage("c", "the kayak"),
        passage("a", "a kayak among very many other words about boats, rivers, lakes, weather, tents and food"),
        passage("b", "kayak"),
        passage("long", f"kayak {MANY}"),
    )
    assert ids(desk.find("kayak")) == ["a", "b", "c", "long"]
    assert len({candidate.score for candidate in desk.find("kayak")}) == 2


def test_a_word_in_a_part_of_a_long_message_counts_as_little_as_in_the_whole(desk: Desk) -> None:
    desk.put(
        passage("part", "the kayak", n=0, rest=(MANY,)),
        passage("part", MANY, n=1, rest=("kayak",)),
        passage("z", "kayak"),
    )
    assert ids(desk.find("kayak")) == ["z", "part"]


def test_what_surrounds_a_long_text_says_little_about_it(desk: Desk) -> None:
    desk.put(passage("long", MANY, around={-1: "kayak"}), passage("short", "yes", around={-1: "kayak"}))
    desk.put(passage("beside_long", "no", around={-1: f"kayak {MANY}"}))
    assert ids(desk.find("kayak")) == ["short", "beside_long", "long"]
    desk.put(passage("page", " ".join([MANY] * 9), around={-1: "kayak"}))
    assert "page" not in ids(desk.find("kayak")), "what moves no score is not kept"


def test_a_candidate_says_how_long_its_message_is(desk: Desk) -> None:
    desk.put(passage("a", "kayaks on the river", rest=("and a tent",), vector=EAST))
    assert [c.length for c in (*desk.find("kayak"), *desk.near(EAST))] == [3, 3]


def test_a_rare_word_counts_more_than_a_common_one(desk: Desk) -> None:
    desk.put(*(passage(f"dog{i}", "our dog sleeps") for i in range(12)), passage("z", "an axolotl sleeps"))
    found = desk.find("dog axolotl")
    assert found[0].item_id == "z"
    assert [c.score for c in found] == sorted((c.score for c in found), reverse=True)
    assert all(candidate.score >= 0 for candidate in found)


def test_repetition_of_a_word_counts_and_saturates(desk: Desk) -> None:
    desk.put(
        passage("once", "kayak and tent"), passage("often", "kayak kayak kayak kayak"), passage("both", "kayak paddle")
    )
    assert ids(desk.find("kayak"))[0] == "often"
    assert ids(desk.find("kayak paddle"))[0] == "both"


def test_min_match_counts_groups_and_alternatives_are_one_group(desk: Desk) -> None:
    desk.put(
        passage("cat", "a cat on the roof"), passage("dog", "a dog on the roof"), passage("bird", "a bird elsewhere")
    )
    assert set(ids(desk.find("cat OR dog"))) == {"cat", "dog"}
    both = TextQuery(groups=(("cat", "dog"), ("roof",), ("bird",)), min_match=2)
    assert set(ids(desk.find(both))) == {"cat", "dog"}


def test_groups_match_in_any_field(desk: Desk) -> None:
    desk.put(
        passage("a", "yes, on Sunday", around={-1: "shall we take the kayak?"}),
        passage("b", "Sunday"),
    )
    assert ids(desk.find(TextQuery(groups=(("kayak",), ("sunday",)), min_match=2))) == ["a"]


def test_phrases_must_occur_in_the_own_text_as_consecutive_words(desk: Desk) -> None:
    desk.put(
        passage("yes", "She rode her Red bicycle home."),
        passage("turned", "the bicycle was red"),
        passage("apart", "a red old bicycle"),
        passage("context", "home", around={-1: "a red bicycle"}),
    )
    assert ids(desk.find('"red bicycle"')) == ["yes"]
    assert ids(desk.find('home "red bicycle"')) == ["yes"]


def test_excluded_words_must_not_occur_in_the_own_text(desk: Desk) -> None:
    desk.put(
        passage("car", "the cars on our trip"),
        passage("train", "the train on our trip"),
        passage("context", "a trip", around={-1: "by car"}),
    )
    assert set(ids(desk.find("trip -car"))) == {"train", "context"}
    assert desk.find("-car") == []


def test_code_and_paths_match_whole_and_in_parts(desk: Desk) -> None:
    desk.put(
        passage("path", "see layers/core/neve/ports.py for it"),
        passage("snake", "the retry_budget setting"),
        passage("version", "upgrade to v2.19.1 tonight"),
        passage("other", "upgrade to v3.0.0 tonight"),
    )
    assert ids(desk.find("ports.py")) == ["path"]
    assert ids(desk.find("budget")) == ["snake"] == ids(desk.find("retry_budget"))
    assert ids(desk.find("v2.19.1"))[0] == "version"


def test_possessives_and_accents(desk: Desk) -> None:
    desk.put(passage("a", "Henrike’s café"), passage("b", "somewhere else"))
    assert ids(desk.find("henrike")) == ["a"] == ids(desk.find("CAFÉ"))


SPELLINGS = [
    ("Wir trafen uns in der Straße", "strasse"),
    ("au café de la gare", "cafe"),
    ("smørrebrød in Łódź", "lodz"),
    ("ｆｕｌｌ width", "full"),
    ("a kay\u200bak", "kayak"),
    ("well done 👍🏽", "👍"),
    ("flown to 🇵🇹", "🇵🇹"),
    ("我昨天在东京吃了拉面", "东京"),
    ("東京タワーへ行きました", "タワー"),
    ("ｱｲｽが好き", "アイス"),
    ("猫が好きです", "猫"),
    ("저는 도서관에서 책을 읽어요", "도서관"),
    ("เมื่อวานฉันกินข้าวผัด", "ข้าว"),
    ("मुझे किताब पढ़ना पसंद है", "किताब"),
    ("كَتَبَ مُحَمَّد", "محمد"),
    ("НОВАЯ ЁЛКА", "елка"),
]
"""A text, and a word of it as somebody else writes it."""


@pytest.mark.parametrize(("text", "word"), SPELLINGS)
def test_a_word_is_found_however_it_is_written(desk: Desk, text: str, word: str) -> None:
    desk.put(passage("a", text), passage("b", "北京 부산 ปลา собака сырой"))
    assert ids(desk.find(word)) == ["a"]
    assert ids(desk.find(TextQuery(groups=(), phrases=((word,),)))) == ["a"]
    assert ids(desk.find(TextQuery(groups=((word,), ("北京",)), excluded=(word,)))) == ["b"]


def test_pairs_of_characters_rank_the_longer_match_first(desk: Desk) -> None:
    desk.put(passage("tower", "東京タワーへ"), passage("city", "東京へ"), passage("other", "京東へ"))
    assert ids(desk.find("東京タワー")) == ["tower", "city"]


def test_a_word_of_three_characters_is_excluded_as_a_whole(desk: Desk) -> None:
    desk.put(passage("bar", "巧克力 on our trip"), passage("pairs", "克力 or 巧克 on our trip"))
    assert ids(desk.find("trip -巧克力")) == ["pairs"]


def test_an_accent_that_was_typed_counts(desk: Desk) -> None:
    desk.put(passage("plain", "resume"), passage("accents", "résumé"))
    assert ids(desk.find("résumé")) == ["accents", "plain"]
    assert ids(desk.find("resume")) == ["accents", "plain"]


def test_a_query_without_searchable_words_finds_nothing(desk: Desk) -> None:
    desk.put(passage("a", "what is it"))
    assert desk.find("") == [] == desk.find("?!") == desk.find(TextQuery(groups=()))


# --- vector leg ---------------------------------------------------------------------------------


def test_the_vector_leg_scores_cosine(desk: Desk) -> None:
    desk.put(
        passage("same", vector=vector(0.6, 0.8, 0, 0)),
        passage("longer", vector=vector(30, 0, 40, 0)),
        passage("across", vector=vector(0, 0, 0, 1)),
        passage("against", vector=vector(-0.6, -0.8, 0, 0)),
    )
    found = desk.near(vector(0.6, 0.8, 0, 0))
    assert ids(found) == ["same", "longer", "across", "against"]
    assert [c.score for c in found] == pytest.approx([1.0, 0.36, 0.0, -1.0], abs=1e-3)
    assert all(-1 <= candidate.score <= 1 for candidate in found)


def test_equal_vectors_tie_by_item_id(desk: Desk) -> None:
    desk.put(*(passage(item_id, vector=vector(0.6, 0.8, 0, 0)) for item_id in ("m", "z", "a", "k", "b")))
    assert ids(desk.near(vector(0.5, 0.1, 0.3, 0))) == ["a", "b", "k", "m", "z"]


def test_a_passage_without_a_vector_is_found_by_words_only_until_it_gets_one(desk: Desk) -> None:
    desk.put(passage("a", "kayak"), passage("b", "kayak", vector=NORTH))
    assert ids(desk.near(EAST)) == ["b"]
    assert ids(desk.find("kayak")) == ["a", "b"]
    desk.put(passage("a", "kayak", vector=EAST))
    assert ids(desk.near(EAST)) == ["a", "b"]


@pytest.mark.parametrize("wrong", [vector(1, 0, 0), vector(1, 0, 0, 0, 0), b""])
def test_a_vector_of_other_dimensions_is_refused_and_nothing_is_written(desk: Desk, wrong: bytes) -> None:
    with pytest.raises(ValueError):
        desk.put(passage("good", "kayak", vector=EAST), passage("bad", "kayak", vector=wrong))
    with pytest.raises(ValueError):
        desk.near(wrong)
    desk.engine.refresh()
    assert desk.find("kayak") == [] and desk.count() == 0


def test_the_index_knows_its_model(desk: Desk) -> None:
    assert desk.engine.index.model() == MODEL


# --- candidates ---------------------------------------------------------------------------------


def test_a_candidate_names_the_best_passage_of_its_item(desk: Desk) -> None:
    desk.put(
        passage("doc", "boats", n=0, version=7, vector=UP, source=Source.DOCUMENT, fingerprint="fp0"),
        passage("doc", "kayak", n=1, version=7, vector=EAST, source=Source.DOCUMENT, fingerprint="fp1"),
        passage("doc", "kayak kayak kayak", n=2, version=7, vector=NORTH, source=Source.DOCUMENT, fingerprint="fp2"),
    )
    [by_words], [by_vector] = desk.find("kayak"), desk.near(EAST)
    assert (by_words.item_id, by_words.n, by_words.fingerprint) == ("doc", 2, "fp2")
    assert (by_vector.item_id, by_vector.n, by_vector.fingerprint) == ("doc", 1, "fp1")
    assert {(c.version, c.source) for c in (by_words, by_vector)} == {(7, Source.DOCUMENT)}


def test_equal_passages_of_one_item_give_the_first(desk: Desk) -> None:
    desk.put(*(passage("doc", "kayak", n=n, vector=EAST) for n in (3, 1, 2)))
    assert [c.n for c in desk.find("kayak")] == [1] == [c.n for c in desk.near(EAST)]


def test_depth_counts_items_not_passages(desk: Desk) -> None:
    desk.put(*(passage("long", "kayak kayak kayak", n=n, vector=EAST) for n in range(40)))
    desk.put(*(passage(f"short{i}", "kayak", vector=vector(1, 0.5, 0, 0)) for i in range(5)))
    expected = ["long", "short0", "short1", "short2"]
    assert ids(desk.find("kayak", depth=4)) == expected == ids(desk.near(EAST, depth=4))


def test_a_depth_beyond_what_any_engine_gives_is_answered(desk: Desk) -> None:
    """As a pack of a million tokens asks for."""
    desk.put(passage("a", "the kayak", vector=EAST), passage("b", "a tent"))
    assert ids(desk.find("kayak", depth=20_200)) == ids(desk.near(EAST, depth=20_200)) == ["a"]


# --- filters ------------------------------------------------------------------------------------

FILTERS: list[tuple[str, SearchFilter, dict[str, Any], dict[str, Any]]] = [
    ("source", SearchFilter(sources=(Source.EVENT,)), {"source": Source.EVENT}, {"source": Source.MEMORY}),
    (
        "sources",
        SearchFilter(sources=(Source.EVENT, Source.DOCUMENT)),
        {"source": Source.DOCUMENT},
        {"source": Source.MEMORY},
    ),
    ("status", SearchFilter(), {"status": "active"}, {"status": "superseded"}),
    ("statuses", SearchFilter(statuses=("active", "inbox")), {"status": "inbox"}, {"status": "archived"}),
    ("any status", SearchFilter(statuses=(), kinds=("note",)), {"status": "resolved", "kind": "note"}, {}),
    ("kind", SearchFilter(kinds=("note", "manual")), {"kind": "manual"}, {"kind": "reflection"}),
    ("tier", SearchFilter(tier="long_term"), {"tier": "long_term"}, {"tier": "working"}),
    ("category", SearchFilter(category="food"), {"category": "food"}, {"category": None}),
    ("group", SearchFilter(group="g1"), {"group": "g1"}, {"group": "g2"}),
    ("one tag", SearchFilter(tags=("red",)), {"tags": ("blue", "red")}, {"tags": ("reddish",)}),
    ("all tags", SearchFilter(tags=("red", "blue")), {"tags": ("blue", "green", "red")}, {"tags": ("red",)}),
    (
        "metadata",
        SearchFilter(metadata=("project=alpha",)),
        {"metadata": ("channel=web", "project=alpha")},
        {"metadata": ("project=alpha-old",)},
    ),
    (
        "all metadata",
        SearchFilter(metadata=("channel=web", "project=alpha")),
        {"metadata": ("channel=web", "owner=a=b", "project=alpha")},
        {"metadata": ("project=alpha",)},
    ),
    ("speaker", SearchFilter(about=("ben",)), {"about": ("ada", "ben")}, {"about": ("benno",)}),
    ("any speaker", SearchFilter(about=("ben", "cai")), {"about": ("cai",)}, {"about": ()}),
    ("what any session is told", SearchFilter(), {"only_in": None, "session_id": "s1"}, {"only_in": "s1"}),
    ("what a session is told", SearchFilter(asked_in="s1"), {"only_in": "s1"}, {"only_in": "s2"}),
    ("path", SearchFilter(path_prefix="/projects"), {"path": "/projects/neve.md"}, {"path": "/projects-old/neve.md"}),
    ("whole path", SearchFilter(path_prefix="/a/b.md"), {"path": "/a/b.md"}, {"path": "/a/b.md.bak"}),
    ("slash", SearchFilter(path_prefix="/a/"), {"path": "/a/b/c"}, {"path": "/ab"}),
    ("no path", SearchFilter(path_prefix="/"), {"path": "/a"}, {"path": None}),
    ("session", SearchFilter(session_id="s1"), {"session_id": "s1"}, {"session_id": "s2"}),
    ("other sessions", SearchFilter(not_session_id="s1"), {"session_id": "s2"}, {"session_id": "s1"}),
    ("no session", SearchFilter(not_session_id="s1"), {"session_id": None}, {"session_id": "s1"}),
    (
        "after is inclusive",
        SearchFilter(after="2026-01-02T00:00:00.000Z"),
        {"observed_at": "2026-01-02T00:00:00.000Z"},
        {"observed_at": "2026-01-01T23:59:59.999Z"},
    ),
    (
        "what holds from that moment on",
        SearchFilter(holds_at="2026-01-02T00:00:00.000Z"),
        {"valid_from": "2026-01-02T00:00:00.000Z", "valid_until": "2026-01-02T00:00:00.001Z"},
        {"valid_from": "2026-01-02T00:00:00.001Z"},
    ),
    (
        "what ends at that moment",
        SearchFilter(holds_at="2026-01-02T00:00:00.000Z"),
        {},
        {"valid_until": "2026-01-02T00:00:00.000Z"},
    ),
    (
        "what was there by then",
        SearchFilter(in_force_at="2026-01-02T00:00:00.000Z"),
        {"created_at": "2026-01-02T00:00:00.000Z", "superseded_at": "2026-01-02T00:00:00.001Z"},
        {"created_at": "2026-01-02T00:00:00.001Z"},
    ),
    (
        "what was superseded then",
        SearchFilter(in_force_at="2026-01-02T00:00:00.000Z"),
        {"created_at": "2026-01-02T00:00:00.000Z"},
        {"created_at": "2026-01-02T00:00:00.000Z", "superseded_at": "2026-01-02T00:00:00.000Z"},
    ),
    (
        "what had been said by then",
        SearchFilter(in_force_at="2026-01-02T00:00:00.000Z"),
        {"observed_at": "2026-01-02T00:00:00.000Z"},
        {"observed_at": "2026-01-02T00:00:00.001Z"},
    ),
    (
        "before is exclusive",
        SearchFilter(before="2026-01-02T00:00:00.000Z"),
        {"observed_at": "2026-01-01T23:59:59.999Z"},
        {"observed_at": "2026-01-02T00:00:00.000Z"},
    ),
    ("fingerprint", SearchFilter(exclude_fingerprints=frozenset({"seen"})), {}, {"fingerprint": "seen"}),
    (
        "two at once",
        SearchFilter(kinds=("note",), group="g1"),
        {"kind": "note", "group": "g1"},
        {"kind": "note", "group": "g2"},
    ),
]


@pytest.mark.parametrize(("where", "kept", "dropped"), [row[1:] for row in FILTERS], ids=[row[0] for row in FILTERS])
def test_filters_work_inside_both_legs(
    desk: Desk, where: SearchFilter, kept: dict[str, Any], dropped: dict[str, Any]
) -> None:
    """Better matches that the filter refuses outnumber the depth, and still every admitted item is found."""
    depth = 3
    desk.put(*(passage(f"a{i}", "kayak kayak kayak", vector=EAST, **dropped) for i in range(3 * depth)))
    desk.put(*(passage(f"k{i}", "kayak", vector=vector(1, 1, 0, 0), **kept) for i in range(depth)))
    expected = [f"k{i}" for i in range(depth)]
    assert ids(desk.find("kayak", where, depth)) == expected == ids(desk.near(EAST, where, depth))


def test_excluded_items_make_room_for_others(desk: Desk) -> None:
    desk.put(*(passage(f"i{i}", "kayak", n=n, vector=EAST) for i in range(6) for n in range(2)))
    where = SearchFilter(exclude_ids=frozenset({"i0", "i1", "i4", "unknown"}))
    assert ids(desk.find("kayak", where, 3)) == ["i2", "i3", "i5"] == ids(desk.near(EAST, where, 3))


def test_a_filter_that_nothing_passes(desk: Desk) -> None:
    desk.put(passage("a", "kayak", vector=EAST))
    where = SearchFilter(group="unheard of")
    assert desk.find("kayak", where) == [] == desk.near(EAST, where)


# --- owners -------------------------------------------------------------------------------------


def test_owners_never_see_each_other(desk: Desk) -> None:
    tenant, user = desk.owner
    others = [desk.of(Owner(tenant, "bob")), desk.of(Owner(new_owner().tenant, user))]
    desk.put(passage("shared-id", "my kayak", vector=EAST))
    for other in others:
        assert other.find("kayak") == [] == other.near(EAST) and other.count() == 0
        other.put(passage("shared-id", "their canoe", vector=NORTH, version=9))
    assert ids(desk.find("kayak canoe")) == ["shared-id"] and desk.find("canoe") == []
    assert [c.score for c in desk.near(EAST)] == pytest.approx([1.0])
    others[0].trim("shared-id", version=9)
    assert (desk.count(), others[0].count(), others[1].count()) == (1, 0, 1)


def test_erasing_removes_everything_of_one_user_and_nothing_else(desk: Desk) -> None:
    neighbour = desk.of(Owner(desk.owner.tenant, "bob"))
    desk.put(*(passage(f"i{i}", "kayak", n=n, vector=EAST) for i in range(3) for n in range(2)))
    neighbour.put(passage("i0", "kayak", vector=EAST))
    assert desk.count() == 6
    assert desk.erase() == 6
    assert desk.find("kayak") == [] == desk.near(EAST) and desk.count() == 0
    assert desk.erase() == 0
    assert ids(neighbour.find("kayak")) == ["i0"]
    desk.put(passage("i0", "kayak again", vector=EAST))
    assert ids(desk.find("kayak")) == ["i0"] == ids(desk.near(EAST))


def test_erasing_in_pieces_ends_when_less_than_a_piece_was_left(desk: Desk) -> None:
    neighbour = desk.of(Owner(desk.owner.tenant, "bob"))
    desk.put(*(passage(f"i{i}", "kayak", n=n, vector=EAST) for i in range(3) for n in range(2)))
    neighbour.put(passage("i0", "kayak", vector=EAST))
    erased = [desk.erase(at_most=2)]
    while erased[-1] >= 2:
        erased.append(desk.erase(at_most=2))
    assert (sum(erased), desk.count()) == (6, 0)
    assert ids(neighbour.find("kayak")) == ["i0"]


def test_an_unknown_owner_is_empty(desk: Desk) -> None:
    assert desk.find("kayak") == [] == desk.near(EAST)
    desk.trim("nothing", version=1)
    assert desk.count() == 0 == desk.erase()


# --- versions -----------------------------------------------------------------------------------


REMOVED = 3
ORDER = [(version, n) for version in (1, 2, version_at(1)) for n in range(4)]
"""What is known of one passage, oldest first: its words, then what follows it, then its vector, and at last its
removal; of a row of two revs, and of a log behind what has left it."""
TREES = ["alder", "ash", "beech", "birch", "cedar", "elm", "fir", "hazel", "holly", "larch", "maple", "oak"]


@pytest.mark.parametrize("late", [False, True])
def test_the_newest_version_stands_in_whatever_order_they_come(desk: Desk, late: bool) -> None:
    pairs = {f"{older}-{newer}": (older, newer) for newer in range(len(ORDER)) for older in range(newer)}
    for first in (not late, late):
        here = [(item, pair[not first]) for item, pair in pairs.items()]
        known = [(item, TREES[at], *ORDER[at]) for item, at in here]
        for item, _, version, n in known:
            if n == REMOVED:
                desk.engine.index.trim(desk.owner, item, keep=0, version=version)
        desk.put(
            *(
                passage(item, tree, version=version, following_known=min(n, 1), vector=EAST if n == 2 else None)
                for item, tree, version, n in known
                if n != REMOVED
            )
        )
    for at, tree in enumerate(TREES):
        stands = {item for item, (_, newer) in pairs.items() if newer == at and ORDER[at][1] != REMOVED}
        found = desk.find(tree, depth=len(pairs))
        assert set(ids(found)) == stands, ORDER[at]
        assert {one.version for one in found} <= {2 if ORDER[at][0] == 2 else 1}


def test_a_late_write_of_words_leaves_the_other_passages_alone(desk: Desk) -> None:
    """The first of them has its vector already, so its words are refused; nothing was removed."""
    desk.put(passage("a", "kayak", n=0, vector=EAST))
    desk.put(passage("a", "kayak", n=0), passage("a", "stove", n=1))
    assert ids(desk.find("stove")) == ["a"] and ids(desk.near(EAST)) == ["a"]


@pytest.mark.parametrize("version", [5, 6])
def test_the_same_or_a_newer_version_replaces(desk: Desk, version: int) -> None:
    desk.put(passage("a", "kayak", version=5, vector=EAST, around={-1: "tent"}))
    desk.put(passage("a", "canoe", version=version, vector=NORTH, around={1: "stove"}, status="superseded"))
    where = SearchFilter(statuses=("superseded",))
    assert desk.find("kayak tent", where) == [] == desk.find("canoe")
    assert [c.version for c in desk.find("canoe", where)] == [version] == [c.version for c in desk.find("stove", where)]
    assert desk.near(NORTH, where)[0].score == pytest.approx(1.0)
    assert desk.count() == 1


def test_writing_the_same_again_changes_nothing(desk: Desk) -> None:
    batch = [passage(f"i{i}", "kayak trip", n=n, vector=EAST) for i in range(3) for n in range(2)]
    desk.put(*batch)
    before = (desk.find("kayak"), desk.near(NORTH), desk.count())
    desk.put(*batch)
    assert (desk.find("kayak"), desk.near(NORTH), desk.count()) == before


def test_trim_removes_the_surplus_of_a_shortened_item(desk: Desk) -> None:
    desk.put(*(passage("doc", f"kayak part{n}", n=n, version=3, vector=EAST) for n in range(4)))
    desk.put(*(passage("doc", f"kayak part{n}", n=n, version=4, vector=EAST) for n in range(2)))
    desk.trim("doc", keep=2, version=4)
    assert desk.find("part2") == [] == desk.find("part3")
    assert ids(desk.find("part0")) == ["doc"] == ids(desk.find("part1"))
    assert desk.count() == 2


def test_trim_spares_passages_of_a_later_version(desk: Desk) -> None:
    desk.put(*(passage("doc", f"kayak part{n}", n=n, version=6) for n in range(3)))
    desk.trim("doc", keep=1, version=5)
    assert desk.count() == 3 and ids(desk.find("part2")) == ["doc"]


def test_what_was_removed_does_not_come_back_with_an_older_version(desk: Desk) -> None:
    desk.put(*(passage("doc", "kayak", n=n, version=3, vector=EAST) for n in range(3)))
    desk.trim("doc", keep=1, version=5)
    desk.put(passage("doc", "late kayak", n=2, version=4, vector=EAST))
    assert desk.find("late") == [] and desk.count() == 1
    desk.trim("doc", version=7)
    desk.put(passage("doc", "late kayak", n=0, version=6, vector=EAST))
    assert desk.find("kayak") == [] == desk.near(EAST) and desk.count() == 0
    desk.put(passage("doc", "kayak again", n=0, version=7, vector=EAST))
    assert ids(desk.find("again")) == ["doc"] == ids(desk.near(EAST))


def test_an_older_removal_does_not_undo_a_newer_one(desk: Desk) -> None:
    desk.put(passage("doc", "kayak", version=3))
    desk.trim("doc", version=7)
    desk.trim("doc", version=5)
    desk.put(passage("doc", "late kayak", version=6))
    assert desk.find("kayak") == [] and desk.count() == 0


def test_trim_is_idempotent(desk: Desk) -> None:
    desk.put(passage("a", "kayak", vector=EAST), passage("b", "kayak", vector=EAST))
    for _ in range(2):
        desk.trim("a", version=1)
        assert ids(desk.find("kayak")) == ["b"] == ids(desk.near(EAST))
        assert desk.count() == 1
