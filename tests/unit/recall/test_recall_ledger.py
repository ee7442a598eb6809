"""Every recall leaves one row that explains it, without the query."""

from __future__ import annotations

import json

import pytest

from neve.domain.cursors import InvalidCursor
from neve.usecases.ask.memories.trace_memory import trace_memory
from neve.usecases.ask.recall.record_recall import list_recalls, read_record
from tests.unit.recall_world import RecallWorld


def test_recalls_are_listed_newest_first_in_pages(world: RecallWorld) -> None:
    ids = []
    for n in range(5):
        world.clock.move(seconds=1)
        ids.append(world.ask(f"question {n}").recall_id)
    first, cursor = list_recalls(world.user("ann"), 3, None)
    second, end = list_recalls(world.user("ann"), 3, cursor)
    assert [record.id for record in first + second] == ids[::-1]
    assert end is None
    with pytest.raises(InvalidCursor):
        list_recalls(world.user("bob"), 3, cursor)


@pytest.mark.parametrize("fault", ["ledger=error", "ledger=slow:900"])
def test_a_ledger_that_fails_costs_the_recall_its_id_only(world: RecallWorld, fault: str) -> None:
    tea = world.remember("tea")
    world.broken(fault)
    answer = world.ask("tea")
    assert [hit.id for hit in answer.hits] == [tea]
    assert (answer.recall_id, answer.degraded, answer.elapsed_ms) == (None, ["ledger:error"], 0)
    assert answer.transparency[-1].startswith("ledger:error")


# --- what follows from the ledger ---------------------------------------------------------------


def test_a_memory_that_was_never_recalled_says_so(world: RecallWorld) -> None:
    tea = world.remember("green tea")
    assert trace_memory(world.user("ann"), tea).summary == "Never recalled: there was no recall yet."
    world.ask("coffee")
    assert trace_memory(world.user("ann"), tea).summary == "Never recalled in the last recall."
    world.ask("coffee")
    assert trace_memory(world.user("ann"), tea).summary == "Never recalled in the last 2 recalls."


def test_a_trace_looks_at_the_last_200_recalls(world: RecallWorld) -> None:
    tea = world.remember("green tea")
    world.ask("tea")
    for n in range(200):
        world.ask(f"question {n}", legs=("lexical",))
    trace = trace_memory(world.user("ann"), tea)
    assert (trace.recalls_examined, trace.surfaced) == (200, [])


def test_the_row_of_a_wide_recall_is_small(world: RecallWorld) -> None:
    for n in range(120):
        world.remember(f"User paddled kayak number {n}.")
    world.pump()
    answer = world.ask("kayak", k=50)
    assert answer.recall_id is not None
    item = world.rows.get(world.tenant.keys.of_user("ann").recall(answer.recall_id))
    assert item is not None
    assert len(json.dumps([dict(hit) for hit in read_record(item).hits])) > 15_000, "what it holds"
    assert len(item["hits"]) < 4_000
