"""How many port calls a recall makes, and how many of them one after the other."""

from __future__ import annotations

import pytest

from neve.usecases.ask.pack.read_pack import read_pack
from tests.unit.recall_world import RecallWorld

STEP_MS = 10
SLOW = [f"{port}=slow:{STEP_MS}" for port in ("table", "vector", "lexical", "embed")]


@pytest.fixture
def world(new_recall_world: RecallWorld) -> RecallWorld:
    new_recall_world.remember("tea in the pack")
    new_recall_world.open()
    new_recall_world.say("tea with milk")
    assert read_pack(new_recall_world.user("ann").of_session("s1")).state == "ready"
    new_recall_world.remember("tea at home")
    new_recall_world.pump()
    new_recall_world.remember("tea just now")
    new_recall_world.rows.calls.clear()
    new_recall_world.broken(*SLOW)
    return new_recall_world


def steps(world: RecallWorld, query: str) -> float:
    """Sequential port calls: each takes 10 ms of virtual time, and calls beside each other take it together."""
    answer = world.ask(query, session_id="s1")
    assert len(answer.hits) == 3 and answer.degraded == []
    return answer.elapsed_ms / STEP_MS


def test_three_steps_and_the_ledger_write(world: RecallWorld) -> None:
    assert steps(world, "tea") == 3
    calls = dict(world.rows.calls)
    # user and session rows, the candidates; recent rows, sessions that are behind;
    # the manifest and, once for a tenant in a process, the ledger's secret; making the secret and the ledger row
    assert calls == {"get_many": 2, "query": 2, "get": 2, "write": 2}


def test_what_the_index_lacks_of_the_log_is_read_beside_the_legs(world: RecallWorld) -> None:
    steps(world, "tea")
    world.broken()
    world.say("and biscuits")
    world.rows.calls.clear()
    world.broken(*SLOW)
    assert steps(world, "some tea") == 3
    assert dict(world.rows.calls) == {"get_many": 2, "query": 3, "write": 1}


def test_a_log_that_the_index_has_is_not_read(world: RecallWorld) -> None:
    """Fifty events with what tools said are many megabytes, which take seconds to read."""
    log = world.user().of_session("s1").keys.log
    world.faults.replace([{"target": "table", "fault": "slow:5000", "match": log}])
    answer = world.ask("tea", session_id="s1")
    assert len(answer.hits) == 3 and answer.degraded == []


def test_a_process_that_knows_the_pack_reads_less(world: RecallWorld) -> None:
    steps(world, "tea")
    world.rows.calls.clear()
    assert steps(world, "some tea") == 3
    assert dict(world.rows.calls) == {"get_many": 2, "query": 2, "write": 1}


def test_a_remembered_question_takes_three_steps_as_well(world: RecallWorld) -> None:
    """The rows that are too new for the index are read before it is searched."""
    steps(world, "tea")
    world.rows.calls.clear()
    assert steps(world, "tea") == 3
    assert dict(world.rows.calls) == {"get_many": 2, "query": 2, "write": 1}


def test_the_number_of_hits_does_not_change_the_number_of_calls(world: RecallWorld) -> None:
    world.broken()
    for n in range(60):
        world.remember(f"tea number {n}")
    world.pump()
    world.broken(*SLOW)
    world.ask("tea", session_id="s1", k=50)
    world.rows.calls.clear()
    answer = world.ask("tea", session_id="s1", k=50)
    assert len(answer.hits) == 50
    assert answer.elapsed_ms == 3 * STEP_MS
    assert dict(world.rows.calls) == {"get_many": 2, "query": 2, "write": 1}
