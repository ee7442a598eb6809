"""Order the candidates by the scores of the rerank stage: utterances, and memories beside them.

It runs where it has something to go by: both legs answered, utterances are among the candidates, and one of the
candidates shares more than a few words with the query. Where words meet by chance alone, their score would bury what
only the vector leg finds. Memories alone keep the order of RRF and priors. With the stage or without it, memories lend
to what they were made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from neve.domain.recall.fusion import SCORE_DIGITS
from neve.domain.recall.lending import RRF_TERMS, Place, Range, best_lent, lenders
from neve.domain.recall.rerank import Considered, rerank_scores
from neve.domain.records.memories import Kind
from neve.usecases.ask.recall.stages.rank_candidates import Ranked

FEW_WORDS = 1 / 3
"""*Measured* (docs/retrieval.md#how-recall-ranks): share of the query's terms in the best candidate. No candidate
shares more with most messages that mean what they do not say."""


def reranked(question: str, ranked: Sequence[Ranked], cosines: Mapping[str, float]) -> list[Ranked]:
    """Order the candidates, best first, without the memories that lent; ties keep the order of RRF. ``final`` of a
    re-ordered candidate is its rerank score. ``cosines``: of the whole vector leg, those below the threshold
    included."""
    if not any(one.row.utterance for one in ranked) or max(map(_share_by_words, ranked)) <= FEW_WORDS:
        return with_what_memories_lend(ranked)
    candidates = [considered(one, cosines.get(one.row.id)) for one in ranked]
    scores = rerank_scores(question, candidates, min(cosines.values(), default=0.0))
    again = [one.placed(scores[one.row.id], {"rerank": scores[one.row.id]}) for one in ranked if one.row.id in scores]
    return sorted(again, key=lambda one: -one.final)


SIMILARITY, WORDS = 0.8, 0.2
"""*Measured* in eleven languages (docs/retrieval.md#many-languages)."""


def by_meaning(ranked: Sequence[Ranked], similarities: Mapping[str, float]) -> list[Ranked]:
    """Order the candidates where the encoder knows many languages, best first, without the memories that lend: by
    similarity, and by the share of the query's terms. Ranks would raise whatever shares any word with the query above
    what only the vector leg finds, and the other orders were measured in English. An utterance counts as much as a
    memory made from it. ``similarities``: calibrated, of the whole vector leg."""
    scores = {i.row.id: SIMILARITY * similarities.get(i.row.id, 0.0) + WORDS * _share_by_words(i) for i in ranked}
    lending = _lending(ranked)
    for memory, utterances in lending.items():
        scores |= {identifier: max(scores[identifier], scores[memory]) for identifier in utterances}
    standing = ((one, round(scores[one.row.id], SCORE_DIGITS)) for one in ranked if one.row.id not in lending)
    again = [
        one.placed(final, {"meaning": score, "final": final})
        for one, score in standing
        for final in [round(score * one.components["prior"], SCORE_DIGITS)]
    ]
    return sorted(again, key=lambda one: -one.final)


def with_what_memories_lend(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Raise utterances by the RRF of memories made from them: an utterance gets as much RRF as such a memory, before
    the priors. A memory lends, and stands among utterances, by the legs that found the passage that it is shown by: two
    legs that found two statements of one memory agree on neither. Ties keep their order."""
    if not any(one.row.utterance for one in ranked):
        return list(ranked)
    lending = _lending(ranked)
    lent = best_lent(lending, {one.row.id: _found_by(one) for one in ranked}, RRF_TERMS)
    standing = (one for one in ranked if one.row.id not in lending)
    raised = [_raised(one, lent[one.row.id]) if one.row.id in lent else _by_its_passage(one) for one in standing]
    return sorted(raised, key=lambda one: -one.final)


def _lending(ranked: Sequence[Ranked]) -> dict[str, list[str]]:
    return lenders(
        {one.row.id: _made_from(one) for one in ranked if one.row.utterance is None},
        {one.row.id: place for one in ranked if (place := _place(one))},
    )


def summaries_behind(ranked: Sequence[Ranked], ordered: Sequence[Ranked]) -> list[Ranked]:
    """Return the summaries of sessions in ``ranked`` that stand nowhere in ``ordered``, for places that nothing else
    takes, with the score of its last at most. A summary is of all of its session, so that some message of it is nearly
    always among the candidates, and it would never be found."""
    standing = {one.row.id for one in ordered}
    last = min((one.final for one in ordered), default=0.0)
    missing = (one for one in ranked if one.row.id not in standing)
    summaries = (one for one in missing if one.row.memory and one.row.memory.kind is Kind.SESSION_SUMMARY)
    return [one.placed(final, {"final": final}) for one in summaries for final in [min(one.final, last)]]


def _raised(one: Ranked, lent: float) -> Ranked:
    final = round((one.components["rrf"] + lent) * one.components["prior"], SCORE_DIGITS)
    return one.placed(final, {"lent": round(lent, SCORE_DIGITS), "final": final})


def _found_by(one: Ranked) -> float:
    """Return the RRF by which a row is found: the parts of a message are one utterance, the statements of a memory are
    not."""
    return one.components["rrf"] if one.row.utterance else one.shown_rrf


def _by_its_passage(one: Ranked) -> Ranked:
    if one.row.memory is None or one.shown_rrf == one.components["rrf"]:
        return one
    final = round(one.shown_rrf * one.components["prior"], SCORE_DIGITS)
    return one.placed(final, {"shown_rrf": one.shown_rrf, "final": final})


def considered(one: Ranked, cosine: float | None) -> Considered:
    passage, utterance = one.row.passages[one.n], one.row.utterance
    return Considered(
        id=one.row.id,
        place=_place(one),
        speaker=None if utterance is None or utterance.speaker == utterance.role else utterance.speaker,
        text=passage.text if utterance is None else utterance.parts[one.n],
        length=one.length,
        bm25=one.components.get("bm25"),
        cosine=cosine,
        share=_share_by_words(one),
        prior=one.components["prior"],
        made_from=_made_from(one) if utterance is None else None,
    )


def _share_by_words(one: Ranked) -> float:
    """Return the share of the query's terms in what the keyword leg found; 0 where that leg did not find it."""
    return one.share if "rank_lex" in one.components else 0.0


def _place(one: Ranked) -> Place | None:
    utterance = one.row.utterance
    return (utterance.session, utterance.seq) if utterance else None


def _made_from(one: Ranked) -> Range | None:
    passage = one.row.passages[one.n]
    if one.row.reworded or passage.session_id is None or passage.seq_from is None or passage.seq_to is None:
        return None
    return Range(passage.session_id, passage.seq_from, passage.seq_to)
