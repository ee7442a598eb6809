"""Every recall leaves one row that explains it, without the query."""

from __future__ import annotations

import json

import pytest

from neve.domain.cursors import InvalidCursor
from neve.domain.errors import NeveError
from neve.usecases.ask.memories.list_memories import get_memory
from neve.usecases.ask.memories.trace_memory import trace_memory
from neve.usecases.ask.recall.record_recall import get_recall, list_recalls, read_record
from tests.unit.recall_world import RecallWorld


def test_a_recall_is_recorded_with_its_components_and_what_was_dropped(world: RecallWorld) -> None:
    world.open()
    hits = [world.remember(f"tea number {n}") for n in range(7)]
    answer = world.ask("tea", session_id="s1", k=2)
    record = get_recall(world.user("ann"), str(answer.recall_id))
    assert (record.mode, record.scope, record.session_id, record.limit) == ("prompt", "all", "s1", 2)
    assert (record.result_state, record.budget_ms, record.at) == ("found", 300, "2026-03-10T09:30:00.000Z")
    returned = [hit for hit in record.hits if hit["outcome"] == "returned"]
    assert [(hit["id"], hit["rank"], hit["score"]) for hit in returned] == [
        (h.id, h.rank, h.score) for h in answer.hits
    ]
    assert [hit["components"] for hit in returned] == [dict(hit.components) for hit in answer.hits]
    assert {hit["outcome"] for hit in record.hits} == {"returned", "over_k"}
    assert {hit["id"] for hit in record.hits} == set(hits)
    assert record.legs["lexical"]["status"] == "complete"


def test_the_query_is_kept_as_a_keyed_hash_only(world: RecallWorld) -> None:
    world.remember("tea")
    for user in ("ann", "ann", "bob"):
        world.ask("ZZTOP secret question", user=user)
    world.ask("ZZTOP secret question", question="and another")
    anns = [record.query_hash for record in list_recalls(world.user("ann"), 10, None)[0]]
    bobs = [record.query_hash for record in list_recalls(world.user("bob"), 10, None)[0]]
    assert anns[1] == anns[2], "the same question of one user"
    assert len({*anns, *bobs}) == 3, "another question, and another user, have other hashes"
    page = world.rows.query(world.tenant.keys.of_user("ann").ledger, limit=10)
    assert "ZZTOP" not in str(page.items)


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


def test_rows_are_gone_after_ninety_days(world: RecallWorld) -> None:
    recall_id = str(world.ask("tea").recall_id)
    world.clock.move(days=90, seconds=-1)
    assert get_recall(world.user("ann"), recall_id).id == recall_id
    world.clock.move(seconds=1)
    assert list_recalls(world.user("ann"), 10, None)[0] == []
    with pytest.raises(NeveError) as refused:
        get_recall(world.user("ann"), recall_id)
    assert refused.value.code == "recall_not_found"


def test_another_users_recall_is_not_found(world: RecallWorld) -> None:
    recall_id = str(world.ask("tea").recall_id)
    with pytest.raises(NeveError) as refused:
        get_recall(world.user("bob"), recall_id)
    assert refused.value.code == "recall_not_found"


@pytest.mark.parametrize("fault", ["ledger=error", "ledger=slow:900"])
def test_a_ledger_that_fails_costs_the_recall_its_id_only(world: RecallWorld, fault: str) -> None:
    tea = world.remember("tea")
    world.broken(fault)
    answer = world.ask("tea")
    assert [hit.id for hit in answer.hits] == [tea]
    assert (answer.recall_id, answer.degraded, answer.elapsed_ms) == (None, ["ledger:error"], 0)
    assert answer.transparency[-1].startswith("ledger:error")


# --- what follows from the ledger ---------------------------------------------------------------


def test_the_stream_notes_when_a_memory_was_last_accessed(world: RecallWorld) -> None:
    tea, coffee = world.remember("tea"), world.remember("coffee")
    world.pump()
    before = world.memory(tea)
    world.clock.move(hours=1)
    world.ask("tea")
    world.pump()
    after = get_memory(world.user("ann"), tea)
    assert after.last_accessed_at == "2026-03-10T10:30:00.000Z"
    assert (after.rev, after.last_used_at) == (before.rev, before.last_used_at)
    assert get_memory(world.user("ann"), coffee).last_accessed_at is None


def test_a_trace_names_the_recalls_with_rank_and_score(world: RecallWorld) -> None:
    tea, cake = world.remember("green tea"), world.remember("cake with tea")
    first = world.ask("green tea")
    world.ask("cake", k=1)
    world.clock.move(seconds=1)
    third = world.ask("cake with green tea")
    trace = trace_memory(world.user("ann"), tea)
    assert trace.recalls_examined == 3
    assert [one.recall_id for one in trace.surfaced] == [third.recall_id, first.recall_id]
    newest = trace.surfaced[0]
    [hit] = [hit for hit in third.hits if hit.id == tea]
    assert (newest.rank, newest.score, newest.mode) == (hit.rank, hit.score, "prompt")
    assert trace.summary == "Recalled 2 times in the last 3 recalls, at best in place 1."
    assert trace_memory(world.user("ann"), cake).surfaced


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


def test_the_trace_of_an_unknown_memory_is_refused(world: RecallWorld) -> None:
    with pytest.raises(NeveError) as refused:
        trace_memory(world.user("ann"), "mem_0000000000000000000000TEST")
    assert refused.value.code == "memory_not_found"


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
