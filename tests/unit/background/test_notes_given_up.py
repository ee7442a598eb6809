"""What the outbox notes, and has given up, is noted by whoever comes behind it: for whom there is a night
(docs/rules/reflect.md#due), and which sessions may be idle (docs/rules/librarian.md#idle)."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from neve.domain.records.memories import Kind, Scope
from neve.ports.queue import QueueName
from neve.store import rows
from neve.store.partitions import all_rows
from neve.store.stream_records import Change
from neve.usecases.ask.memories.trace_memory import trace_memory
from neve.usecases.core.lag.memory_lag import leave_if_caught_up
from neve.usecases.work.background.dispatch_changes import dispatch_changes
from neve.usecases.work.background.sweep_due import sweep_due
from neve.workers.sweep import sweep
from tests.unit.recall_world import RecallWorld


def observed(world: RecallWorld) -> str:
    """A row that a night may condense."""
    memory_id = world.remember("Ann likes trains.")
    world.change(memory_id, kind=Kind.OBSERVATION, scope=Scope.SESSION)
    return memory_id


def test_who_has_rows_for_a_night_is_noted_with_the_message_that_was_lost(world: RecallWorld) -> None:
    memory_id = observed(world)
    assert world.rows.get(world.user().keys.reflect_due) is None
    world.clock.move(minutes=25)
    assert sweep_due(world)["embeddings"] >= 1
    noted = rows.read_reflect_due(world.rows.get(world.user().keys.reflect_due))
    assert noted is not None
    assert noted.since == world.memory(memory_id).created_at


def test_and_with_a_change_that_brings_the_row_into_the_index(world: RecallWorld) -> None:
    """Behind it the sweep finds nothing that it lacks."""
    memory_id = observed(world)
    before = world.rows.get(world.user().keys.memory(memory_id))
    world.change(memory_id, text="Ann likes ferries.", rev=2)
    after = world.rows.get(world.user().keys.memory(memory_id))
    dispatch_changes(world, [Change("", before, after)])
    assert world.rows.get(world.user().keys.reflect_due) is not None


def test_a_session_that_is_up_to_date_is_looked_at_when_it_may_be_idle(world: RecallWorld) -> None:
    world.with_policy()
    keys = world.session.keys
    head = rows.read_session(world.rows.get(keys.session_head) or {})
    assert (head.unwatched, world.rows.get(keys.open_session)) == (True, None)
    events = all_rows(world.rows, keys.log, prefix="EVT#")
    dispatch_changes(world, [Change("", None, item) for item in events])
    world.words(world.taken(QueueName.INDEX))
    world.embed(world.taken(QueueName.EMBED))
    marker = rows.read_marker(world.rows.get(keys.marker) or {})
    world.rows.write([rows.put_marker(keys, replace(marker, observed_seq=2))])
    leave_if_caught_up(world.session.data, world.clock.now())
    head = rows.read_session(world.rows.get(keys.session_head) or {})
    assert (head.behind, head.unwatched) == ((), False)
    assert (world.rows.get(keys.open_session) or {})["due_sk"] > "2026"
    world.clock.move(minutes=61)
    assert sweep_due(world)["orphans"] == 1


def test_when_a_memory_was_last_answered_with_is_said_by_its_next_recall(world: RecallWorld) -> None:
    """Not made up for. Its trace knows all the same."""
    memory_id = world.remember("Ann likes trains.")
    world.pump()
    world.ask("trains")
    world.rows.discard_changes(world.rows.read_changes(0, 1_000)[-1].seq)
    world.clock.move(minutes=25)
    sweep_due(world)
    assert world.memory(memory_id).last_accessed_at is None
    assert len(trace_memory(world.user(), memory_id).surfaced) == 1
    world.ask("trains")
    world.pump()
    assert world.memory(memory_id).last_accessed_at is not None


def test_an_outbox_that_does_not_run_is_told_by_every_sweep(
    world: RecallWorld, capsys: pytest.CaptureFixture[str]
) -> None:
    """No backlog gets as old as its alarm wants: the sweep itself sees to that."""
    world.with_policy(observe_after={"tokens": 0})
    for _ in range(6):
        world.remember(f"Ann likes train {world.clock.now()}.")
        world.say("I like trains.", "Noted.")
        world.clock.move(minutes=20)
        swept = sweep(world, None)
        assert swept["embeddings"] and swept["passes"]
        line = json.loads(capsys.readouterr().out.splitlines()[-1])
        told = {name: line[name] for name in ("IndexMessagesResent", "PassesResent")}
        assert told == {"IndexMessagesResent": [swept["embeddings"]], "PassesResent": [swept["passes"]]}
        assert line["EmbeddingBacklogAgeSeconds"] < [3600.0]
        world.embed(world.taken(QueueName.INDEX) + world.taken(QueueName.EMBED))
