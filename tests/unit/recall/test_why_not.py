"""Why a memory was not among the hits is said by what the ledger kept of the recall, else by the memory's row; and what
neither tells is said to be not kept."""

from __future__ import annotations

from typing import Any

import pytest

from local.controls.fixture_embedder import similar_pair
from neve.domain.errors import NeveError
from neve.domain.records.memories import Status
from neve.ports.table import Put
from neve.usecases.ask.recall.command import RecallFilters
from neve.usecases.ask.recall.why_not import WhyNot, explain_recall
from tests.unit.recall_world import RecallWorld


def told(world: RecallWorld, memory_id: str, query: str = "green tea", **asked: Any) -> WhyNot:
    recall_id = world.ask(query, **asked).recall_id
    assert recall_id is not None
    return explain_recall(world.user("ann"), recall_id, memory_id).why_not


def test_a_hit_and_what_was_cut_are_told_with_their_ranks(world: RecallWorld) -> None:
    teas = [world.remember(f"green tea number {n}") for n in range(3)]
    world.pump()
    answer = world.ask("green tea", k=2)
    by_id = {one: explain_recall(world.user("ann"), str(answer.recall_id), one).why_not for one in teas}
    returned = [by_id[hit.id] for hit in answer.hits]
    assert [(one.found, one.reason, one.rank, one.told_by) for one in returned] == [
        (True, "returned", 1, "recall"),
        (True, "returned", 2, "recall"),
    ]
    [cut] = [one for one in by_id.values() if not one.found]
    assert (cut.reason, cut.told_by, cut.rank) == ("over_k", "recall", None)
    assert (cut.legs["lexical"].rank, cut.legs["lexical"].status) == (3, "complete")
    assert cut.legs["lexical"].score is not None


def test_what_was_dropped_before_the_ranking_has_its_score(world: RecallWorld) -> None:
    near, query = similar_pair(0.69)
    below = world.remember(near)
    world.pump()
    found = told(world, below, query, legs=("vector",), threshold=0.75)
    assert (found.reason, found.legs["vector"].rank) == ("below_threshold", None)
    assert found.legs["vector"].score == pytest.approx(0.39, abs=1e-3)
    assert found.legs["lexical"].status == "skipped"


@pytest.mark.parametrize(
    ("fields", "asked", "reason", "filters"),
    [
        ({"never_recall": True}, {}, "never_recall", ("never_recall",)),
        ({"status": Status.ARCHIVED}, {}, "status", ("status",)),
        ({"status": Status.INBOX}, {}, "status", ("status",)),
        ({"valid_until": "2020-01-01T00:00:00.000Z"}, {}, "validity", ("validity",)),
        ({}, {"scope": "session", "session_id": "s1"}, "scope", ("scope",)),
        ({}, {"filters": RecallFilters(kind="reflection", tier="episodic")}, "filtered", ("kind", "tier")),
        ({}, {"filters": RecallFilters(before="2000-01-01T00:00:00.000Z")}, "filtered", ("before",)),
        ({}, {"filters": RecallFilters(tags=("a",), group="b")}, "not_kept", ("group", "tags")),
        ({}, {"exclude_ids": ("evt:s1:1",), "query": "harpsichord"}, "not_kept", ("exclude_ids",)),
        ({}, {"query": "harpsichord"}, "not_found", ()),
        ({}, {"query": "ok"}, "not_looked_for", ()),
    ],
)
def test_what_was_no_candidate_is_told_by_its_row(
    world: RecallWorld, fields: dict[str, Any], asked: dict[str, Any], reason: str, filters: tuple[str, ...]
) -> None:
    world.open("s1")
    tea = world.remember("User drinks green tea")
    world.change(tea, rev=2, rev_at=world.ago(), **fields)
    world.pump()
    found = told(world, tea, **{"legs": ("lexical",), **asked})
    assert (found.found, found.reason, found.filters) == (False, reason, filters)


def test_the_own_ids_that_were_excluded_are_known(world: RecallWorld) -> None:
    tea = world.remember("User drinks green tea")
    world.pump()
    assert told(world, tea, exclude_ids=(tea,)).reason == "excluded"


def test_what_came_later_what_is_unknown_and_what_was_not_searched(world: RecallWorld) -> None:
    recall_id = str(world.ask("green tea").recall_id)
    world.clock.move(seconds=1)
    later = world.remember("User drinks green tea")
    ann = world.user("ann")
    assert explain_recall(ann, recall_id, later).why_not.reason == "not_there_yet"
    assert explain_recall(ann, recall_id, "mem_NOBODY").why_not.reason == "unknown"
    bobs = world.remember("User drinks green tea", user="bob")
    assert explain_recall(ann, recall_id, bobs).why_not.reason == "unknown"
    world.broken("lexical=error", "vector=error")
    assert told(world, later).reason == "not_searched"
    with pytest.raises(NeveError, match="rcl_NONE"):
        explain_recall(ann, "rcl_NONE", later)


def test_what_was_superseded_behind_the_recall_was_active_then(world: RecallWorld) -> None:
    tea = world.remember("User drinks green tea")
    world.pump()
    recall_id = str(world.ask("harpsichord", legs=("lexical",)).recall_id)
    world.clock.move(seconds=1)
    world.change(tea, status=Status.SUPERSEDED, superseded_at=world.ago(seconds=0))
    found = explain_recall(world.user("ann"), recall_id, tea).why_not
    assert (found.reason, found.status) == ("not_found", "superseded")
    assert told(world, tea, "harpsichord", legs=("lexical",)).reason == "status"


def test_a_row_of_before_says_that_it_does_not_tell(world: RecallWorld) -> None:
    tea = world.remember("User drinks green tea")
    world.pump()
    recall_id = str(world.ask("harpsichord", legs=("lexical",)).recall_id)
    ann = world.user("ann")
    item = world.rows.get(ann.keys.recall(recall_id))
    assert item is not None
    world.rows.write([Put({name: value for name, value in item.items() if name != "filters"}, durable=False)])
    found = explain_recall(ann, recall_id, tea).why_not
    assert (found.reason, found.told_by) == ("not_kept", None)


def test_it_is_one_read(world: RecallWorld) -> None:
    tea = world.remember("User drinks green tea")
    recall_id = str(world.ask("harpsichord").recall_id)
    world.rows.calls.clear()
    explain_recall(world.user("ann"), recall_id, tea)
    assert world.rows.calls == {"get_many": 1}
