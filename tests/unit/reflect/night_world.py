"""A tenant whose rows grow old: imports of any age, and outbox, planner and workers of the night in one thread."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from neve.domain.records.jobs import Job
from neve.domain.records.memories import Kind, Memory, Scope, Status
from neve.domain.times import iso
from neve.ports.queue import Message, QueueName
from neve.ports.table import Index
from neve.store import rows
from neve.store.partitions import all_rows
from neve.store.stream_records import Change
from neve.usecases.tell.memories.import_memories import ImportedRow, import_memories
from neve.usecases.tell.tenants.create_tenant import create_tenant
from neve.usecases.tell.tenants.write_policy import write_policy
from neve.usecases.work.background.dispatch_changes import dispatch_changes
from neve.usecases.work.background.read_admin_job import read_admin_job
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.reflect.plan_nights import Planned, plan_nights
from neve.workers.job_worker import process_jobs
from tests.unit.world import World, observed_line


class NightWorld(World):
    """``World`` with a tenant whose policy has small batches: a trigger of 650 tokens."""

    seen: int = 0

    @classmethod
    def opened(cls, folder: Path, **policy: Any) -> NightWorld:
        world = cls.make(folder)
        assert isinstance(world, NightWorld)
        create_tenant(world, "acme")
        world.with_policy(**({"window": 2_000} | policy))
        write_policy(world.scope, world.tenant.policy)
        return world

    def observe(self, passes: int) -> list[str]:
        """The ids of as many observations of the session ``s1``, of 100 tokens each."""
        ids: list[str] = []
        for n in range(passes):
            last = self.say("My daughter is called Mia", "A lovely name").seqs[-1]
            self.observer.answers = [observed_line(f"🟡 {n} ".ljust(318, "x"), last - 1, last)]
            ids += observe_session(self.user().of_session("s1"), 1).written
        return ids

    def remember(self, name: str, days: float, *, user: str = "ann", tokens: int = 100, **more: Any) -> str:
        """An observation of that age; its id."""
        at = iso(self.clock.now() - timedelta(days=days))
        text = f"🟡 {name} ".ljust(tokens * 32 // 10 - 1, "x")  # the mark has two units
        given: dict[str, Any] = {"kind": Kind.OBSERVATION, "created_at": at, "observed_at": at} | more
        import_memories(self.user(user), [ImportedRow(text=text, id=f"mem_{name}", **given)])
        return f"mem_{name}"

    def fill(self, n: int, days: float = 9, *, user: str = "ann", tokens: int = 100) -> list[str]:
        """``n`` observations, an hour apart."""
        return [self.remember(f"{user}{k:03}", days - k / 24, user=user, tokens=tokens) for k in range(n)]

    # --- the functions --------------------------------------------------------------------------

    def tell(self) -> None:
        """The outbox reads what changed since it last did."""
        changes = self.table.read_changes(self.seen, 100_000)
        if changes:
            self.seen = changes[-1].seq
            dispatch_changes(self, [Change(str(c.seq), c.old, c.new) for c in changes])

    def plan(self) -> Planned:
        return plan_nights(self)

    def messages(self) -> list[Message]:
        """Takes what waits in the reflect queue, and what the outbox has for it."""
        self.tell()
        taken = [message for queue, message in self.queue.sent if queue is QueueName.REFLECT]
        self.queue.sent = [(queue, message) for queue, message in self.queue.sent if queue is not QueueName.REFLECT]
        return taken

    def deliver(self, message: Message, context: Any = None) -> bool:
        """Whether the worker was done with it."""
        record = {"messageId": "m", "body": json.dumps(message.body), "attributes": {}}
        return process_jobs(self, QueueName.REFLECT, {"Records": [record]}, context) == {"batchItemFailures": []}

    def work(self) -> int:
        """Until the queue is empty; how many messages that were."""
        done = 0
        while messages := self.messages():
            for message in messages:
                assert self.deliver(message)
                done += 1
        return done

    def night(self) -> int:
        """One night from its first message to its last; how many there were."""
        self.tell()
        self.clock.move(days=1)
        self.plan()
        return self.work()

    # --- what is there ---------------------------------------------------------------------------

    def active(self, user: str = "ann") -> list[Memory]:
        return [memory for memory in self.memories(user) if memory.status is Status.ACTIVE]

    def reflections(self, user: str = "ann") -> list[Memory]:
        return [m for m in self.active(user) if m.kind is Kind.REFLECTION and m.scope is Scope.GLOBAL]

    def due_users(self) -> list[str]:
        keys = self.tenant.keys
        return [item["user_id"] for item in all_rows(self.table, keys.reflect_dues, index=Index.DUE)]

    def job(self, job_id: str) -> Job:
        return read_admin_job(self.scope, job_id)

    def jobs(self, user: str | None) -> Iterator[Job]:
        found = map(rows.read_job, all_rows(self.table, self.tenant.keys.jobs))
        return (job for job in found if job.kind == "reflect" and job.user_id == user)


class Context:
    """Lambda's: the seconds that are left, one for each time somebody asks, then the last for ever."""

    def __init__(self, *seconds: float) -> None:
        self._seconds = list(seconds)

    def get_remaining_time_in_millis(self) -> int:
        return int(1000 * (self._seconds.pop(0) if len(self._seconds) > 1 else self._seconds[0]))
