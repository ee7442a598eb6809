"""What a recall says of what nobody could find yet: it never decides over what was found
(docs/rules/indexing.md#lag)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from neve.domain.records.memories import Kind
from neve.ports.errors import StoreUnavailable
from neve.ports.table import Index, Item, Key
from neve.usecases.ask.recall.command import RecallFilters
from neve.usecases.ask.recall.stages import reads
from neve.usecases.core.lag import memory_lag
from neve.usecases.core.lag.memory_lag import MemoryLag
from neve.usecases.tell.memories.import_memories import ImportedRow, import_memories
from tests.unit.recall_world import RecallWorld


@pytest.fixture
def world(new_recall_world: RecallWorld) -> RecallWorld:
    """Ann's one memory is indexed, and an utterance of another session is not."""
    new_recall_world.remember("Mary drinks oolong tea")
    new_recall_world.pump()
    new_recall_world.open("s2")
    new_recall_world.say("I adopted a capybara", session="s2")
    return new_recall_world


def imported(world: RecallWorld, count: int) -> None:
    lines = [ImportedRow(f"zebra{n} is striped", Kind.NOTE, id=f"row{n}") for n in range(count)]
    import_memories(world.user(), lines)


def slowed(world: RecallWorld, monkeypatch: pytest.MonkeyPatch, ms: int, *, prefix: str | None) -> None:
    """Queries of what lacks something take so long; the new rows are those with a prefix."""
    query = world.rows.query

    def slow(partition: str, **asked: Any) -> Any:
        if asked.get("index") is Index.RECENT and asked.get("prefix") == prefix:
            world.clock.sleep(ms / 1000)
        return query(partition, **asked)

    monkeypatch.setattr(world.rows, "query", slow)


# --- hits ---------------------------------------------------------------------------------------


def test_a_lag_that_is_late_costs_no_hit(world: RecallWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    slowed(world, monkeypatch, 5_000, prefix=None)
    world.clock.move(seconds=7)
    answer = world.ask("oolong", legs=("lexical",))
    assert len(answer.hits) == 1 and (answer.result_state, answer.degraded) == ("found", ["index:behind"])
    assert answer.lag == MemoryLag(1, 1, 1, 0, 7, at_least=True), "as far as it is known"
    assert answer.elapsed_ms <= 300


def test_a_lag_that_cannot_be_read_costs_no_hit(world: RecallWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> MemoryLag:
        raise StoreUnavailable("table", "throttled")

    monkeypatch.setattr(reads, "user_lag", fail)
    answer = world.ask("oolong", legs=("lexical",))
    assert len(answer.hits) == 1 and answer.degraded == ["index:behind"]
    assert answer.lag == MemoryLag(1, 1, 1, 0, 0, at_least=True)


def test_sessions_that_there_is_no_time_to_look_at_may_be_behind(
    world: RecallWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(*_: object) -> None:
        world.clock.sleep(9)

    world.pump()
    monkeypatch.setattr(reads, "_missed_elsewhere", late)
    world.ask("oolong")  # the question's vector is known from here on
    answer = world.ask("oolong")
    assert answer.degraded[-1] == "index:behind" and answer.lag is not None


def test_sessions_that_cannot_be_looked_at_may_be_behind_and_cost_no_hit(world: RecallWorld) -> None:
    """The index of what is behind is shared with other users, whose reads may throttle it."""
    world.pump()
    world.faults.replace([{"target": "table", "fault": "error", "match": "DUE#behind"}])
    answer = world.ask("oolong")
    assert [hit.text for hit in answer.hits] == ["Mary drinks oolong tea"]
    assert answer.degraded == ["index:behind"] and answer.lag == MemoryLag(at_least=True)


def test_a_slow_look_at_other_sessions_costs_no_hit(world: RecallWorld) -> None:
    world.pump()
    look = {"target": "table", "fault": "slow:5000", "match": "DUE#behind"}
    world.faults.replace([look, {"target": "lexical", "fault": "slow:20"}])
    answer = world.ask("oolong", legs=("lexical",))
    assert [hit.text for hit in answer.hits] == ["Mary drinks oolong tea"]
    assert answer.degraded == ["index:behind"] and answer.elapsed_ms <= 300


@pytest.mark.parametrize(
    "filters",
    [
        RecallFilters(kind="note"),
        RecallFilters(tier="semantic"),
        RecallFilters(category="PERSON"),
        RecallFilters(group="g"),
        RecallFilters(tags=("x",)),
        RecallFilters(path_prefix="/projects"),
    ],
)
def test_utterances_that_no_filter_lets_pass_are_not_missed(world: RecallWorld, filters: RecallFilters) -> None:
    assert world.ask("capybara", filters=filters).degraded == []
    world.say(*["hm"] * 60, session="s2")
    assert world.ask("capybara", filters=filters, session_id="s2").degraded == []


@pytest.mark.parametrize("query", ["thanks!", " "])
def test_nothing_is_missed_where_nothing_is_looked_for(world: RecallWorld, query: str) -> None:
    imported(world, 201)
    answer = world.ask(query)
    assert (answer.result_state, answer.degraded, answer.lag) == ("none", [], None)


@pytest.mark.parametrize("filters", [RecallFilters(kind="event"), RecallFilters(tier="episodic")])
def test_utterances_that_a_filter_is_for_are_missed(world: RecallWorld, filters: RecallFilters) -> None:
    assert world.ask("capybara", filters=filters).degraded == ["index:behind"]


# --- what is counted ----------------------------------------------------------------------------


def test_a_recall_reads_two_rows_of_every_session_that_is_behind(
    world: RecallWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.pump()
    read, batches = world.rows.get_many, list[list[Key]]()

    def noting(keys: Sequence[Key], **how: Any) -> dict[Key, Item]:
        batches.append(list(keys))
        found: dict[Key, Item] = read(keys, **how)
        return found

    monkeypatch.setattr(world.rows, "get_many", noting)
    assert world.ask("oolong").degraded == []
    keys = world.user().of_session("s2").keys
    assert [keys.session_head, keys.indexed] in batches
    assert not any(keys.marker in batch for batch in batches)


def test_more_sessions_than_are_looked_at_may_be_behind(world: RecallWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    world.pump()
    world.open("s3")
    world.say("hi", session="s3")
    world.pump()
    assert world.ask("oolong").degraded == []
    monkeypatch.setattr(memory_lag, "MAX_SESSIONS", 1)
    answer = world.ask("oolong")
    assert (answer.degraded, answer.lag) == (["index:behind"], MemoryLag(at_least=True))
