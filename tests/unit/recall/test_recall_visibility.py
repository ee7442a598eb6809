"""What recall must never answer with: another user's rows, rows that are gone, replaced or filtered, whatever the index
still says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from neve.domain.errors import NeveError
from neve.domain.indexing.passage import Source
from neve.domain.records.memories import Kind, Provenance, Scope, Status, Tier
from neve.store import rows
from neve.store.memories import memories_of
from neve.usecases.ask.recall.command import RecallFilters
from neve.usecases.core.memories.replace_rows import Replacement, replace_rows
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from tests.unit.domain_rows import memory
from tests.unit.recall_world import RecallWorld

TEXT = "User's sister is named Mary"


@pytest.mark.parametrize("before", [Status.SUPERSEDED, Status.INBOX])
def test_what_holds_is_no_repeat_of_the_same_words_that_do_not(world: RecallWorld, before: Status) -> None:
    """Who moved to Lyon and back lives in Paris."""
    earlier = world.remember("User lives in Paris")
    world.change(earlier, status=before, rev=2, rev_at=world.ago())
    now = world.remember("User lives in Paris")
    for _ in ("new", "indexed"):
        answer = world.ask("lives Paris", include_superseded=True, include_inbox=True, debug=True)
        assert [(hit.id, hit.status) for hit in answer.hits] == [(now, "active")]
        assert answer.debug is not None
        assert answer.debug["dropped"] == [{"id": earlier, "reason": "repeats_another"}]
        world.pump()


def test_a_superseded_row_keeps_its_vectors_for_whoever_asks(world: RecallWorld) -> None:
    mary = world.remember(TEXT)
    world.pump()
    made = len(world.calls.entries("embed"))
    world.change(mary, status=Status.SUPERSEDED, rev=2, rev_at=world.ago(seconds=0))
    world.pump()
    assert len(world.calls.entries("embed")) == made
    assert world.found("my sibling's name", include_superseded=True) == [mary]


# --- replacements -------------------------------------------------------------------------------


def replaceable(world: RecallWorld) -> tuple[str, Replacement]:
    world.open("s1")
    old = world.remember(TEXT, session_id="s1", kind=Kind.OBSERVATION)
    new = memory("User's sister Mary moved to Cork", id="mem_NEW", session_id="s1", version=0, created_at=world.ago())
    [source] = memories_of(world.rows, world.user("ann").keys, [old])
    return old, Replacement((new,), (source,), "reflected", "s1")


def test_a_replacement_is_seen_whole(world: RecallWorld) -> None:
    old, replacement = replaceable(world)
    world.pump()
    replace_rows(world.user("ann").of_session("s1"), 1, replacement)
    assert world.found("sister Mary") == [], "the new row is older than 120 s and not in the index yet"
    world.pump()
    assert world.found("sister Mary") == ["mem_NEW"]
    assert set(world.found("sister Mary", include_superseded=True)) == {old, "mem_NEW"}


def test_a_row_of_the_coming_generation_is_not_seen_and_a_dying_one_is(world: RecallWorld) -> None:
    """docs/rules/values.md#generation: gen 4 sees (born 1), (born 1, died 5); from the flip on (born 1), (born 5)."""
    world.open()
    for name, born, died in (("P", 1, None), ("Q", 1, 5), ("R", 5, None)):
        world.store(memory(f"Mary {name}", id=f"mem_{name}", born_gen=born, died_gen=died, scope=Scope.GLOBAL))
    world.pump()
    at_generation(world, 4)
    assert sorted(world.found("Mary")) == ["mem_P", "mem_Q"]
    at_generation(world, 5)
    assert sorted(world.found("Mary")) == ["mem_P", "mem_R"]
    hits = world.ask("Mary", include_superseded=True).hits
    assert {hit.id: hit.status for hit in hits} == {"mem_P": "active", "mem_Q": "superseded", "mem_R": "active"}


def at_generation(world: RecallWorld, gen: int) -> None:
    keys = world.tenant.keys
    head = rows.read_head(world.rows.get(keys.of_user("ann").head))
    world.rows.write([rows.put_head(keys.of_user("ann"), replace(head, gen=gen))])


def test_rows_are_judged_by_the_generation_that_was_read_with_them(world: RecallWorld) -> None:
    world.store(memory("Mary the elder", id="mem_OLD", died_gen=2))
    world.store(memory("Mary the younger", id="mem_NEW", born_gen=2))
    world.remember("unrelated")
    world.pump()
    read = world.rows.get_many
    flipped: list[bool] = []

    def flip_before_hydration(keys: Any, **how: Any) -> Any:
        if len(keys) > 1 and not flipped:
            flipped.append(True)
            at_generation(world, 2)
        return read(keys, **how)

    world.rows.get_many = flip_before_hydration  # type: ignore[method-assign]
    assert world.found("Mary") == ["mem_NEW"]
    assert flipped


# --- users who come and go ----------------------------------------------------------------------


def with_head(world: RecallWorld, **fields: Any) -> None:
    keys = world.tenant.keys
    head = rows.read_head(world.rows.get(keys.of_user("ann").head))
    world.rows.write([rows.put_head(keys.of_user("ann"), replace(head, **fields))])


def test_a_user_who_is_being_erased_has_nothing(world: RecallWorld) -> None:
    world.remember(TEXT)
    world.pump()
    with_head(world, state="erasing", incarnation=2)
    answer = world.ask("sister Mary")
    assert (answer.hits, answer.result_state, answer.degraded) == ([], "none", [])
    assert answer.recall_id is None
    assert world.rows.query(world.user().keys.ledger, limit=1).items == [], "it might come behind the last look"


def test_a_closed_user_is_gone(world: RecallWorld) -> None:
    world.remember(TEXT)
    with_head(world, state="closed")
    with pytest.raises(NeveError) as refused:
        world.ask("sister Mary")
    assert refused.value.code == "user_closed"


@pytest.mark.parametrize("moved", [{"state": "erasing"}, {"state": "closed"}, {"incarnation": 2}])
def test_a_user_who_goes_while_the_legs_are_read_has_nothing(world: RecallWorld, moved: dict[str, Any]) -> None:
    world.open()
    world.say("my sister Mary lives in Cork")
    world.pump()
    read, event_key = world.rows.get_many, world.user().of_session("s1").keys.event(1)

    def move_before_hydration(keys: Any, **how: Any) -> Any:
        if event_key in keys:
            world.rows.get_many = read  # type: ignore[method-assign]
            with_head(world, **moved)
        return read(keys, **how)

    world.rows.get_many = move_before_hydration  # type: ignore[method-assign]
    if moved.get("state") == "closed":
        with pytest.raises(NeveError, match="closed"):
            world.ask("sister Mary")
    else:
        answer = world.ask("sister Mary")
        assert (answer.hits, answer.degraded) == ([], [])
        assert (answer.recall_id is None) == ("state" in moved)


def test_what_an_earlier_incarnation_said_is_not_found(world: RecallWorld) -> None:
    world.open()
    world.say("my sister Mary lives in Cork")
    world.pump()
    assert world.found("sister Mary") == ["evt:s1:1"]
    with_head(world, incarnation=2)
    assert world.found("sister Mary") == []


def test_the_first_message_that_is_taken_back_is_not_found_by_a_search_under_way(world: RecallWorld) -> None:
    """Until then nobody asks the user's sessions what they have taken back."""
    world.open()
    world.say("my sister Mary lives in Cork", "Noted.")
    world.pump()
    session = world.user().of_session("s1")
    read, event_key = world.rows.get_many, session.keys.event(1)

    def take_back_before_hydration(keys: Any, **how: Any) -> Any:
        if event_key in keys:
            world.rows.get_many = read  # type: ignore[method-assign]
            retract_events(session, Retract(1, 1, "deleted"))
        return read(keys, **how)

    world.rows.get_many = take_back_before_hydration  # type: ignore[method-assign]
    assert world.found("sister Mary") == []


@pytest.mark.parametrize(
    ("reason", "last", "changed", "found"),
    [
        ("edited", 2, {}, False),
        ("edited", 3, {}, False),
        ("edited", 3, {"kind": Kind.FACT}, False),
        ("edited", 2, {"kind": Kind.FACT}, False),
        ("deleted", 3, {"kind": Kind.FACT}, False),
        ("edited", 3, {"person_at": "2026-03-10T10:00:00.000Z", "by": "human_edit"}, True),
        ("edited", 2, {"first": 3}, True),
    ],
)
def test_what_was_made_of_a_message_leaves_recall_with_it(
    world: RecallWorld, reason: Any, last: int, changed: dict[str, Any], found: bool
) -> None:
    """Before any worker has come to the job (docs/rules/retract.md#seen)."""
    world.open()
    world.say("one", "two", "three")
    more = dict(changed)
    by, first = more.pop("by", "user_stated"), more.pop("first", 1)
    made = world.remember(TEXT)
    origin = Provenance(by, "s1", first, last if first == 1 else 3, trust="user")
    world.change(made, **{"kind": Kind.OBSERVATION, "person_at": None, **more}, provenance=origin)
    world.pump()
    assert world.found("sister Mary") == [made]
    retract_events(world.user().of_session("s1"), Retract(2, 2, reason) if last == 3 else Retract(1, 2, reason))
    assert world.found("sister Mary") == ([made] if found else [])


# --- filters ------------------------------------------------------------------------------------


def test_filters_hold_in_the_legs_and_for_rows_that_are_too_new(world: RecallWorld) -> None:
    work = world.remember("Mary likes tea", group="work", tags=("a", "b"))
    home = world.remember("Mary drinks tea", group="home", tags=("a",), kind=Kind.NOTE)
    for _ in ("new", "indexed"):
        assert world.found("Mary tea", filters=RecallFilters(group="work")) == [work]
        assert sorted(world.found("Mary tea", filters=RecallFilters(tags=("a",)))) == sorted([work, home])
        assert world.found("Mary tea", filters=RecallFilters(tags=("a", "b"))) == [work]
        assert world.found("Mary tea", filters=RecallFilters(kind="note")) == [home]
        assert world.found("Mary tea", filters=RecallFilters(tier="episodic")) == []
        assert world.found("Mary tea", filters=RecallFilters(category="PERSON")) == []
        assert world.found("Mary tea", filters=RecallFilters(path_prefix="/profile")) == []
        world.pump()


def test_after_is_inclusive_and_before_is_not(world: RecallWorld) -> None:
    when = "2026-03-01T12:00:00.000Z"
    tea = world.remember("Mary likes tea", observed_at=when)
    for _ in ("new", "indexed"):
        assert world.found("tea", filters=RecallFilters(after=when)) == [tea]
        assert world.found("tea", filters=RecallFilters(before=when)) == []
        assert world.found("tea", filters=RecallFilters(after="2026-03-01T12:00:00.001Z")) == []
        assert world.found("tea", filters=RecallFilters(before="2026-03-01T12:00:00.001Z")) == [tea]
        world.pump()


def test_scopes(world: RecallWorld) -> None:
    world.open("s1")
    world.open("s2")
    world.say("tea in the first session", session="s1")
    world.say("tea in the second session", session="s2")
    nowhere = world.remember("tea at home")
    here, there = "evt:s1:1", "evt:s2:1"
    for _ in ("new", "indexed"):
        assert world.found("tea", session_id="s1", scope="session") == [here]
        assert here not in world.found("tea", session_id="s1", scope="global")
        assert nowhere in world.found("tea", session_id="s1", scope="global")
        world.pump()
    assert set(world.found("tea", session_id="s1", scope="global")) == {there, nowhere}
    assert set(world.found("tea", scope="global")) == {here, there, nowhere}
    assert set(world.found("tea")) == {here, there, nowhere}


def test_sources(world: RecallWorld) -> None:
    world.open()
    world.say("tea for two")
    row = world.remember("tea at home")
    world.pump()
    assert world.found("tea", sources=(Source.EVENT,)) == ["evt:s1:1"]
    assert world.found("tea", sources=(Source.MEMORY,)) == [row]
    assert world.found("tea", sources=(Source.DOCUMENT,)) == []


def test_the_same_words_of_two_speakers_are_two_hits(world: RecallWorld) -> None:
    world.open()
    world.say("tea is lovely", "tea is lovely")
    for _ in ("new", "indexed"):
        hits = world.ask("lovely tea", session_id="s1", sources=(Source.EVENT,)).hits
        assert sorted((hit.seq, hit.speaker, hit.text) for hit in hits) == [
            (1, "user", "tea is lovely"),
            (2, "assistant", "tea is lovely"),
        ]
        assert {(hit.kind, hit.tier, hit.source) for hit in hits} == {("event", Tier.EPISODIC.value, "event")}
        world.pump()
