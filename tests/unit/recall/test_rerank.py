"""What each feature of the rerank stage does, all else being equal."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from neve.domain.recall.rerank import Utterance, rerank_scores

FLOOR = 0.2
PLAIN = Utterance("a", "s1", 10, None, "we talked", bm25=2.0, similarity=0.6)


def order(question: str, *utterances: Utterance) -> str:
    scores = rerank_scores(question, utterances, FLOOR)
    return "".join(sorted(scores, key=lambda i: (-scores[i], i)))


def test_better_matches_come_first() -> None:
    assert order("q", PLAIN, replace(PLAIN, id="b", seq=20, bm25=3.0)) == "ba"
    assert order("q", PLAIN, replace(PLAIN, id="b", seq=20, similarity=0.7)) == "ba"
    assert order("q", PLAIN, replace(PLAIN, id="b", seq=20, bm25=None, similarity=None)) == "ab"


def test_the_person_whom_the_question_names_comes_first() -> None:
    ann, bob = replace(PLAIN, speaker="Ann"), replace(PLAIN, id="b", seq=20, speaker="Bob")
    assert order("What did Bob say?", ann, bob) == "ba"
    assert order("What did Ann say to Bob?", ann, bob) == "ab"
    assert (
        rerank_scores("What did Ann say to Bob?", [ann, bob], FLOOR)["a"] == rerank_scores("q", [ann, bob], FLOOR)["b"]
    )


def test_a_time_word_helps_only_a_question_for_a_time() -> None:
    dated = replace(PLAIN, id="b", seq=20, text="we talked last week")
    assert order("When did we talk?", PLAIN, dated) == "ba"
    assert order("Whenever did we talk?", PLAIN, dated) == "ab"


def test_a_question_is_no_answer() -> None:
    assert order("q", replace(PLAIN, text="did we talk?"), replace(PLAIN, id="b", seq=20)) == "ba"


def test_what_follows_a_good_match_is_lifted() -> None:
    best = replace(PLAIN, id="x", similarity=0.9)
    after, elsewhere = replace(PLAIN, id="b", seq=11), replace(PLAIN, id="a", seq=30)
    assert order("q", best, elsewhere, after).replace("x", "") == "ba"


def test_a_session_about_the_matter_lifts_its_lines() -> None:
    others = [replace(PLAIN, id=i, session_id="s2", seq=n, bm25=3.0) for i, n in (("x", 1), ("y", 40))]
    assert order("q", PLAIN, replace(PLAIN, id="b", session_id="s2", seq=80), *others).index("b") < 3


def test_what_the_vector_leg_did_not_find_is_no_nearer_than_its_worst() -> None:
    """The only one that it found is the best, however well the other matches by words."""
    found, other = replace(PLAIN, similarity=0.9), replace(PLAIN, id="b", seq=11, similarity=None, bm25=2.2)
    assert order("q", found, other) == "ab"


def test_a_row_that_is_too_new_for_the_index_counts_by_its_share_of_terms() -> None:
    best = replace(PLAIN, id="c", seq=30, bm25=4.0)
    assert order("q", PLAIN, best, replace(PLAIN, id="b", seq=20, bm25=None, share=1.0)) == "bca"
    assert order("q", PLAIN, replace(PLAIN, id="b", seq=20, bm25=None, share=0.5)) == "ab"


def test_a_prior_multiplies_the_odds() -> None:
    assert order("q", PLAIN, replace(PLAIN, id="b", seq=20, prior=1.2)) == "ba"


@given(
    st.lists(
        st.tuples(st.none() | st.floats(0, 50), st.none() | st.floats(0, 1), st.integers(1, 9), st.sampled_from("st")),
        min_size=1,
        max_size=30,
    )
)
def test_every_candidate_gets_a_finite_score_whatever_the_order(
    found: list[tuple[float | None, float | None, int, str]],
) -> None:
    utterances = [
        Utterance(str(n), session, seq, None, "x", bm25, sim) for n, (bm25, sim, seq, session) in enumerate(found)
    ]
    scores = rerank_scores("when?", utterances, 0.0)
    assert set(scores) == {u.id for u in utterances}
    assert all(abs(score) < 100 for score in scores.values())
    distinct = {(u.session_id, u.seq) for u in utterances}
    if len(distinct) == len(utterances):
        assert rerank_scores("when?", list(reversed(utterances)), 0.0) == scores
