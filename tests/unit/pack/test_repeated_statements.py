"""No statement stands twice in a pack (docs/rules/pack.md#repeated-statements)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.documents.change import DocumentChange
from neve.domain.memories.made_of import made_of
from neve.domain.memories.storage_decision import FactCandidate
from neve.domain.observe.facts import ProposedFact
from neve.domain.pack import repeated_statements
from neve.domain.pack.repeated_statements import already_stated
from neve.domain.records.memories import Kind, Memory, MemoryPassage, Priority, Provenance, Scope, Status, Tier
from neve.domain.records.sessions import Spans
from neve.domain.times import iso
from neve.store import rows
from neve.usecases.ask.pack.read_pack import PackView, read_pack
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.tell.documents.write_document import write_document
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve.usecases.tell.memories.evolve_memory import Evolution, evolve_memory
from neve.usecases.tell.memories.import_memories import ImportedRow, import_memories
from neve.usecases.tell.memories.store_fact import store_fact
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.observe.report import ObservationReport
from tests.unit.world import START, World, observed_line

LYON = "User lives in Lyon"


def row(name: str, text: str, kind: Kind = Kind.FACT, **more: Any) -> Memory:
    first, last = more.pop("at", (1, 1))
    origin = Provenance("user_stated", more.pop("session", "s1"), first, last, trust=more.pop("trust", "user"))
    return Memory(
        id=name,
        kind=kind,
        tier=Tier.SEMANTIC,
        scope=Scope.SESSION,
        text=text,
        priority=Priority.MEDIUM,
        importance=3,
        fingerprint=text.casefold(),
        provenance=origin,
        status=Status.ACTIVE,
        created_at="",
        observed_at="",
        last_used_at="",
        tokens=more.pop("tokens", 1),
        rev=1,
        born_gen=0,
        **more,
    )


def test_a_reflections_line_says_a_fact_whatever_day_stands_behind_it() -> None:
    """Of many sessions: the events of the fact are not those of the reflection."""
    folded = row("mem_r", "🔴 User is allergic to penicillin (2031-05-04)", Kind.REFLECTION, session=None, at=(9, 9))
    fact = row("mem_f", "User is allergic to penicillin", session="s2")
    assert already_stated([folded, fact], ()) == {"mem_f"}


def line(text: str, **more: Any) -> Memory:
    return row("line", text, Kind.OBSERVATION, **more)


@pytest.mark.parametrize(
    ("rows", "repeated"),
    [
        ([line(f"🔴 {LYON}"), row("f", LYON)], {"f"}),
        ([row("f", LYON), line(f"🔴 {LYON.upper()}.")], {"f"}),
        ([line(f"🔴 {LYON}", at=(7, 9), session="s2"), row("f", LYON)], {"f"}),
        ([line("🔴 User lives with two cats in Lyon since May"), row("f", LYON)], {"f"}),
        ([line("🔴 User lives with two cats in Lyon since May", at=(2, 4)), row("f", LYON)], set()),
        ([line("🔴 User lives with two cats in Lyon since May", session="s2"), row("f", LYON)], set()),
        ([line("🔴 User no longer lives in Lyon"), row("f", LYON)], set()),
        ([line("🔴 User doesn't sleep and lives in Lyon"), row("f", LYON)], set()),
        ([line("🔴 Ben likes Anna"), row("f", "Anna likes Ben")], set()),
        ([line("🔴 User lives in Nice"), row("f", LYON)], set()),
        ([line(f"🔴 {LYON}", trust="tool"), row("f", LYON)], set()),
        ([line(f"🔴 {LYON}", trust="tool"), row("f", LYON, trust="tool")], {"f"}),
        ([row("n", LYON, Kind.NOTE), row("f", LYON)], {"f"}),
        ([row("f", LYON), row("g", f"{LYON}.")], {"g"}),
        ([row("f", LYON, trust="assistant"), row("g", LYON)], {"g"}),
        ([row("f", LYON, trust="tool"), row("g", LYON)], set()),
        ([row("n", LYON, Kind.NOTE), row("m", LYON, Kind.MANUAL), row("f", LYON)], {"m", "f"}),
        ([row("n", LYON, Kind.NOTE), row("m", f"{LYON}.", Kind.NOTE)], set()),
        ([row("n", LYON, Kind.NOTE, trust="tool"), row("m", LYON, Kind.NOTE), row("o", LYON, Kind.NOTE)], {"o"}),
        ([row("n", LYON, Kind.NOTE), row("m", LYON, Kind.NOTE, trust="tool")], {"m"}),
        ([line(LYON), row("n", LYON, Kind.NOTE)], set()),
        ([line(LYON), line(LYON)], set()),
        ([row("f", "👍"), line("")], set()),
    ],
)
def test_what_is_said_already(rows: list[Memory], repeated: set[str]) -> None:
    assert already_stated(rows, []) == repeated


def test_a_participants_line_says_what_the_users_fact_says() -> None:
    line = row("line", '🔴 Ada: "I live in Lyon"', Kind.OBSERVATION, about=("ada",))
    assert already_stated([line, row("fact", LYON, about=("ada",))], ()) == {"fact"}
    assert already_stated([line, row("fact", LYON)], ()) == set(), "of whoever has said so without a name"


def test_each_line_speaks_of_its_own_events() -> None:
    passages = (
        MemoryPassage("🟡 User has two cats", 1, 2, "user"),
        MemoryPassage("🔴 User lives alone in Lyon", 3, 4, "tool"),
    )
    several = line("🟡 User has two cats\n🔴 User lives alone in Lyon", at=(1, 4), passages=passages)
    assert already_stated([several, row("f", LYON, at=(3, 3))], []) == set()
    assert already_stated([several, row("f", LYON, at=(3, 3), trust="tool")], []) == {"f"}
    assert already_stated([several, row("f", LYON, at=(1, 1), trust="tool")], []) == set()


def test_a_document_says_it() -> None:
    assert already_stated([row("f", LYON)], [f"# About\n- {LYON}\n"]) == {"f"}
    assert already_stated([row("f", LYON)], [f"# About\n- {LYON} and works there\n"]) == set()


_WORDS = st.lists(st.sampled_from(["user", "lives", "lyon", "nice", "not", "in"]), max_size=4).map(" ".join)


@given(st.lists(st.tuples(st.sampled_from(list(Kind)), _WORDS, st.sampled_from(["user", "tool"])), max_size=8), _WORDS)
def test_what_is_left_out_is_still_said(given_rows: list[tuple[Kind, str, Any]], document: str) -> None:
    given_ = [row(str(n), text, kind, trust=trust) for n, (kind, text, trust) in enumerate(given_rows)]
    repeated = already_stated(given_, [document])
    shown_rows = [memory for memory in given_ if memory.id not in repeated]
    assert already_stated(shown_rows, [document]) == frozenset(), "nothing more is said twice"
    assert already_stated([*given_], [document]) == repeated
    for fact in (memory for memory in given_ if memory.id in repeated):
        assert already_stated([*(m for m in shown_rows if m.id != fact.id), fact], [document]) == {fact.id}


# --- in a pack ------------------------------------------------------------------------------------


def rebuilt(world: World, session: str = "s1") -> PackView:
    scope = world.user().of_session(session)
    build_pack(scope, "horizon")
    return read_pack(scope)


def observed(world: World) -> None:
    """A line and a fact of one message."""
    world.say("I live in Lyon", "Noted.")
    fact = ProposedFact(LYON, "PLACE", 3, "user_stated", "new", None, 1, 1)
    world.observer.answers.append(observed_line(f"🔴 {LYON}", 1, 2, facts=(fact,)))
    observe_session(world.user().of_session("s1"), 1, ObservationReport())


def test_a_fact_and_its_line_are_one_statement_of_the_pack(world: World) -> None:
    observed(world)
    [fact] = [memory for memory in world.memories() if memory.kind is Kind.FACT]
    world.open(session="s2")
    for session, layer in (("s1", "local"), ("s2", "global")):
        world.table.calls.clear()
        view = rebuilt(world, session)
        assert view.manifest is not None
        assert str(view.text).count("Lyon") == 1 and f"🔴 {LYON}" in str(view.text)
        entries = {entry.id: entry for entry in view.manifest.layers[layer]}
        assert entries[fact.id].tokens == 0, "recall knows that the pack says it"
        assert len(entries) == 2 and sum(entry.tokens for entry in entries.values()) > 0
        assert rebuilt(world, session).text == view.text


def test_the_line_of_what_was_corrected_leaves_the_pack(world: World) -> None:
    observed(world)
    [fact] = [memory for memory in world.memories() if memory.kind is Kind.FACT]
    evolve_memory(world.user(), fact.id, Evolution("User lives in Nice", "moved"))
    text = str(rebuilt(world).text)
    assert text.count("Lyon") == 0 and text.count("Nice") == 1


def test_what_a_fact_was_made_of_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not for each line: a session of months has thousands of both, and its first reader waits for the pack."""
    asked: list[Provenance] = []

    def counted(origin: Provenance, session: str) -> Spans:
        asked.append(origin)
        return made_of(origin, session)

    monkeypatch.setattr(repeated_statements, "made_of", counted)
    lines = [line(f"User saw film {n}", at=(n, n)) for n in range(60)]
    facts = [row(f"fact{n}", f"User liked film {n}", at=(n, n)) for n in range(40)]
    said = row("said", "User saw film 7", at=(7, 7))
    assert already_stated([*lines, *facts, replace(said, text="Saw film 7")], []) == {"said"}
    assert len(asked) == len(facts) + 1


def test_it_costs_no_further_read(world: World) -> None:
    """But for the manifest, which the fact joins: the version keeps its bytes."""
    create_memory(world.user(), NewMemory("User has a cat", Kind.NOTE))
    candidate = FactCandidate("User has a dog", "PERSON", Provenance("user_stated"))
    store_fact(world.user(), candidate, via="observer")
    rebuilt(world)
    calls = []
    for text in ("User has a cat", "User has a bird"):
        store_fact(world.user(), FactCandidate(text, "PERSON", Provenance("user_stated")), via="observer")
        world.table.calls.clear()
        build_pack(world.user().of_session("s1"), "horizon")
        calls.append({name: count for name, count in world.table.calls.items() if name != "write"})
    assert calls[0] == calls[1] | {"get": calls[1].get("get", 0) + 1}
    assert str(read_pack(world.user().of_session("s1")).text).count("cat") == 1


def test_what_a_profile_says_is_not_said_below_it(world: World) -> None:
    write_document(world.user(), "/profile/identity", DocumentChange(text=f"- {LYON}", prompt_label="Who"))
    store_fact(world.user(), FactCandidate(LYON, "PLACE", Provenance("user_stated")), via="observer")
    view = rebuilt(world)
    assert str(view.text).count("Lyon") == 1
    assert view.manifest is not None and len(view.manifest.layers["global"]) == 1


# --- room -----------------------------------------------------------------------------------------


CATS = ("cat no rat no.", "cat, no rat no.", "cat no, rat, no.")
DOGS = ("dog no rat no.", "dog, no rat no.")
"""Statements in the same words, which deny different parts of them, so that each is kept; a pack tells one of them."""


def of_20_tokens(text: str) -> str:
    """With its last sign again and again."""
    return text.ljust(64, text[-1])


def facts(world: World, *texts: str) -> list[str]:
    """Each used a minute before the one in front: so they stand in the global layer. Their ids."""
    lines = [
        ImportedRow(of_20_tokens(text), Kind.FACT, category="PLACE", last_used_at=f"2026-03-09T00:{59 - n}:00.000Z")
        for n, text in enumerate(texts)
    ]
    imported = import_memories(world.user(), lines).imported
    assert len(imported) == len(texts)
    return imported


def room_for(world: World, rows_: int) -> None:
    world.with_policy(window=2_000, global_budget=20 * rows_, local_rows_budget=20 * rows_)


def shown(view: PackView, layer: str) -> list[str]:
    """Ids of what the layer says, and is not said elsewhere."""
    assert view.manifest is not None
    return [entry.id for entry in view.manifest.layers[layer] if entry.tokens]


@pytest.mark.parametrize(
    ("texts", "room", "said"),
    [
        ([CATS[0], CATS[1], DOGS[0], "owl.", "elk."], 2, [0, 2]),
        ([CATS[0], CATS[1], CATS[2], DOGS[0], "owl."], 2, [0, 3]),
        ([CATS[0], CATS[1], DOGS[0], DOGS[1], "owl."], 2, [0, 2]),
        ([CATS[0], DOGS[0], "owl."], 2, [0, 1]),
    ],
)
def test_the_room_of_what_is_said_already_is_the_next_ones(
    world: World, texts: list[str], room: int, said: list[int]
) -> None:
    room_for(world, room)
    ids = facts(world, *texts)
    view = rebuilt(world)
    assert shown(view, "global") == [ids[place] for place in said]
    assert view.manifest is not None
    assert sum(entry.tokens for entry in view.manifest.layers["global"]) == 20 * room
    assert rebuilt(world).manifest == view.manifest


def test_a_note_that_was_kept_twice_leaves_its_room(world: World) -> None:
    """The better ranked one is shown, whichever was written first."""
    room_for(world, 2)
    low, *_ = (
        create_memory(world.user(), NewMemory(of_20_tokens(CATS[0]), Kind.NOTE, priority=priority))
        for priority in (Priority.LOW, Priority.HIGH)
    )
    create_memory(world.user(), NewMemory(of_20_tokens(DOGS[0]), Kind.NOTE, priority=Priority.LOW))
    view = rebuilt(world)
    assert view.manifest is not None
    assert (str(view.text).count("cat"), str(view.text).count("dog")) == (1, 1)
    tokens = {entry.id: entry.tokens for entry in view.manifest.layers["global"]}
    assert len(tokens) == 3 and tokens[low.id] == 0
    assert rebuilt(world).manifest == view.manifest


def test_the_local_layer_fills_up_as_well(world: World) -> None:
    room_for(world, 2)
    for text in ("owl.", DOGS[0], CATS[1], CATS[0]):
        store_fact(
            world.user(), FactCandidate(of_20_tokens(text), "PLACE", Provenance("user_stated", "s1")), via="observer"
        )
    texts = shown(rebuilt(world), "local")
    assert [world.memory(one).text for one in texts] == [of_20_tokens(CATS[0]), of_20_tokens(DOGS[0])]


def test_a_row_that_comes_into_the_room_costs_one_read(world: World) -> None:
    ids = facts(world, CATS[0], CATS[1])
    ids += import_memories(
        world.user(),
        [ImportedRow("d" * 96, Kind.FACT, category="PLACE", last_used_at="2026-03-01T00:00:00.000Z")],
    ).imported
    reads = {}
    for room in (2, 3):
        room_for(world, room)
        world.table.calls.clear()
        build_pack(world.user().of_session("s1"), "horizon")
        reads[room] = world.table.calls["get_many"]
    assert shown(read_pack(world.user().of_session("s1")), "global") == [ids[0], ids[2]]
    assert reads[3] == reads[2] + 1


@pytest.mark.parametrize(("budget", "said"), [(50, ["first"]), (60, ["second", "line"])])
def test_what_would_be_said_again_needs_room(world: World, budget: int, said: list[str]) -> None:
    """The line speaks for the first fact, of the same events, and not for those words elsewhere: with the line in the
    pack the second fact has to be said."""
    world.with_policy(window=2_000, global_budget=budget)
    stored = (
        row("first", "cat", session="s2", tokens=20),
        row("second", "cat!", session="s3", tokens=30),
        line("a cat and a dog", session="s2", tokens=30),
    )
    for day, memory in enumerate(stored):
        used = replace(memory, last_used_at=f"2026-03-0{9 - day}T00:00:00.000Z", observed_at=iso(START))
        world.table.write([rows.put_memory(world.user().keys, used)])
    view = rebuilt(world)
    assert shown(view, "global") == said
    assert str(view.text).count("dog") == int("line" in said)
