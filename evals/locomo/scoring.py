"""What a ranking is worth. A ranking is a list of hits, each the set of dia ids it may take credit for."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

Ranking = Sequence[frozenset[str]]
CUTS = (1, 5, 10, 20)
WIDEST_RANGE = 4
"""A memory hit whose passage spans more events than this earns nothing: it would be right by being vague."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One question's scores by measure name, each in [0, 1]."""

    conversation: int
    category: int
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
    """Binary gain, once for each piece of evidence: a second hit on the same turn gains nothing."""
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
    table = {name: round(100 * sum(j.scores[name] for j in rows) / len(rows), 1) for name in rows[0].scores}
    return table | {"n": len(rows)}


def grouped(judged: Iterable[Judged], key: Callable[[Judged], str]) -> dict[str, dict[str, float]]:
    groups: dict[str, list[Judged]] = defaultdict(list)
    for j in judged:
        groups[key(j)].append(j)
    return {name: means(rows) for name, rows in sorted(groups.items())}
