"""A fact that was said before a person changed what is known of it, and is observed behind that
(docs/rules/facts.md#from-a-pass)."""

from __future__ import annotations

import pytest

from neve.domain.observe.facts import ProposedFact
from neve.domain.records.memories import Kind, Memory, Relation, Status
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.tell.memories.evolve_memory import Evolution, evolve_memory
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.observe.report import ObservationReport
from neve.usecases.work.retract.run_retraction import run_retraction
from tests.unit.world import World, observed_line

BERLIN, IN_BERLIN, BERN = "User lives in Berlin.", "User has a flat in Berlin.", "User lives in Bern."


def late(world: World, text: str, change: str, relation: Relation) -> tuple[Memory, Memory, str]:
    """A fact that a person has changed, what they made of it, and what was decided about a message of before that,
    which is observed behind it and is said to be about the fact."""
    observe_facts(world, [said(BERLIN)], "I live in Berlin.", "Ah.")
    [berlin] = facts(world)
    world.say("As I said, Berlin.", "Yes.")
    world.clock.move(minutes=5)
    if change == "reworded":
        new = update_memory(world.user(), berlin.id, MemoryChange({"text": BERN}), None)
    else:
        steps = ["User lives in Bonn.", BERN] if change == "twice" else [BERN]
        new = berlin
        for step in steps:
            new = evolve_memory(world.user(), new.id, Evolution(step, "moved"))
    world.clock.move(minutes=5)
    decision = observe_facts(world, [said(text, 3, relation, berlin.id)])
    return world.memory(berlin.id), world.memory(new.id), decision


def said(text: str, seq: int = 1, relation: Relation = "new", target_id: str | None = None) -> ProposedFact:
    return ProposedFact(text, "PLACE", 3, "user_stated", relation, target_id, seq, seq)


def observe_facts(world: World, proposed: list[ProposedFact], *texts: str, session: str = "s1") -> str:
    """What was decided about the first one."""
    if texts:
        world.say(*texts, session=session)
    first = proposed[0].seq_from
    assert first is not None
    world.observer.answers.append(observed_line("🟡 of a flat", first, first + 1, facts=tuple(proposed)))
    report = ObservationReport()
    observe_session(world.user().of_session(session), 1, report)
    return str(report.result()["facts"][0]["decision"])


def take_back(world: World, session: str, first: int, last: int | None = None) -> None:
    scope = world.user().of_session(session)
    answered = retract_events(scope, Retract(first, last, "edited"))
    run_retraction(scope, message_of_row(world.table.get(world.tenant.keys.job(answered.job_id)) or {}).body)


def active(world: World) -> list[str]:
    return [fact.text for fact in facts(world) if fact.status is Status.ACTIVE]


def facts(world: World) -> list[Memory]:
    return [memory for memory in world.memories() if memory.kind is Kind.FACT]


@pytest.mark.parametrize("change", ["evolved", "twice"])
@pytest.mark.parametrize("relation", ["new", "reinforces", "updates"])
def test_what_was_replaced_since_it_was_said_again_stays_replaced(
    world: World, change: str, relation: Relation
) -> None:
    berlin, new, decision = late(world, BERLIN, change, relation)
    assert (decision, berlin.status, berlin.occurrences) == ("reinforced", Status.SUPERSEDED, 2)
    assert active(world) == [BERN]
    assert (new.occurrences, new.restatements) == (1, ())


@pytest.mark.parametrize("change", ["evolved", "twice"])
def test_other_words_for_it_do_not_count_for_what_took_its_place(world: World, change: str) -> None:
    berlin, new, decision = late(world, IN_BERLIN, change, "reinforces")
    assert (decision, berlin.status, berlin.occurrences) == ("reinforced", Status.SUPERSEDED, 2)
    assert active(world) == [BERN]
    assert (new.occurrences, new.restatements) == (1, ())


@pytest.mark.parametrize("change", ["evolved", "twice", "reworded"])
def test_what_corrects_it_is_held_against_what_took_its_place(world: World, change: str) -> None:
    _, new, decision = late(world, IN_BERLIN, change, "updates")
    assert (decision, active(world)) == ("inbox", [BERN])
    [waiting] = [one for one in facts(world) if one.status is Status.INBOX]
    assert waiting.judged is not None and waiting.judged.target_id == new.id


def test_so_it_is_where_another_message_corrected_it(world: World) -> None:
    """Of a conversation that was observed earlier."""
    observe_facts(world, [said(BERLIN)], "I live in Berlin.", "Ah.")
    world.say("As I said, Berlin.", "Yes.")
    world.clock.move(minutes=5)
    world.open(session="s2")
    [berlin] = facts(world)
    observe_facts(world, [said(BERN, 1, "updates", berlin.id)], "I moved to Bern.", "Ah.", session="s2")
    assert observe_facts(world, [said(BERLIN, 3)]) == "reinforced"
    assert active(world) == [BERN]


def test_what_is_said_after_the_correction_holds(world: World) -> None:
    _, new, _ = late(world, BERLIN, "evolved", "new")
    world.clock.move(minutes=5)
    world.say("I moved back to Berlin.", "Oh.")
    assert observe_facts(world, [said(BERLIN, 5, "updates", new.id)]) == "superseded"
    assert active(world) == [BERLIN]


def test_it_stands_by_that_statement_once_the_correction_is_taken_back(world: World) -> None:
    test_so_it_is_where_another_message_corrected_it(world)
    take_back(world, "s2", 1)
    take_back(world, "s1", 1, 2)
    [berlin] = [one for one in facts(world) if one.status is Status.ACTIVE]
    assert (berlin.text, berlin.provenance.session_id, berlin.provenance.seq_from) == (BERLIN, "s1", 3)
