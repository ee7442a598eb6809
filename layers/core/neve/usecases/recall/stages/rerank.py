"""Where the rerank stage meets the candidates: utterances, and memories beside them, in the order of its
scores.

It runs where it has something to go by: both legs answered, and utterances are among the candidates. Memories alone
keep the order of RRF and priors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from neve.domain.recall.rerank import Utterance, rerank_scores
from neve.usecases.recall.stages.rank_candidates import Ranked

REPEATED = -20.0
"""What a candidate loses when a better one speaks of exactly the same events: more than any feature gives, so that
repeats stand behind everything else."""

Place = tuple[str, int]


def reranked(question: str, ranked: Sequence[Ranked], similarities: Mapping[str, float]) -> list[Ranked]:
    """Best first; ties keep the order of RRF. ``final`` of a re-ordered candidate is its rerank score.
    ``similarities``: of the whole vector leg, those below the threshold included."""
    if not any(one.row.utterance for one in ranked):
        return list(ranked)
    scores = rerank_scores(
        question, [_as_utterance(one, similarities) for one in ranked], min(similarities.values(), default=0.0)
    )
    best_first = sorted(ranked, key=lambda one: -scores[one.row.id])
    repeats = _repeats(best_first)
    again = [_scored(one, scores[one.row.id] + (REPEATED if one.row.id in repeats else 0.0)) for one in best_first]
    return sorted(again, key=lambda one: -one.final)


def _scored(one: Ranked, score: float) -> Ranked:
    return replace(one, final=round(score, 6), components={**one.components, "rerank": round(score, 6)})


def _as_utterance(one: Ranked, similarities: Mapping[str, float]) -> Utterance:
    """A memory is taken for an utterance at the first event of its passage; the people it names count as speakers."""
    passage, said = one.row.passages[one.n], one.row.utterance
    return Utterance(
        id=one.row.id,
        session_id=passage.session_id or one.row.id,
        seq=passage.seq_from or 0,
        speaker=None if said is None or said.speaker == said.role else said.speaker,
        text=passage.text if said is None else said.parts[one.n],
        bm25=one.components.get("bm25"),
        share=one.share if "rank_lex" in one.components else 0.0,
        similarity=similarities.get(one.row.id),
        prior=one.components["prior"],
    )


def _repeats(best_first: Iterable[Ranked]) -> set[str]:
    """Memories whose whole range better candidates speak of, and utterances that a better memory alone is drawn
    from."""
    repeats: set[str] = set()
    covered: set[Place] = set()
    distilled: set[Place] = set()
    for one in best_first:
        places = _places(one)
        if one.row.utterance is None:
            if places and places <= covered:
                repeats.add(one.row.id)
            if len(places) == 1:
                distilled |= places
        elif places <= distilled:
            repeats.add(one.row.id)
        covered |= places
    return repeats


def _places(one: Ranked) -> set[Place]:
    passage = one.row.passages[one.n]
    if passage.session_id is None or passage.seq_from is None or passage.seq_to is None:
        return set()
    return {(passage.session_id, seq) for seq in range(passage.seq_from, passage.seq_to + 1)}
