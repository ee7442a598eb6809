"""Facts on the embedded table: one row for one statement, corrections, and who comes first (docs/rules/facts.md)."""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from neve.domain.errors import NeveError
from neve.domain.memories.storage_decision import FactCandidate
from neve.domain.records.markers import SessionMarker
from neve.domain.records.memories import By, Kind, Memory, Provenance, Status
from neve.domain.times import iso
from neve.scope import UserScope
from neve.store import rows
from neve.usecases.ask.memories.list_memories import MemoryFilter, get_memory, list_memories
from neve.usecases.ask.memories.trace_memory import trace_memory
from neve.usecases.tell.inbox.decide import decide_item
from neve.usecases.tell.inbox.decision import Decision
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve.usecases.tell.memories.delete_memory import delete_memory
from neve.usecases.tell.memories.evolve_memory import Evolution, evolve_memory
from neve.usecases.tell.memories.fact_place import place_key
from neve.usecases.tell.memories.import_memories import ImportedRow, import_memories
from neve.usecases.tell.memories.store_fact import store_fact, store_facts
from neve.usecases.tell.memories.stored_fact import StoredFact
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from tests.unit.world import World

LYON, NICE = "Anna lives in Lyon.", "Anna lives in Nice."


def candidate(text: str, by: By = "user_stated", session: str | None = None, **more: Any) -> FactCandidate:
    return FactCandidate(text, "PLACE", Provenance(by, session), **more)


def keep(world: World, text: str, by: By = "user_stated", **more: Any) -> StoredFact:
    return store_fact(world.user(), candidate(text, by, **more), via="observer")


def row(stored: StoredFact) -> Memory:
    assert stored.memory is not None
    return stored.memory


def facts(scope: UserScope, status: str | None = "active") -> list[Memory]:
    found, cursor = list_memories(scope, MemoryFilter(kind="fact", status=status), 200, None)
    while cursor:
        page, cursor = list_memories(scope, MemoryFilter(kind="fact", status=status), 200, cursor)
        found += page
    return found


def marker(world: World, session: str = "s1") -> SessionMarker:
    item = world.table.get(world.user().of_session(session).keys.marker)
    assert item is not None
    return rows.read_marker(item)


def conflicts(call: Any) -> None:
    with pytest.raises(NeveError, match="conflict"):
        call()


# --- one row for one statement ------------------------------------------------------------------


def test_a_new_fact_costs_one_read_and_one_write(world: World) -> None:
    world.table.calls.clear()
    fact = row(keep(world, LYON))
    assert dict(world.table.calls) == {"get_many": 1, "write": 1}
    assert get_memory(world.user(), fact.id) == fact
    assert (fact.kind, fact.tier, fact.category, fact.provenance.trust) == (Kind.FACT, "semantic", "PLACE", "user")
    assert fact.judged is not None
    assert (fact.judged.via, fact.judged.criteria.novelty) == ("observer", True)


def test_the_same_statement_is_counted_on_its_row(world: World) -> None:
    first = row(keep(world, LYON))
    world.clock.move(days=1)
    again = keep(world, "  anna   LIVES in lyon. ")
    assert (again.decision, row(again).id, row(again).occurrences) == ("reinforced", first.id, 2)
    assert (row(again).rev, row(again).text) == (1, LYON)
    assert row(again).last_used_at > first.last_used_at
    assert [one.id for one in facts(world.user())] == [first.id]


def test_a_rejected_fact_writes_nothing(world: World) -> None:
    world.table.calls.clear()
    stored = keep(world, LYON, importance=1)
    assert (stored.decision, stored.memory) == ("rejected", None)
    assert world.table.calls["write"] == 0


def test_two_statements_are_no_fact(world: World) -> None:
    with pytest.raises(NeveError, match="more than one statement"):
        keep(world, f"{LYON} She works at Airbus.")
    assert facts(world.user()) == []


def test_several_facts_are_decided_one_after_the_other_and_kept_together(world: World) -> None:
    fact = store_facts(world.user(), [candidate(LYON), candidate(LYON.upper()), candidate(NICE)], via="api")
    assert [one.decision for one in fact] == ["stored", "reinforced", "stored"]
    assert [one.occurrences for one in facts(world.user())] == [2, 1]
    with pytest.raises(NeveError, match="session_not_found"):
        store_facts(world.user(), [candidate("Anna has a dog."), candidate("Anna sings.", session="nope")], via="api")
    assert len(facts(world.user())) == 2


def test_an_answer_that_was_lost_counts_nothing_twice(world: World) -> None:
    for n, decision in enumerate(("stored", "reinforced"), start=1):
        world.table.lose_response = True
        stored = keep(world, LYON)
        assert (stored.decision, row(stored).occurrences) == (decision, n)
    assert [one.occurrences for one in facts(world.user())] == [2]


def test_whoever_comes_second_is_counted_on_the_row_of_the_first(world: World) -> None:
    def meanwhile() -> None:
        keep(world, LYON.lower())

    world.table.before_write = meanwhile
    again = keep(world, LYON)
    assert (again.decision, row(again).occurrences, row(again).text) == ("reinforced", 2, LYON.lower())


def test_the_same_50_facts_five_times_from_four_clients_are_50_rows(world: World) -> None:
    scope = world.user()

    spellings: tuple[Callable[[str], str], ...] = (str.upper, str.lower, str)

    def send(client: int) -> None:
        chance = random.Random(client)
        for _ in range(5):
            order = list(range(50))
            chance.shuffle(order)
            for n in order:
                text = f"Anna keeps book number {n} on shelf {n % 7}."
                spaced = chance.choice([" ", "  ", "\t"]).join(text.split())
                store_fact(scope, candidate(chance.choice(spellings)(spaced)), via="api")

    with ThreadPoolExecutor(4) as clients:
        list(clients.map(send, range(4)))
    fact = facts(scope)
    assert len(fact) == len({one.fingerprint for one in fact}) == 50
    assert {one.occurrences for one in fact} == {20}


# --- the inbox ----------------------------------------------------------------------------------


def test_what_was_inferred_waits_until_the_user_says_it(world: World) -> None:
    waiting = keep(world, LYON, "assistant")
    assert (waiting.decision, row(waiting).status, row(waiting).provenance.trust) == ("inbox", "inbox", "assistant")
    assert keep(world, LYON, "tool").decision == "reinforced"
    let_in = keep(world, LYON)
    assert (let_in.decision, row(let_in).id, row(let_in).status) == ("stored", row(waiting).id, Status.ACTIVE)
    assert (row(let_in).provenance.by, row(let_in).provenance.trust, row(let_in).rev) == ("user_stated", "user", 2)
    assert row(let_in).occurrences == 3


def test_the_policy_decides_what_is_important_and_what_is_reviewed(world: World) -> None:
    world.with_policy(min_importance=4, review_mode="interactive")
    strict = world.user()
    assert store_fact(strict, candidate(LYON), via="api").decision == "rejected"
    assert store_fact(strict, candidate(LYON, importance=4), via="api").decision == "inbox"
    assert store_fact(strict, candidate("Anna never flies.", importance=4), via="api").decision == "stored"


# --- corrections --------------------------------------------------------------------------------


def test_a_correction_takes_the_fact_off_the_live_list_of_its_own_session(world: World) -> None:
    world.open(session="s2")
    old = row(store_fact(world.user(), candidate(LYON, session="s1"), via="api"))
    assert [one.id for one in marker(world, "s1").live] == [old.id]
    correction = candidate(NICE, session="s2", relation="contradicts", target_id=old.id)
    new = row(store_fact(world.user(), correction, via="observer"))
    assert ([], [new.id]) == tuple([one.id for one in marker(world, session).live] for session in ("s1", "s2"))


def test_what_was_superseded_can_be_said_again(world: World) -> None:
    old = row(keep(world, LYON))
    new = row(keep(world, NICE, relation="updates", target_id=old.id))
    back = keep(world, LYON, relation="updates", target_id=new.id)
    assert (back.decision, row(back).supersedes) == ("superseded", (new.id,))
    assert row(back).id != old.id
    assert [one.text for one in facts(world.user())] == [LYON]
    history = trace_memory(world.user(), new.id).history
    assert [(one.text, one.status) for one in history] == [(LYON, "superseded"), (NICE, "superseded"), (LYON, "active")]


def test_a_weaker_source_waits_with_what_it_contradicts(world: World) -> None:
    old = row(keep(world, LYON, "human_edit"))
    waiting = keep(world, NICE, "import", relation="contradicts", target_id=old.id)
    judged = row(waiting).judged
    assert waiting.decision == "inbox"
    assert judged is not None
    assert judged.target_id == old.id
    assert [one.text for one in facts(world.user())] == [LYON]


@pytest.mark.parametrize("again", [Provenance("user_stated", "s1", 3, 3), Provenance("human_edit")])
def test_what_was_said_again_since_is_not_corrected_by_what_was_said_before(world: World, again: Provenance) -> None:
    old = row(keep(world, LYON))
    said = iso(world.clock.now() + timedelta(hours=1))
    world.clock.move(days=1)
    repeated = store_fact(world.user(), FactCandidate(LYON, "PLACE", again), via="api")
    assert (repeated.verdict.decision, row(repeated).id) == ("reinforced", old.id)
    late = keep(world, NICE, relation="updates", target_id=old.id, observed_at=said)
    assert (late.verdict.decision, get_memory(world.user(), old.id).status) == ("inbox", Status.ACTIVE)


@pytest.mark.parametrize("by", ["edit", "approve"])
def test_what_was_said_before_a_persons_word_waits(world: World, by: str) -> None:
    old = row(keep(world, LYON, by="assistant" if by == "approve" else "user_stated"))
    said = iso(world.clock.now() + timedelta(hours=1))
    world.clock.move(days=1)
    if by == "edit":
        update_memory(world.user(), old.id, MemoryChange({"text": "Anna lives in Metz."}), None)
    else:
        decide_item(world.user(), old.id, Decision("approve"))
    late = keep(world, NICE, relation="updates", target_id=old.id, observed_at=said)
    assert (late.verdict.decision, row(late).status) == ("inbox", Status.INBOX)
    assert get_memory(world.user(), old.id).status is Status.ACTIVE
    world.clock.move(days=1)
    assert keep(world, "Anna lives in Rome.", relation="updates", target_id=old.id).verdict.decision == "superseded"


def test_only_a_fact_is_corrected_by_a_statement(world: World) -> None:
    note = create_memory(world.user(), NewMemory("Anna lives in Lyon with two dogs.", kind=Kind.NOTE))
    assert keep(world, NICE, relation="contradicts", target_id=note.id).decision == "stored"
    assert get_memory(world.user(), note.id).status is Status.ACTIVE


# --- evolve -------------------------------------------------------------------------------------


def evolve(world: World, memory_id: str, text: str = NICE, **more: Any) -> Memory:
    return evolve_memory(world.user(), memory_id, Evolution(text, "moved", **more))


def test_every_kind_evolves(world: World) -> None:
    note = create_memory(world.user(), NewMemory("Ship on Friday. Tell Bob.", kind=Kind.NOTE))
    assert evolve(world, note.id, "Ship on Monday. Tell Bob.").kind is Kind.NOTE
    with pytest.raises(NeveError, match="category"):
        evolve(world, create_memory(world.user(), NewMemory("x")).id, category="PLACE")


def test_what_was_drawn_from_the_log_beside_a_summary_goes_to_no_successor(world: World) -> None:
    """A retraction finds the summary by its range, and what a person put in its place by nothing."""
    summary = NewMemory("They planned a trip.", kind=Kind.SESSION_SUMMARY, session_id="s1", outcome="SUCCESS")
    old = create_memory(world.user(), replace(summary, key_topics=("lisbon",), emotional_tone="HAPPY"))
    assert (old.key_topics, old.emotional_tone) == (("lisbon",), "HAPPY")
    new = evolve(world, old.id, "They spoke of something else.")
    assert (new.outcome, new.key_topics, new.emotional_tone) == ("SUCCESS", (), None)


def test_of_two_who_evolve_at_once_one_is_told(world: World) -> None:
    old = row(keep(world, LYON))
    winner: list[Memory] = []
    world.table.before_write = lambda: winner.append(evolve(world, old.id, "Anna lives in Rome."))
    conflicts(lambda: evolve(world, old.id))
    assert [one.id for one in facts(world.user())] == [winner[0].id]


def test_evolve_knows_its_own_write(world: World) -> None:
    old = row(keep(world, LYON))
    world.table.lose_response = True
    new = evolve(world, old.id)
    assert get_memory(world.user(), new.id) == new
    assert len(facts(world.user())) == 1


def test_what_waits_and_a_person_says_by_an_evolution_is_their_word(world: World) -> None:
    old, waiting = row(keep(world, LYON)), row(keep(world, NICE, by="tool"))
    said = iso(world.clock.now() + timedelta(hours=1))
    world.clock.move(days=1)
    new = evolve_memory(world.user(), old.id, Evolution(NICE, "she moved"))
    assert (new.id, new.status, new.occurrences) == (waiting.id, Status.ACTIVE, 2)
    assert (new.provenance.by, new.provenance.trust, new.confidence) == ("human_edit", "user", 1.0)
    late = keep(world, "Anna lives in Rome.", relation="updates", target_id=new.id, observed_at=said)
    assert late.verdict.decision == "inbox"


def test_evolve_into_what_another_fact_says_reinforces_that_fact(world: World) -> None:
    nice, old = row(keep(world, NICE, "assistant")), row(keep(world, LYON))
    new = evolve(world, old.id)
    assert (new.id, new.status, new.occurrences, new.supersedes) == (nice.id, Status.ACTIVE, 2, (old.id,))
    assert get_memory(world.user(), old.id).superseded_by == nice.id


@pytest.mark.parametrize("text", [LYON.upper(), f"{NICE} She has a dog."])
def test_evolve_needs_another_statement_and_one_alone(world: World, text: str) -> None:
    old = row(keep(world, LYON))
    with pytest.raises(NeveError, match="text"):
        evolve(world, old.id, text)
    assert get_memory(world.user(), old.id).status is Status.ACTIVE


# --- changes of one row -------------------------------------------------------------------------


def test_an_edit_moves_the_place_of_a_fact(world: World) -> None:
    fact = row(keep(world, LYON))
    update_memory(world.user(), fact.id, MemoryChange({"text": NICE}), None)
    assert row(keep(world, NICE.upper())).id == fact.id
    assert keep(world, LYON).decision == "stored"
    conflicts(lambda: update_memory(world.user(), fact.id, MemoryChange({"text": LYON}), None))


@pytest.mark.parametrize("status", [Status.ACTIVE, Status.ARCHIVED])
def test_an_edit_leaves_no_place_that_is_named_by_the_words_before(world: World, status: Status) -> None:
    fact = row(keep(world, LYON))
    update_memory(world.user(), fact.id, MemoryChange({"status": status}), None)
    update_memory(world.user(), fact.id, MemoryChange({"text": NICE}), None)
    delete_memory(world.user(), fact.id, None)
    keys = world.user().keys
    assert world.table.query(keys.partition, prefix=keys.place("").sk, limit=10).items == []


def test_an_edit_leaves_the_place_that_another_fact_has_taken(world: World) -> None:
    fact = row(keep(world, LYON))
    update_memory(world.user(), fact.id, MemoryChange({"status": Status.RESOLVED}), None)
    another = row(keep(world, LYON))
    update_memory(world.user(), fact.id, MemoryChange({"text": NICE}), None)
    assert row(keep(world, LYON)).id == another.id


def test_a_fact_that_was_put_away_returns_only_to_a_free_place(world: World) -> None:
    fact = row(keep(world, LYON))
    update_memory(world.user(), fact.id, MemoryChange({"status": Status.RESOLVED}), None)
    another = row(keep(world, LYON))
    assert another.id != fact.id
    conflicts(lambda: update_memory(world.user(), fact.id, MemoryChange({"status": Status.ACTIVE}), None))
    delete_memory(world.user(), another.id, None)
    back = update_memory(world.user(), fact.id, MemoryChange({"status": Status.ACTIVE}), None)
    assert row(keep(world, LYON)).id == back.id == fact.id


def test_a_deleted_fact_leaves_nothing_of_its_words(world: World) -> None:
    fact = row(keep(world, LYON))
    delete_memory(world.user(), fact.id, None)
    assert world.table.get(place_key(world.user().keys, fact.text)) is None
    assert keep(world, LYON).decision == "stored"


def test_a_place_that_was_left_and_taken_meanwhile_is_not_taken_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who says it has read whose place it was, and stands still before it reads that fact."""
    first = row(keep(world, LYON))
    read, others = world.table.get_many, list[StoredFact]()

    def late(keys: Any, **how: Any) -> Any:
        if world.user().keys.memory(first.id) in keys:
            monkeypatch.undo()
            delete_memory(world.user(), first.id, None)
            others.append(keep(world, LYON))
        return read(keys, **how)

    monkeypatch.setattr(world.table, "get_many", late)
    again = keep(world, LYON)
    assert [row(again).id] == [row(other).id for other in others]
    assert [fact.id for fact in facts(world.user())] == [row(again).id]


def test_the_category_is_searched_by_and_a_summarys_fields_are_not(world: World) -> None:
    fact = row(keep(world, LYON))
    assert update_memory(world.user(), fact.id, MemoryChange({"category": "BIOGRAPHY"}), None).rev == 2
    with pytest.raises(NeveError, match="outcome"):
        update_memory(world.user(), fact.id, MemoryChange({"outcome": "PARTIAL"}), None)
    session_summary = NewMemory("They planned a trip.", kind=Kind.SESSION_SUMMARY, session_id="s1", outcome="SUCCESS")
    summary = create_memory(world.user(), session_summary)
    changed = update_memory(world.user(), summary.id, MemoryChange({"outcome": "PARTIAL"}), None)
    assert (changed.rev, changed.outcome, changed.tier) == (1, "PARTIAL", "episodic")


def test_an_import_keeps_what_a_fact_was_and_repeats_none(world: World) -> None:
    def line(n: int, text: str, **more: Any) -> ImportedRow:
        return ImportedRow(text, Kind.FACT, id=f"mem_01KJ000000000000000000000{n}", category="PLACE", **more)

    lines = [
        line(1, LYON, status=Status.SUPERSEDED, superseded_by="mem_2", superseded_reason="moved"),
        line(2, NICE, occurrences=3, supersedes=("mem_1",)),
        line(3, NICE.upper()),
    ]
    report = import_memories(world.user(), lines)
    assert (len(report.imported), report.repeated) == (2, [lines[2].id])
    assert import_memories(world.user(), lines).imported == []
    [fact] = facts(world.user())
    assert (fact.occurrences, fact.supersedes, fact.category) == (3, ("mem_1",), "PLACE")
    [gone] = facts(world.user(), "superseded")
    assert (gone.superseded_by, gone.superseded_reason) == ("mem_2", "moved")
    assert row(keep(world, NICE)).id == fact.id


def test_an_imported_fact_lets_in_what_waits_in_the_same_words(world: World) -> None:
    waiting = row(keep(world, NICE, "assistant"))
    assert waiting.status is Status.INBOX
    line = ImportedRow(text=NICE, kind=Kind.FACT, id="mine", category="PLACE", observed_at="2026-01-02T00:00:00.000Z")
    left = import_memories(world.user(), [replace(line, id="guess", status=Status.INBOX)])
    assert (left.repeated, facts(world.user())) == (["guess"], []), "a guess more lets nothing in"
    for _ in range(2):  # the second time there is nothing to let in
        report = import_memories(world.user(), [line, replace(line, id="other")])
        assert (report.imported, report.repeated) == ([], ["mine", "other"])
        [fact] = facts(world.user(), None)
        assert (fact.id, fact.status, fact.rev, fact.occurrences) == (waiting.id, Status.ACTIVE, waiting.rev + 1, 2)
        assert (fact.provenance.by, fact.observed_at, fact.confidence) == ("import", waiting.observed_at, 1.0)


def test_an_imported_fact_lets_in_one_that_waits_in_the_same_import(world: World) -> None:
    waits = ImportedRow(text=NICE, kind=Kind.FACT, id="guess", category="PLACE", status=Status.INBOX)
    report = import_memories(world.user(), [waits, replace(waits, id="mine", status=Status.ACTIVE)])
    assert (report.imported, report.repeated) == (["guess"], ["mine"])
    [fact] = facts(world.user(), None)
    assert (fact.id, fact.status, fact.rev) == ("guess", Status.ACTIVE, 1)


def test_a_row_from_before_facts_is_read_as_it_was(world: World) -> None:
    memory = create_memory(world.user(), NewMemory("likes tea"))
    item = rows.put_memory(world.user().keys, memory).item
    assert {"category", "judged", "outcome"}.isdisjoint(item)
    assert rows.read_memory({**item, "version": 1}) == memory
