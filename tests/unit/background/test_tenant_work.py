"""The overview of a tenant's work is bounded, and of this tenant alone."""

from __future__ import annotations

from datetime import timedelta

import pytest

from neve.domain.outgoing.webhook import Delivery, Webhook
from neve.domain.records.jobs import Job
from neve.domain.reflect.nightly import last_night
from neve.domain.times import iso
from neve.scope import Tenant, TenantScope
from neve.store import rows
from neve.store.outgoing import Webhooks, put_delivery, put_webhooks
from neve.usecases.work.background import tenant_work as work
from neve.usecases.work.background.tenant_work import tenant_work
from neve.usecases.work.reflect.run import night_run_id
from tests.unit.recall_world import RecallWorld


def job(world: RecallWorld, status: str = "queued", kind: str = "export", **more: object) -> str:
    world.clock.move(seconds=1)
    now = world.clock.now()
    one = Job(f"job_{world.ids.ulid(now)}", kind, status, iso(now), "ann", **more)  # type: ignore[arg-type]
    world.rows.write([rows.put_job(world.tenant.keys, one)])
    return one.id


def test_jobs_that_have_not_ended_are_listed_newest_first(world: RecallWorld) -> None:
    first, _, second = job(world), job(world, "done"), job(world, "running", "compact")
    found = tenant_work(world.scope)
    assert ([one.id for one in found.jobs], found.jobs_complete) == ([second, first], True)
    other = TenantScope(world, Tenant("other", world.tenant.policy))
    assert tenant_work(other).jobs == []


def test_the_look_at_jobs_is_bounded(world: RecallWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "PAGE", 2)
    for _ in range(11):
        job(world, "done")
    world.rows.calls.clear()
    assert tenant_work(world.scope).jobs_complete is False
    assert world.rows.calls["query"] == 5 + 8
    monkeypatch.setattr(work, "MOST", 3)
    ids = [job(world) for _ in range(5)]
    found = tenant_work(world.scope)
    assert ([one.id for one in found.jobs], found.jobs_complete) == (ids[:1:-1], False)


def test_the_last_night_is_told_as_it_ended(world: RecallWorld) -> None:
    assert tenant_work(world.scope).night is None
    began = last_night(world.clock.now(), world.tenant.policy.timezone)
    before = last_night(began - timedelta(seconds=1), world.tenant.policy.timezone)
    for night, status, users in ((before, "done", 7), (began, "failed", 3)):
        run = Job(
            night_run_id(world.tenant.keys, night),
            "reflect",
            status,  # type: ignore[arg-type]
            iso(night),
            result={"users": users},
        )
        world.rows.write([rows.put_job(world.tenant.keys, run)])
        told = tenant_work(world.scope).night
        assert told is not None
        assert (told.began, told.run.status, told.run.result["users"]) == (iso(night), status, users)


def test_sessions_wait_while_nobody_has_observed_them(world: RecallWorld) -> None:
    world.open()
    world.say("I moved to Nice.", "Nice!")
    found = tenant_work(world.scope)
    assert ([(one.user_id, one.session_id) for one in found.waiting], found.waiting_complete) == ([("ann", "s1")], True)
    assert tenant_work(TenantScope(world, Tenant("acm", world.tenant.policy))).waiting == []


def test_a_webhook_that_fails_is_told_with_its_last_failure(world: RecallWorld) -> None:
    keys, now = world.tenant.keys, iso(world.clock.now())
    hooks = tuple(Webhook(name, "https://example.invalid/", (), False, ("s",), now) for name in ("good", "bad"))
    world.rows.write([put_webhooks(keys, Webhooks(hooks))])
    for name, outcome in (("good", "delivered"), ("bad", "failed"), ("bad", "given_up"), ("bad", "delivered")):
        world.clock.move(seconds=1)
        at = world.clock.now()
        line = Delivery(world.ids.ulid(at), "out_1", "memory.written", iso(at), outcome, 1, 5, 500)  # type: ignore[arg-type]
        world.rows.write([put_delivery(keys, name, line)])
    [bad] = tenant_work(world.scope).failing
    assert (bad.webhook.id, bad.failed, bad.last.outcome, bad.last.status) == ("bad", 2, "given_up", 500)
