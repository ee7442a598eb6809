"""What a ranking is worth. A ranking is a list of hits, each the set of message ids it may take credit for."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Ranking = Sequence[frozenset[str]]
CUTS = (1, 5, 10, 20)
MEASURES = (*(f"any@{cut}" for cut in CUTS), "fraction@10", "mrr@10", "ndcg@10")
WIDEST_RANGE = 4
"""A memory hit whose passage spans more events than this earns nothing: it would be right by being vague."""
RESAMPLED = 2_000
SEED = 7


@dataclass(frozen=True, slots=True)
class Judged:
    """One question's scores by measure, each in [0, 1]."""

    chat: str
    category: str
    scores: dict[str, float]


def judge(ranking: Ranking, evidence: frozenset[str]) -> dict[str, float]:
    first = next((rank for rank, hit in enumerate(ranking[:10], start=1) if hit & evidence), None)
    covered = frozenset().union(*ranking[:10]) if ranking else frozenset()
    scores = {f"any@{cut}": float(any(hit & evidence for hit in ranking[:cut])) for cut in CUTS}
    scores["fraction@10"] = len(covered & evidence) / len(evidence)
    scores["mrr@10"] = 1 / first if first else 0.0
    scores["ndcg@10"] = _ndcg(ranking[:10], evidence)
    return scores


def _ndcg(ranking: Ranking, evidence: frozenset[str]) -> float:
    """Binary gain, once for each piece of evidence: a second hit on the same message gains nothing."""
    left, gain = set(evidence), 0.0
    for rank, hit in enumerate(ranking, start=1):
        if hit & left:
            left -= hit
            gain += 1 / math.log2(rank + 1)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(evidence), 10) + 1))
    return gain / ideal


def means(judged: Iterable[Judged]) -> dict[str, float]:
    """Percentages, one decimal, with the number of questions as ``n``."""
    rows = list(judged)
    table = {name: _percent(j.scores[name] for j in rows) for name in MEASURES}
    return table | {"n": len(rows)}


def intervals(judged: Iterable[Judged], measures: Sequence[str] = ("any@10", "mrr@10")) -> dict[str, list[float]]:
    """Between which two percentages 95 of 100 means lie when the chats are drawn again, with replacement: questions of
    one chat are not independent of each other."""
    by_chat: dict[str, list[Judged]] = defaultdict(list)
    for j in judged:
        by_chat[j.chat].append(j)
    chats, dice = list(by_chat.values()), random.Random(SEED)
    drawn = [[j for rows in dice.choices(chats, k=len(chats)) for j in rows] for _ in range(RESAMPLED)]
    found = {name: sorted(_percent(j.scores[name] for j in rows) for rows in drawn) for name in measures}
    return {name: [values[RESAMPLED // 40], values[-RESAMPLED // 40 - 1]] for name, values in found.items()}


def _percent(values: Iterable[float]) -> float:
    given = list(values)
    return round(100 * math.fsum(given) / len(given), 1)
