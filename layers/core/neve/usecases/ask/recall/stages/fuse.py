"""Bring the candidates of two legs, with their rows, into one order (docs/rules/recall.md#fusion)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from neve.domain.ids import event_id
from neve.domain.recall.fusion import MEASURED_DIGITS, Placed, keyword_ranking, within_depth
from neve.domain.recall.query import REFUSALS
from neve.domain.records.users import UserHead
from neve.domain.terms import count_of_terms
from neve.ports.search import Candidate
from neve.ports.table import Item
from neve.usecases.ask.recall.command import ResolvedRequest
from neve.usecases.ask.recall.dropped import CHANGED, LENT, OFF_TOPIC, REPEATS, Dropped, LeftOut, dropped_by
from neve.usecases.ask.recall.recall_rows import UNREADABLE, Hidden, RecallRow, read_row
from neve.usecases.ask.recall.stages.corrections import with_corrections_first
from neve.usecases.ask.recall.stages.gate import Gated
from neve.usecases.ask.recall.stages.hydrate import Hydrated
from neve.usecases.ask.recall.stages.legs import Reading
from neve.usecases.ask.recall.stages.rank_candidates import (
    CandidateScores,
    Match,
    Ranked,
    rank_candidates,
    without_repeats,
)
from neve.usecases.ask.recall.stages.rerank import by_meaning, reranked, summaries_behind, with_what_memories_lend

FEW, MANY = 20, 1_500
"""*Measured*: among few passages the threshold says that one has to do with a message, among many something is always a
little alike. What a message needs to be answered grows with the logarithm of how many there are, from the threshold to
a similarity of 1 (docs/retrieval.md#what-has-nothing-to-do-with-the-user)."""
SHARED_WORDS = 4
"""Words of a message that say what it is about, from which on a share of its terms says so too: of one or two words
half are in anything."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The order of the candidates. ``ranked``: best first. ``starved``: others may have been kept out by what was
    dropped."""

    ranked: Sequence[Ranked]
    dropped: tuple[Dropped, ...]
    starved: bool = False


def new_candidates(
    request: ResolvedRequest, scores: CandidateScores, seen: UserHead, out: LeftOut, items: Iterable[Item]
) -> tuple[list[str], list[Dropped]]:
    """Choose those rows, of the ones too new for the index, that match most: more cannot be in the ranking. Return
    their ids, and the dropped rows: unreadable ones, and matching ones that are left out."""
    placed: list[Placed] = []
    dropped: list[Dropped] = []
    for item in items:
        row = read_row(item, seen, request.where)
        if isinstance(row, Hidden):
            if row.reason == UNREADABLE:
                dropped.append(Dropped(item.get("id") or event_id(item["session_id"], item["seq"]), UNREADABLE))
            continue
        _, share = scores.best_passage(row)
        if share and (reason := out.reason_of(row)):
            dropped.append(Dropped(row.id, reason))
        elif share:
            placed.append(Placed(row.id, share, row.written_at))
    return within_depth(keyword_ranking((), placed), request.depth), dropped


def fuse(
    request: ResolvedRequest,
    scores: CandidateScores,
    reading: Reading,
    gated: Gated,
    rows: Hydrated,
    new: Sequence[str],
) -> Ranking:
    """Fuse both legs into one order. ``new``: rows that may be too new for the index; they compete in the keyword leg
    where it completed. ``rows`` holds every candidate of ``gated`` and every one of them."""
    vector, not_near = _vector_leg(scores, gated, rows)
    lexical, not_by_words = _keyword_leg(request, scores, gated, rows, [*new, *_changed(not_near)])
    visible = {i: row for i, row in rows.items() if isinstance(row, RecallRow)}
    ranked = rank_candidates(scores, visible, lexical, vector)
    if request.meaning_first and not request.rerank_named and lexical is not None and gated.near is not None:
        ordered = by_meaning(ranked, gated.similarities)
    elif request.rerank != "off" and lexical is not None and gated.near is not None:
        ordered = reading.deeper(reranked(request.vector_text, ranked, {c.item_id: c.score for c in gated.near}))
    else:
        ordered = with_what_memories_lend(ranked)
    behind = summaries_behind(ranked, ordered)
    distinct, repeats = without_repeats([*with_corrections_first(ordered), *behind])
    matched = {*(vector or ()), *(lexical or ())}
    dropped = (one for one in (*not_near, *not_by_words) if one.reason not in REFUSALS or one.id not in matched)
    standing = {one.row.id for one in (*ordered, *behind)}
    lent = (Dropped(one.row.id, LENT, one.components) for one in ranked if one.row.id not in standing)
    if _off_topic(request, reading, ranked):
        return Ranking((), (*dropped, *(Dropped(one.row.id, OFF_TOPIC, one.components) for one in ranked)))
    return Ranking(distinct, (*dropped, *lent, *(Dropped(one.row.id, REPEATS) for one in repeats)))


def _off_topic(request: ResolvedRequest, reading: Reading, ranked: Sequence[Ranked]) -> bool:
    """Say whether nothing that was found has to do with a prompt (docs/rules/recall.md#off-topic). It cannot be said
    where a row's text has no vector yet: then the vector leg found an older rev, or none though it found fewer than it
    was asked for. For a message in a language that the model does not know only its words can tell."""
    if reading.vector is None or not request.least_share or not ranked:
        return False
    near = {candidate.item_id: candidate.version for candidate in reading.vector}  # also beyond the depth of the leg
    all_near = len(reading.vector) < reading.depth
    if any(near.get(one.row.id, 0 if all_near else one.row.version) != one.row.version for one in ranked):
        return False
    alike = reading.similarities(reading.vector) if request.understood else {}  # also what the prompt shows already
    among = max(reading.among, len(near))  # the leg that counts them may have failed
    if max(alike.values(), default=0.0) >= similarity_among(among, request.threshold):
        return False
    of_words = request.shaped.told >= SHARED_WORDS or not request.understood
    return not of_words or not any(
        one.share >= request.least_share and (alike.get(one.row.id, 0.0) >= request.threshold or not request.understood)
        for one in ranked
    )


def similarity_among(passages: int, threshold: float) -> float:
    """Return the calibrated similarity that one of so many passages needs to have to do with a message."""
    grown = math.log(max(passages, FEW) / FEW) / math.log(MANY / FEW)
    return min(1.0, threshold + (1 - threshold) * grown)


Leg = tuple[dict[str, Match] | None, list[Dropped]]
"""The matches of a leg in its order, None when it did not complete; and the candidates that cannot be answered with."""


def _vector_leg(scores: CandidateScores, gated: Gated, rows: Hydrated) -> Leg:
    if gated.vector is None:
        return None, []
    return _matches("vector", scores, gated.vector, rows, gated.similarities)


def _keyword_leg(
    request: ResolvedRequest, scores: CandidateScores, gated: Gated, rows: Hydrated, new: Sequence[str]
) -> Leg:
    """Rank for the keyword leg what the index found, and by their share of the query's terms ``new``, the rows that are
    too new for it, and those that changed since it found them."""
    if gated.lexical is None:
        return None, []
    matches, dropped = _matches("lexical", scores, gated.lexical, rows, {})
    indexed = [Placed(identifier, match.share) for identifier, match in matches.items()]
    placed = []
    for identifier in dict.fromkeys((*new, *_changed(dropped))):
        row = rows[identifier]
        if identifier in matches or isinstance(row, Hidden):
            continue
        n, share = scores.best_passage(row)
        if share > 0:
            matches[identifier] = Match(n, share, _length(row, n))
            placed.append(Placed(identifier, share, row.written_at))
    ranking = within_depth(keyword_ranking(indexed, placed), request.depth)
    return {identifier: matches[identifier] for identifier in ranking}, dropped


def _changed(dropped: Iterable[Dropped]) -> list[str]:
    return [one.id for one in dropped if one.reason == CHANGED]


def _matches(
    leg: str,
    scores: CandidateScores,
    candidates: Iterable[Candidate],
    rows: Hydrated,
    similarities: Mapping[str, float],
) -> tuple[dict[str, Match], list[Dropped]]:
    """Return the candidates that a row of the same rev stands behind, whose passage has the query's phrases and nothing
    that it excludes, in their order; and the others. ``similarities``: of the vector leg."""
    matches: dict[str, Match] = {}
    dropped: list[Dropped] = []
    for candidate in candidates:
        identifier, n, score, version, _, _, length = candidate
        row = rows[identifier]
        if isinstance(row, Hidden):
            dropped.append(dropped_by(leg, candidate, row.reason))
        elif version != row.version or n >= len(row.passages):
            dropped.append(dropped_by(leg, candidate, CHANGED))
        elif reason := scores.terms.refusal(row.passages[n].text):
            dropped.append(dropped_by(leg, candidate, reason))
        else:
            calibrated = similarities.get(identifier)
            near = None if calibrated is None else round(calibrated, MEASURED_DIGITS)
            share = scores.share_of(row, n)
            matches[identifier] = Match(n, share, length, round(score, MEASURED_DIGITS), near)
    return matches, dropped


def _length(row: RecallRow, n: int) -> int:
    """Count the terms as the index would."""
    texts = row.utterance.texts if row.utterance else [row.passages[n].text]
    return sum(map(count_of_terms, texts))
