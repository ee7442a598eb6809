"""What each feature of the rerank stage does, all else being equal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.recall.lending import Range
from neve.domain.recall.rerank import Considered, Features, features, rerank_scores

FLOOR = 0.2
PLAIN = Considered("a", ("s1", 10), None, "we talked", 2, bm25=2.0, cosine=0.6)
OTHER = PLAIN._replace(id="b", place=("s1", 20))
LONG = 400
MEMORY = PLAIN._replace(id="m", place=None)


def order(question: str, *candidates: Considered) -> str:
    scores = rerank_scores(question, candidates, FLOOR)
    return "".join(sorted(scores, key=lambda i: (-scores[i], i)))


def test_better_matches_come_first() -> None:
    assert order("q", PLAIN, OTHER._replace(bm25=3.0)) == "ba"
    assert order("q", PLAIN, OTHER._replace(cosine=0.7)) == "ba"
    assert order("q", PLAIN, OTHER._replace(bm25=None, cosine=None)) == "ab"


def test_the_person_whom_the_question_names_comes_first() -> None:
    ann, bob = PLAIN._replace(speaker="Ann"), OTHER._replace(speaker="Bob")
    assert order("What did Bob say?", ann, bob) == "ba"
    assert order("What did Ann say to Bob?", ann, bob) == "ab"
    both = rerank_scores("What did Ann say to Bob?", [ann, bob], FLOOR)
    assert both["a"] == rerank_scores("q", [ann, bob], FLOOR)["b"]


@pytest.mark.parametrize(("name", "asked"), [("Will", "When will the ferry leave?"), ("Will Otto", "Will it rain?")])
def test_a_word_that_is_mostly_none_is_a_name_with_a_capital_inside_the_question(name: str, asked: str) -> None:
    someone, bob = PLAIN._replace(speaker=name), OTHER._replace(speaker="Bob")
    unnamed = rerank_scores("q", [someone, bob], FLOOR)
    assert rerank_scores(asked, [someone, bob], FLOOR) == unnamed
    assert rerank_scores(f"What did {name} say?", [someone, bob], FLOOR)["a"] > unnamed["a"]


def test_somebody_without_a_name_is_neither_named_nor_another() -> None:
    ann, bob, user = PLAIN._replace(speaker="Ann"), OTHER._replace(speaker="Bob"), PLAIN._replace(id="u")
    assert order("What did Bob say?", ann, user, bob) == "bua"


def test_a_time_word_helps_only_a_question_for_a_time() -> None:
    dated = OTHER._replace(text="we talked last week")
    assert order("When did we talk?", PLAIN, dated) == "ba"
    assert order("Whenever did we talk?", PLAIN, dated) == "ab"
    assert order("How long have we talked?", PLAIN, OTHER._replace(text="we have talked for six years")) == "ba"
    assert order("When did we talk?", PLAIN, OTHER._replace(text="we talked for 4200 euros")) == "ab"


@pytest.mark.parametrize("text", ["did they talk?", "我们谈过吗？", "هل تحدثنا؟ ", "is it in the US?"])
def test_a_short_question_is_no_answer(text: str) -> None:
    assert order("q", PLAIN._replace(text=text), OTHER) == "ba"


@pytest.mark.parametrize(
    "text", ["I've moved my flight to the 9th, can you check?", "is that our ferry?", "im in Oslo, any tips?"]
)
def test_a_question_that_says_something_of_its_speaker_may_be_an_answer(text: str) -> None:
    assert order("q", PLAIN._replace(text=text), OTHER._replace(text="what about the ferry?")) == "ab"


def test_what_answers_a_good_match_is_lifted() -> None:
    best = PLAIN._replace(id="x", cosine=0.9, text="Shall we talk?")
    after, elsewhere = OTHER._replace(place=("s1", 11)), PLAIN._replace(place=("s1", 30))
    assert order("q", best, elsewhere, after).replace("x", "") == "ba"
    assert order("q", best._replace(text="I talk."), elsewhere, after).replace("x", "") == "ab"


def test_what_was_said_stands_before_the_reaction_to_it() -> None:
    """A reply of a few words about the same has more of the question's terms in its passage, which borrows those of the
    message before; with a memory of what was said, and without one."""
    utterance = PLAIN._replace(id="said", place=("s1", 1), text="I moved to Lisbon.", bm25=0.118, cosine=0.587)
    reply = PLAIN._replace(id="reply", place=("s1", 2), text="Enjoy the move!", bm25=0.128, cosine=0.505)
    memory = MEMORY._replace(text="User moved to Lisbon", made_from=Range("s1", 1, 1), bm25=0.105, cosine=0.517)
    for candidates in ([utterance, reply], [utterance, reply, memory]):
        scores = rerank_scores("Which city did I move to?", candidates, FLOOR)
        assert scores["said"] > scores["reply"]


def test_a_session_about_the_matter_lifts_its_lines() -> None:
    others = [PLAIN._replace(id=i, place=("s2", n), bm25=3.0) for i, n in (("x", 1), ("y", 40))]
    assert order("q", PLAIN, OTHER._replace(place=("s2", 80)), *others).index("b") < 3


@pytest.mark.parametrize("text", ["It was on Monday.", "Shall I write it?", "Words."])
def test_of_a_long_message_only_the_matches_count(text: str) -> None:
    """What an assistant wrote on a page is no worse for ending in an offer, and no better for its surroundings."""
    around = OTHER._replace(place=("s1", 9), cosine=0.9)
    page = PLAIN._replace(text=text, length=LONG)
    found = features("When was it?", [page, around], FLOOR)["a"]
    assert all(
        abs(value) < 0.011 for value in (found.previous, found.following, found.session, found.time, found.question)
    )
    assert found.keyword == 1.0


def test_what_the_vector_leg_did_not_find_is_no_nearer_than_its_worst() -> None:
    found = [PLAIN, OTHER._replace(cosine=0.3), OTHER._replace(id="c", place=("s1", 30), cosine=None)]
    similarity = {i: values.similarity for i, values in features("q", found, 0.3).items()}
    assert similarity["c"] == similarity["b"] < similarity["a"]


def test_to_be_short_is_no_merit_by_itself() -> None:
    """What surrounds every candidate alike moves none of them."""
    pages = [PLAIN._replace(id=f"p{n}", place=("s1", 2 * n), length=LONG) for n in range(3)]
    found = features("q", [*pages, PLAIN._replace(place=("s1", 100))], FLOOR)
    assert found["a"].session == pytest.approx(0.0)


def test_without_the_vector_leg_words_and_surroundings_decide() -> None:
    unseen = [one._replace(cosine=None) for one in (PLAIN, OTHER._replace(bm25=3.0))]
    assert {v.similarity for v in features("q", unseen, 0.0).values()} == {0.0}
    assert order("q", *unseen) == "ba"


def test_a_row_that_is_too_new_for_the_index_counts_by_its_share_of_terms() -> None:
    best = PLAIN._replace(id="c", place=("s1", 30), bm25=4.0)
    assert order("q", PLAIN, best, OTHER._replace(bm25=None, share=1.0)) == "bca"
    assert order("q", PLAIN, OTHER._replace(bm25=None, share=0.5)) == "ab"


def test_a_prior_multiplies_the_odds() -> None:
    assert order("q", PLAIN, OTHER._replace(prior=1.2)) == "ba"


# --- memories -----------------------------------------------------------------------------------


def test_a_memory_lifts_what_it_was_made_from_and_takes_no_place() -> None:
    memory = MEMORY._replace(made_from=Range("s1", 19, 20))
    assert order("q", PLAIN, OTHER) == "ab"
    assert order("q", PLAIN, OTHER, memory) == "ba"
    assert order("q", PLAIN, OTHER, memory._replace(bm25=None)) == "ab"


def test_the_only_utterance_is_as_similar_as_it_is_beside_memories() -> None:
    """It is nearer than the memories, and that counts though there is no other utterance to be compared with."""
    memories = [MEMORY._replace(id=f"m{n}", cosine=0.3 + n / 20, bm25=None) for n in range(3)]
    assert order("q", PLAIN._replace(cosine=0.9, bm25=None), *memories)[0] == "a"


@given(st.lists(st.floats(0.3, 0.9), min_size=1, max_size=4))
def test_memories_that_lend_leave_similarities_as_they_are(cosines: list[float]) -> None:
    utterances = [PLAIN, OTHER._replace(cosine=0.4)]
    lending = [
        MEMORY._replace(id=f"m{n}", cosine=cosine, made_from=Range("s1", 10, 10)) for n, cosine in enumerate(cosines)
    ]
    alone, beside = (features("q", given_, FLOOR) for given_ in (utterances, [*utterances, *lending]))
    assert all(beside[one.id].similarity == alone[one.id].similarity for one in utterances)


def test_of_two_that_are_next_to_alike_the_memory_of_one_does_not_decide() -> None:
    """Beside a deviation of nearly nothing whatever a memory matches better would be without bounds."""
    matching = PLAIN._replace(bm25=3.0, cosine=0.6)
    other, memory = OTHER._replace(cosine=0.6001), MEMORY._replace(cosine=0.7, made_from=Range("s1", 20, 20))
    assert order("q", matching, other, memory) == "ab"


def test_a_memory_of_which_nothing_is_there_stands_by_its_match() -> None:
    memory = MEMORY._replace(made_from=Range("s1", 30, 31), bm25=3.0)
    assert order("q", PLAIN, OTHER, memory) == "mab"
    assert order("q", PLAIN, OTHER, memory._replace(made_from=None)) == "mab"
    found = features("When did Ann talk last week?", [PLAIN, memory], FLOOR)["m"]
    assert found._replace(keyword=0.0, similarity=0.0) == Features(0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0)


@given(
    st.lists(
        st.tuples(
            st.none() | st.floats(0, 50), st.none() | st.floats(0, 1), st.integers(1, 9), st.sampled_from("stm"),
            st.integers(0, 900),
        ),
        min_size=1,
        max_size=30,
    )
)  # fmt: skip
def test_every_candidate_gets_a_finite_score_whatever_the_order(
    found: list[tuple[float | None, float | None, int, str, int]],
) -> None:
    candidates = [
        Considered(str(n), None if kind == "m" else (kind, seq), None, "x", length, bm25, cosine)
        for n, (bm25, cosine, seq, kind, length) in enumerate(found)
    ]
    scores = rerank_scores("when?", candidates, 0.0)
    assert set(scores) == {one.id for one in candidates}
    assert all(abs(score) < 100 for score in scores.values())
    places = [one.place for one in candidates if one.place]
    if len(set(places)) == len(places):
        assert rerank_scores("when?", list(reversed(candidates)), 0.0) == pytest.approx(scores, abs=2e-6)
