"""The job that a change of a policy's ``languages`` makes: every vector of the tenant anew, in the index in use
(docs/rules/indexing.md#encoders).

Until it is through, recall of the tenant works by keyword; then its row says so. Vectors are kept by content and model,
so a worker that dies has paid for no text twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from neve.domain.errors import TenantRemoved
from neve.domain.times import iso
from neve.ports.engines import IndexingPorts
from neve.ports.errors import EmbeddingRetryable, EmbeddingUnavailable
from neve.scope import SessionData, UserData
from neve.store import rows
from neve.store.keys import UserKeys, tenant_row
from neve.store.sessions.state import state_rows
from neve.store.tenants import tenant_rows
from neve.store.tenants.directory import users_of
from neve.store.transact import batches
from neve.usecases.core.jobs.carry_on import Done, More, Outcome, Run, Wait
from neve.usecases.core.lag.indexed_row import IndexedRow, read_indexed
from neve.usecases.core.tenants.own_encoder import OwnPorts
from neve.usecases.core.tenants.policy_in_force import forget_policy
from neve.usecases.work.indexing.by_kind import INDEXED_COLLECTIONS
from neve.usecases.work.indexing.index_events import EmbedAgain, batches_of_span, reindex_events
from neve.usecases.work.indexing.index_memories import reindex_memories
from neve.usecases.work.indexing.reindex import KINDS, rows_in_index

STEP_MS = 20_000
"""A step ends behind the part with which it has taken so long (*chosen*): as much may be done twice."""
AGAIN_AFTER = timedelta(minutes=1)
"""An embedder that does not work is asked again then, by the next sweep."""
SETTLED_AFTER = timedelta(minutes=2)
"""A process may know the former policy for 60 s, and a worker that has begun with it may run for 60 s."""
OVERTAKEN = "the languages were changed again"


def reindex_next(run: Run) -> Outcome:
    """Do the next part. Two rounds: behind the first one recall uses the vectors, and the second one makes up for what
    workers wrote that knew the former policy. Raises StoreUnavailable."""
    scope, cursor, now = run.scope, run.cursor, run.scope.ports.clock.now()
    try:
        tenant = tenant_rows.existing(scope.ports.table.get(tenant_row(scope.tenant.id)))
    except TenantRemoved:
        return Done({"reason": "the tenant was removed"}, status="failed")
    round_ = cursor.get("round", 1)
    if (round_ == 1 and tenant.reindex_job != run.work.id) or tenant.reindex_job not in (None, run.work.id):
        return Done(run.work.result | {"reason": OVERTAKEN}, status="failed")
    if round_ == 2 and not cursor.get("settled"):
        forget_policy(scope)
        return Wait({"round": 2, "settled": True}, now + SETTLED_AFTER)
    many = tenant.policy.languages == "multi"
    ports: IndexingPorts = OwnPorts(scope.ports) if many else scope.ports
    part = _Part(run, ports, dict(cursor), dict(run.work.result))
    try:
        ports.embedder.embed_query("Does it work?")
        ended = part.do()
    except (EmbeddingUnavailable, EmbeddingRetryable, EmbedAgain) as error:
        reason = str(error) or "some texts could not be embedded for now"
        return Wait(part.cursor, now + AGAIN_AFTER, result=part.counts | {"waits_for": reason})
    part.counts.pop("waits_for", None)
    if not ended:
        return More(part.cursor, result=part.counts)
    if round_ == 2:
        return Done(part.counts)
    ready = tenant_rows.put_tenant(replace(tenant, reindex_job=None))
    return More({"round": 2}, [ready], result=part.counts | {"ready_at": iso(now)})


@dataclass
class _Part:
    """Holds how far one step is. ``cursor``: the user it is at, the kind of rows or the session, and behind which of
    them. ``counts``: what the job says it has done."""

    run: Run
    ports: IndexingPorts
    cursor: dict[str, Any]
    counts: dict[str, Any]
    began_ms: float = field(init=False)

    def __post_init__(self) -> None:
        self.began_ms = self.run.scope.ports.clock.monotonic_ms()

    @property
    def _over(self) -> bool:
        return self.run.out_of_time() or self.run.scope.ports.clock.monotonic_ms() - self.began_ms >= STEP_MS

    def do(self) -> bool:
        """Go on as far as the step's time goes; return whether this was the last part. Raises EmbedAgain."""
        table, tenant = self.ports.table, self.run.scope.tenant.keys
        at = self.cursor.get("user")
        for user in (*([at] if at else ()), *users_of(table, tenant, at or "")):
            if user != at:
                self.cursor = {name: self.cursor[name] for name in ("round", "settled") if name in self.cursor}
                self.cursor["user"] = user
                self._count("users")
            for _ in self._parts_of(tenant.of_user(user)):
                if self._over:
                    return False
        return True

    def _parts_of(self, owner: UserKeys) -> Iterator[None]:
        """Index the rows and the logs of a user; yields behind each part, with the cursor there."""
        head = rows.read_head(self.ports.table.get(owner.head))
        if head.state != "active":
            return
        for kind in KINDS:
            yield from self._rows(owner, kind)
        indexed = [read_indexed(item["session_id"], item) for item in state_rows(self.ports.table, owner, "indexed")]
        for row in sorted(indexed, key=lambda one: one.session):
            if row.session >= self.cursor.get("session", ""):
                yield from self._log(owner, head.incarnation, row)

    def _rows(self, owner: UserKeys, kind: Any) -> Iterator[None]:
        if "session" in self.cursor:
            return
        collection, size = INDEXED_COLLECTIONS[kind]
        behind, tag = self.cursor.get(kind, ""), self.ports.embedder.model.tag
        found = rows_in_index(self.ports.table, owner, kind)
        lacking = sorted(i for i, row in found.items() if i > behind and row.embedding_model != tag)
        for ids in batches(lacking, most=size):
            revs = {identifier: found[identifier].rev for identifier in ids}
            reindex_memories(UserData(self.ports, owner), revs, collection=collection)
            self.cursor[kind] = ids[-1]
            self._count("memories" if kind == "memory" else "documents", len(ids))
            yield

    def _log(self, owner: UserKeys, incarnation: int, row: IndexedRow) -> Iterator[None]:
        done = self.cursor.get("seq", 0) if self.cursor.get("session") == row.session else 0
        self.cursor |= {"session": row.session, "seq": done}
        log = SessionData(self.ports, owner.of_session(row.session))
        for span in batches_of_span((done + 1, row.indexed_seq)):
            reindex_events(log, incarnation, span)
            self.cursor["seq"] = span[1]
            self._count("events", span[1] - span[0] + 1)
            yield

    def _count(self, name: str, by: int = 1) -> None:
        self.counts[name] = self.counts.get(name, 0) + by
