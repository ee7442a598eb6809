"""What a night must have come to, read from the rows, and what readers see meanwhile."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from evals.nightly.people import POLICY, SESSION, Size, memory_id, scope_of
from neve.domain.records.jobs import Job
from neve.domain.records.memories import Kind, Memory, Status
from neve.domain.reflect.nightly import last_night
from neve.ports.engines import Ports
from neve.store import rows
from neve.store.keys import MEMORY
from neve.store.partitions import all_rows
from neve.usecases.ask.memories.list_memories import MemoryFilter, list_memories
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.work.reflect.run import night_run_id
from neve.usecases.work.reflect.run_parts import sum_of_parts

YOUNG = 3
"""Rows of each user that are too young."""


def user_jobs(ports: Ports, tenant: str) -> list[Job]:
    """Of the users of a tenant's nights."""
    found = map(rows.read_job, all_rows(ports.table, scope_of(ports, tenant).keys.jobs))
    return [job for job in found if job.kind == "reflect" and job.user_id is not None]


def done_users(ports: Ports, tenants: Sequence[str]) -> int:
    """How many users' jobs of this night have ended."""
    return sum(_of_the_night(ports, tenant)["users"] for tenant in tenants)


def _of_the_night(ports: Ports, tenant: str) -> Counter[str]:
    scope = scope_of(ports, tenant)
    night = last_night(ports.clock.now(), POLICY.timezone)
    return sum_of_parts(scope, night_run_id(scope.keys, night))


def ended(ports: Ports, tenants: Sequence[str]) -> list[tuple[str, str]]:
    """When each user's job ended, and of which tenant, in the order of their ends."""
    jobs = ((job.finished_at, tenant) for tenant in tenants for job in user_jobs(ports, tenant))
    return sorted((at, tenant) for at, tenant in jobs if at is not None)


def wrong(ports: Ports, size: Size) -> list[str]:
    """Users whose rows are not each replaced once, or whose job says otherwise."""
    found: list[str] = []
    for tenant, user in size.people():
        scope = scope_of(ports, tenant).of_user(user)
        memories = [rows.read_memory(item) for item in all_rows(ports.table, scope.keys.partition, prefix=MEMORY)]
        found += [f"{user}: {what}" for what in _wrong(user, memories, size.rows)]
    for tenant in {tenant for tenant, _ in size.people()}:
        for job in user_jobs(ports, tenant):
            if (job.status, job.result.get("replaced")) != ("done", size.rows):
                found.append(f"{job.user_id}: its job is {job.status} with {job.result}")
    return found


def _wrong(user: str, memories: Sequence[Memory], count: int) -> list[str]:
    active = [memory for memory in memories if memory.status is Status.ACTIVE]
    superseded = Counter(i for memory in active if memory.kind is Kind.REFLECTION for i in memory.supersedes)
    eligible = {memory_id(user, n) for n in range(count)}
    problems = []
    if set(superseded) != eligible:
        problems.append(f"{len(eligible - set(superseded))} rows are lost")
    if max(superseded.values(), default=1) > 1:
        problems.append(f"{sum(n > 1 for n in superseded.values())} rows are condensed twice")
    left = {memory.id for memory in active if memory.kind is Kind.OBSERVATION}
    if left != {memory_id(user, count + n) for n in range(YOUNG)}:
        problems.append(f"{len(left)} observations are active")
    return problems


def pack_tags(ports: Ports, size: Size) -> dict[str, str | None]:
    """The sha256 that each user's frozen pack has, which is its ETag."""
    tags = {}
    for tenant, user in size.people():
        tags[user] = read_pack(scope_of(ports, tenant).of_user(user).of_session(SESSION)).sha256
    return tags


@dataclass
class Readers:
    """Lists of users drawn at random, again and again, until ``stop``. ``mixed``: what nobody may see."""

    ports: Ports
    size: Size
    seed: int
    looks: int = 0
    changing: int = 0
    mixed: list[str] = field(default_factory=list)
    _over: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _read(self) -> None:
        random, people = Random(self.seed), list(self.size.people())
        while not self._over.wait(0.1):
            tenant, user = random.choice(people)
            scope = scope_of(self.ports, tenant).of_user(user)
            seen, _ = list_memories(scope, MemoryFilter(status=Status.ACTIVE), 2 * self.size.rows + 10, None)
            self._look(user, seen)

    def _look(self, user: str, seen: Sequence[Memory]) -> None:
        """Each eligible row itself, or what replaces it: never both, never neither."""
        self.looks += 1
        ids = {memory.id for memory in seen}
        superseded = {i for memory in seen for i in memory.supersedes}
        eligible = {memory_id(user, n) for n in range(self.size.rows)}
        self.changing += bool(superseded) and bool(eligible & ids)
        if both := ids & superseded:
            self.mixed.append(f"{user}: {len(both)} rows with what replaces them")
        if neither := eligible - ids - superseded:
            self.mixed.append(f"{user}: {len(neither)} rows and nothing instead")
