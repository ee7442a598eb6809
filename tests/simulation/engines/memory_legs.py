"""Both legs of a search over passages in a dict, by looking at every one of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import log, sqrt
from struct import unpack

from neve.domain.indexing.passage import Neighbour, Passage, rev_of
from neve.domain.recall.query import QueryTerms
from neve.domain.recall.weighted_counts import K1, Terms, weighted_counts
from neve.domain.terms import terms
from neve.domain.times import epoch_ms
from neve.domain.validity import holds_at, was_there
from neve.ports.search import Candidate, SearchFilter

Passages = Mapping[tuple[str, int], Passage]


def keyword_leg(passages: Passages, asked: QueryTerms, where: SearchFilter, depth: int) -> list[Candidate]:
    """BM25 with b = 0 over the weighted counts of the terms."""
    own = {place: _counts(passage.text) for place, passage in passages.items()}
    holding = Counter(term for counts in own.values() for term in counts)
    scored: list[tuple[float, Passage]] = []
    for place, passage in passages.items():
        if not admits(where, passage) or not _agrees(asked, passage, own[place]):
            continue
        weights = _weights(passage)
        found = [group for group in asked.groups if any(term in weights for term in group)]
        if len(found) < asked.min_match:
            continue
        score = sum(
            _idf(len(passages), holding[term]) * weights[term] * (K1 + 1) / (weights[term] + K1)
            for group in found
            for term in group
            if term in weights
        )
        scored.append((score, passage))
    return _best(scored, depth)


def vector_leg(passages: Passages, vector: Sequence[float], where: SearchFilter, depth: int) -> list[Candidate]:
    """Exact cosine."""
    admitted = (p for p in passages.values() if p.vector is not None and admits(where, p))
    return _best([(_cosine(vector, _floats(p.vector or b"")), p) for p in admitted], depth)


def admits(where: SearchFilter, passage: Passage) -> bool:
    """Whether a leg may return the passage."""
    wanted = (
        (tuple(source.value for source in where.sources), passage.source.value),
        (where.statuses, passage.status),
        (where.kinds, passage.kind),
        *(((one,) if one is not None else (), own) for one, own in _single(where, passage)),
    )
    return (
        all(not allowed or own in allowed for allowed, own in wanted)
        and (where.not_session_id is None or passage.session_id != where.not_session_id)
        and passage.item_id not in where.exclude_ids
        and passage.fingerprint not in where.exclude_fingerprints
        and set(where.tags) <= set(passage.tags)
        and (not where.about or not set(where.about).isdisjoint(passage.about))
        and passage.only_in in (None, where.asked_in)
        and set(where.metadata) <= set(passage.metadata)
        and _below(where.path_prefix, passage.path)
        and (where.after is None or epoch_ms(passage.observed_at) >= epoch_ms(where.after))
        and (where.before is None or epoch_ms(passage.observed_at) < epoch_ms(where.before))
        and (where.holds_at is None or holds_at(passage, where.holds_at))
        and (
            where.in_force_at is None
            or was_there(passage.created_at or passage.observed_at, passage.superseded_at, where.in_force_at)
        )
    )


def _single(where: SearchFilter, passage: Passage) -> Iterable[tuple[str | None, str | None]]:
    return (
        (where.tier, passage.tier),
        (where.category, passage.category),
        (where.group, passage.group),
        (where.session_id, passage.session_id),
    )


def _below(prefix: str | None, path: str | None) -> bool:
    return prefix is None or (path is not None and f"{path}/".startswith(f"{prefix.rstrip('/')}/"))


def _agrees(asked: QueryTerms, passage: Passage, own: Mapping[str, int]) -> bool:
    return (
        all(term in own for term in asked.phrase_terms)
        and not any(term in own for term in asked.excluded)
        and asked.agrees_in_phrases(passage.text)
    )


@lru_cache(maxsize=20_000)
def _counts(text: str) -> Counter[str]:
    return Counter(terms(text))


def _weights(passage: Passage) -> dict[str, float]:
    around = ((neighbour.distance, _terms(neighbour)) for neighbour in passage.neighbours)
    return weighted_counts(_terms(passage), terms(passage.date_text), around)


def _terms(indexed: Passage | Neighbour) -> Terms[str]:
    own = tuple(_counts(indexed.text).elements())
    return Terms(own, len(own) + sum(_counts(part).total() for part in indexed.rest))


def _idf(passages: int, holding: int) -> float:
    return log(1 + (passages - holding + 0.5) / (holding + 0.5))


@lru_cache(maxsize=20_000)
def _floats(vector: bytes) -> tuple[float, ...]:
    return unpack(f"<{len(vector) // 4}f", vector)


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    length = sqrt(sum(x * x for x in one) * sum(y * y for y in other))
    return max(-1.0, min(1.0, sum(x * y for x, y in zip(one, other, strict=True)) / length))


def _best(scored: Iterable[tuple[float, Passage]], depth: int) -> list[Candidate]:
    """One candidate an item, best first; ties by item id, then by n."""
    found: dict[str, Candidate] = {}
    for score, p in sorted(scored, key=lambda one: (-one[0], one[1].item_id, one[1].n)):
        if p.item_id not in found:
            found[p.item_id] = Candidate(
                p.item_id, p.n, score, rev_of(p.document_version), p.fingerprint, p.source, _terms(p).length
            )
    return list(found.values())[:depth]
