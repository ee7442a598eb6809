"""What is taken back of a session whose first events retention has removed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from neve.domain.compact.headings import SummaryText
from neve.domain.errors import NeveError
from neve.domain.records.epochs import Summary
from neve.domain.records.retractions import RetractReason
from neve.domain.records.sessions import Event, EventType
from neve.observing import Summarised
from neve.ports.table import Delete, Key
from neve.scope import SessionScope
from neve.store import rows
from neve.usecases.ask.compile.command import CompileCommand
from neve.usecases.ask.compile.compile_context import compile_context
from neve.usecases.ask.sessions.list_events import list_events
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.tell.requests.request_compaction import request_compaction
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.work.compact import move_horizon, read_log
from neve.usecases.work.compact.compact_session import compact_session
from neve.usecases.work.retract import rewrite_summary
from neve.usecases.work.retract.run_retraction import run_retraction
from tests.unit.recall_world import RecallWorld
from tests.unit.retention import retain_log
from tests.unit.world import ScriptedObserver

REMOVED = 10
"""An event that the first summary is of."""


class RetainingWorld(RecallWorld):
    """With an observer."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.scripted = ScriptedObserver()

    @property
    def observer(self) -> ScriptedObserver:
        return self.scripted


def empty(folder: Path) -> RetainingWorld:
    """An open session, of which nothing covered is kept for more than a month."""
    made = RetainingWorld.make(folder)
    assert isinstance(made, RetainingWorld)
    made.with_policy(window=2_000, retention_days=30)
    made.open()
    return made


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[RetainingWorld]:
    """Two compactions with a month between them; nothing is removed yet."""
    made = empty(tmp_path)
    compact(made, "The boat is called Zora.")
    made.clock.move(days=40)
    compact(made, "The boat is called Zora. It lies in Hamburg.")
    yield made
    made.close()


@pytest.fixture
def world(kept: RetainingWorld) -> RetainingWorld:
    """What the first compaction has covered is gone but for its summary."""
    retain_log(session(kept))
    return kept


def session(world: RetainingWorld) -> SessionScope:
    return world.user().of_session("s1")


def compact(world: RetainingWorld, says: str) -> None:
    for _ in range(12):
        world.say("u" * 320, "a" * 320)
    world.observer.summaries.append(Summarised(SummaryText(insights=(says,)), "scripted", prompt_version="1"))
    job = request_compaction(session(world), "manual", wait=False)
    compact_session(session(world), message(world, job.id))


def take_back(world: RetainingWorld, seq: int, reason: RetractReason) -> None:
    answer = retract_events(session(world), Retract(seq, seq, reason))
    run_retraction(session(world), message(world, answer.job_id))


def message(world: RetainingWorld, job_id: str) -> dict[str, Any]:
    return dict(message_of_row(world.rows.get(world.tenant.keys.job(job_id)) or {}).body)


def in_force(world: RetainingWorld) -> Summary:
    keys = session(world).keys
    epoch = rows.read_epoch(world.rows.get(keys.epoch) or {})
    return rows.read_summary(world.rows.get(keys.summary(epoch.epoch)) or {})


@pytest.mark.parametrize("reason", ["edited", "deleted"])
def test_what_is_left_of_removed_events_is_folded_in(world: RetainingWorld, reason: RetractReason) -> None:
    """Their summary is all that there is of them."""
    before = in_force(world)
    removed = list_events(session(world), 1, 1).removed
    assert removed is not None and removed[1] < before.covers_to
    take_back(world, before.covers_to, reason)
    asked = world.observer.summarised[-1]
    assert asked.before is not None and asked.before.insights == ("The boat is called Zora.",)
    assert asked.events[0].seq == removed[1] + 1
    assert (in_force(world).covers_from, in_force(world).covers_to) == (before.covers_from, before.covers_to)
    assert "Hamburg" not in str(in_force(world)), "the second summary holds what is taken back"


@pytest.mark.parametrize("works", ["the job", "a compaction"])
def test_what_goes_between_the_epoch_and_the_log_is_folded_in(
    kept: RetainingWorld, works: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The summary is not made of the rest alone."""
    last = in_force(kept).covers_to
    answer = retract_events(session(kept), Retract(last, last, "edited"))
    module, read = {"the job": rewrite_summary, "a compaction": move_horizon}[works], read_log.read_log

    def removed_first(*asked: Any, **more: Any) -> list[Event]:
        retain_log(session(kept))
        return read(*asked, **more)

    monkeypatch.setattr(module, "read_log", removed_first)
    if works == "the job":
        run_retraction(session(kept), message(kept, answer.job_id))
    else:
        compact(kept, "It is called Zora.")
    asked = kept.observer.summarised[-1]
    assert asked.before is not None and asked.before.insights == ("The boat is called Zora.",)


def test_a_log_that_another_compaction_has_covered_meanwhile_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Retention has removed the first of it before the slower one read it."""
    world = empty(tmp_path)
    for _ in range(12):
        world.say("u" * 320, "a" * 320)
    world.clock.move(days=40)
    read = read_log.read_log

    def others_first(*asked: Any, **more: Any) -> list[Event]:
        monkeypatch.undo()
        compact(world, "The boat is called Zora.")
        assert retain_log(session(world))
        return read(*asked, **more)

    monkeypatch.setattr(move_horizon, "read_log", others_first)
    compact(world, "It lies in Hamburg.")
    [asked] = world.observer.summarised  # the slower one finds that its job is done
    assert (asked.events[0].seq, in_force(world).covers_from) == (5, 5)
    world.close()


def test_what_is_covered_while_the_last_archived_events_go_is_not_kept_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compaction reads that the session has archived events before retention has removed them, and its epoch behind
    that."""
    world = empty(tmp_path)
    compact(world, "The boat is called Zora.")
    world.clock.move(days=40)
    keys, get_many = session(world).keys, world.rows.get_many

    def removed_first(wanted: Sequence[Key], **how: Any) -> Any:
        if keys.archived not in wanted or keys.usage not in wanted:
            return get_many(wanted, **how)
        monkeypatch.undo()
        before = get_many([keys.archived])
        assert retain_log(session(world)) == 14
        return get_many([key for key in wanted if key != keys.archived]) | before

    monkeypatch.setattr(world.rows, "get_many", removed_first)
    compact(world, "It lies in Hamburg.")
    world.clock.move(days=40)
    assert retain_log(session(world)) > 14
    assert rows.read_epoch(world.rows.get(keys.epoch) or {}).removed_to == in_force(world).covers_to
    world.close()


@pytest.mark.parametrize("prompted", [False, True])
def test_a_compaction_that_is_faster_than_the_job_folds_it_in_too(world: RetainingWorld, prompted: bool) -> None:
    last = in_force(world).covers_to
    retract_events(session(world), Retract(last, last, "edited"))
    if prompted:  # which makes do with what is in the log
        compile_context(session(world), CompileCommand(message="And now?", retrieval="none"))
        assert in_force(world).job_id is None
    compact(world, "The boat is called Zora.")
    asked = world.observer.summarised[-1]
    assert asked.before is not None and asked.before.insights == ("The boat is called Zora.",)
    assert in_force(world).covers_to > last and last not in [event.seq for event in asked.events]


def test_a_summary_of_what_was_taken_back_is_not_folded_in(world: RetainingWorld) -> None:
    """It may hold its words, and a later retraction finds it again."""
    take_back(world, REMOVED, "edited")
    take_back(world, in_force(world).covers_to, "edited")
    asked = world.observer.summarised[-1]
    assert asked.before is None or "Zora" not in str(asked.before)


def test_a_deletion_leaves_no_summary_of_its_message(world: RetainingWorld) -> None:
    take_back(world, REMOVED, "deleted")
    prefix = session(world).keys.summaries[0]
    found = world.rows.query(session(world).keys.partition, prefix=prefix, limit=100).items
    assert [item["epoch"] for item in found] == [in_force(world).epoch]


def test_a_client_id_says_nothing_of_a_removed_event_that_is_deleted(world: RetainingWorld) -> None:
    """The event's row, which named it, is gone."""
    named = [NewEvent(EventType.USER_MESSAGE, text, client_id=text) for text in ("before", "it", "behind")]
    first, seq, _ = append_events(session(world), named).seqs
    keys = session(world).keys
    epoch = rows.read_epoch(world.rows.get(keys.epoch) or {})
    removed = replace(epoch, covers_to=seq, removed_to=seq)
    gone = [Delete(keys.event(n)) for n in range(first, seq + 1)]
    world.rows.write([rows.put_epoch(keys, removed, world.clock.now()), *gone])
    take_back(world, seq, "deleted")
    found = world.rows.get_many([keys.client_id(one) for one in ("before", "it", "behind")])
    assert [item["seq"] for item in found.values() if "sha" not in item] == [seq]
    with pytest.raises(NeveError, match="retracted"):
        append_events(session(world), named[1:2])
