"""Operators: who there is, and a tenant that leaves nothing behind."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from neve.batch import process_in_time
from neve.domain.errors import NeveError
from neve.domain.records.jobs import Job
from neve.domain.tenants.policy import Policy
from neve.http.api_keys import caller_of
from neve.ports.errors import StoreUnavailable
from neve.ports.queue import Message, QueueName
from neve.ports.search import Owner
from neve.scope import Tenant, TenantData, TenantScope
from neve.store.keys import NOBODY, Keys, tenant_row
from neve.store.partitions import due_rows
from neve.store.rows import put_job
from neve.store.stream_records import Change
from neve.store.tenants.directory import all_tenants, users_of
from neve.store.tenants.tenant_rows import existing
from neve.usecases.core.jobs.messages.compaction import compact_message
from neve.usecases.core.jobs.messages.filing import filing_message
from neve.usecases.core.jobs.messages.indexing import events_message, memory_message
from neve.usecases.core.jobs.messages.observation import observation_message
from neve.usecases.core.jobs.queued_jobs import ERASURE, EXPORT, NIGHT, RETENTION, job_message
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.tell.sessions.note_open import note_open
from neve.usecases.tell.tenants.create_tenant import create_tenant
from neve.usecases.tell.tenants.keys import add_key, create_key, revoke_key
from neve.usecases.tell.tenants.write_policy import write_policy
from neve.usecases.work.background.asked_for import asked_for
from neve.usecases.work.background.sweep_due import sweep_due
from neve.usecases.work.erase import remove_tenant
from neve.usecases.work.erase.erase_user import Removed
from neve.usecases.work.erase.remove_tenant import TenantNotFound, close_tenant, erase_tenant
from neve.usecases.work.indexing.embed_rows import embed_rows
from neve.usecases.work.indexing.index_rows import index_rows
from neve.usecases.work.observe.extract_session import extract_session
from neve.worker import process_fifo
from neve.workers.filings import process_filings
from neve.workers.job_worker import process_jobs
from tests.unit.recall_world import RecallWorld, delivered


@pytest.fixture
def world(tmp_path: Path) -> Iterator[RecallWorld]:
    made = RecallWorld.make(tmp_path)
    yield made
    made.close()


def live_in(world: RecallWorld, tenant: str, *users: str) -> None:
    """Every kind of thing that is kept for a user."""
    create_tenant(world, tenant, "first")
    world.tenant = Tenant(tenant, Policy())
    for user in users:
        world.open(user=user)
        world.say("I moved to Lisbon with zanzibar-marker.", "Noted.", user=user)
        world.remember(f"Lives in Lisbon, zanzibar-marker, says {tenant}", user=user)
        build_pack(world.user(user).of_session("s1"), "initial")
        world.pump()
        world.ask("Lisbon", user=user)
        world.objects.put(world.tenant.keys.of_user(user).image_object("abc"), b"png", content_type="image/png")
    world.pump()


def everything(world: RecallWorld, tenant: str, *users: str) -> list[str]:
    """Names of what is left of a tenant."""
    keys = Tenant(tenant, Policy()).keys
    partitions = [keys.jobs, keys.answers, keys.secrets, keys.feed]
    for user in users:
        partitions += [
            keys.of_user(user).partition,
            keys.of_user(user).of_session("s1").log,
            keys.of_user(user).ledger,
            keys.of_user(user).vectors,
        ]
    left = [item["pk"] + item["sk"] for part in partitions for item in world.rows.query(part, limit=1000).items]
    left += [
        name
        for user in users
        for prefix in (keys.of_user(user).packs_prefix, keys.of_user(user).images_prefix)
        for name in world.objects.list(prefix)
    ]
    return left + [f"{n} passages" for user in users if (n := world.index.count(Owner(tenant, user)))]


def test_the_directory_names_every_tenant_and_user(world: RecallWorld) -> None:
    live_in(world, "acme", "ann", "bob")
    live_in(world, "other", "ann")
    assert list(all_tenants(world.table)) == ["acme", "other"]
    assert list(users_of(world.table, Keys("acme"))) == ["ann", "bob"]
    assert list(users_of(world.table, Keys("nobody"))) == []


@pytest.mark.parametrize("name", ["acme/eu", "acme#U#ann", "Acme Corp", "~", "", "a" * 129])
def test_a_name_that_could_be_taken_for_something_of_another_tenant_is_none(world: RecallWorld, name: str) -> None:
    """Objects of ``acme/eu`` begin as those of the user ``eu`` of ``acme`` do: they would be erased together."""
    with pytest.raises(NeveError, match="tenant: must be 1 to 128") as refusal:
        create_tenant(world, name)
    assert refusal.value.code == "validation_failed"
    assert list(all_tenants(world.table)) == []


def test_a_removed_tenant_leaves_nothing_and_nobody_else_notices(world: RecallWorld) -> None:
    live_in(world, "acme", "ann", "bob")
    live_in(world, "other", "ann")
    remaining = everything(world, "other", "ann")
    assert len(everything(world, "acme", "ann", "bob")) > 20

    assert close_tenant(TenantData(world, Keys("acme"))) == 1
    removed = erase_tenant(TenantData(world, Keys("acme")))

    assert (removed.users, removed.objects) == (2, 4)
    assert removed.rows > 20
    assert removed.passages == 6
    assert everything(world, "acme", "ann", "bob") == []
    assert world.rows.get(tenant_row("acme")) is None
    assert everything(world, "other", "ann") == remaining
    assert list(all_tenants(world.table)) == ["other"]
    assert erase_tenant(TenantData(world, Keys("acme"))) == Removed(
        rows=1
    )  # the tenant's own row is named whether it is there or not


def test_what_is_left_in_the_queues_of_a_removed_tenant_is_done_with(
    world: RecallWorld, capsys: pytest.CaptureFixture[str]
) -> None:
    """Else it would fail five times and end as dead letters, which wake somebody for a tenant that is not there."""
    live_in(world, "acme", "ann")
    keys = Keys("acme").of_user("ann")
    log = keys.of_session("s1")
    job = Job("job_1", "compact", "queued", "2026-03-01T00:00:00.000Z", "ann", "s1", state={"reason": "tokens"})
    messages = {
        QueueName.EXTRACT: [observation_message(log, 1, 2)],
        QueueName.COMPACT: [compact_message(log, 1, job)],
        QueueName.LIBRARIAN: [filing_message(log, 1, "job_1", "end")],
        QueueName.REFLECT: [job_message(keys.of_user(one), NIGHT, "job_1") for one in (NOBODY, "ann")],
        QueueName.JOBS: [job_message(keys, kind, "job_1") for kind in (ERASURE, EXPORT, RETENTION)],
        QueueName.EMBED: [memory_message(keys, 1, "mem_1", 1)],
    }
    close_tenant(TenantData(world, Keys("acme")))
    erase_tenant(TenantData(world, Keys("acme")))
    world.forget()
    capsys.readouterr()
    workers: dict[QueueName, Callable[[Any], dict[str, Any]]] = {
        QueueName.EXTRACT: lambda event: process_fifo(world, event, None, QueueName.EXTRACT, extract_session),
        QueueName.COMPACT: lambda event: process_fifo(world, event, None, QueueName.COMPACT, asked_for),
        QueueName.LIBRARIAN: lambda event: process_filings(world, event, None),
        QueueName.REFLECT: lambda event: process_jobs(world, QueueName.REFLECT, event, None),
        QueueName.JOBS: lambda event: process_jobs(world, QueueName.JOBS, event, None),
        QueueName.EMBED: lambda event: process_in_time(event, None, QueueName.EMBED, partial(embed_rows, world)),
    }
    for queue, left in messages.items():
        assert workers[queue](as_event(left)) == {"batchItemFailures": []}, queue
    assert "Failed" not in capsys.readouterr().out
    assert everything(world, "acme", "ann") == []


def test_a_late_change_of_a_removed_tenant_leaves_nothing_to_every_sweep(world: RecallWorld) -> None:
    """The stream may be hours late: what it tells of a session then is taken away again."""
    live_in(world, "acme", "ann")
    session = world.rows.get(Keys("acme").of_user("ann").of_session("s1").session_head)
    close_tenant(TenantData(world, Keys("acme")))
    erase_tenant(TenantData(world, Keys("acme")))
    world.forget()
    note_open(world, [Change("", None, session)])
    world.clock.move(minutes=31)
    failures: list[str] = []
    sweep_due(world, on_failure=lambda kind, error: failures.append(f"{kind} {error}"))
    assert (failures, list(due_rows(world.table, "idle"))) == ([], [])
    assert everything(world, "acme", "ann") == []


def test_a_late_message_about_events_leaves_no_row_of_a_removed_tenant(world: RecallWorld) -> None:
    """A tenant of the same name may come, whose session of that name would count as indexed so far."""
    live_in(world, "acme", "ann")
    close_tenant(TenantData(world, Keys("acme")))
    erase_tenant(TenantData(world, Keys("acme")))
    late = delivered([events_message(Keys("acme").of_user("ann").of_session("s1"), 1, 1, 2)])
    assert (index_rows(world, late), embed_rows(world, late)) == ({}, {})
    assert everything(world, "acme", "ann") == []


def as_event(messages: Sequence[Message]) -> dict[str, Any]:
    """As a queue delivers them."""
    attributes = {"ApproximateReceiveCount": "1", "MessageGroupId": "g"}
    records = [
        {"messageId": f"m{n}", "body": json.dumps(message.body), "attributes": attributes, "eventSource": "aws:sqs"}
        for n, message in enumerate(messages)
    ]
    return {"Records": records}


def test_the_keys_go_first_revoked_ones_too(world: RecallWorld) -> None:
    first = create_tenant(world, "acme", "first")
    tenant = Tenant("acme", Policy())
    create_key(TenantScope(world, tenant), ["admin"])
    revoke_key(TenantScope(world, tenant), first.key_id)
    assert close_tenant(TenantData(world, Keys("acme"))) == 2
    assert close_tenant(TenantData(world, Keys("acme"))) == 0
    with pytest.raises(TenantNotFound):
        close_tenant(TenantData(world, Keys("never")))


def test_no_key_outlives_its_tenant(world: RecallWorld) -> None:
    """A gateway keeps its verdict for a minute: whoever is let in by it can make no key that would be the next
    tenant's of that name."""
    first = create_tenant(world, "acme", "first")
    let_in = TenantScope(world, Tenant("acme", Policy()))
    close_tenant(TenantData(world, Keys("acme")))
    with pytest.raises(NeveError, match="is being removed") as refusal:
        create_key(let_in, ["admin"])
    assert refusal.value.code == "unauthorized"
    with pytest.raises(NeveError, match="is being removed"):  # as the operator issues one
        add_key(world, existing(world.rows.get(tenant_row("acme"))), ["admin"], None)
    write_policy(let_in, Policy(recall_limit=7))
    with pytest.raises(NeveError, match="is being removed"):
        create_key(let_in, ["admin"])
    erase_tenant(TenantData(world, Keys("acme")))
    assert create_tenant(world, "acme", "another customer").key_id != first.key_id
    assert caller_of(world, f"Bearer {first.key}") is None


def test_a_key_that_the_index_has_not_heard_of_goes_too(world: RecallWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    first = create_tenant(world, "acme", "first")
    monkeypatch.setattr(remove_tenant, "keys_in", lambda *_: [])
    assert close_tenant(TenantData(world, Keys("acme"))) == 1
    assert caller_of(world, f"Bearer {first.key}") is None


def test_an_outage_in_the_middle_can_be_repeated(world: RecallWorld) -> None:
    live_in(world, "acme", "ann", "bob")
    close_tenant(TenantData(world, Keys("acme")))
    writes: list[int] = []
    world.table = replace_writes(world, after=2, writes=writes)  # type: ignore[assignment]
    with pytest.raises(StoreUnavailable):
        erase_tenant(TenantData(world, Keys("acme")))
    world.table = world.rows  # type: ignore[assignment]
    erase_tenant(TenantData(world, Keys("acme")))
    assert everything(world, "acme", "ann", "bob") == []


def replace_writes(world: RecallWorld, after: int, writes: list[int]) -> object:
    """The table, which stops working after some writes."""

    class Failing:
        def __getattr__(self, name: str) -> object:
            return getattr(world.rows, name)

        def write(self, ops: list[object]) -> None:
            writes.append(len(ops))
            if len(writes) > after:
                raise StoreUnavailable("table", "stopped")
            world.rows.write(ops)  # type: ignore[arg-type]

    return Failing()


def test_an_outage_among_many_jobs_loses_nothing_of_what_was_done(world: RecallWorld) -> None:
    """They are removed page by page: whoever starts again goes on."""
    live_in(world, "acme")
    keys = Keys("acme")
    jobs = [Job(f"job_{n:026d}", "compact", "done", "2026-03-01T00:00:00.000Z") for n in range(450)]
    for start in range(0, len(jobs), 90):
        world.rows.write([put_job(keys, one) for one in jobs[start : start + 90]])
    close_tenant(TenantData(world, keys))
    read: list[int] = []
    world.table = watched(world, keys.jobs, read, after=3)  # type: ignore[assignment]
    with pytest.raises(StoreUnavailable):
        erase_tenant(TenantData(world, keys))
    assert read == [200, 200], "the third page is read when the second is gone"
    assert len(world.rows.query(keys.jobs, limit=1000).items) == 450 - 300
    world.table = world.rows  # type: ignore[assignment]
    assert erase_tenant(TenantData(world, keys)).rows == 450 - 300 + 1
    assert everything(world, "acme") == []


def watched(world: RecallWorld, partition: str, read: list[int], after: int) -> object:
    """The table, which says how many rows of a partition each page had, and stops working after some writes."""
    stops = replace_writes(world, after, [])

    class Watched:
        def __getattr__(self, name: str) -> object:
            return getattr(stops, name)

        def query(self, asked: str, **given: Any) -> Any:
            page = world.rows.query(asked, **given)
            if asked == partition:
                read.append(len(page.items))
            return page

    return Watched()
