"""A filing that is answered within a day: it is committed once, or asked for at once, whatever happens to the session,
to its documents, to the worker and to the provider meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from neve.adapters.models.anthropic_batches import AnthropicBatches
from neve.domain.records.jobs import Job
from neve.domain.reflect.night_limits import ANSWERED_WITHIN, LOOKS_EVERY
from neve.observers.prompted import PromptedObserver
from neve.ports.models import ModelRequest
from neve.ports.queue import QueueName
from neve.ports.table import Delete, Expect
from neve.store import rows
from neve.store.filings import read_filing
from neve.store.keys import NOBODY
from neve.store.partitions import all_rows
from neve.usecases.ask.sessions.read_sessions import get_session
from neve.usecases.ask.tenants.tenant_usage import tenant_usage
from neve.usecases.core.jobs.carry_on import carry_on
from neve.usecases.core.jobs.hand_in import withdraw_next
from neve.usecases.core.jobs.queued_jobs import HANDED_IN
from neve.usecases.core.jobs.read_jobs import find_job
from neve.usecases.tell.requests.end_session import end_session, end_session_as_read
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.tell.tenants.create_tenant import create_tenant
from neve.usecases.tell.tenants.write_policy import write_policy
from neve.usecases.work.background.sweep_due import sweep_due
from neve.usecases.work.compact.compact_session import compact_session
from neve.usecases.work.librarian import hand_in
from neve.usecases.work.librarian.file_session import FilingReport
from tests.loopback.script import Step
from tests.loopback.server import Loopback
from tests.unit.librarian.library_world import LibraryWorld

GOALS = "/profile/goals"


class Died(BaseException):
    """A worker is gone, with all that it would have done."""


def dies(*_: Any) -> None:
    raise Died


class SilentWorld(LibraryWorld):
    """Ends its session as the sweep does, because nothing was said for long."""

    def fall_silent(self) -> Job:
        found = self.table.get(self.session.keys.session_head)
        assert found is not None
        job = end_session_as_read(self.session, rows.read_session(found))
        compact_session(self.session, self.body_of(job))
        return self.job(job)

    def body_of(self, job: Job) -> dict[str, Any]:
        names = {"tenant": "acme", "user": "ann", "session": "s1"}
        return names | {"job_id": job.id, "incarnation": 1, "reason": "end"}

    def job(self, job: Job) -> Job:
        found = find_job(self.session, job.id)
        assert found is not None
        return found

    def later(self) -> FilingReport | None:
        """The sweep comes, and the librarian does what it sends, and the night's worker what is to be deleted."""
        self.clock.move(seconds=LOOKS_EVERY.total_seconds() + 1)
        self.queue.sent = []
        sweep_due(self)
        sent = [message for queue, message in self.queue.sent if queue is QueueName.LIBRARIAN]
        report = self.file() if sent else None
        for job in self.deletions():
            carry_on(self.user(NOBODY), HANDED_IN, job.id, withdraw_next)
        return report

    def deletions(self) -> list[Job]:
        found = map(rows.read_job, all_rows(self.table, self.tenant.keys.jobs))
        return [job for job in found if job.kind == HANDED_IN]

    @property
    def filed_to(self) -> int:
        return read_filing("s1", self.table.get(self.session.keys.filing)).filed_seq


@pytest.fixture
def world(tmp_path: Path, provider: Loopback) -> Iterator[SilentWorld]:
    world = SilentWorld.at(tmp_path)
    assert isinstance(world, SilentWorld)
    create_tenant(world, "acme")
    world.with_policy(nightly_model="batch")
    write_policy(world.scope, world.tenant.policy)
    model = AnthropicBatches("test-key", base_url=provider.url, timeout_s=5.0, max_retries=0)
    world.observer.provider = PromptedObserver(model, "claude", batches=model)
    world.open()
    world.say("I prefer the window seat. I want to learn Norwegian.", "Noted.")
    yield world
    model.close()
    world.table.close()


def filed(text: str, title: str = "A trip to Oslo", **more: Any) -> Step:
    action = {"action": "create", "path": GOALS, "text": text, "certainty": "high", "seqs": [1]} | more
    answer = {"title": title, "outcome": "SUCCESS", "actions": [action]}
    return Step(tool_calls=({"name": "file_conversation", "arguments": answer},))


def test_the_filing_of_a_silent_session_is_handed_in_and_committed_when_it_is_answered(
    world: SilentWorld, provider: Loopback
) -> None:
    job = world.fall_silent()
    report = world.file()
    [batch] = provider.batches.live.values()
    assert (len(batch.requests), provider.requests, world.filed_to) == (1, [], 0)
    assert report is not None and report.handed_in and world.job(job).status == "running"
    waits = world.later()
    assert waits is not None and waits.handed_in and len(provider.batches.live) == 1
    provider.will(filed("Learn Norwegian."))
    provider.end_batches()
    world.later()
    assert (world.text(GOALS), world.filed_to) == ("Learn Norwegian.", 2)
    assert (world.job(job).status, get_session(world.session).head.status) == ("done", "extracted")
    world.later()
    assert (provider.batches.live, world.deletions(), provider.requests, provider.refused) == ({}, [], [], [])
    assert provider.batches.calls.count("POST batches") == 1
    usage = tenant_usage(world.scope).usage
    assert usage.model_batch_input_tokens == usage.model_input_tokens > 0


def test_a_caller_who_ends_the_session_is_answered_now(world: SilentWorld, provider: Loopback) -> None:
    provider.will(filed("Learn Norwegian."))
    world.end()
    world.file()
    assert (world.text(GOALS), provider.batches.calls) == ("Learn Norwegian.", [])


def test_without_the_policy_nothing_of_a_job_says_that_it_has_hours(world: SilentWorld, provider: Loopback) -> None:
    world.with_policy()
    provider.will(filed("Learn Norwegian."))
    job = world.fall_silent()
    assert job.state == {"reason": "end"}
    world.file()
    assert (world.text(GOALS), provider.batches.calls) == ("Learn Norwegian.", [])


def test_where_there_are_no_batches_it_is_asked_for_at_once(world: SilentWorld, provider: Loopback) -> None:
    world.observer.provider = None
    job = world.fall_silent()
    world.file()
    assert (world.job(job).status, provider.batches.calls, world.deletions()) == ("done", [], [])


@pytest.mark.parametrize("expired", [True, False])
def test_what_expired_or_failed_is_asked_for_at_once(world: SilentWorld, provider: Loopback, expired: bool) -> None:
    world.fall_silent()
    world.file()
    if not expired:
        provider.will(Step(fail="500"))
    provider.end_batches(expired=expired)
    provider.will(filed("At once."))
    world.later()
    assert (world.text(GOALS), len(provider.requests)) == ("At once.", 1)


def test_it_waits_for_some_hours_and_is_asked_for_at_once_then(world: SilentWorld, provider: Loopback) -> None:
    job = world.fall_silent()
    world.file()
    provider.will(filed("At once."))
    world.clock.move(seconds=ANSWERED_WITHIN.total_seconds())
    world.later()
    assert (world.text(GOALS), world.job(job).status) == ("At once.", "done")
    provider.end_batches()
    world.later()
    assert provider.batches.live == {}


def test_a_part_that_cannot_be_used_is_asked_for_once_more_at_once(world: SilentWorld, provider: Loopback) -> None:
    world.fall_silent()
    world.file()
    provider.will(filed("No such event.", seqs=[77]))
    provider.end_batches()
    provider.will(filed("Learn Norwegian."))
    world.later()
    assert (world.text(GOALS), len(provider.requests)) == ("Learn Norwegian.", 1)


def test_what_is_said_meanwhile_is_filed_by_another_job(world: SilentWorld, provider: Loopback) -> None:
    world.fall_silent()
    world.file()
    world.say("And Danish.", "Noted.")
    provider.will(filed("Learn Norwegian."))
    provider.end_batches()
    world.later()
    assert (world.text(GOALS), world.filed_to, provider.requests) == ("Learn Norwegian.", 2, [])
    assert get_session(world.session).head.status == "open"


def test_a_caller_who_ends_it_meanwhile_has_filed_all_of_it(world: SilentWorld, provider: Loopback) -> None:
    """The answer to a part of that is nobody's."""
    silent = world.fall_silent()
    world.file()
    world.say("And Danish.", "Noted.")
    provider.will(filed("Learn both."))
    world.end()
    world.file()
    provider.will(filed("SECRET"))
    provider.end_batches()
    world.later()
    assert (world.text(GOALS), world.filed_to, world.job(silent).status) == ("Learn both.", 4, "done")
    world.later()
    assert provider.batches.live == {}


def test_a_caller_who_says_meanwhile_how_it_ended_is_answered_now(world: SilentWorld, provider: Loopback) -> None:
    silent = world.fall_silent()
    world.file()
    assert end_session(world.session).id == silent.id
    provider.will(filed("At once."))
    told = world.end(outcome="PARTIAL")
    world.file()
    assert told.id != silent.id
    assert (world.text(GOALS), world.job(told).result["session_summary"]["outcome"]) == ("At once.", "PARTIAL")
    world.later()
    assert (world.job(silent).status, len(provider.requests)) == ("done", 1)


def edit(world: SilentWorld) -> None:
    world.put("/profile/preferences", "The aisle, since last week.")


def take_back(world: SilentWorld) -> None:
    retract_events(world.session, Retract(1, 1, "deleted"))


@pytest.mark.parametrize("change", [edit, take_back])
def test_an_answer_to_what_has_changed_is_nobodys(
    world: SilentWorld, provider: Loopback, change: Callable[[SilentWorld], None]
) -> None:
    world.fall_silent()
    world.file()
    provider.will(filed("SECRET"))
    provider.end_batches()
    change(world)
    provider.will(filed("What is left.", seqs=[2]))
    world.later()
    assert "SECRET" not in (world.text(GOALS) or "")
    assert len(provider.requests) == 1
    world.later()
    assert provider.batches.live == {}


def test_a_worker_that_dies_before_it_has_noted_what_it_handed_in(
    world: SilentWorld, provider: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next one hands in again. Nobody reads the other answer, which is the provider's to delete."""
    world.fall_silent()
    with monkeypatch.context() as patched:
        patched.setattr(hand_in, "put_deletion", dies)
        with pytest.raises(Died):
            world.file()
    [orphan] = provider.batches.live
    world.file()
    provider.will(filed("Unread."), filed("Read."))
    provider.end_batches()
    world.later()
    world.later()
    assert (world.text(GOALS), list(provider.batches.live)) == ("Read.", [orphan])


def test_two_workers_hand_in_once(world: SilentWorld, provider: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that was slower takes back what it handed in."""
    job = world.fall_silent()
    submit = AnthropicBatches.submit

    def beside_another(model: AnthropicBatches, requests: list[ModelRequest]) -> str:
        name = submit(model, requests)
        monkeypatch.setattr(AnthropicBatches, "submit", submit)
        world.file()
        return name

    monkeypatch.setattr(AnthropicBatches, "submit", beside_another)
    report = world.file()
    assert report is not None and report.handed_in
    [kept] = [one for one in provider.batches.live if one == world.job(job).state["cursor"][HANDED_IN]]
    assert len(world.deletions()) == 1 and provider.batches.calls.count("POST cancel") == 1
    provider.will(filed("Read."))
    provider.end_batches()
    world.later()
    assert world.text(GOALS) == "Read." and kept


def test_a_message_that_comes_twice_asks_nothing_twice(world: SilentWorld, provider: Loopback) -> None:
    job = world.fall_silent()
    world.file()
    compact_session(world.session, world.body_of(job))
    world.file()
    assert (len(provider.batches.live), provider.requests) == (1, [])


def test_an_erasure_takes_back_what_was_handed_in(world: SilentWorld, provider: Loopback) -> None:
    """It takes the job away."""
    job = world.fall_silent()
    world.file()
    world.table.write([Delete(world.session.keys.job(job.id), Expect.ANY)])
    assert world.later() is None
    assert provider.batches.calls.count("POST cancel") == 1
    provider.will(filed("SECRET"))
    provider.end_batches()
    world.later()
    assert (provider.batches.live, world.deletions(), world.text(GOALS)) == ({}, [], None)
