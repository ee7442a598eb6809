"""A recall goes on without the one read that fails or is late, and names it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from local.controls.virtual_time import spend
from neve.ports.errors import StoreUnavailable
from neve.ports.table import Index, Key
from neve.usecases.ask.pack.read_pack import read_pack
from tests.unit.recall_world import RecallWorld

CAPYBARA = "Ann adopted a capybara"


def struck(world: RecallWorld, call: str, among: Callable[..., bool], *, slow_ms: int = 0) -> None:
    """Calls of the table that ``among`` knows fail, or take that long."""
    inner = getattr(world.rows, call)

    def instead(*given: Any, **named: Any) -> Any:
        if not among(*given, **named):
            return inner(*given, **named)
        if not slow_ms:
            raise StoreUnavailable("table", "throttled")
        spend(slow_ms)
        return inner(*given, **named)

    setattr(world.rows, call, instead)


def of_the_recent_index(*_: Any, index: Index = Index.MAIN, **__: Any) -> bool:
    return index is Index.RECENT


def of_a_pack(key: Key) -> bool:
    return "PACK" in key.sk


def of_a_log(partition: str, **_: Any) -> bool:
    return "#S#" in partition


@pytest.mark.parametrize(("slow_ms", "flag"), [(0, "recent:error"), (1_000, "recent:timeout")])
def test_what_the_index_has_is_found_without_the_rows_that_it_lacks(
    world: RecallWorld, slow_ms: int, flag: str
) -> None:
    indexed = world.remember(CAPYBARA)
    world.pump()
    new = world.remember("The capybara is called Bo")
    assert set(world.found("capybara")) == {indexed, new}
    struck(world, "query", of_the_recent_index, slow_ms=slow_ms)
    answer = world.ask("capybara")
    assert [hit.id for hit in answer.hits] == [indexed]
    assert {flag, "index:behind"} <= set(answer.degraded)
    assert answer.lag is not None and answer.lag.at_least
    assert any(line.startswith(f"{flag}: What is too new") for line in answer.transparency)


def test_rows_that_come_late_but_in_time_compete(world: RecallWorld) -> None:
    new = world.remember(CAPYBARA)
    struck(world, "query", of_the_recent_index, slow_ms=150)
    answer = world.ask("capybara", budget_ms=300)
    assert [hit.id for hit in answer.hits] == [new]
    assert "recent:timeout" not in answer.degraded


@pytest.mark.parametrize(("slow_ms", "flag"), [(0, "recent:error"), (1_000, "recent:timeout")])
def test_what_the_index_has_is_found_without_the_tail_of_the_session(
    world: RecallWorld, slow_ms: int, flag: str
) -> None:
    indexed = world.remember(CAPYBARA)
    world.pump()
    world.open()
    world.say("My capybara is called Bo")
    assert set(world.found("capybara", session_id="s1")) == {indexed, "evt:s1:1"}
    struck(world, "query", of_a_log, slow_ms=slow_ms)
    answer = world.ask("capybara", session_id="s1")
    assert ([hit.id for hit in answer.hits], flag in answer.degraded) == ([indexed], True)


@pytest.mark.parametrize(("slow_ms", "flag"), [(0, "pack:error"), (1_000, "pack:timeout")])
@pytest.mark.parametrize("kept", ["memory", "utterance"])
def test_hits_may_repeat_a_pack_that_cannot_be_read(world: RecallWorld, kept: str, slow_ms: int, flag: str) -> None:
    packed = world.remember(CAPYBARA)
    world.open()
    assert read_pack(world.session).state == "ready"
    if kept == "utterance":
        world.open("s2")
        world.say("A capybara eats grass", session="s2")
    world.pump()
    world.forget()
    struck(world, "get", of_a_pack, slow_ms=slow_ms)
    answer = world.ask("capybara", session_id="s1")
    assert [hit.id for hit in answer.hits if hit.id == packed] == [packed]
    assert answer.degraded == [flag]
    assert ("evt:s2:1" in [hit.id for hit in answer.hits]) == (kept == "utterance")


def test_a_manifest_that_this_version_cannot_read_takes_no_hit_with_it(world: RecallWorld) -> None:
    packed = world.remember(CAPYBARA)
    world.open()
    assert read_pack(world.session).state == "ready"
    world.pump()
    world.forget()
    read = world.rows.get
    world.rows.get = lambda key: {"type": "hologram"} if of_a_pack(key) else read(key)  # type: ignore[method-assign]
    answer = world.ask("capybara", session_id="s1")
    assert ([hit.id for hit in answer.hits], answer.degraded) == ([packed], ["pack:error"])


@pytest.mark.parametrize("indexed", [True, False])
def test_a_row_that_this_version_cannot_read_takes_no_other_hit_with_it(world: RecallWorld, indexed: bool) -> None:
    good, bad = world.remember(CAPYBARA), world.remember("The capybara is called Bo")
    if indexed:
        world.pump()
    key = world.tenant.keys.of_user("ann").memory(bad)
    reads = world.rows.get_many, world.rows.query

    def unknown(item: dict[str, Any]) -> dict[str, Any]:
        return item | {"kind": "hologram"} if item.get("id") == bad else item

    def get_many(keys: Any, **how: Any) -> Any:
        return {k: unknown(i) for k, i in reads[0](keys, **how).items()}

    def query(*given: Any, **named: Any) -> Any:
        page = reads[1](*given, **named)
        return type(page)([unknown(item) for item in page.items], page.cursor)

    world.rows.get_many = get_many  # type: ignore[method-assign]
    world.rows.query = query  # type: ignore[method-assign]
    assert key in world.rows.get_many([key])
    answer = world.ask("capybara", debug=True)
    assert [hit.id for hit in answer.hits] == [good]
    assert answer.degraded == ["hydrate:unreadable"]
    assert answer.debug is not None and {"id": bad, "reason": "unreadable"} in [
        {"id": one["id"], "reason": one["reason"]} for one in answer.debug["dropped"]
    ]
