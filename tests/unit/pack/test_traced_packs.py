"""A memory's trace names the pack versions that hold it, as far as a bounded look finds them."""

from __future__ import annotations

import pytest

from neve.usecases.ask.memories import trace_memory as tracing
from neve.usecases.ask.memories.trace_memory import trace_memory
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from tests.unit.world import World


def remember(world: World, text: str) -> str:
    return create_memory(world.user("ann"), NewMemory(text)).id


def test_each_version_that_holds_it_is_named_newest_first(world: World) -> None:
    tea = remember(world, "User drinks green tea")
    for session in ("s1", "s2"):
        world.open(session=session)
        read_pack(world.user("ann").of_session(session))
        world.clock.move(seconds=1)
    coffee = remember(world, "User gave up coffee")
    build_pack(world.user("ann").of_session("s1"), "horizon")
    named = [
        [(one.session_id, one.pack_version, one.trigger, one.layer) for one in trace_memory(world.user("ann"), i).packs]
        for i in (tea, coffee)
    ]
    assert named == [
        [("s1", 2, "horizon", "global"), ("s2", 1, "initial", "global"), ("s1", 1, "initial", "global")],
        [("s1", 2, "horizon", "global")],
    ]


def test_the_look_is_bounded(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    tea = remember(world, "User drinks green tea")
    for n in range(7):
        world.open(session=f"s{n}")
        read_pack(world.user("ann").of_session(f"s{n}"))
    monkeypatch.setattr(tracing, "MAX_PACKS", 5)
    trace = trace_memory(world.user("ann"), tea)
    assert (len(trace.packs), trace.more_packs) == (5, True)
    monkeypatch.setattr(tracing, "MAX_PACKS", 20)
    monkeypatch.setattr(tracing, "PAGE", 2)
    monkeypatch.setattr(tracing, "PACK_QUERIES", 2)
    world.table.calls.clear()
    trace = trace_memory(world.user("ann"), tea)
    assert (len(trace.packs), trace.more_packs) == (4, True)
    assert world.table.calls["query"] == 1 + 2, "one of recalls, and those of packs"
