"""Seeded passages of many users: one with few, one with a tenth of the index, the rest alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evals.bench.texts import memory_texts, questions
from neve.domain.indexing.passage import Passage, Source
from neve.ports.search import Owner

DIMENSIONS = 384
TOPICS = 200
SPREAD = 0.9
"""Length of the random part beside a topic of length 1: two passages of one topic have a cosine of about 0.55."""
FEW, MANY = Owner("bench", "few"), Owner("bench", "many")
FEW_PASSAGES = 20
ALSO_DELETED = 10
"""Passages that the user with few has before some are deleted."""
SHARE_OF_MANY = 10
AT = "2026-03-10T09:30:00.000Z"

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Filling:
    """``counts``: passages by user."""

    counts: Mapping[Owner, int]
    seed: int

    @classmethod
    def of(cls, passages: int, users: int, seed: int) -> Filling:
        counts = {FEW: FEW_PASSAGES + ALSO_DELETED, MANY: passages // SHARE_OF_MANY}
        others = [Owner(f"tenant-{number % 50}", f"user-{number}") for number in range(users - len(counts))]
        each, more = divmod(passages - sum(counts.values()), len(others))
        return cls(counts | {owner: each + (number < more) for number, owner in enumerate(others)}, seed)

    def users(self) -> Iterator[tuple[Owner, list[Passage]]]:
        """Each user with all passages. The same for the same arguments."""
        texts = iter(memory_texts(sum(self.counts.values()), self.seed))
        random = np.random.default_rng(self.seed)
        topics = vectors_near(random.standard_normal((TOPICS, DIMENSIONS)), random)
        for owner, count in self.counts.items():
            near = vectors_near(topics[random.integers(0, TOPICS, count)], random)
            yield owner, [_passage(n, next(texts), near[n]) for n in range(count)]

    def queries(self, count: int) -> list[tuple[str, bytes]]:
        """Questions, each with a vector near a topic."""
        random = np.random.default_rng(self.seed)
        topics = vectors_near(random.standard_normal((TOPICS, DIMENSIONS)), random)
        asked = np.random.default_rng(self.seed + 1)
        near = vectors_near(topics[asked.integers(0, TOPICS, count)], asked)
        return [(text, vector.tobytes()) for text, vector in zip(questions(count, self.seed), near, strict=True)]


def vectors_near(points: NDArray[np.float64] | Matrix, random: np.random.Generator) -> Matrix:
    """Unit vectors around the given ones."""
    noise = random.standard_normal(points.shape)
    noise *= SPREAD / np.linalg.norm(noise, axis=1, keepdims=True)
    moved = points / np.linalg.norm(points, axis=1, keepdims=True) + noise
    return np.asarray(moved / np.linalg.norm(moved, axis=1, keepdims=True), "<f4")


def _passage(number: int, text: str, vector: Matrix) -> Passage:
    return Passage(
        item_id=f"mem_{number:06d}",
        n=0,
        version=1,
        source=Source.MEMORY,
        text=text,
        fingerprint=f"fp-{number}",
        kind="observation",
        status="active",
        scope="user",
        tier="working",
        observed_at=AT,
        vector=vector.tobytes(),
        date_text="10 March, 2026",
    )
