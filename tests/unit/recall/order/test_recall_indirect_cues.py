"""A word that is shared by chance does not bury what only the vector leg finds (docs/rules/recall.md#rerank)."""

from __future__ import annotations

import pytest

from neve.domain.ids import event_id
from neve.usecases.ask.recall.command import RecallCommand
from neve.usecases.ask.recall.recall import recall
from tests.unit.recall_world import RecallWorld

ASKED = "physician apartment quartz lantern violin"
MEANT, *BY_CHANCE = (
    "doctor flat",
    "quartz bottle copper orchard thunder",
    "quartz pepper saddle harbour",
    "quartz ferry alder river",
)


@pytest.fixture
def world(recall_world: RecallWorld) -> RecallWorld:
    for text in (*BY_CHANCE, MEANT):
        recall_world.say(text)
    recall_world.pump()
    return recall_world


def _order(world: RecallWorld, query: str) -> list[str]:
    return [hit.id for hit in recall(world.user("ann"), RecallCommand(query, mode="tool")).hits]


def test_what_shares_one_of_five_words_does_not_stand_before_what_is_meant(world: RecallWorld) -> None:
    meant = event_id("s1", len(BY_CHANCE) + 1)
    assert _order(world, ASKED).index(meant) < 2
    assert _order(world, ASKED) == [hit.id for hit in world.ask(ASKED, mode="tool", rerank="off").hits]


def test_what_shares_half_of_the_words_is_weighed(world: RecallWorld) -> None:
    asked = "physician apartment quartz pepper"
    assert _order(world, asked)[0] == event_id("s1", 2)
    assert "rerank" in world.ask(asked, mode="tool").hits[0].components
