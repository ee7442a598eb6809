"""What a retraction leaves of an observation is read again, and none of its facts is counted twice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from neve.domain.observe.facts import ProposedFact
from neve.domain.records.memories import Kind, Status
from neve.observing import Observed
from neve.store import rows
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.observe.report import ObservationReport
from neve.usecases.work.retract.run_retraction import run_retraction
from tests.unit.world import World, observed_line


def saying(first: int, last: int, *facts: tuple[str, int]) -> Observed:
    """An answer about these events; each fact with its seq."""
    proposed = [ProposedFact(text, "PREFERENCE", 3, "user_stated", "new", None, seq, seq) for text, seq in facts]
    return replace(observed_line(f"🟡 said {first} to {last}", first, last), facts=tuple(proposed))


def test_a_fact_counts_as_often_as_it_was_said(tmp_path: Path) -> None:
    tea, train = "User's favourite tea is oolong.", "User prefers trains."
    world = World.make(tmp_path)
    scope = world.user().of_session("s1")
    world.open()
    world.say("Oolong is my favourite tea.", "noted")
    world.say("Oolong, as I said.", "noted", "I prefer trains.")
    for answer in (saying(1, 2, (tea, 1)), saying(3, 5, (tea, 3), (train, 5))):
        world.observer.answers.append(replace(answer, covered_to=answer.lines[0].seq_to))
    observe_session(scope, 1, ObservationReport())

    def facts() -> dict[str, int]:
        found = [m for m in world.memories() if m.kind is Kind.FACT and m.status is Status.ACTIVE]
        return {memory.text: memory.occurrences for memory in found}

    assert facts() == {tea: 2, train: 1}
    job_id = retract_events(scope, Retract(4, 4, "edited")).job_id
    world.observer.answers.append(saying(3, 5, (tea, 3), (train, 5)))
    run_retraction(scope, message_of_row(world.table.get(scope.keys.job(job_id)) or {}).body)
    assert rows.read_job(world.table.get(scope.keys.job(job_id)) or {}).result["written"], "it was read again"
    assert facts() == {tea: 2, train: 1}
    world.table.close()
