"""How many port calls it takes to open a session again, and how many of them one after the other."""

from __future__ import annotations

import pytest

from neve.domain.records.markers import SessionMarker
from neve.scope import SessionData
from neve.store import rows
from neve.usecases.core.lag.memory_lag import leave_if_caught_up
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.tell.sessions.open_session import OpenedSession, OpenSession, open_session
from tests.unit.recall_world import RecallWorld

STEP_MS = 10


@pytest.fixture
def world(new_recall_world: RecallWorld) -> RecallWorld:
    new_recall_world.remember("likes tea")
    opened(new_recall_world)
    new_recall_world.say("hello", "hi")
    return new_recall_world


def opened(world: RecallWorld) -> OpenedSession:
    return open_session(world.user(), OpenSession("s1"))


def test_a_session_that_is_there_is_one_step(world: RecallWorld) -> None:
    world.rows.calls.clear()
    world.broken(f"table=slow:{STEP_MS}")
    again = opened(world)
    assert not again.created and again.pack.state == "ready" and again.view.head.last_seq == 2
    # its heads and its state; beside them who is behind and what recall cannot find, and how far who is
    assert dict(world.rows.calls) == {"get_many": 2, "query": 3}
    assert again.elapsed_ms == 2 * STEP_MS


def test_where_nobody_is_behind_it_is_one_step(world: RecallWorld) -> None:
    world.pump()
    keys = world.session.keys
    world.rows.write([rows.put_marker(keys, SessionMarker("s1", observed_seq=2, version=1))])
    leave_if_caught_up(SessionData(world, world.session.keys), world.clock.now())
    world.rows.calls.clear()
    world.broken(f"table=slow:{STEP_MS}")
    assert opened(world).view.lag.none
    assert dict(world.rows.calls) == {"get_many": 1, "query": 3}
    assert opened(world).elapsed_ms == STEP_MS


def test_its_pack_is_the_one_that_its_epoch_names(world: RecallWorld) -> None:
    before = opened(world)
    world.remember("likes milk")
    assert opened(world).pack.text == before.pack.text
    built = build_pack(world.session, "horizon").manifest
    again = opened(world)
    assert again.pack.manifest is not None and again.view.epoch.pack is not None
    assert again.pack.manifest.pack_version == again.view.epoch.pack.pack_version == built.pack_version
    assert "likes milk" in str(again.pack.text)
