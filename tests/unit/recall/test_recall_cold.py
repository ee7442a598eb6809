"""The first recall behind a start, of a user whose part of the index is loaded only then: two seconds for 100,000
memories, on one machine."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from local.engine.near_tasks import NearTasks
from local.engine.search.search_index import SqliteSearchIndex
from neve.adapters.clock import SystemClock
from neve.adapters.segments.segment import Segment
from neve.ports.search import Owner
from tests.unit.recall_world import RecallWorld

PATIENCE_S = 30.0


class Loading:
    """Of the index: holds whoever loads a user's part until ``over``. ``loads``: how often that was."""

    def __init__(self, index: SqliteSearchIndex) -> None:
        self.over, self.loaded = threading.Event(), threading.Event()
        self.loads = 0
        self._load = index._load
        index._load = self._held  # type: ignore[method-assign]

    def _held(self, owner: Owner) -> Segment:
        self.loads += 1
        self.over.wait(PATIENCE_S)
        segment = self._load(owner)
        self.loaded.set()
        return segment


@pytest.fixture
def world(new_recall_world: RecallWorld, tmp_path: Path) -> RecallWorld:
    """On the clock and the tasks of one machine, as behind a start."""
    new_recall_world.remember("Likes green tea.")
    new_recall_world.clock.move(days=1)
    new_recall_world.pump()
    new_recall_world.index.close()
    new_recall_world.index = SqliteSearchIndex(tmp_path / "search.db", new_recall_world.inner_embedder.model)
    new_recall_world.search = new_recall_world.index
    new_recall_world.clock = SystemClock()  # type: ignore[assignment]
    new_recall_world.tasks = NearTasks(new_recall_world.clock, lambda: False)  # type: ignore[assignment]
    return new_recall_world


def test_it_is_answered_in_its_time_and_the_next_one_finds_it_loaded(world: RecallWorld) -> None:
    loading = Loading(world.index)
    answer = world.ask("green tea", budget_ms=400)
    assert not loading.over.is_set() and not loading.loaded.is_set()
    assert (answer.result_state, answer.hits, answer.degraded) == ("not_searched", [], ["deadline"])
    assert "The time budget ran out" in answer.transparency[-1]
    loading.over.set()
    assert loading.loaded.wait(PATIENCE_S), "though nobody waits for it"
    answer = world.ask("green tea", budget_ms=10_000)
    assert (len(answer.hits), answer.degraded) == (1, [])
    assert loading.loads == 1
