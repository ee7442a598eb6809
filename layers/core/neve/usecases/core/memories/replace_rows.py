"""Replace many memories by others, atomically for readers (docs/rules/reflect.md#replacement).

New rows are born, and sources die, in generation ``gen + 1``; one transaction flips ``gen``. Before the flip every
reader sees the sources, after it the new rows, never both and never neither. One replacement per user at a time, named
on the user head, with a job row that says what it is doing, so that a crashed one is finished or undone before the
next begins. Sources that were edited or deleted since they were read end it: nothing that a person changed is lost in
what was made of the text before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Any, Literal

from neve.domain.errors import not_found
from neve.domain.memories.live_rows import NOWHERE, LivePlace, in_place, live_places, live_row
from neve.domain.memories.supersede import superseded
from neve.domain.memories.unheld import is_unheld
from neve.domain.records.jobs import Job
from neve.domain.records.markers import LiveRow
from neve.domain.records.memories import Memory, Scope, Statement, Status
from neve.domain.records.users import UserHead
from neve.domain.times import iso
from neve.ports.errors import Conflict
from neve.ports.table import Check, Item, Version, WriteOp
from neve.scope import UserScope
from neve.store import rows
from neve.store.incarnation import still_there
from neve.store.memories import deleted_ops, memories_of
from neve.store.transact import Rounds, transact

LEASE_S = 120
"""A replacement of a few hundred rows takes about a second; after this long its worker is taken for dead."""
BATCH = 40
"""Rows per transaction: with the head's check and the marker below the limit of 100 actions, and small enough that a
concurrent usage bump rarely makes one repeat."""
NOTES = ("takes_back", "foreign_ids", "pinned", "purges", "deletions", "unheld")
"""Fields that other writers note on the user's row, whatever else is going on: once, or counted."""
REPLACED_TTL_S = 60
"""Pack builds read the new rows by id until this long after the sweep, because indexes lag
(docs/rules/reflect.md#replacement)."""


Seen = tuple[int, tuple[Statement, ...]]


class ReplacementBusy(Exception):
    """Another replacement of this user is under way, or its worker died less than LEASE_S ago. No failure: the message
    is postponed (``neve.worker``). ``place``: the id of that replacement's job."""

    def __init__(self, user: str, place: str) -> None:
        super().__init__(user)
        self.place = place


class SourcesReplaced(Exception):
    """Some of the sources were replaced, edited or deleted since they were read."""


def _nothing_beside() -> list[WriteOp]:
    return []


@dataclass(slots=True)
class CostBeside:
    """``ops`` that count what an answer has cost, for ``Replacement.beside``. ``asked_for``: they may be written."""

    ops: Callable[[], list[WriteOp]]
    asked_for: bool = False

    def __call__(self) -> list[WriteOp]:
        self.asked_for = True
        return self.ops()


@dataclass(frozen=True, slots=True)
class Replacement:
    """The plan of a replacement: ``new`` rows (their ``born_gen`` is set here) take the place of the ``old`` ones,
    which are as they were read. ``session``: whose pack is to be rebuilt, if any is; new rows join the live list of
    their own session, where the first of those that they replace stands. ``order``: places by the ids of new rows and
    of rows in those lists, where the place follows from them instead. ``beside``: what the flip commits with it; read
    again for each attempt."""

    new: tuple[Memory, ...]
    old: tuple[Memory, ...]
    reason: str
    session: str | None = None
    beside: Callable[[], list[WriteOp]] = _nothing_beside
    order: Mapping[str, LivePlace] = field(default_factory=dict)

    def sessions(self) -> list[str]:
        """Return the sessions whose live lists change."""
        rows_ = (*self.old, *self.new)
        named = {m.session_id for m in rows_ if m.scope is Scope.SESSION and m.session_id is not None}
        return sorted(named | ({self.session} if self.session is not None else set()))


def replace_rows(scope: UserScope, incarnation: int, wanted: Replacement) -> list[str]:
    """Replace the rows, and return the ids of the new ones once readers see them. Raises ReplacementBusy,
    SourcesReplaced, and what ``beside`` raises; StoreUnavailable leaves a state that the next replacement, or the
    sweep, resolves."""
    head, job = transact(scope.ports, lambda: _begin(scope, incarnation, wanted))
    work = _Replacing(
        scope,
        head,
        job,
        tuple(m.id for m in wanted.new),
        tuple(m.id for m in wanted.old),
        wanted.session,
        tuple(wanted.sessions()),
        {m.id: _seen(m) for m in wanted.old},
    )
    work.write_new(wanted.new, wanted.order)
    try:
        work.stamp_sources()
        transact(scope.ports, lambda: work.flip(wanted.beside))
    except SourcesReplaced:
        work.undo("a source was changed meanwhile; undone")
        raise
    work.sweep(wanted.reason, wanted.new)
    return list(work.new_ids)


def _begin(scope: UserScope, incarnation: int, wanted: Replacement) -> tuple[UserHead, Job]:
    """Begin the replacement, and return the user's head, which names the replacement's job from now on, and that job,
    both as they are stored. Raises Conflict, ReplacementBusy, SourcesReplaced, UserErased."""
    ports, keys = scope.ports, scope.keys
    found = ports.table.get_many([keys.head, *(keys.memory(memory.id) for memory in wanted.old)])
    head = rows.read_head(found.get(keys.head))
    still_there(head, incarnation)
    if head.replacement_job:
        resolve_replacement(scope, head)
        raise Conflict  # the head has moved: read it again
    sources = [rows.read_memory(item) for key, item in found.items() if key != keys.head]
    _unchanged(sources, {memory.id: _seen(memory) for memory in wanted.old})
    now = ports.clock.now()
    job = Job(
        id=f"job_{ports.ids.ulid(now)}",
        kind="replace",
        status="running",
        created_at=iso(now),
        user_id=scope.user,
        session_id=wanted.session,
        state={
            "gen": head.gen + 1,
            "new": [m.id for m in wanted.new],
            "old": [m.id for m in wanted.old],
            "sessions": wanted.sessions(),
            "reason": wanted.reason,
            "lease_until": iso(now + timedelta(seconds=LEASE_S)),
        },
    )
    put_job = rows.put_job(keys, job)
    put_job.item.update(rows.due_keys("replace", keys, job.id, now) | {"tenant_id": keys.tenant})
    begun = replace(head, replacement_job=job.id, unheld=head.unheld or any(map(is_unheld, wanted.new)))
    ports.table.write([rows.put_head(keys, begun), put_job])
    return replace(begun, version=head.version + 1), replace(job, version=1)


def _seen(memory: Memory) -> Seen:
    """Return the parts of a source that must still be as they were read. A fact that is said again keeps its rev."""
    return memory.rev, memory.restatements


def _unchanged(sources: Sequence[Memory], seen: Mapping[str, Seen]) -> None:
    """Raise SourcesReplaced unless all of them are there, as they were read, and none had been replaced by then, which
    a reader of an earlier generation does not see: another ``died_gen`` on such a row would let readers see it
    again."""
    replaced = any(memory.status is Status.SUPERSEDED for memory in sources)
    if replaced or {memory.id: _seen(memory) for memory in sources} != dict(seen):
        raise SourcesReplaced


def resolve_replacement(scope: UserScope, head: UserHead) -> None:
    """Finish or undo the replacement that the head names, if its worker is dead. Raises ReplacementBusy if it may live,
    Conflict when another worker was faster."""
    item = scope.ports.table.get(scope.keys.job(str(head.replacement_job)))
    if item is None:  # the job row's time to live is over: nothing of it can be in flight
        scope.ports.table.write([rows.put_head(scope.keys, replace(head, replacement_job=None))])
        return
    job = rows.read_job(item)
    if job.status != "running":  # closed since the head was read
        raise Conflict
    state = job.state
    if state["lease_until"] > iso(scope.ports.clock.now()):
        raise ReplacementBusy(scope.user, job.id)
    head, job = _taken_over(scope, head, job, item)
    sessions = state.get("sessions", [job.session_id])  # there was one to a replacement once
    work = _Replacing(scope, head, job, tuple(state["new"]), tuple(state["old"]), job.session_id, tuple(sessions))
    if head.gen >= state["gen"]:
        work.sweep(state["reason"])
    else:
        work.undo("the worker died before readers saw anything; undone")


def _taken_over(scope: UserScope, head: UserHead, job: Job, item: Item) -> tuple[UserHead, Job]:
    """Take the replacement over by moving the head to its next version, before anything else is done: a worker that was
    taken for dead and is not finds its fencing token gone, and the next worker finds a lease. Raises Conflict."""
    until = iso(scope.ports.clock.now() + timedelta(seconds=LEASE_S))
    put_job = rows.put_job(scope.keys, replace(job, state=job.state | {"lease_until": until}))
    put_job.item.update({name: item[name] for name in ("due_pk", "due_sk", "tenant_id")})
    scope.ports.table.write([rows.put_head(scope.keys, head), put_job])
    return replace(head, version=head.version + 1), replace(job, version=job.version + 1)


@dataclass
class _Replacing:
    """A replacement under way. ``session``: see ``Replacement``; ``sessions``: those whose live lists change. ``seen``:
    of the sources, as they were read; empty for a worker that ends what another has begun. ``head``: its version is the
    fencing token."""

    scope: UserScope
    head: UserHead
    job: Job
    new_ids: tuple[str, ...]
    old_ids: tuple[str, ...]
    session: str | None
    sessions: tuple[str, ...]
    seen: Mapping[str, Seen] = field(default_factory=dict)

    # each step may be repeated

    def write_new(self, new: Sequence[Memory], order: Mapping[str, LivePlace] | None = None) -> None:
        """Write the new rows, born in the coming generation, already in the rank index and the live lists."""
        for start in range(0, len(new), BATCH):
            born = [replace(memory, born_gen=self.head.gen + 1) for memory in new[start : start + BATCH]]
            self._write([rows.put_memory(self.scope.keys, memory) for memory in born])
        for session in dict.fromkeys(m.session_id for m in new if m.scope is Scope.SESSION and m.session_id):
            own = tuple(live_row(m) for m in new if m.session_id == session)
            self._change_live([session], partial(self._insert_new, added=own, order=dict(order or {})))

    def _insert_new(
        self, live: tuple[LiveRow, ...], added: tuple[LiveRow, ...], order: dict[str, LivePlace]
    ) -> tuple[LiveRow, ...]:
        """Insert new rows into a live list; rows that have joined the list since ``order`` was read are looked up."""
        came = [row.id for row in live if row.id not in order] if order else []
        if came:
            known = memories_of(self.scope.ports.table, self.scope.keys, came)
            order |= dict.fromkeys(came, NOWHERE) | live_places(known)
        return _insert(live, added, set(self.old_ids), order)

    def stamp_sources(self) -> None:
        """Stamp the sources with the generation in which they die. Raises SourcesReplaced for one that was changed
        since it was read."""
        self._change_memories(self.old_ids, lambda m: replace(m, died_gen=self.head.gen + 1), whole=True)

    def flip(self, beside: Callable[[], list[WriteOp]] = _nothing_beside) -> None:
        """Let readers see the new rows from here on. Raises ReplacementBusy when the head is no longer ours, Conflict
        when the session's epoch row, or one beside it, moved."""
        flipped = replace(self.head, gen=self.head.gen + 1, replaced_by=self.job.id, replaced_until=None)
        ops: list[WriteOp] = [rows.put_head(self.scope.keys, flipped), *self._rebuild_due(), *beside()]
        try:
            self.scope.ports.table.write(ops)
        except Conflict as conflict:
            if 0 in conflict.failed and not self._follow_head():
                raise ReplacementBusy(self.scope.user, self.job.id) from None
            raise
        self.head = replace(flipped, version=self.head.version + 1)

    def _rebuild_due(self) -> list[WriteOp]:
        if self.session is None:
            return []
        keys = self.scope.keys.of_session(self.session)
        item = self.scope.ports.table.get(keys.epoch)
        if item is None:
            raise not_found("session", self.session)
        epoch = rows.read_epoch(item)
        due = replace(epoch, rebuild_due=epoch.rebuild_due or "reflection")
        return [rows.put_epoch(keys, due, self.scope.ports.clock.now())]

    def sweep(self, reason: str, new: Sequence[Memory] | None = None) -> None:
        """Mark the sources superseded, which takes them out of the rank index and tells the search index; then let the
        next replacement in. ``new``: the new rows, read from the table where they are not known."""
        now, successor = iso(self.scope.ports.clock.now()), self._successors(new)
        self._change_memories(
            self.old_ids,
            lambda m: superseded(m, by=successor.get(m.id), reason=reason, at=now),
            only=lambda m: m.status is not Status.SUPERSEDED,
        )
        gone = set(self.old_ids)
        self._change_live(self.sessions, lambda live: tuple(row for row in live if row.id not in gone))
        self._close("done", {"new": list(self.new_ids), "superseded": len(self.old_ids)}, seen=True)

    def undo(self, why: str) -> None:
        """Take the new rows away again and let the sources live, as no reader was shown anything yet. To recall the new
        rows were hidden, but the outbox has told of them: their passages have to leave the index as those of any
        deleted row."""
        keys = self.scope.keys
        coming = self.head.gen + 1
        for memory_id in self.new_ids:
            item = self.scope.ports.table.get(keys.memory(memory_id))
            if item is not None and item["born_gen"] == coming:
                self._write(deleted_ops(keys, rows.read_memory(item), self.scope.ports.clock.now()))
        self._change_memories(self.old_ids, lambda m: replace(m, died_gen=None), only=lambda m: m.died_gen == coming)
        gone = set(self.new_ids)
        self._change_live(self.sessions, lambda live: tuple(row for row in live if row.id not in gone))
        self._close("failed", {"reason": why}, seen=False)

    # --- parts ----------------------------------------------------------------------------------

    def _write(self, ops: list[WriteOp]) -> None:
        """Write under the head's version, the fencing token of a replacement: a worker that was taken for dead while it
        slept writes nothing more. Raises ReplacementBusy then, 409 ``conflict`` where other writers note something on
        the head again and again, else Conflict."""
        rounds = Rounds(self.scope.ports)
        while True:
            rounds.begin()
            version = self.head.version
            try:
                self.scope.ports.table.write([Check(self.scope.keys.head, Version(version)), *ops])
            except Conflict:
                if not self._follow_head():
                    raise ReplacementBusy(self.scope.user, self.job.id) from None
                if self.head.version == version:
                    raise
            else:
                return

    def _follow_head(self) -> bool:
        """Say whether the head is still ours: as we know it, or with notes of other writers on it, each with a version
        of its own; then it is known so from now on. A worker that takes a replacement over leaves no note."""
        head = rows.read_head(self.scope.ports.table.get(self.scope.keys.head))
        steps = {name: getattr(head, name) - getattr(self.head, name) for name in NOTES}
        notes = {name: getattr(head, name) for name in NOTES}
        if head == replace(self.head, **notes, version=self.head.version + sum(steps.values())):
            self.head = head
        return head == self.head

    def _successors(self, new: Sequence[Memory] | None) -> dict[str, str]:
        """Map each source id to the first new row that names it."""
        named = new if new is not None else memories_of(self.scope.ports.table, self.scope.keys, self.new_ids)
        return {
            old: memory.id for memory in sorted(named, key=lambda m: m.id, reverse=True) for old in memory.supersedes
        }

    def _change_memories(
        self,
        ids: Sequence[str],
        change: Callable[[Memory], Memory],
        only: Callable[[Memory], bool] = lambda _: True,
        *,
        whole: bool = False,
    ) -> None:
        """Change memories optimistically, in batches. A row that moved is read again; one that was deleted meanwhile is
        left out, unless ``whole``: then any change of its text raises SourcesReplaced."""
        for start in range(0, len(ids), BATCH):
            batch = ids[start : start + BATCH]
            transact(self.scope.ports, partial(self._change_batch, batch, change, only, whole))

    def _change_batch(
        self, ids: Sequence[str], change: Callable[[Memory], Memory], only: Callable[[Memory], bool], whole: bool
    ) -> None:
        memories = memories_of(self.scope.ports.table, self.scope.keys, ids)
        if whole:
            _unchanged(memories, {i: self.seen[i] for i in ids})
        ops: list[WriteOp] = [rows.put_memory(self.scope.keys, change(memory)) for memory in memories if only(memory)]
        if ops:
            self._write(ops)

    def _change_live(
        self, sessions: Sequence[str], change: Callable[[tuple[LiveRow, ...]], tuple[LiveRow, ...]]
    ) -> None:
        for start in range(0, len(sessions), BATCH):
            transact(self.scope.ports, partial(self._change_lists, sessions[start : start + BATCH], change))

    def _change_lists(
        self, sessions: Sequence[str], change: Callable[[tuple[LiveRow, ...]], tuple[LiveRow, ...]]
    ) -> None:
        keys = self.scope.keys
        found = self.scope.ports.table.get_many([keys.of_session(session).marker for session in sessions])
        ops: list[WriteOp] = [
            rows.put_marker(keys, replace(marker, live=live))
            for marker in map(rows.read_marker, found.values())
            if (live := change(marker.live)) != marker.live
        ]
        if ops:
            self._write(ops)

    def _close(self, status: Literal["done", "failed"], result: dict[str, Any], *, seen: bool) -> None:
        """Close the job and let the next replacement in. Raises Conflict, and 409 ``conflict`` where other writers note
        something on the head again and again."""
        rounds = Rounds(self.scope.ports)
        while True:
            rounds.begin()
            version = self.head.version
            try:
                self.scope.ports.table.write(self._closing(status, result, seen=seen))
            except Conflict:
                if not self._follow_head() or self.head.version == version:
                    raise
            else:
                return

    def _closing(self, status: Literal["done", "failed"], result: dict[str, Any], *, seen: bool) -> list[WriteOp]:
        keys, now = self.scope.keys, self.scope.ports.clock.now()
        until = iso(now + timedelta(seconds=REPLACED_TTL_S)) if seen else None
        closed = replace(self.head, replacement_job=None, replaced_until=until)
        done = replace(self.job, status=status, finished_at=iso(now), result=result)
        return [rows.put_head(keys, closed), rows.put_job(keys, done)]


def _insert(
    live: tuple[LiveRow, ...], added: tuple[LiveRow, ...], replaced: set[str], order: Mapping[str, LivePlace]
) -> tuple[LiveRow, ...]:
    """Insert the new rows where the first of their sources stands, or in their places: the list stays in the order of
    the conversation."""
    have = {row.id for row in live}
    fresh = tuple(row for row in added if row.id not in have)
    if order:
        for row in fresh:
            live = in_place(live, row, order)
        return live
    place = next((i for i, row in enumerate(live) if row.id in replaced), len(live))
    return live[:place] + fresh + live[place:]
