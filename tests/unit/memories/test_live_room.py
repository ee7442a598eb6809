"""A session's live list is one row: what has no room in it is refused before it is written, and its passes go on
(docs/rules/memories.md#live-list)."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from functions.records.app import router
from neve.adapters.table_rules import item_size
from neve.domain.errors import NeveError
from neve.domain.memories.storage_decision import FactCandidate
from neve.domain.observe.facts import ProposedFact
from neve.domain.records.markers import LiveRow, SessionMarker
from neve.domain.records.memories import Kind, Provenance, Scope, Status
from neve.store import rows
from neve.store.keys import UserKeys
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve.usecases.tell.memories.evolve_memory import Evolution, evolve_memory
from neve.usecases.tell.memories.import_memories import ImportedRow, import_memories
from neve.usecases.tell.memories.store_fact import store_fact
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.reflect.reflect_session import EARLY_ROWS, reflect_session
from tests.unit.api_world import Api, installed
from tests.unit.http.test_http_import import sent
from tests.unit.world import World, observed_line

DRAWN = random.Random(7)
OF_CALLERS, OF_PASSES = 5_700, 6_450
"""So many rows with ids of 64 drawn characters have more than the one bound, and than the other."""


@pytest.fixture
def api(world: World) -> Iterator[Api]:
    for _ in installed(world):
        yield Api(router)


def drawn_id() -> str:
    return "".join(DRAWN.choices(string.ascii_letters + string.digits + "-_", k=64))


def marker(world: World) -> SessionMarker:
    item = world.table.get(world.user().of_session("s1").keys.marker)
    assert item is not None
    return rows.read_marker(item)


def fill(world: World, count: int, *kept: LiveRow) -> None:
    live = tuple(LiveRow(drawn_id(), Kind.NOTE, n % 1_000) for n in range(count))
    world.table.write([rows.put_marker(world.user().keys, replace(marker(world), live=(*kept, *live)))])


def note(**more: object) -> NewMemory:
    return NewMemory("User keeps bees.", kind=Kind.NOTE, session_id="s1", **more)  # type: ignore[arg-type]


def candidate(text: str) -> FactCandidate:
    return FactCandidate(text, "PLACE", Provenance("user_stated", "s1"), importance=3)


@pytest.mark.parametrize(
    "write",
    [
        lambda world: create_memory(world.user(), note()),
        lambda world: store_fact(world.user(), candidate("User lives in Lyon."), via="api"),
    ],
    ids=["a note", "a fact"],
)
def test_a_memory_that_its_session_has_no_room_for_is_refused(world: World, write: Callable[[World], object]) -> None:
    fill(world, OF_CALLERS)
    before = marker(world)
    with pytest.raises(NeveError) as refused:
        write(world)
    assert refused.value.code == "validation_failed"
    assert [error.field for error in refused.value.errors] == ["session_id"]
    assert refused.value.metrics == {"LiveRowsRefused": 1}
    assert (marker(world), world.memories()) == (before, [])
    assert create_memory(world.user(), note(scope=Scope.GLOBAL)).session_id == "s1", "this one is in no such list"


def test_what_takes_the_place_of_another_still_has_room(world: World) -> None:
    old = create_memory(world.user(), note())
    fill(world, OF_CALLERS, LiveRow(old.id, old.kind, old.tokens))
    new = evolve_memory(world.user(), old.id, Evolution("User keeps hens.", "they said so"))
    assert marker(world).live[-1].id == new.id


def test_an_import_names_the_lines_that_a_full_session_has_no_room_for(
    api: Api, world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(world, OF_CALLERS)
    world.open(session="s2")
    own = {"kind": "note", "scope": "session", "text": "User keeps bees."}
    lines = [
        own | {"id": "a", "session_id": "s1"},
        own | {"id": "b", "session_id": "s2"},
        own | {"id": "a", "session_id": "s1"},
        {"wrong": 1},
        own | {"id": "c", "session_id": "s1", "status": "superseded"},
        own | {"id": "d", "session_id": "s1", "kind": "fact", "category": "PLACE"},
    ]
    raw = "\n".join(map(json.dumps, lines)).encode()
    answer = sent(api, raw).json
    assert (answer["imported"], answer["unchanged"]) == (["b", "c"], [])
    assert [one["line"] for one in answer["rejected"]] == [1, 3, 4, 6]
    assert answer["rejected"][0]["errors"][0]["field"] == "lines[1].session_id"
    assert '"LiveRowsRefused":[3.0]' in capsys.readouterr().out
    assert {memory.id for memory in world.memories()} == {"b", "c"}
    alone = sent(api, json.dumps(lines[0]).encode())
    assert (alone.status, alone.json["errors"][0]["field"]) == (422, "lines[1].session_id")


def test_an_import_takes_as_many_lines_as_there_is_room_for(world: World) -> None:
    """And never more, however many calls it takes."""
    fill(world, OF_CALLERS - 150)
    room, refused = 0, 0
    for _ in range(3):
        lines = [
            ImportedRow(text=f"User keeps bees {n}.", kind=Kind.NOTE, id=drawn_id(), session_id="s1") for n in range(48)
        ]
        report = import_memories(world.user(), lines)
        room, refused = room + len(report.imported), refused + len(report.no_room)
    assert room > 0 and refused > 0 and room + refused == 144
    item = world.table.get(world.user().of_session("s1").keys.marker)
    assert item is not None and rows.live_bytes(item) <= rows.LIVE_BYTES


def test_a_full_session_is_still_observed_and_says_what_it_leaves_out(world: World) -> None:
    fill(world, OF_PASSES)
    world.say("I live in Lyon", "ok")
    told = ProposedFact("User lives in Lyon.", "PLACE", 3, "user_stated", "new", seq_from=1, seq_to=1)
    world.observer.answers = [observed_line("🟡 User lives in Lyon", 1, 2, facts=(told,))]
    report = observe_session(world.user().of_session("s1"), 1)
    assert (report.passes, len(report.written), report.observed_seq) == (1, 1, 2)
    assert (report.facts, report.result()["facts_left_out"]) == ([], 1)
    assert report.unreported_facts()["left_out"] == 1, "the worker logs and counts it"
    assert marker(world).lease_until is None


def test_a_pass_whose_facts_have_no_room_and_that_says_nothing_else_moves_on(world: World) -> None:
    fill(world, OF_PASSES)
    world.say("I live in Lyon", "ok")
    told = ProposedFact("User lives in Lyon.", "PLACE", 3, "user_stated", "new", seq_from=1, seq_to=1)
    world.observer.answers = [replace(observed_line("", 1, 2), has_memory=False, lines=(), facts=(told,))]
    report = observe_session(world.user().of_session("s1"), 1)
    assert (report.observed_seq, report.facts_left_out) == (2, 1)


def test_many_small_observations_of_a_full_session_are_folded_before_their_trigger(world: World) -> None:
    texts = [f"🟡 User likes tea number {n}" for n in range(EARLY_ROWS)]
    import_memories(
        world.user(),
        [ImportedRow(text=text, kind=Kind.OBSERVATION, id=f"o{n}", session_id="s1") for n, text in enumerate(texts)],
    )
    assert reflect_session(world.user().of_session("s1"), 1) == [], "there is room, and the trigger is far"
    fill(world, OF_CALLERS, *marker(world).live)
    [folded] = reflect_session(world.user().of_session("s1"), 1)
    live = marker(world).live
    assert [row.id for row in live if row.kind is not Kind.NOTE] == [folded]
    assert world.memory("o0").status is Status.SUPERSEDED
    shown = world.observer.reflected[-1]
    assert shown.target_tokens <= sum(world.memory(f"o{n}").tokens for n in range(EARLY_ROWS)) // 2


IDS = st.text("abcXYZ019-_", min_size=1, max_size=64)
LIVE = st.lists(st.builds(LiveRow, IDS, st.sampled_from(Kind), st.integers(0, 10**6)), max_size=40)


@settings(max_examples=60)
@given(LIVE, LIVE)
def test_what_has_room_is_never_more_than_was_counted(before: list[LiveRow], added: list[LiveRow]) -> None:
    keys = UserKeys("acme", "ann")
    item = rows.put_marker(keys, SessionMarker("s1", live=tuple(before))).item
    after = rows.put_marker(keys, SessionMarker("s1", live=(*before, *added))).item
    counted = rows.live_bytes(item) + rows.live_bytes(rows.put_marker(keys, SessionMarker("s1")).item)
    for most in (rows.live_bytes(after) - 64, counted):
        if rows.has_live_room(item, added, most):
            assert rows.live_bytes(after) <= most + 64


def test_the_row_has_room_for_the_lease_and_all_else_beside_a_full_list(world: World) -> None:
    fill(world, OF_PASSES)
    full = replace(
        marker(world),
        lease_token=10**6,
        last_pass=drawn_id(),
        current_task="x" * 2_000,
        suggested_continuation="x" * 2_000,
        thread_title="x" * 2_000,
        retold=tuple(drawn_id() for _ in range(40)),
        retracted=tuple((n, n + 1) for n in range(0, 2_000, 3)),
    )
    assert rows.LIVE_BYTES_OF_PASSES < item_size(rows.put_marker(world.user().keys, full).item) < 390_000
