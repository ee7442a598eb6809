"""What is answered about a user between the acceptance of an erasure and its end: nothing but the erasure itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from neve.domain.errors import NeveError
from neve.domain.records.memories import Kind
from neve.store.idempotency import IdempotencyKey
from neve.usecases.core.jobs.read_jobs import get_job
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve.usecases.tell.requests.request_compaction import request_compaction
from neve.usecases.tell.requests.request_erasure import request_erasure
from tests.unit.world import World

KEY = IdempotencyKey("POST /v1/users/ann/memories", "k", "sha")


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World.make(tmp_path)
    world.open()
    world.say("One.", "Two.", "Three.", "Four.")
    return world


def test_only_the_erasures_own_job_is_shown(world: World) -> None:
    """That of a compaction holds what was said."""
    user = world.user()
    compaction = request_compaction(user.of_session("s1"), "manual", False, None)
    assert get_job(user, compaction.id).id == compaction.id
    erasure = request_erasure(user, close=False)
    with pytest.raises(NeveError, match="job_not_found"):
        get_job(user, compaction.id)
    assert get_job(user, erasure.id).kind == erasure.kind


def test_a_memory_is_not_shown_to_the_repeat_of_its_call(world: World) -> None:
    wanted = NewMemory("Keeps bees.", kind=Kind.NOTE)
    made = create_memory(world.user(), wanted, KEY)
    assert create_memory(world.user(), wanted, KEY).id == made.id
    request_erasure(world.user(), close=False)
    with pytest.raises(NeveError, match="memory_not_found"):
        create_memory(world.user(), wanted, KEY)
