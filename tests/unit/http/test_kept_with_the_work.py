"""The answer to an Idempotency-Key that is kept in the transaction of the work: what a call did that died behind that
transaction is not done again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from functions.admin.app import router as admin
from functions.records.app import router as records
from local.controls.fixture_embedder import FixtureEmbedder
from local.engine.search.search_index import SqliteSearchIndex
from neve.domain.memories.storage_decision import FactCandidate
from neve.domain.records.memories import Provenance
from neve.http.router import Router
from neve.ports.errors import StoreUnavailable
from neve.ports.table import WriteOp
from neve.store.partitions import all_rows
from neve.store.rows import read_head
from neve.usecases.ask.memories.list_memories import get_memory
from neve.usecases.core.jobs.carry_on import carry_on
from neve.usecases.core.jobs.queued_jobs import ERASURE, EXPORT
from neve.usecases.tell.memories.create_memory import WAIT_MS
from neve.usecases.tell.memories.delete_memory import delete_memory
from neve.usecases.tell.memories.store_fact import store_fact
from neve.usecases.work.erase.erase_user import SETTLE_S
from neve.usecases.work.erase.run_erasure import erase_next
from tests.unit.api_world import Api, Reply, installed
from tests.unit.world import World

MEMORIES = "/v1/users/{user_id}/memories"
LIVES = {"text": "I live in Lisbon.", "kind": "fact", "category": "PLACE"}
THREE = {"text": "I live in Lisbon. I keep bees. I like fado.", "kind": "fact", "category": "PLACE"}


class Died(BaseException):
    """Not an Exception: nothing gets to clean up."""


@dataclass(frozen=True)
class Once:
    """A call that its own repeat would find changed. ``about``: what it needs, made before; its id."""

    method: str
    resource: str
    body: Mapping[str, Any]
    about: Callable[[World], str] = lambda _: ""
    headers: Mapping[str, str] = field(default_factory=dict)
    query: str = ""
    router: Router = records

    def call(self, identifier: str, key: str | None = "k") -> Reply:
        ids = {name: identifier for name in ("memory_id", "item_id") if name in self.resource}
        ids |= {"user_id": "ann"} if "user_id" in self.resource else {}
        headers = dict(self.headers) | ({"Idempotency-Key": key} if key else {})
        return Api(self.router).call(self.method, self.resource, self.body, query=self.query, headers=headers, **ids)


def note(_: World) -> str:
    made = Api(records).call("POST", MEMORIES, {"text": "Keeps bees.", "kind": "note"}, user_id="ann")
    return str(made.json["id"])


def guess(world: World) -> str:
    """An assistant's, which waits."""
    candidate = FactCandidate("The user likes jazz.", "PREFERENCE", Provenance("assistant", "s1"))
    stored = store_fact(world.user(), candidate, via="librarian")
    assert stored.memory is not None
    return stored.memory.id


CALLS = {
    "fact": Once("POST", MEMORIES, LIVES),
    "facts": Once("POST", MEMORIES, THREE, query="split=true"),
    "patch": Once("PATCH", f"{MEMORIES}/{{memory_id}}", {"text": "Keeps ducks."}, note, {"If-Match": '"1"'}),
    "evolve": Once("POST", f"{MEMORIES}/{{memory_id}}/evolve", {"text": "Keeps ducks.", "reason": "Said so."}, note),
    "approve": Once("POST", "/v1/users/{user_id}/inbox/{item_id}/approve", {}, guess),
    "policy": Once("PUT", "/v1/policy", {"recall_limit": 3}, headers={"If-Match": '"1"'}, router=admin),
}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    for made in installed(World.make(tmp_path)):
        made.open()
        made.say("One.", "Two.")
        yield made


def dies_behind(world: World, write: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process, when its table has done so many writes from now on."""
    real, left = world.table.write, [write]

    def counted(ops: Sequence[WriteOp]) -> None:
        real(ops)
        left[0] -= 1
        if left[0] == 0:
            monkeypatch.setattr(world.table, "write", real)
            raise Died

    monkeypatch.setattr(world.table, "write", counted)


@pytest.mark.parametrize("once", CALLS.values(), ids=CALLS)
def test_what_was_done_by_a_call_that_died_is_not_done_again(
    world: World, once: Once, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = once.about(world)
    dies_behind(world, 2, monkeypatch)  # the claim, and the work
    with pytest.raises(Died):
        once.call(about)
    world.clock.move(seconds=61)
    first, again = once.call(about), once.call(about)
    assert first.status in (200, 201), first.text
    assert first.text == again.text
    identifiers = [one["id"] for one in first.json.get("facts", [first.json]) if "id" in one]
    kept = [get_memory(world.user(), identifier) for identifier in identifiers]
    assert {(one.occurrences, one.rev) for one in kept} <= {(1, 1), (1, 2)}, "nothing was counted or changed twice"


@pytest.mark.parametrize("once", CALLS.values(), ids=CALLS)
def test_what_died_before_its_work_is_done_by_the_repeat(
    world: World, once: Once, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = once.about(world)
    dies_behind(world, 1, monkeypatch)  # the claim
    with pytest.raises(Died):
        once.call(about)
    assert once.call(about).json["code"] == "idempotency_in_progress"
    world.clock.move(seconds=61)
    made = once.call(about)
    assert made.status in (200, 201), made.text
    assert once.call(about).text == made.text


@pytest.mark.parametrize("once", CALLS.values(), ids=CALLS)
def test_a_lost_response_of_the_store_is_no_lost_record(world: World, once: Once) -> None:
    """The adapter sends the transaction again, and is told that it conflicts with itself."""
    about = once.about(world)
    world.table.before_write = lambda: setattr(world.table, "before_write", lose)  # behind the claim

    def lose() -> None:
        world.table.lose_response = True

    made = once.call(about)
    assert made.status in (200, 201), made.text
    assert once.call(about).text == made.text


def test_what_a_reworded_memory_leaves_elsewhere_is_kept_behind_the_work(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = CALLS["patch"]
    about = once.about(world)
    made = once.call(about)
    assert made.json["also_in_complete"] is True
    assert once.call(about).text == made.text
    other = once.about(world)
    real, writes = world.table.write, list[int]()

    def without_the_third(ops: Sequence[WriteOp]) -> None:
        writes.append(len(ops))
        if len(writes) == 3:
            raise StoreUnavailable("table", "throttled")
        real(ops)

    monkeypatch.setattr(world.table, "write", without_the_third)
    assert once.call(other).json["also_in_complete"] is True
    repeat = once.call(other)
    assert repeat.status == 200
    assert repeat.json["rev"] == 2
    assert "also_in_complete" not in repeat.json, "the first answer as the transaction had it"


def test_a_change_that_changes_nothing_is_answered_again(world: World) -> None:
    same = Once("PATCH", f"{MEMORIES}/{{memory_id}}", {"text": "Keeps bees."})
    about = note(world)
    made, again = same.call(about), same.call(about)
    assert (made.status, made.text) == (again.status, again.text)
    assert made.json["rev"] == 1


@pytest.mark.parametrize("name", ["fact", "patch", "evolve", "policy"])
def test_a_repeat_has_the_tag_of_the_first_answer(world: World, name: str) -> None:
    once = CALLS[name]
    about = once.about(world)
    made, again = once.call(about), once.call(about)
    assert made.headers["ETag"] == f'"{made.json["rev"]}"'
    assert again.headers.get("ETag") == made.headers["ETag"]


@pytest.mark.parametrize("name", ["fact", "facts", "evolve"])
def test_no_text_of_a_memory_is_kept_that_may_be_deleted_before_the_day_is_over(world: World, name: str) -> None:
    """The answer to a PATCH is found by its path, and goes with the memory; these name no memory, or another one."""
    once = CALLS[name]
    about = once.about(world)
    made = once.call(about).json
    [made] = made["facts"][:1] if "facts" in made else [made]
    kept = list(all_rows(world.table, world.tenant.keys.answers))
    assert len(kept) == 1
    assert made["id"] in kept[0]["reply"]
    assert made["text"] not in kept[0]["reply"]
    delete_memory(world.user(), made["id"], None)
    assert once.call(about).json["code"] == "memory_not_found"


def test_a_fact_that_was_not_kept_is_answered_again(world: World) -> None:
    small = Once("POST", MEMORIES, {"text": "I live in Lisbon.", "kind": "fact", "category": "PLACE", "importance": 1})
    made = small.call("")
    assert (made.status, made.json["decision"]) == (200, "rejected")
    assert small.call("").text == made.text


@pytest.mark.parametrize("key", ["k", None])
def test_a_call_waits_for_all_its_vectors_together_as_long_as_for_one(world: World, key: str | None) -> None:
    once = Once("POST", MEMORIES, THREE, query="split=true&wait=embedded")
    made = once.call("", key)
    assert made.status == 201, made.text
    assert len(made.json["facts"]) == 3
    assert round(sum(world.clock.slept), 1) == WAIT_MS / 1000


JOBS = {
    "erasure": Once("DELETE", "/v1/users/{user_id}", {}, router=admin),
    "export": Once("POST", "/v1/users/{user_id}/export", {}, router=admin),
}


def jobs_of(world: World) -> list[str]:
    return [item["id"] for item in all_rows(world.table, world.tenant.keys.jobs) if item["kind"] in (ERASURE, EXPORT)]


@pytest.fixture
def erasable(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """With an index, which an erasure looks through."""
    index = SqliteSearchIndex(tmp_path / "search.db", FixtureEmbedder().model)
    monkeypatch.setattr(World, "search", index)
    yield world
    index.close()


@pytest.mark.parametrize("once", JOBS.values(), ids=JOBS)
def test_a_job_that_was_asked_for_by_a_call_that_died_is_not_asked_for_again(
    erasable: World, once: Once, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever spoke again behind an erasure would lose that, too."""
    world = erasable
    dies_behind(world, 2, monkeypatch)  # the claim, and the job
    with pytest.raises(Died):
        once.call("")
    [job] = jobs_of(world)
    if once is JOBS["erasure"]:
        for _ in range(2):
            carry_on(world.user(), ERASURE, job, erase_next)
            world.clock.move(seconds=SETTLE_S)
        world.open()
        world.say("I came back.")
    world.clock.move(seconds=SETTLE_S)
    first, again = once.call(""), once.call("")
    assert first.status == 202, first.text
    assert first.text == again.text
    assert jobs_of(world) == [job] == [first.json["id"]]
    assert read_head(world.table.get(world.user().keys.head)).state == "active"
