"""With the encoder of many languages the meaning decides: a few words that a question and a text share say little
(docs/rules/recall.md#encoders)."""

from __future__ import annotations

import pytest

from local.controls.fixture_cross_encoder import FixtureCrossEncoder
from local.controls.fixture_embedder import MANY, FixtureEmbedder
from tests.unit.recall_world import RecallWorld

QUESTION = "which automobile does the sibling own in Porto nowadays?"
BY_MEANING = "The sister has a car."
FEW_WORDS = "In Porto nowadays rain falls."
MOST_WORDS = "automobile sibling own Porto, said the note"


@pytest.fixture
def world(new_recall_world: RecallWorld) -> RecallWorld:
    new_recall_world.inner_multi = FixtureEmbedder(MANY)
    return new_recall_world


def texts(world: RecallWorld, **more: str) -> list[str]:
    answer = world.ask(QUESTION, k=9, mode="tool", threshold=0.0, **more)
    assert answer.degraded == []
    return [hit.text for hit in answer.hits]


@pytest.mark.parametrize(("languages", "first"), [("multi", BY_MEANING), ("en", FEW_WORDS)])
def test_few_words_do_not_bury_what_is_meant(world: RecallWorld, languages: str, first: str) -> None:
    world.with_policy(languages=languages)
    for text in (BY_MEANING, FEW_WORDS, "The dog ate a novel."):
        world.remember(text)
    world.pump()
    found = texts(world)
    assert found[0] == first and set(found) >= {BY_MEANING, FEW_WORDS}


def test_what_holds_most_of_the_words_counts_by_them(world: RecallWorld) -> None:
    world.with_policy(languages="multi")
    for text in (MOST_WORDS, "The dog ate a novel."):
        world.remember(text)
    world.pump()
    [first, *_] = world.ask(QUESTION, k=9, mode="tool").hits
    assert first.text == MOST_WORDS and first.components["rank_lex"] == 1


def test_messages_are_ordered_by_meaning_too(world: RecallWorld) -> None:
    world.with_policy(languages="multi")
    world.open()
    world.say(BY_MEANING, "Nice.", FEW_WORDS, "Yes.")
    world.pump()
    answer = world.ask(QUESTION, k=9, mode="tool", threshold=0.0)
    assert answer.hits[0].text == BY_MEANING and answer.hits[0].components["meaning"] > 0
    assert answer.hits[0].components["final"] == max(hit.components["final"] for hit in answer.hits)


def test_an_order_that_is_named_is_kept(world: RecallWorld) -> None:
    world.with_policy(languages="multi")
    for text in (BY_MEANING, FEW_WORDS):
        world.remember(text)
    world.pump()
    answer = world.ask(QUESTION, k=9, mode="tool", threshold=0.0, rerank="off")
    assert answer.hits[0].text == FEW_WORDS and "meaning" not in answer.hits[0].components


def test_without_vectors_words_decide_as_ever(world: RecallWorld) -> None:
    world.with_policy(languages="multi")
    world.remember(FEW_WORDS)
    world.pump()
    assert [hit.text for hit in world.ask(QUESTION, mode="tool", legs=("lexical",)).hits] == [FEW_WORDS]


def test_a_cross_encoder_of_english_does_not_read_again(world: RecallWorld) -> None:
    world.inner_cross_encoder = FixtureCrossEncoder()
    world.with_policy(languages="multi")
    world.open()
    world.say("The sister has a car.", "Nice.", "In Porto nowadays rain falls.", "Yes.")
    world.pump()
    answer = world.ask(QUESTION, mode="tool", threshold=0.0)
    assert answer.hits and all("deep" not in hit.components for hit in answer.hits)
    assert answer.degraded == []
    named = world.ask(QUESTION, mode="tool", threshold=0.0, rerank="deep")
    assert named.degraded == ["rerank:no_model"]
