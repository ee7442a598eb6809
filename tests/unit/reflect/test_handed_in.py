"""A night that has its batches answered within a day: each answer is written once, or not at all, whatever happens to
the worker, to the provider and to the rows meanwhile."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from neve.adapters.models.anthropic_batches import AnthropicBatches
from neve.domain.jobs.time_limits import LEASE_S
from neve.domain.records.jobs import Job
from neve.domain.reflect.night_limits import ANSWERED_WITHIN, LOOKS_EVERY
from neve.observers.prompted import PromptedObserver
from neve.ports.models import ModelRequest
from neve.ports.queue import QueueName
from neve.store import rows
from neve.store.partitions import all_rows
from neve.usecases.ask.tenants.tenant_usage import tenant_usage
from neve.usecases.core.jobs.queued_jobs import HANDED_IN
from neve.usecases.tell.memories.delete_memory import delete_memory
from neve.usecases.tell.memories.mark_used import mark_used
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from neve.usecases.tell.requests.request_erasure import request_erasure
from neve.usecases.work.background.sweep_due import sweep_due
from neve.usecases.work.reflect import hand_in
from neve.usecases.work.reflect.request_reflection import request_reflection
from neve.workers.job_worker import process_jobs
from tests.loopback.script import Step
from tests.loopback.server import Loopback
from tests.unit.reflect.night_world import NightWorld


class Died(BaseException):
    """A worker is gone, with all that it would have done."""


@pytest.fixture
def world(tmp_path: Path, provider: Loopback) -> Iterator[NightWorld]:
    world = NightWorld.opened(tmp_path, nightly_model="batch", reflection_min_rows=1)
    model = AnthropicBatches("test-key", base_url=provider.url, timeout_s=5.0, max_retries=0)
    world.observer.provider = PromptedObserver(model, "claude", batches=model)
    yield world
    model.close()
    world.table.close()


def condensed(text: str) -> Step:
    return Step(tool_calls=({"name": "record_condensed", "arguments": {"rows": [{"content": f"🔴 {text}"}]}},))


def later(world: NightWorld, times: int = 1) -> None:
    """The sweep comes, and the workers do what it sends."""
    for _ in range(times):
        world.clock.move(seconds=LOOKS_EVERY.total_seconds() + 1)
        sweep_due(world)
        world.work()


def said(world: NightWorld) -> list[str]:
    return [row.text for row in world.reflections()]


def night_of(world: NightWorld, user: str | None = "ann") -> Job:
    return list(world.jobs(user))[-1]


def deletions(world: NightWorld) -> list[Job]:
    found = map(rows.read_job, all_rows(world.table, world.tenant.keys.jobs))
    return [job for job in found if job.kind == HANDED_IN]


def test_a_night_is_handed_in_at_once_and_written_when_it_is_answered(world: NightWorld, provider: Loopback) -> None:
    sources = world.fill(8)
    world.night()
    [batch] = provider.batches.live.values()
    assert (len(batch.requests), provider.requests, said(world)) == (2, [], [])
    later(world)
    assert (night_of(world).status, len(provider.batches.live)) == ("running", 1)
    provider.will(condensed("first"), condensed("second"))
    provider.end_batches()
    later(world)
    assert said(world) == ["🔴 first", "🔴 second"]
    assert [row.supersedes for row in world.reflections()] == [tuple(sources[:6]), tuple(sources[6:])]
    job = night_of(world)
    assert (job.status, job.result["batches"], job.result["nightly_model"]) == ("done", 2, "batch")
    later(world)
    assert (provider.batches.live, deletions(world)) == ({}, [])
    assert (provider.requests, provider.refused) == ([], [])
    assert provider.batches.calls.count("POST batches") == 1
    usage = tenant_usage(world.scope).usage
    assert usage.model_batch_input_tokens == usage.model_input_tokens > 0
    assert usage.model_batch_output_tokens == usage.model_output_tokens > 0
    assert night_of(world, None).status == "done"


def test_what_expired_or_failed_is_asked_for_at_once(world: NightWorld, provider: Loopback) -> None:
    world.fill(8)
    world.night()
    provider.will(Step(fail="500"), condensed("second"), condensed("first, asked again"))
    provider.end_batches()
    later(world)
    assert said(world) == ["🔴 first, asked again", "🔴 second"]
    assert len(provider.requests) == 1
    usage = tenant_usage(world.scope).usage
    assert 0 < usage.model_batch_output_tokens < usage.model_output_tokens


def test_a_batch_that_expires_is_asked_for_at_once(world: NightWorld, provider: Loopback) -> None:
    world.fill(6)
    world.night()
    provider.end_batches(expired=True)
    provider.will(condensed("at once"))
    later(world)
    assert (said(world), len(provider.requests)) == (["🔴 at once"], 1)


def test_a_night_waits_for_some_hours_and_asks_at_once_then(world: NightWorld, provider: Loopback) -> None:
    world.fill(6)
    world.night()
    provider.will(condensed("at once"))
    world.clock.move(seconds=ANSWERED_WITHIN.total_seconds())
    later(world)
    assert said(world) == ["🔴 at once"]
    later(world)
    provider.end_batches()
    later(world)
    assert (provider.batches.live, said(world)) == ({}, ["🔴 at once"])


def dies(*_: Any) -> None:
    raise Died


def test_a_worker_that_dies_before_it_has_noted_what_it_handed_in(
    world: NightWorld, provider: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next one hands in again. Nobody reads the other answers, which are the provider's to delete."""
    world.fill(6)
    with monkeypatch.context() as patched:
        patched.setattr(hand_in, "_commit", dies)
        with pytest.raises(Died):
            world.night()
    [orphan] = provider.batches.live
    world.clock.move(seconds=LEASE_S + 1)
    later(world)
    provider.will(condensed("unread"), condensed("read"))
    provider.end_batches()
    later(world, 2)
    assert said(world) == ["🔴 read"]
    assert list(provider.batches.live) == [orphan]


def test_a_worker_that_dies_with_an_answer_is_followed_by_one_that_writes_it_once(
    world: NightWorld, provider: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.fill(8)
    world.night()
    provider.will(condensed("first"), condensed("second"))
    provider.end_batches()
    with monkeypatch.context() as patched:
        patched.setattr("neve.usecases.work.reflect.reflect_user.replace_rows", dies)
        with pytest.raises(Died):
            later(world)
    world.clock.move(seconds=LEASE_S + 1)
    later(world)
    assert (said(world), provider.requests) == (["🔴 first", "🔴 second"], [])


def test_a_note_on_the_user_meanwhile_hands_nothing_in_again(
    world: NightWorld, provider: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = world.fill(6)
    submit = AnthropicBatches.submit

    def beside_a_note(model: AnthropicBatches, requests: list[ModelRequest]) -> str:
        name = submit(model, requests)
        mark_used(world.user(), ids[:1])
        return name

    monkeypatch.setattr(AnthropicBatches, "submit", beside_a_note)
    world.night()
    assert len(provider.batches.live) == 1


def edit(world: NightWorld, memory_id: str) -> None:
    update_memory(world.user(), memory_id, MemoryChange({"text": "🟡 corrected"}), None)


def take_back(world: NightWorld, memory_id: str) -> None:
    delete_memory(world.user(), memory_id, None)


@pytest.mark.parametrize("change", [edit, take_back])
def test_an_answer_to_rows_that_have_changed_is_nobodys(
    world: NightWorld, provider: Loopback, change: Callable[[NightWorld, str], None]
) -> None:
    ids = world.fill(6)
    world.night()
    provider.will(condensed("SECRET"), condensed("of the rest"))
    provider.end_batches()
    change(world, ids[2])
    later(world, 2)
    assert said(world) == ["🔴 of the rest"]
    assert ids[2] not in world.reflections()[0].supersedes
    assert not [row for row in world.memories() if "SECRET" in row.text]
    assert provider.batches.live == {}


def erase(world: NightWorld) -> None:
    """The workers of the queue jobs do what it holds."""
    for message in [message for queue, message in world.queue.sent if queue is QueueName.JOBS]:
        record = {"messageId": "m", "body": json.dumps(message.body), "attributes": {}}
        assert process_jobs(world, QueueName.JOBS, {"Records": [record]}, None) == {"batchItemFailures": []}


class NoPassages:
    """An index that holds nothing of anybody."""

    def erase(self, owner: object, *, at_most: int | None = None) -> int:
        return 0


def test_an_erasure_takes_back_what_was_handed_in(
    world: NightWorld, provider: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NightWorld, "search", NoPassages())
    world.fill(6)
    world.night()
    request_erasure(world.user(), close=False)
    world.tell()
    erase(world)
    assert provider.batches.calls.count("POST cancel") == 0
    later(world)
    assert provider.batches.calls.count("POST cancel") == 1
    provider.will(condensed("SECRET"))
    provider.end_batches()
    later(world)
    assert (provider.batches.live, deletions(world), world.memories()) == ({}, [], [])


def test_a_caller_who_asks_now_is_answered_now(world: NightWorld, provider: Loopback) -> None:
    world.fill(6)
    provider.will(condensed("now"))
    request_reflection(world.scope, "ann", None)
    world.work()
    assert (said(world), provider.batches.live) == (["🔴 now"], {})


def test_where_there_are_no_batches_the_night_asks_at_once_and_says_so(world: NightWorld, provider: Loopback) -> None:
    world.fill(8)
    world.observer.provider = None
    world.night()
    assert len(said(world)) == 2
    assert (night_of(world).result["nightly_model"], provider.batches.calls) == ("direct", [])
