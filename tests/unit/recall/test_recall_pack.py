"""Recall does not repeat what the session's prompt holds already, and still returns k."""

from __future__ import annotations

from typing import Any

import pytest

from neve.domain.documents.change import DocumentChange
from neve.domain.indexing.passage import Source
from neve.domain.recall.query import TextQuery
from neve.domain.records.memories import Kind, Provenance, Status
from neve.domain.tenants.policy import Policy
from neve.ports.search import FoundByWords, Owner, SearchFilter
from neve.scope import Tenant
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.tell.documents.write_document import write_document
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from tests.unit.domain_rows import memory
from tests.unit.recall_world import RecallWorld


def freeze_pack(world: RecallWorld, session: str = "s1") -> None:
    world.open(session)
    assert read_pack(world.user("ann").of_session(session)).state == "ready"


def reasons(world: RecallWorld, query: str, **given: Any) -> dict[str, str]:
    answer = world.ask(query, debug=True, **given)
    assert answer.debug is not None
    return {one["id"]: one["reason"] for one in answer.debug["dropped"]}


def test_other_rows_with_the_text_of_a_packed_one_are_left_out(world: RecallWorld) -> None:
    world.remember("Mary drinks tea")
    freeze_pack(world)
    twin = world.remember("mary  drinks TEA")
    for _ in ("new", "indexed"):
        assert world.found("Mary tea", session_id="s1") == []
        assert reasons(world, "Mary tea", session_id="s1")[twin] == "in_pack"
        world.pump()


def test_what_a_person_has_changed_since_is_not_what_the_pack_holds(world: RecallWorld) -> None:
    """The pack is frozen: it goes on saying the old words, and nothing else could say the new ones."""
    walnuts = world.remember("Mary is allergic to walnuts")
    freeze_pack(world)
    world.pump()
    assert world.found("Mary allergic", session_id="s1") == []
    update_memory(world.user(), walnuts, MemoryChange({"text": "Mary is allergic to peanuts"}), None)
    for _ in ("new", "indexed"):
        for mode in ("prompt", "tool"):
            assert world.found("Mary allergic peanuts", session_id="s1", mode=mode) == [walnuts]
        world.pump()
        world.clock.move(hours=1)
    update_memory(world.user(), walnuts, MemoryChange({"text": "Mary is allergic to walnuts"}), None)
    world.pump()
    assert world.found("Mary allergic", session_id="s1") == [], "the pack says so again"


def test_what_a_person_has_changed_is_not_what_the_history_shows(world: RecallWorld) -> None:
    """The messages that it was made from are in the prompt, and say what no longer holds."""
    freeze_pack(world)
    world.say("I live in Lisbon.", "Noted.")
    origin = Provenance("user_stated", "s1", 1, 1)
    world.store(memory("User lives in Lisbon", id="mem_A", session_id="s1", provenance=origin))
    world.pump()
    prompt: dict[str, Any] = {"session_id": "s1", "beside": "history"}
    assert world.found("lives Lisbon", **prompt) == []
    update_memory(world.user(), "mem_A", MemoryChange({"text": "User lives in Porto"}), None)
    for _ in ("new", "indexed"):
        assert world.found("lives Porto", **prompt) == ["mem_A"]
        world.pump()
        world.clock.move(hours=1)


def conversation(world: RecallWorld, session: str) -> str:
    """The document of a session's summary: its id."""
    change = DocumentChange(text=f"# Tea\n\nTea of {session}.", source_type="conversation", source_id=session)
    return str(write_document(world.user(), f"/conversations/{session}", change).document.id)


def test_a_conversation_whose_summary_the_pack_holds_is_left_out(world: RecallWorld) -> None:
    world.open("s0")
    world.open("s2")
    asked = {"kind": Kind.SESSION_SUMMARY, "session_id": "s0", "outcome": "SUCCESS"}
    world.remember('Session of 2026-03-09, "Tea".', **asked)
    freeze_pack(world)
    packed, own, other = (conversation(world, session) for session in ("s0", "s1", "s2"))
    for _ in ("new", "indexed"):
        assert world.found("tea", session_id="s1") == [other]
        dropped = reasons(world, "tea", session_id="s1")
        assert (dropped[packed], dropped[own]) == ("in_pack", "in_history")
        assert {own, other} <= set(world.found("tea", session_id="s1", mode="tool"))
        assert {packed, own, other} <= set(world.found("tea"))
        world.pump()


def test_an_utterance_that_says_nothing_is_no_hit_of_a_prompt(world: RecallWorld) -> None:
    world.open("s0")
    world.say("The kayak is blue.", "Noted.", "hm", "Nice.", session="s0")
    world.pump()
    answer = world.ask("kayak blue", k=10, debug=True)
    assert [hit.id for hit in answer.hits] == ["evt:s0:1"]
    assert answer.debug is not None
    assert "says_nothing" in {one["reason"] for one in answer.debug["dropped"]}
    assert len(world.found("kayak blue", k=10, mode="tool")) > 1


def test_a_full_pack_does_not_starve_recall(world: RecallWorld) -> None:
    """More packed rows match than a leg is deep, and all of them better than the rest."""
    for n in range(80):
        world.remember(f"tea time {n}")
    freeze_pack(world)
    rest = [world.remember(f"tea and something else {n}") for n in range(6)]
    world.pump()
    for _ in ("manifest read", "manifest known"):
        found = world.found("tea time", session_id="s1", mode="tool", k=5)
        assert len(found) == 5 and set(found) < set(rest)


def test_a_pack_that_is_larger_than_foreseen_makes_the_legs_read_again(world: RecallWorld) -> None:
    """The session's own rows are in its pack without any limit of number."""
    world.tenant = Tenant(world.tenant.id, Policy(global_budget=500))
    world.open()
    for n in range(250):
        world.remember(f"tea time {n}", session_id="s1")
    freeze_pack(world)
    rest = [world.remember(f"tea and something else {n}") for n in range(6)]
    world.pump()
    seen = remember_filters(world)
    found = world.found("tea time", session_id="s1", mode="tool", k=5)
    assert len(found) == 5 and set(found) < set(rest)
    first, again = seen
    assert first.exclude_ids == frozenset()
    assert len(again.exclude_fingerprints) == 250


def remember_filters(world: RecallWorld) -> list[SearchFilter]:
    """The filters of the keyword leg from now on."""
    seen: list[SearchFilter] = []
    search = world.index.search_text

    def remembering(owner: Owner, query: TextQuery, where: SearchFilter, depth: int) -> FoundByWords:
        seen.append(where)
        return search(owner, query, where, depth)

    world.index.search_text = remembering  # type: ignore[method-assign]
    return seen


def test_rows_that_the_index_has_not_heard_of_do_not_starve_recall(world: RecallWorld) -> None:
    hidden = [world.remember(f"tea time {n}") for n in range(70)]
    rest = [world.remember(f"tea and something else {n}") for n in range(6)]
    world.pump()
    world.clock.move(hours=1)
    for memory_id in hidden:
        world.change(memory_id, status=Status.SUPERSEDED)
    found = world.found("tea time")
    assert len(found) == 5 and set(found) < set(rest)


@pytest.mark.parametrize(
    ("fault", "flag"),
    [("lexical=error", "lexical:error"), ("vector=error", "vector:error"), ("lexical=slow:400", "deadline")],
)
def test_a_leg_that_cannot_be_read_again_is_said_to_be_missing(world: RecallWorld, fault: str, flag: str) -> None:
    """Everything that the first reading found was hidden: that says nothing of the rest."""
    hidden = [world.remember(f"tea time {n}") for n in range(130)]
    rest = {world.remember(f"tea and something else {n}") for n in range(6)}
    world.pump()
    world.clock.move(hours=1)
    for memory_id in hidden:
        world.change(memory_id, status=Status.SUPERSEDED)
    search = world.index.search_text

    def failing_from_now_on(owner: Owner, query: TextQuery, where: SearchFilter, depth: int) -> FoundByWords:
        found = search(owner, query, where, depth)
        world.broken(fault)
        return found

    world.index.search_text = failing_from_now_on  # type: ignore[method-assign]
    answer = world.ask("tea time")
    assert (answer.result_state, answer.degraded) == ("not_searched", [flag])
    assert f"{flag}: " in "".join(answer.transparency)
    world.broken()
    world.index.search_text = search  # type: ignore[method-assign]
    assert set(world.found("tea time")) < rest


def test_hits_stand_whose_rows_were_read_before_the_row_store_failed(world: RecallWorld) -> None:
    for _ in range(130):
        world.remember("tea time")
    world.remember("tea and something else")
    world.pump()
    search = world.index.search_text

    def failing_behind_the_next(owner: Owner, query: TextQuery, where: SearchFilter, depth: int) -> FoundByWords:
        if where.exclude_ids:
            world.broken("table=error")
        return search(owner, query, where, depth)

    world.index.search_text = failing_behind_the_next  # type: ignore[method-assign]
    answer = world.ask("tea time", recorded=False)
    assert [hit.text for hit in answer.hits] == ["tea time"]
    assert (answer.result_state, answer.degraded) == ("found", ["hydrate:error"])


def test_repeated_texts_do_not_starve_recall(world: RecallWorld) -> None:
    for _ in range(40):
        world.remember("tea time")
    rest = [world.remember(f"tea and something else {n}") for n in range(4)]
    world.pump()
    world.clock.move(hours=1)
    found = world.found("tea time")
    assert len(found) == 5 and set(found) > set(rest)


def test_however_often_something_was_said_it_takes_one_place(world: RecallWorld) -> None:
    """What an assistant asks every day, and what was answered to it once."""
    world.open()
    for day in range(10):
        world.say(*(text for n in range(24) for text in (f"fine {day * 24 + n}", "How did you sleep last night?")))
    world.say("Sleep was bad")
    world.pump()
    world.clock.move(days=30)
    hits = world.ask("How did I sleep last night?", mode="tool").hits
    texts = [hit.text for hit in hits]
    assert len(hits) == 8 and texts.count("How did you sleep last night?") == 1
    assert texts[0] == "How did you sleep last night?" and hits[0].components["rank_lex"] == 1


def test_nothing_is_read_again_when_the_rest_is_below_the_threshold(world: RecallWorld) -> None:
    for n in range(40):
        world.remember(f"unrelated matter {n} similarity=0.40")
    world.pump()
    world.clock.move(hours=1)
    seen = remember_filters(world)
    assert world.found("tea") == []
    assert len(seen) == 1


def test_nothing_is_read_again_for_a_message_about_something_else(world: RecallWorld) -> None:
    """What the pack holds has cost nobody a place: the legs have read deeper by that much."""
    packed = world.remember("Ann paddles a kayak on the river")
    world.pump()
    freeze_pack(world)
    for number in range(80):
        world.remember(f"A dusty page of some old worn kayak manual, {chr(97 + number % 26) * (2 + number // 26)}")
    world.pump()
    seen = remember_filters(world)
    assert (
        reasons(world, "explain how kayak races changed through medieval history", session_id="s1")[packed] == "in_pack"
    )
    assert len(seen) == 1


def test_ids_that_the_caller_excludes_and_their_texts_are_left_out(world: RecallWorld) -> None:
    world.open()
    one, twin = world.remember("Mary drinks tea"), world.remember("Mary drinks  tea")
    other = world.remember("Mary likes tea")
    world.say("Mary says: tea!")
    for _ in ("new", "indexed"):
        answer = world.ask("Mary tea", session_id="s1", exclude_ids=(one, "evt:s1:1", "doc-of-tomorrow"), debug=True)
        assert [hit.id for hit in answer.hits] == [other]
        assert answer.debug is not None
        assert {"id": twin, "reason": "excluded"} in answer.debug["dropped"]
        world.pump()
    seen = remember_filters(world)
    world.ask("Mary tea", exclude_ids=(one,))
    assert seen[0].exclude_ids == {one}


def test_the_depth_is_reported_without_what_was_read_for_the_pack(world: RecallWorld) -> None:
    world.remember("tea")
    freeze_pack(world)
    legs = world.ask("tea", session_id="s1").legs
    assert (legs["lexical"].depth, legs["vector"].depth) == (30, 30)
    assert world.ask("tea", k=40).legs["lexical"].depth == 30, "however many are asked for"
    assert world.ask("tea", sources=(Source.MEMORY,)).legs["lexical"].depth == 30
