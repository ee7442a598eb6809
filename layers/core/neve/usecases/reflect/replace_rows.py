"""Replace many memories by others, atomically for readers (docs/rules/reflect.md#replacement).

New rows are born, and sources die, in generation ``gen + 1``; one transaction flips ``gen``. Before the flip every
reader sees the sources, after it the new rows, never both and never neither. One replacement per user at a time, named
on the user head, with a job row that says what it is doing, so that a crashed one is finished or undone before the
next begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any, Literal

from neve.domain.errors import NeveError, not_found
from neve.domain.memories.visibility import visible
from neve.domain.records import Job, LiveRow, Memory, Status, UserHead
from neve.domain.times import iso
from neve.ports import Check, Conflict, Delete, Item, Version, WriteOp, key_of
from neve.scope import SessionScope, UserScope
from neve.store import rows
from neve.store.memories import memories_of
from neve.store.transact import transact

LEASE_S = 120
"""A replacement of a few hundred rows takes about a second; after this long its worker is taken for dead."""
BATCH = 40
"""Rows per transaction: with the head's check and the marker below the limit of 100 actions, and small enough that a
concurrent usage bump rarely makes one repeat."""
REPLACED_TTL_S = 60
"""Pack builds read the new rows by id until this long after the sweep, because indexes lag
(docs/rules/reflect.md#replacement)."""


class ReplacementBusy(Exception):
    """Another replacement of this user is under way."""


class SourcesReplaced(Exception):
    """Another replacement has taken some of the sources since they were read."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """``new`` rows (their ``born_gen`` is set here) take the place of the ``old`` ids in the session's live list."""

    new: tuple[Memory, ...]
    old: tuple[str, ...]
    reason: str


def replace_rows(scope: SessionScope, incarnation: int, wanted: Replacement) -> list[str]:
    """The ids of the new rows once readers see them. Raises ReplacementBusy, SourcesReplaced; StoreUnavailable leaves a
    state that the next replacement, or the sweep, resolves."""
    head = transact(scope.ports, lambda: _begin(scope, incarnation, wanted))
    work = _Replacing(scope, head, str(head.replacement_job), tuple(m.id for m in wanted.new), wanted.old)
    work.write_new(wanted.new)
    work.stamp_sources()
    transact(scope.ports, work.flip)
    work.sweep(wanted.reason)
    return list(work.new_ids)


def _begin(scope: SessionScope, incarnation: int, wanted: Replacement) -> UserHead:
    """The user's head, which names the replacement's job from now on. Raises Conflict, ReplacementBusy,
    SourcesReplaced."""
    ports, keys = scope.ports, scope.keys
    head = rows.read_head(ports.table.get(keys.head))
    if head.incarnation != incarnation or head.state != "active":
        raise NeveError("erasing", "The user was erased meanwhile.")
    if head.replacement_job:
        resolve_replacement(scope, head)
        raise Conflict  # the head has moved: read it again
    sources = memories_of(ports.table, keys, wanted.old)
    if not all(visible(memory.born_gen, memory.died_gen, head.gen) for memory in sources):
        raise SourcesReplaced(scope.user)  # another ``died_gen`` would let readers see them again
    now = ports.clock.now()
    job = Job(
        id=f"job_{ports.ids.ulid(now)}",
        kind="replace",
        status="running",
        created_at=iso(now),
        user_id=scope.user,
        session_id=scope.session,
        state={
            "gen": head.gen + 1,
            "new": [m.id for m in wanted.new],
            "old": list(wanted.old),
            "reason": wanted.reason,
            "lease_until": iso(now + timedelta(seconds=LEASE_S)),
        },
    )
    put_job = rows.put_job(keys, job)
    put_job.item.update(rows.due_keys("replace", keys, job.id, now) | {"tenant_id": keys.tenant})
    ports.table.write([rows.put_head(keys, replace(head, replacement_job=job.id)), put_job])
    return replace(head, replacement_job=job.id, version=head.version + 1)


def resolve_replacement(scope: UserScope, head: UserHead) -> None:
    """Finish or undo the replacement that the head names, if its worker is dead. Raises ReplacementBusy if it may
    live, Conflict when somebody else was faster."""
    item = scope.ports.table.get(scope.keys.job(str(head.replacement_job)))
    if item is None:  # the job row's time to live is over: nothing of it can be in flight
        scope.ports.table.write([rows.put_head(scope.keys, replace(head, replacement_job=None))])
        return
    job = rows.read_job(item)
    state = job.state
    if state["lease_until"] > iso(scope.ports.clock.now()):
        raise ReplacementBusy(scope.user)
    session = scope.of_session(str(job.session_id))
    head = _taken_over(scope, head, job, item)
    work = _Replacing(session, head, job.id, tuple(state["new"]), tuple(state["old"]))
    if head.gen >= state["gen"]:
        work.sweep(state["reason"])
    else:
        work.undo()


def _taken_over(scope: UserScope, head: UserHead, job: Job, item: Item) -> UserHead:
    """The head at its next version, before anything else is done: a worker that was taken for dead and is not finds its
    fencing token gone, and whoever comes next finds a lease. Raises Conflict."""
    until = iso(scope.ports.clock.now() + timedelta(seconds=LEASE_S))
    put_job = rows.put_job(scope.keys, replace(job, state=job.state | {"lease_until": until}))
    put_job.item.update({name: item[name] for name in ("due_pk", "due_sk", "tenant_id")})
    scope.ports.table.write([rows.put_head(scope.keys, head), put_job])
    return replace(head, version=head.version + 1)


@dataclass
class _Replacing:
    scope: SessionScope
    head: UserHead
    job_id: str
    new_ids: tuple[str, ...]
    old_ids: tuple[str, ...]

    # each step may be repeated

    def write_new(self, new: Sequence[Memory]) -> None:
        """Born in the coming generation, already in the rank index and the live list."""
        for start in range(0, len(new), BATCH):
            born = [replace(memory, born_gen=self.head.gen + 1) for memory in new[start : start + BATCH]]
            self._write([rows.put_memory(self.scope.keys, memory) for memory in born])
        added = tuple(LiveRow(memory.id, memory.kind, memory.tokens) for memory in new)
        self._change_live(lambda live: _insert(live, added, set(self.old_ids)))

    def stamp_sources(self) -> None:
        self._change_memories(self.old_ids, lambda m: replace(m, died_gen=self.head.gen + 1))

    def flip(self) -> None:
        """From here on readers see the new rows. Raises ReplacementBusy when the head is no longer ours, Conflict when
        the session's epoch row moved."""
        keys, now = self.scope.keys, self.scope.ports.clock.now()
        item = self.scope.ports.table.get(keys.epoch)
        if item is None:
            raise not_found("session", self.scope.session)
        epoch = rows.read_epoch(item)
        flipped = replace(self.head, gen=self.head.gen + 1, replaced_new=self.new_ids, replaced_until=None)
        due = replace(epoch, rebuild_due=epoch.rebuild_due or "reflection")
        try:
            self.scope.ports.table.write([rows.put_head(keys, flipped), rows.put_epoch(keys, due, now)])
        except Conflict as conflict:
            if 0 in conflict.failed:
                raise ReplacementBusy(self.scope.user) from None
            raise
        self.head = replace(flipped, version=self.head.version + 1)

    def sweep(self, reason: str) -> None:
        """Mark the sources superseded, which takes them out of the rank index and tells the search index; then let the
        next replacement in."""
        now, successor = iso(self.scope.ports.clock.now()), self._successors()
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
                words_at=None,
            ),
            only=lambda m: m.status is not Status.SUPERSEDED,
        )
        gone = set(self.old_ids)
        self._change_live(lambda live: tuple(row for row in live if row.id not in gone))
        self._close("done", {"new": list(self.new_ids), "superseded": len(self.old_ids)}, seen=True)

    def undo(self) -> None:
        """Nothing was shown to anybody yet: take the new rows away again and let the sources live."""
        keys = self.scope.keys
        coming = self.head.gen + 1
        for memory_id in self.new_ids:
            item = self.scope.ports.table.get(keys.memory(memory_id))
            if item is not None and item["born_gen"] == coming:
                self._write([Delete(key_of(item), Version(item["version"])), Delete(keys.tokens_of(memory_id))])
        self._change_memories(self.old_ids, lambda m: replace(m, died_gen=None), only=lambda m: m.died_gen == coming)
        gone = set(self.new_ids)
        self._change_live(lambda live: tuple(row for row in live if row.id not in gone))
        self._close("failed", {"reason": "the worker died before readers saw anything; undone"}, seen=False)

    # --- parts ----------------------------------------------------------------------------------

    def _write(self, ops: list[WriteOp]) -> None:
        """Every write names the head's version, the fencing token of a replacement: a worker that was taken for dead
        while it slept writes nothing more. Raises ReplacementBusy then, else Conflict."""
        try:
            self.scope.ports.table.write([Check(self.scope.keys.head, Version(self.head.version)), *ops])
        except Conflict:
            head = rows.read_head(self.scope.ports.table.get(self.scope.keys.head))
            if head.version != self.head.version:
                raise ReplacementBusy(self.scope.user) from None
            raise

    def _successors(self) -> dict[str, str]:
        """Source id -> the first new row that names it."""
        found = self.scope.ports.table.get_many([self.scope.keys.memory(i) for i in self.new_ids])
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
        for start in range(0, len(ids), BATCH):
            batch = ids[start : start + BATCH]
            transact(self.scope.ports, partial(self._change_batch, batch, change, only))

    def _change_batch(
        self, ids: Sequence[str], change: Callable[[Memory], Memory], only: Callable[[Memory], bool]
    ) -> None:
        memories = memories_of(self.scope.ports.table, self.scope.keys, ids)
        ops: list[WriteOp] = [rows.put_memory(self.scope.keys, change(memory)) for memory in memories if only(memory)]
        if ops:
            self._write(ops)

    def _change_live(self, change: Callable[[tuple[LiveRow, ...]], tuple[LiveRow, ...]]) -> None:
        def attempt() -> None:
            item = self.scope.ports.table.get(self.scope.keys.marker)
            marker = rows.read_marker(item) if item else None
            live = change(marker.live) if marker else ()
            if marker and live != marker.live:
                self._write([rows.put_marker(self.scope.keys, replace(marker, live=live))])

        transact(self.scope.ports, attempt)

    def _close(self, status: Literal["done", "failed"], result: dict[str, Any], *, seen: bool) -> None:
        keys = self.scope.keys
        now = self.scope.ports.clock.now()
        until = iso(now + timedelta(seconds=REPLACED_TTL_S)) if seen else None
        closed = replace(self.head, replacement_job=None, replaced_until=until)
        item = self.scope.ports.table.get(keys.job(self.job_id))
        ops: list[WriteOp] = [rows.put_head(keys, closed)]
        if item is not None:
            job = rows.read_job(item)
            done = replace(job, status=status, finished_at=iso(now), result=result)
            ops.append(rows.put_job(keys, done))
        self.scope.ports.table.write(ops)


def _insert(live: tuple[LiveRow, ...], added: tuple[LiveRow, ...], replaced: set[str]) -> tuple[LiveRow, ...]:
    """The new rows stand where the first of their sources stands: the list stays in the order of the conversation."""
    have = {row.id for row in live}
    fresh = tuple(row for row in added if row.id not in have)
    place = next((i for i, row in enumerate(live) if row.id in replaced), len(live))
    return live[:place] + fresh + live[place:]
