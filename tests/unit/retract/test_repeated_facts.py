"""A fact that was said in several messages stands as long as one of them does
(docs/rules/retract.md#repeated-facts)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, permutations, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neve.domain.memories import fact_statements
from neve.domain.memories.storage_decision import FactCandidate
from neve.domain.observe.facts import ProposedFact
from neve.domain.records.memories import Kind, Memory, Provenance, Status
from neve.domain.records.retractions import RetractReason
from neve.observing import Observed, PassInput
from neve.store import rows
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.tell.memories.evolve_memory import Evolution, evolve_memory
from neve.usecases.tell.memories.store_fact import store_fact
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from neve.usecases.tell.requests.retract_events import Retract, Retracted, retract_events
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.retract import find_derived
from neve.usecases.work.retract.run_retraction import run_retraction
from tests.unit.world import ScriptedObserver, World

TEA, TRAIN, BUS = "User likes oolong tea.", "User takes the train.", "User takes the bus."
OOLONG = "oolong is what I like"
"""Shorter than ``TEA``, which stays as it is."""


class Listener(ScriptedObserver):
    """Takes a message ``<text> :: <relation> <text of a fact that was shown>`` for a fact with that text."""

    def observe(self, given: PassInput) -> Observed:
        self._while_thinking()
        shown = {prior.text: prior.id for prior in given.prior}
        facts = []
        for event in given.events:
            text, _, about = str(event.content).partition(" :: ")
            if about:
                relation, _, target = about.partition(" ")
                by: Any = "assistant" if event.event_type == "assistant_response" else "user_stated"
                facts.append(
                    ProposedFact(text, "PREFERENCE", 3, by, relation, shown.get(target), event.seq, event.seq)  # type: ignore[arg-type]
                )
        return Observed(False, (), self.name, facts=tuple(facts))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World.make(tmp_path)
    world.observer = Listener()
    world.open()
    world.clock.move(hours=5)
    world.open(session="s2")
    yield world
    world.table.close()


def tell(world: World, message: str, session: str = "s1", *, answer: str = "I see.") -> int:
    """Its seq, when it was observed."""
    first = world.say(message, answer, session=session).seqs[0]
    observe_session(world.user().of_session(session), 1)
    world.clock.move(minutes=1)
    return first


def new(text: str) -> str:
    return f"{text} :: new -"


def begin(world: World, seq: int, session: str = "s1", reason: RetractReason = "edited") -> Callable[[], None]:
    """Take it back; the worker of it."""
    scope = world.user().of_session(session)
    answer: Retracted = retract_events(scope, Retract(seq, seq, reason))
    item = world.table.get(world.tenant.keys.job(answer.job_id))
    assert item is not None

    def work() -> None:
        run_retraction(scope, message_of_row(item).body)
        done = rows.read_job(world.table.get(world.tenant.keys.job(answer.job_id)) or {})
        assert done.status == "done", done
        assert done.result.get("erased", {"verified": True})["verified"]

    return work


def facts(world: World, *status: Status) -> list[Memory]:
    wanted = status or (Status.ACTIVE,)
    return [m for m in world.memories() if m.kind is Kind.FACT and m.status in wanted and m.died_gen is None]


def live(world: World, session: str) -> list[str]:
    item = world.table.get(world.tenant.keys.of_user("ann").of_session(session).marker)
    return [row.id for row in rows.read_marker(item or {}).live]


def place(fact: Memory) -> tuple[str | None, int | None]:
    return fact.provenance.session_id, fact.provenance.seq_from


# --- any of them ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("which", "reason"), [*product(range(16), ("edited", "deleted"))])
def test_it_is_active_while_one_of_its_messages_is_left(world: World, which: int, reason: RetractReason) -> None:
    seqs = [(session, tell(world, new(TEA), session)) for session in ("s1", "s2", "s1", "s2")]
    assert [one.occurrences for one in facts(world)] == [4]
    gone = [one for n, one in enumerate(seqs) if which >> n & 1]
    for session, seq in gone:
        begin(world, seq, session, reason)()
    left = [one for one in seqs if one not in gone]
    found = facts(world)
    assert [(one.text, one.occurrences) for one in found] == ([(TEA, len(left))] if left else [])
    for fact in found:
        assert place(fact) in left and fact.session_id == fact.provenance.session_id
        for session in ("s1", "s2"):
            assert live(world, session) == ([fact.id] if fact.session_id == session else [])
    stored = store_fact(world.user(), FactCandidate(TEA, "PREFERENCE", Provenance("human_edit")), via="api")
    assert stored.memory is not None
    assert (stored.decision, stored.memory.occurrences) == ("reinforced" if left else "stored", len(left) + 1)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(["s1", "s2", "s3"]), min_size=1, max_size=6),
    st.data(),
)
def test_whatever_the_order_and_whoever_comes_first(sessions: list[str], data: st.DataObject) -> None:
    """Some are said behind retractions whose jobs have not run, and jobs run in any order."""
    with TemporaryDirectory() as folder:
        world = World.make(Path(folder))
        world.observer = Listener()
        for session in ("s1", "s2", "s3"):
            world.open(session=session)
            world.clock.move(hours=3)
        left: list[tuple[str, int]] = []
        waiting: list[Callable[[], None]] = []
        for session in sessions:
            left.append((session, tell(world, new(data.draw(st.sampled_from([TEA, TEA.upper()]))), session)))
            for one in data.draw(st.lists(st.sampled_from(left), unique=True)):
                left.remove(one)
                waiting.append(begin(world, one[1], one[0], data.draw(st.sampled_from(["edited", "deleted"]))))
            for work in data.draw(st.permutations(waiting)) if data.draw(st.booleans()) else []:
                work()
                waiting.remove(work)
        for work in data.draw(st.permutations(waiting)):
            work()
        found = facts(world)
        assert [fact.occurrences for fact in found] == ([len(left)] if left else [])
        assert all(place(fact) in left for fact in found)
        world.table.close()


# --- whose word, in which words -------------------------------------------------------------------


def test_what_stands_is_told_in_the_words_of_what_was_said_again(world: World) -> None:
    first = tell(world, new(TEA))
    tell(world, f"{OOLONG} :: reinforces {TEA}", "s2")
    assert [one.text for one in facts(world)] == [TEA]
    begin(world, first)()
    [fact] = facts(world)
    assert (fact.text, fact.tokens, place(fact)) == (OOLONG, world.user().count(OOLONG), ("s2", 1))
    assert fact.observed_at > world.memory(fact.supersedes[0]).observed_at
    again = store_fact(world.user(), FactCandidate(OOLONG, "PREFERENCE", Provenance("human_edit")), via="api")
    assert again.memory is not None and again.memory.id == fact.id


def test_a_deletion_leaves_no_word_of_the_first_message(world: World) -> None:
    first = tell(world, new("User likes oolong tea from Quillonia."))
    tell(world, f"{OOLONG} :: reinforces User likes oolong tea from Quillonia.", "s2")
    begin(world, first, reason="deleted")()
    assert [one.text for one in facts(world)] == [OOLONG]
    assert "Quillonia" not in str(world.memories())


@pytest.mark.parametrize("edited_before", [False, True])
def test_words_that_only_the_deleted_message_said_do_not_stand(world: World, edited_before: bool) -> None:
    """The observer repeated what it was shown."""
    text = "User likes oolong tea from Quillonia."
    first = tell(world, new(text))
    world.say("As I said, oolong.", "I see.", session="s2")
    by = ProposedFact(text, "PREFERENCE", 3, "user_stated", "new", None, 1, 1)
    world.observer = ScriptedObserver()
    world.observer.answers = [Observed(False, (), "scripted", facts=(by,))]
    observe_session(world.user().of_session("s2"), 1)
    assert [one.occurrences for one in facts(world)] == [2]
    if edited_before:
        begin(world, first)()
        assert [(one.text, place(one)) for one in facts(world)] == [(text, ("s2", 1))]
    begin(world, first, reason="deleted")()
    assert facts(world) == [] and "Quillonia" not in str(world.memories())


def test_the_words_of_a_deleted_repetition_leave_the_row(world: World) -> None:
    tell(world, new(f"{TEA.removesuffix('.')} at breakfast."))
    again = tell(world, f"oolong from Quillonia :: reinforces {TEA.removesuffix('.')} at breakfast.", "s2")
    [fact] = facts(world)
    assert "Quillonia" in str(fact) and "Quillonia" not in fact.text
    begin(world, again, "s2", "deleted")()
    [stored] = facts(world)
    assert (stored.id, stored.rev, stored.occurrences, stored.restatements) == (fact.id, fact.rev, 1, ())


@pytest.mark.parametrize("reason", ["edited", "deleted"])
def test_a_fact_in_the_longer_words_of_a_repetition_is_told_again_in_the_first_ones(
    world: World, reason: RetractReason
) -> None:
    tell(world, new(TEA))
    again = tell(world, f"User likes oolong tea from Quillonia. :: reinforces {TEA}", "s2")
    [fact] = facts(world)
    assert (fact.text, place(fact), fact.occurrences) == ("User likes oolong tea from Quillonia.", ("s2", 1), 2)
    begin(world, again, "s2", reason)()
    [stored] = facts(world)
    assert (stored.text, stored.occurrences, stored.restatements) == (TEA, 1, ())
    assert reason == "edited" or "Quillonia" not in str(world.memories())


def test_a_fact_in_the_longer_words_of_a_repetition_stands_when_the_first_ones_are_taken_back(world: World) -> None:
    first = tell(world, new(TEA))
    tell(world, f"User likes oolong tea from Quillonia. :: reinforces {TEA}", "s2")
    begin(world, first, reason="deleted")()
    [fact] = facts(world)
    assert (fact.text, place(fact), fact.occurrences) == ("User likes oolong tea from Quillonia.", ("s2", 1), 1)


def test_of_a_session_with_many_repetitions_everything_is_looked_at(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (fact_statements, find_derived):
        monkeypatch.setattr(module, "MAX_REPEATED_FACTS", 1)
    monkeypatch.setattr("neve.usecases.tell.memories.fact_writes.MAX_REPEATED_FACTS", 1)
    for text in (TEA, TRAIN):
        tell(world, new(text))
    seqs = [tell(world, new(text), "s2") for text in (TEA, TRAIN)]
    for seq in seqs:
        begin(world, seq, "s2")()
    assert [(one.occurrences, one.restatements) for one in facts(world)] == [(1, ())] * 2


def test_the_word_of_an_assistant_alone_waits_for_a_person(world: World) -> None:
    first = tell(world, new(TEA))
    tell(world, "What do I like?", answer=new(TEA))
    [fact] = facts(world)
    assert (fact.occurrences, fact.provenance.trust) == (2, "user")
    begin(world, first)()
    assert facts(world) == []
    [waiting] = facts(world, Status.INBOX)
    assert (waiting.provenance.by, waiting.provenance.trust, waiting.confidence) == ("assistant", "assistant", 0.5)
    assert live(world, "s1") == [waiting.id]


def test_what_a_person_said_in_a_call_stands(world: World) -> None:
    first = tell(world, new(TEA))
    store_fact(world.user(), FactCandidate(TEA, "PREFERENCE", Provenance("human_edit")), via="api")
    begin(world, first)()
    [fact] = facts(world)
    assert (fact.provenance.by, fact.session_id, fact.occurrences) == ("human_edit", None, 1)


def test_what_a_person_put_in_the_place_of_another_stands(world: World) -> None:
    first = tell(world, new(TRAIN))
    tell(world, new(BUS), "s2")
    [bus] = [one for one in facts(world) if one.text == BUS]
    evolve_memory(world.user(), bus.id, Evolution(TRAIN, "moved"))
    begin(world, first)()
    assert [(one.text, one.provenance.by) for one in facts(world)] == [(TRAIN, "human_edit")]


def test_what_a_person_has_edited_was_not_said_before(world: World) -> None:
    first = tell(world, new(TRAIN))
    tell(world, new(TRAIN), "s2")
    update_memory(world.user(), facts(world)[0].id, MemoryChange({"text": BUS}), None)
    begin(world, first, reason="deleted")()
    assert facts(world) == []


def test_a_fact_that_waited_and_was_let_in_waits_again(world: World) -> None:
    """It is older than the session that let it in."""
    tell(world, "Hello.", answer=new(TEA))
    assert [one.provenance.by for one in facts(world, Status.INBOX)] == ["assistant"]
    seqs = tell(world, new(TEA), "s2")
    assert [place(one) for one in facts(world)] == [("s2", seqs)]
    begin(world, seqs, "s2")()
    assert (facts(world), [place(one) for one in facts(world, Status.INBOX)]) == ([], [("s1", 2)])


# --- corrections ----------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", ["edited", "deleted"])
def test_a_correction_that_is_taken_back_gives_back_what_still_stands(world: World, reason: RetractReason) -> None:
    seqs = [tell(world, new(TRAIN)), tell(world, new(TRAIN), "s2")]
    moved = tell(world, f"{BUS} :: updates {TRAIN}")
    assert [one.text for one in facts(world)] == [BUS]
    begin(world, seqs[0], reason=reason)()
    assert [one.text for one in facts(world)] == [BUS]
    begin(world, moved)()
    [fact] = facts(world)
    assert (fact.text, fact.occurrences, place(fact)) == (TRAIN, 1, ("s2", seqs[1]))


def test_a_correction_that_is_taken_back_gives_nothing_back_that_was(world: World) -> None:
    seqs = tell(world, new(TRAIN))
    moved = tell(world, f"{BUS} :: updates {TRAIN}", "s2")
    begin(world, seqs)()
    begin(world, moved, "s2")()
    assert facts(world) == []


@pytest.mark.parametrize("reason", ["edited", "deleted"])
def test_what_was_before_two_corrections_comes_back_behind_both(world: World, reason: RetractReason) -> None:
    """Of the first one nothing is left that could say what it had replaced."""
    tell(world, new(TEA))
    first = tell(world, f"{TRAIN} :: updates {TEA}", "s2")
    second = tell(world, f"{BUS} :: updates {TRAIN}")
    begin(world, first, "s2", reason)()
    assert [one.text for one in facts(world)] == [BUS]
    begin(world, second)()
    assert [one.text for one in facts(world)] == [TEA]


@pytest.mark.parametrize("reasons", [*product(("edited", "deleted"), repeat=2)])
def test_a_correction_that_was_said_twice_holds_until_both_are_gone(
    world: World, reasons: Sequence[RetractReason]
) -> None:
    tell(world, new(TRAIN))
    moved = [("s1", tell(world, f"{BUS} :: updates {TRAIN}")), ("s2", tell(world, new(BUS), "s2"))]
    for (session, seq), reason, holds in zip(moved, reasons, (BUS, TRAIN), strict=True):
        begin(world, seq, session, reason)()
        assert [one.text for one in facts(world)] == [holds]


@pytest.mark.parametrize("reason", ["edited", "deleted"])
@pytest.mark.parametrize("order", [*permutations((2, 1, 0))])
def test_what_was_before_corrections_comes_back_behind_all_of_them(
    world: World, order: Sequence[int], reason: RetractReason
) -> None:
    tell(world, new(TEA))
    texts = [TEA, TRAIN, BUS, "User walks."]
    seqs = [tell(world, f"{text} :: updates {before}") for before, text in pairwise(texts)]
    gone: set[int] = set()
    for one in order:
        begin(world, seqs[one], reason=reason)()
        gone.add(one)
        last = max({0, 1, 2} - gone, default=-1)
        assert [fact.text for fact in facts(world)] == [texts[last + 1]]


@pytest.mark.parametrize("reason", ["edited", "deleted"])
@pytest.mark.parametrize("order", [*permutations(("train", "bus", "again"))])
def test_who_says_a_correction_again_stands_for_what_it_had_replaced(
    world: World, order: Sequence[str], reason: RetractReason
) -> None:
    """The correction does not come back beside it, and is gone then; nothing else knows what was before."""
    tell(world, new(TEA))
    seqs = {
        "train": (tell(world, f"{TRAIN} :: updates {TEA}"), "s1"),
        "bus": (tell(world, f"{BUS} :: updates {TRAIN}"), "s1"),
        "again": (tell(world, new(TRAIN), "s2"), "s2"),
    }
    for one in order:
        begin(world, *seqs[one], reason)()
    assert [fact.text for fact in facts(world)] == [TEA]


def test_what_a_person_says_again_stands_for_what_it_had_replaced(world: World) -> None:
    tell(world, new(TEA))
    train = tell(world, f"{TRAIN} :: updates {TEA}")
    bus = tell(world, f"{BUS} :: updates {TRAIN}")
    before = {fact.text: fact.id for fact in facts(world, Status.SUPERSEDED)}
    stored = store_fact(world.user(), FactCandidate(TRAIN, "PREFERENCE", Provenance("human_edit")), via="api")
    assert stored.memory is not None
    begin(world, bus)()
    [fact] = facts(world)
    assert (fact.id, fact.supersedes) == (stored.memory.id, (before[TRAIN], before[TEA]))
    begin(world, train)()
    assert [one.id for one in facts(world)] == [fact.id], "a person has said it"


def test_what_stands_twice_already_is_known_of_the_one_that_says_it(world: World) -> None:
    """Said again while its correction held, it is another row."""
    tell(world, new(TRAIN))
    moved = tell(world, f"{BUS} :: updates {TRAIN}")
    again = tell(world, new(TRAIN), "s2")
    assert sorted(one.text for one in facts(world)) == [BUS, TRAIN]
    begin(world, moved)()
    assert [(one.text, one.occurrences) for one in facts(world)] == [(TRAIN, 2)]
    begin(world, again, "s2")()
    assert [(one.text, place(one)) for one in facts(world)] == [(TRAIN, ("s1", 1))]


# --- meanwhile ------------------------------------------------------------------------------------

WRITES = 8
"""More than a retraction's job makes before it is done here."""


@pytest.mark.parametrize("write", range(WRITES))
def test_whenever_it_is_said_again_it_stands(world: World, write: int) -> None:
    """Before any write of the job: of the coming rows, the stamps, the flip, the sweep."""
    work = begin(world, tell(world, new(TEA)))

    def count_down(left: int) -> None:
        if left:
            world.table.before_write = lambda: count_down(left - 1)
        else:
            tell(world, new(TEA), "s2")

    world.table.before_write = lambda: count_down(write)
    work()
    [fact] = facts(world)
    assert (fact.text, place(fact)) == (TEA, ("s2", 1))
    begin(world, 1, "s2")()
    assert facts(world) == []


def test_as_many_statements_are_kept_as_a_row_has_room_for(world: World) -> None:
    seqs = [tell(world, new(TEA)) for _ in range(fact_statements.MAX_STATEMENTS + 3)]
    [fact] = facts(world)
    assert fact.occurrences == len(seqs)
    seqs_left = [one.seq_from for one in fact.restatements]
    assert seqs_left == [*seqs[1 : fact_statements.MAX_STATEMENTS], seqs[-1]]
