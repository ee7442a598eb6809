"""Replace many memories by others, atomically for readers (engine.md §9).

New rows are born, and sources die, in generation ``gen + 1``; one transaction flips ``gen``. Before the flip every
reader sees the sources, after it the new rows, never both and never neither. One replacement per user at a time, named
on the user head, with a job row that says what it is doing, so that a crashed one is finished or undone before the
next begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Literal

from neve.domain.errors import NeveError
from neve.domain.records import Job, LiveRow, Memory, Status, UserHead
from neve.domain.times import iso
from neve.ports import Check, Conflict, Delete, Key, Version, WriteOp
from neve.store import rows
from neve.wiring import Ports, Tenant

LEASE_S = 120
"""A replacement of a few hundred rows takes about a second; after this long its worker is taken for dead."""
BATCH = 40
"""Rows per transaction: with the head's check and the marker below the limit of 100 actions, and small enough that a
concurrent usage bump rarely makes one repeat."""
REPLACED_SEEN_S = 60
"""Pack builds read the new rows by id until this long after the sweep, because indexes lag (engine.md §9)."""


class ReplacementBusy(Exception):
    """Another replacement of this user is under way."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """``new`` rows (their ``born_gen`` is set here) take the place of the ``old`` ids in ``session``'s live list."""

    session: str
    new: tuple[Memory, ...]
    old: tuple[str, ...]
    reason: str


def replace_rows(ports: Ports, tenant: Tenant, user: str, incarnation: int, wanted: Replacement) -> list[str]:
    """The ids of the new rows once readers see them. Raises ReplacementBusy; StoreUnavailable leaves a state that the
    next replacement, or the sweep, resolves."""
    head = _begin(ports, tenant, user, incarnation, wanted)
    job_id = str(head.replacement_job)
    work = _Replacing(ports, tenant, user, head, job_id, wanted.session, tuple(m.id for m in wanted.new), wanted.old)
    work.write_new(wanted.new)
    work.stamp_sources()
    work.flip()
    work.sweep(wanted.reason)
    return list(work.new_ids)


def _begin(ports: Ports, tenant: Tenant, user: str, incarnation: int, wanted: Replacement) -> UserHead:
    keys = tenant.keys
    while True:
        head = rows.read_head(ports.table.get(keys.head(user)))
        if head.incarnation != incarnation or head.state != "active":
            raise NeveError("erasing", "The user was erased meanwhile.")
        if head.replacement_job:
            resolve_replacement(ports, tenant, user, head)
            continue
        now = ports.clock.now()
        job = Job(
            id=f"job_{ports.ids.ulid(now)}",
            kind="replace",
            status="running",
            created_at=iso(now),
            user_id=user,
            session_id=wanted.session,
            state={
                "gen": head.gen + 1,
                "new": [m.id for m in wanted.new],
                "old": list(wanted.old),
                "reason": wanted.reason,
                "lease_until": iso(now + timedelta(seconds=LEASE_S)),
            },
        )
        put_job = rows.put_job(keys, job)
        due = rows.due_keys("replace", keys.tenant, user, job.id, now) | {"tenant_id": keys.tenant}
        put_job.item.update(due)
        try:
            ports.table.write([rows.put_head(keys, user, replace(head, replacement_job=job.id)), put_job])
        except Conflict:
            continue
        return replace(head, replacement_job=job.id, version=head.version + 1)


def resolve_replacement(ports: Ports, tenant: Tenant, user: str, head: UserHead) -> None:
    """Finish or undo the replacement that the head names, if its worker is dead. Raises ReplacementBusy if it may
    live."""
    keys = tenant.keys
    item = ports.table.get(keys.job(str(head.replacement_job)))
    if item is None:  # the job row's time to live is over: nothing of it can be in flight
        ports.table.write([rows.put_head(keys, user, replace(head, replacement_job=None))])
        return
    job = rows.read_job(item)
    if job.state["lease_until"] > iso(ports.clock.now()):
        raise ReplacementBusy(user)
    state = job.state
    work = _Replacing(ports, tenant, user, head, job.id, str(job.session_id), tuple(state["new"]), tuple(state["old"]))
    if head.gen >= state["gen"]:
        work.sweep(state["reason"])
    else:
        work.undo()


@dataclass
class _Replacing:
    ports: Ports
    tenant: Tenant
    user: str
    head: UserHead
    job_id: str
    session: str
    new_ids: tuple[str, ...]
    old_ids: tuple[str, ...]

    # each step may be repeated

    def write_new(self, new: Sequence[Memory]) -> None:
        """Born in the coming generation, already in the rank index and the live list."""
        for start in range(0, len(new), BATCH):
            born = [replace(memory, born_gen=self.head.gen + 1) for memory in new[start : start + BATCH]]
            self._write([rows.put_memory(self.tenant.keys, self.user, memory) for memory in born])
        added = tuple(LiveRow(memory.id, memory.kind, memory.tokens) for memory in new)
        self._change_live(lambda live: _insert(live, added, set(self.old_ids)))

    def stamp_sources(self) -> None:
        self._change_memories(self.old_ids, lambda m: replace(m, died_gen=self.head.gen + 1))

    def flip(self) -> None:
        """From here on readers see the new rows. Raises ReplacementBusy when the head is no longer ours."""
        keys = self.tenant.keys
        while True:
            now = self.ports.clock.now()
            item = self.ports.table.get(keys.epoch(self.user, self.session))
            if item is None:
                raise NeveError("session_not_found", f"There is no session '{self.session}' here.")
            epoch = rows.read_epoch(item)
            flipped = replace(
                self.head,
                gen=self.head.gen + 1,
                replaced_new=self.new_ids,
                replaced_until=None,
            )
            due = replace(epoch, rebuild_due=epoch.rebuild_due or "reflection")
            try:
                self.ports.table.write(
                    [rows.put_head(keys, self.user, flipped), rows.put_epoch(keys, self.user, due, now)]
                )
            except Conflict as conflict:
                if 0 in conflict.failed:
                    raise ReplacementBusy(self.user) from None
                continue
            self.head = replace(flipped, version=self.head.version + 1)
            return

    def sweep(self, reason: str) -> None:
        """Mark the sources superseded, which takes them out of the rank index and tells the search index; then let the
        next replacement in."""
        now, successor = iso(self.ports.clock.now()), self._successors()
        self._change_memories(
            self.old_ids,
            lambda m: replace(
                m,
                status=Status.SUPERSEDED,
                superseded_by=successor.get(m.id),
                superseded_at=now,
                superseded_reason=reason,
                rev=m.rev + 1,
                rev_at=now,
            ),
            only=lambda m: m.status is not Status.SUPERSEDED,
        )
        gone = set(self.old_ids)
        self._change_live(lambda live: tuple(row for row in live if row.id not in gone))
        self._close("done", {"new": list(self.new_ids), "superseded": len(self.old_ids)}, seen=True)

    def undo(self) -> None:
        """Nothing was shown to anybody yet: take the new rows away again and let the sources live."""
        keys = self.tenant.keys
        coming = self.head.gen + 1
        for memory_id in self.new_ids:
            item = self.ports.table.get(keys.memory(self.user, memory_id))
            if item is not None and item["born_gen"] == coming:
                self._write([Delete(Key(item["pk"], item["sk"]), Version(item["version"]))])
        self._change_memories(self.old_ids, lambda m: replace(m, died_gen=None), only=lambda m: m.died_gen == coming)
        gone = set(self.new_ids)
        self._change_live(lambda live: tuple(row for row in live if row.id not in gone))
        self._close("failed", {"reason": "the worker died before readers saw anything; undone"}, seen=False)

    # --- parts ----------------------------------------------------------------------------------

    def _write(self, ops: list[WriteOp]) -> None:
        """Every write names the head's version, the fencing token of a replacement: a worker that was taken for dead
        while it slept writes nothing more. Raises ReplacementBusy then, else Conflict."""
        try:
            self.ports.table.write([Check(self.tenant.keys.head(self.user), Version(self.head.version)), *ops])
        except Conflict:
            head = rows.read_head(self.ports.table.get(self.tenant.keys.head(self.user)))
            if head.version != self.head.version:
                raise ReplacementBusy(self.user) from None
            raise

    def _successors(self) -> dict[str, str]:
        """Source id -> the first new row that names it."""
        found = self.ports.table.get_many([self.tenant.keys.memory(self.user, i) for i in self.new_ids])
        named = [rows.read_memory(item) for item in found.values()]
        return {
            old: memory.id for memory in sorted(named, key=lambda m: m.id, reverse=True) for old in memory.supersedes
        }

    def _change_memories(
        self,
        ids: Sequence[str],
        change: Callable[[Memory], Memory],
        only: Callable[[Memory], bool] = lambda _: True,
    ) -> None:
        """Optimistic, in batches; a row that was deleted meanwhile is left out, one that moved is read again."""
        keys = self.tenant.keys
        left = list(ids)
        while left:
            batch = left[:BATCH]
            found = self.ports.table.get_many([keys.memory(self.user, i) for i in batch])
            memories = [rows.read_memory(item) for item in found.values()]
            ops: list[WriteOp] = [
                rows.put_memory(keys, self.user, change(memory)) for memory in memories if only(memory)
            ]
            try:
                if ops:
                    self._write(ops)
            except Conflict:
                continue
            left = left[BATCH:]

    def _change_live(self, change: Callable[[tuple[LiveRow, ...]], tuple[LiveRow, ...]]) -> None:
        key = self.tenant.keys.marker(self.user, self.session)
        while item := self.ports.table.get(key):
            marker = rows.read_marker(item)
            live = change(marker.live)
            if live == marker.live:
                return
            try:
                self._write([rows.put_marker(self.tenant.keys, self.user, replace(marker, live=live))])
            except Conflict:
                continue
            return

    def _close(self, status: Literal["done", "failed"], result: dict[str, Any], *, seen: bool) -> None:
        keys = self.tenant.keys
        now = self.ports.clock.now()
        until = iso(now + timedelta(seconds=REPLACED_SEEN_S)) if seen else None
        closed = replace(self.head, replacement_job=None, replaced_until=until)
        item = self.ports.table.get(keys.job(self.job_id))
        ops: list[WriteOp] = [rows.put_head(keys, self.user, closed)]
        if item is not None:
            job = rows.read_job(item)
            done = replace(job, status=status, finished_at=iso(now), result=result)
            ops.append(rows.put_job(keys, done))
        self.ports.table.write(ops)


def _insert(live: tuple[LiveRow, ...], added: tuple[LiveRow, ...], replaced: set[str]) -> tuple[LiveRow, ...]:
    """The new rows stand where the first of their sources stands: the list stays in the order of the conversation."""
    have = {row.id for row in live}
    fresh = tuple(row for row in added if row.id not in have)
    place = next((i for i, row in enumerate(live) if row.id in replaced), len(live))
    return live[:place] + fresh + live[place:]
