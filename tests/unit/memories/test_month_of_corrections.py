"""A month of conversations in which twenty things change twice: what is recalled, what is packed, and what the trace
says (docs/rules/facts.md#evolve). The extractor is scripted; it knows of earlier facts only what the pass shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from neve.domain.indexing.passage import Source
from neve.domain.observe.facts import ProposedFact
from neve.domain.records.memories import Kind
from neve.domain.sessions.transcript import event_text
from neve.observing import Observed, ObservedLine, PassInput
from neve.usecases.ask.memories.list_memories import MemoryFilter, list_memories
from neve.usecases.ask.memories.trace_memory import trace_memory
from neve.usecases.core.pack.gather_pack import gather_preview
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve.usecases.work.observe.observe_session import observe_session
from tests.unit.recall_world import RecallWorld
from tests.unit.world import ScriptedObserver

THINGS = [f"gadget{n}" for n in range(20)]
COLOURS = ("crimson", "turquoise", "ochre")
DAYS = 30


class Extractor(ScriptedObserver):
    """Takes every ``My <thing> is <colour>`` for a fact, and for an update of a shown one about the thing."""

    def observe(self, given: PassInput) -> Observed:
        facts = []
        for event in given.events:
            for thing, colour in re.findall(r"My (gadget\d+) is (\w+)", event_text(event)):
                known = [prior.id for prior in given.prior if f"User's {thing} is" in prior.text]
                relation, target = ("updates", known[0]) if known else ("new", None)
                text = f"User's {thing} is {colour}."
                facts.append(
                    ProposedFact(text, "PREFERENCE", 3, "user_stated", relation, target, event.seq, event.seq)  # type: ignore[arg-type]
                )
        seqs = given.events[0].seq, given.events[-1].seq
        return Observed(
            True, (ObservedLine("🟡 They talked about possessions", *seqs),), "scripted", facts=tuple(facts)
        )


class MonthWorld(RecallWorld):
    extractor = Extractor()

    @property
    def observer(self) -> Extractor:
        return self.extractor


@pytest.fixture
def world(tmp_path: Path) -> Iterator[RecallWorld]:
    world = MonthWorld.make(tmp_path)
    yield world
    world.close()


def test_every_recall_of_a_corrected_fact_returns_the_newest_statement_alone(world: RecallWorld) -> None:
    for n in range(60):
        create_memory(world.user(), NewMemory(f"Something else, number {n}."))
    stated = [(thing, colour) for colour in COLOURS for thing in THINGS]
    assert len(stated) - len(THINGS) == 40
    for day in range(DAYS):
        session = f"day{day}"
        world.open(session)
        today = stated[day * 2 : day * 2 + 2]
        world.say(*(text for thing, colour in today for text in (f"My {thing} is {colour}", "Noted.")), session=session)
        observe_session(world.user().of_session(session), 1)
        world.clock.move(days=1)
    world.pump()
    pack = gather_preview(world.user()).text()
    facts, _ = list_memories(world.user(), MemoryFilter(kind="fact", status="active"), 200, None)
    assert len(facts) == len(THINGS)
    for thing in THINGS:
        hits = world.ask(f"What is my {thing} like?", sources=(Source.MEMORY,), mode="tool").hits
        about = [hit.text for hit in hits if thing in hit.text.replace(".", " ").split() or f"{thing} " in hit.text]
        assert about == [f"User's {thing} is ochre."]
        assert re.findall(rf"{thing} is (\w+)", pack) == ["ochre"]
        [newest] = [fact for fact in facts if f"{thing} " in fact.text]
        history = trace_memory(world.user(), newest.id).history
        assert [one.text.rstrip(".").rpartition(" ")[2] for one in history] == list(COLOURS)
        assert [one.superseded_by for one in history] == [history[1].id, history[2].id, None]
    assert {memory.kind for memory in facts} == {Kind.FACT}
