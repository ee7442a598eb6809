"""How many hits are asked for says how many there are, not in which order they come (docs/rules/recall.md#legs)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neve.domain.indexing.passage import Source
from neve.usecases.ask.recall.command import MAX_K
from tests.unit.recall_world import RecallWorld

WORDS = ("kayak", "sauna", "river", "ferry", "alder", "harbour", "lantern", "copper", "violin", "orchard")
BESIDE = ("spring summer autumn winter", "gravel marble timber brick", "clock mirror carpet curtain")
LIMITS = (10, 20, 30, 40, MAX_K)
SOURCES = ((Source.MEMORY,), (Source.EVENT,), (Source.MEMORY, Source.EVENT))


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecallWorld]:
    """240 utterances and 150 memories, far more than a leg goes on with; every seventh says what another one says."""
    folder: Path = tmp_path_factory.mktemp("limit")
    world, dice = RecallWorld.make(folder), random.Random(11)
    world.open()
    said = [_sentence(dice, n) for n in range(240)]
    for start in range(0, len(said), 40):
        world.say(*said[start : start + 40])
    for n in range(150):
        world.remember(_sentence(dice, n + 1_000))
    world.pump()
    yield world
    world.close()


def _sentence(dice: random.Random, n: int) -> str:
    if n % 7 == 0:
        return f"the {WORDS[n // 7 % 2]} again"
    own = dice.sample(WORDS, dice.randint(1, 4))
    return f"{' '.join(own)} {dice.choice(BESIDE)} number{n}"


@given(
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4, unique=True),
    sources=st.sampled_from(SOURCES),
    rerank=st.sampled_from(("off", "linear")),
    mode=st.sampled_from(("prompt", "tool")),
    hidden=st.integers(0, 40),
)
@settings(max_examples=20, deadline=None)
def test_the_first_hits_are_the_same_however_many_are_asked_for(
    log: RecallWorld, words: list[str], sources: tuple[Source, ...], rerank: str, mode: str, hidden: int
) -> None:
    """Also of what has to be read again because something is left out."""
    asked: dict[str, Any] = {"sources": sources, "rerank": rerank, "mode": mode, "threshold": 0.0}
    left_out = tuple(log.found(" ".join(words), k=MAX_K, **asked)[:hidden])
    found = {k: log.found(" ".join(words), k=k, exclude_ids=left_out, **asked) for k in LIMITS}
    for k, ids in found.items():
        assert ids[:10] == found[10], k
        assert len(ids) <= k


def test_a_larger_limit_brings_more(log: RecallWorld) -> None:
    """Deeper than a leg of memories goes."""
    asked: dict[str, Any] = {"sources": (Source.MEMORY,), "mode": "tool", "threshold": 0.0}
    answers = {k: log.ask(" ".join(WORDS), k=k, **asked) for k in LIMITS}
    assert {k: len(answer.hits) for k, answer in answers.items()} == {k: k for k in LIMITS}
    finals = [hit.components["final"] for hit in answers[MAX_K].hits]
    assert finals == sorted(finals, reverse=True)
