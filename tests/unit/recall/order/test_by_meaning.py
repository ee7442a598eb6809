"""The order of what a message in another language than English finds (docs/rules/recall.md#by-meaning)."""

from __future__ import annotations

from pathlib import Path

import pytest

from local.controls.fixture_embedder import FixtureEmbedder, similar_pair
from neve.domain.languages import ANY_LANGUAGE
from neve.domain.tenants.policy import Policy, Rerank
from neve.usecases.ask.recall.command import RecallCommand, resolve
from neve.usecases.ask.recall.recall import recall
from tests.unit.recall_world import RecallWorld

GERMAN, ENGLISH = "wo ist denn mein altes Boot und wie heißt es", "where is my old Boot and what is it called"
QUESTION = {GERMAN: "und wie ist das mit", ENGLISH: "and what about the"}


class Polyglot(FixtureEmbedder):
    @property
    def languages(self) -> tuple[str, ...]:
        return (ANY_LANGUAGE,)


@pytest.fixture
def world(tmp_path: Path) -> RecallWorld:
    return RecallWorld.make(tmp_path, Polyglot())


def order(world: RecallWorld, asked: str, rerank: Rerank | None = None) -> tuple[list[str], bool]:
    """The texts, best first, and whether meaning ordered them."""
    _, meant = similar_pair(0.9)
    command = RecallCommand(asked, question=f"{QUESTION[asked]} {meant}", mode="tool", threshold=0.0, rerank=rerank)
    hits = recall(world.user("ann"), command).hits
    return [hit.text for hit in hits], all("meaning" in hit.components for hit in hits)


def test_what_is_near_stands_before_what_shares_a_word(world: RecallWorld) -> None:
    near, _ = similar_pair(0.9)
    world.remember(near)
    word = "Ein Boot liegt am See"
    world.remember(word)
    world.pump()
    found, by_meaning = order(world, GERMAN)
    assert (found[0], set(found), by_meaning) == (near, {near, word}, True)


@pytest.mark.parametrize(("asked", "rerank"), [(ENGLISH, None), (GERMAN, "linear"), (GERMAN, "off")])
def test_english_and_a_rerank_that_is_named_have_their_own_order(
    world: RecallWorld, asked: str, rerank: Rerank | None
) -> None:
    world.remember("Ein Boot liegt am See")
    world.pump()
    assert order(world, asked, rerank) == (["Ein Boot liegt am See"], False)


@pytest.mark.parametrize(("languages", "by_meaning"), [((ANY_LANGUAGE,), True), (("en", "de"), True), (("en",), False)])
def test_meaning_orders_where_the_model_knows_the_language(languages: tuple[str, ...], by_meaning: bool) -> None:
    assert resolve(Policy(), RecallCommand(GERMAN)).for_a_model_of(languages).by_meaning is by_meaning
    assert not resolve(Policy(), RecallCommand(ENGLISH)).for_a_model_of(languages).by_meaning
    assert not resolve(Policy(rerank="linear"), RecallCommand(GERMAN)).for_a_model_of(languages).by_meaning
