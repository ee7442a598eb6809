"""The operator's call: a new search index, filled from the table, takes the place of the one in use (A34 and C26 of
docs/features.md). For another embedding model, or another layout of the index.

The service goes on meanwhile: what is written goes to the index in use, where recall finds it, by words only if that
index holds another model's vectors. Vectors are kept by content in the table, so a run that broke off, and is started
again, pays for no text twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from neve.caching import Caches
from neve.domain.records.documents import Document
from neve.domain.records.memories import Memory
from neve.domain.records.sessions import Span, Spans
from neve.domain.records.users import UserHead
from neve.ports.engines import IndexingPorts
from neve.ports.errors import StoreUnavailable
from neve.ports.models import Embedder
from neve.ports.objects import ObjectStore
from neve.ports.runtime import Clock, Ids
from neve.ports.search import SearchIndex
from neve.ports.table import Table
from neve.scope import SessionData, UserData
from neve.store import rows
from neve.store.incarnation import UserErased
from neve.store.keys import MEMORY, Keys, UserKeys, tenant_row
from neve.store.partitions import all_rows
from neve.store.sessions.state import state_rows
from neve.store.tenants.directory import all_tenants, users_of
from neve.store.tenants.tenant_rows import read_tenant
from neve.store.transact import batches
from neve.usecases.ask.documents.list_documents import heads_below
from neve.usecases.core.lag.indexed_row import IndexedRow, read_indexed
from neve.usecases.core.tenants.own_encoder import OwnSearch
from neve.usecases.work.indexing.by_kind import INDEXED_COLLECTIONS
from neve.usecases.work.indexing.changed_events import take_out
from neve.usecases.work.indexing.index_events import batches_of_span, reindex_events
from neve.usecases.work.indexing.index_memories import NEVER_RECALLED, reindex_memories
from neve.usecases.work.indexing.indexed_collections import Kind
from neve.usecases.work.indexing.indexed_log import gone_from, read_log
from neve.usecases.work.indexing.requeue import lacks_something

T = TypeVar("T")

ROUNDS = 2
"""Rounds of filling: the second one takes as long as it takes to read, and what has changed during that is all that
recall misses after the switch, until it is made up for."""
PAUSES_S = (1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
KINDS: tuple[Kind, ...] = ("memory", "document")
_NEW = 0
"""The incarnation noted for a user without anything filled in."""


@dataclass
class Reindexed:
    """The counts of what was brought into the new index; what changed meanwhile is counted each time."""

    users: int = 0
    memories: int = 0
    logs: int = 0
    documents: int = 0


OnProgress = Callable[[Reindexed], object]


@dataclass(frozen=True)
class _Seen:
    """One user as it was filled in: the revs of each collection, and how far each session's log was indexed, with
    vectors. ``lacking``: ids of rows whose vectors were not. The index in use may get them before the switch, and the
    row does not say which index has them. ``gone``: what had left the logs before."""

    incarnation: int
    revs: Mapping[Kind, Mapping[str, int]] = field(default_factory=dict)
    lacking: frozenset[str] = frozenset()
    logs: Mapping[str, int] = field(default_factory=dict)
    gone: Mapping[str, Spans] = field(default_factory=dict)


def reindex(
    ports: IndexingPorts,
    target: SearchIndex,
    switch: Callable[[], object],
    settle: Callable[[], object],
    on_progress: OnProgress,
    multi: Embedder | None = None,
) -> Reindexed:
    """Fill ``target`` with everything that the index in use holds, and with what changed meanwhile, which may be hours;
    ``switch`` puts it into use; what changed since is made up for at once, and once more when ``settle`` returns,
    because every process has seen it then. ``on_progress`` hears after each part what has been done so far.
    ``multi``: makes the vectors of tenants whose policy asks for many languages; None: ``ports`` make all of them.

    ``target`` must be for the embedder's model (ValueError), and may hold some of it already. Raises
    EmbeddingUnavailable or EmbeddingRetryable when the embedder does not work, EmbedAgain when texts could not be
    embedded, StoreUnavailable; it can then be called again. Nothing is switched before ``target`` is full."""
    if target.model() != ports.embedder.model:
        held, made = target.model().tag, ports.embedder.model.tag
        raise ValueError(f"the new index is for vectors of {held}, the embedder makes {made}")
    _try_embedder(ports.embedder)
    work = _Filling(
        Indexing(ports.table, ports.objects, target, ports.embedder, ports.caches, ports.clock, ports.ids),
        on_progress,
        multi,
    )
    filled: dict[UserKeys, _Seen] = {}

    def everybody() -> Iterator[tuple[UserKeys, _Seen]]:
        owners = dict.fromkeys([*filled, *_owners(ports.table)])
        return ((owner, filled.get(owner, _Seen(_NEW))) for owner in owners)

    def make_up() -> None:
        for owner, before in everybody():
            work.bring(owner, before, in_use=True)

    for _ in range(ROUNDS):
        for owner, before in everybody():
            filled[owner] = work.bring(owner, before, in_use=False)
    _try_embedder(ports.embedder)
    switch()
    make_up()
    settle()
    make_up()
    return work.done


def _try_embedder(embedder: Embedder) -> None:
    """Embed once: an index that lacks its vectors for want of an embedder must not be switched to."""
    if embedder.model.dimensions:
        embedder.embed_query("Does it work?")


def _owners(table: Table) -> Iterator[UserKeys]:
    tenants = map(Keys, all_tenants(table))
    return (keys.of_user(user) for keys in tenants for user in users_of(table, keys))


@dataclass(frozen=True)
class Indexing:
    """The engines in use as ``ports.engines.IndexingPorts``, with another index in place of theirs."""

    table: Table
    objects: ObjectStore
    search: SearchIndex
    embedder: Embedder
    caches: Caches
    clock: Clock
    ids: Ids


@dataclass(frozen=True)
class _Filling:
    into: IndexingPorts
    on_progress: OnProgress
    multi: Embedder | None = None
    done: Reindexed = field(default_factory=Reindexed)
    _of_tenants: dict[str, IndexingPorts] = field(default_factory=dict)

    def bring(self, owner: UserKeys, before: _Seen, *, in_use: bool) -> _Seen:
        """Bring in what was not brought in before, and take out what is gone. Until the index is ``in_use``, a row that
        is still on its way to the other one is left to its own message: it would be noted as indexed. From then on,
        what any row lacks is made up for."""
        self.done.users += before.incarnation == _NEW and not in_use
        head, before = self._current_state(owner, before)
        if head.state != "active":
            return _Seen(head.incarnation)
        revs: dict[Kind, Mapping[str, int]] = {}
        lacking: set[str] = set()
        for kind in KINDS:
            now, seen = rows_in_index(self.into.table, owner, kind), before.revs.get(kind, {})
            settled = {i: one for i, one in now.items() if in_use or one.rev_at is None}
            changed = {
                i: one.rev
                for i, one in settled.items()
                if seen.get(i) != one.rev or i in before.lacking or (in_use and lacks_something(one))
            }
            lacking |= self._index(owner, kind, changed | {i: rev for i, rev in seen.items() if i not in now})
            there = {i: rev for i, rev in seen.items() if i in now}
            revs[kind] = there | {i: one.rev for i, one in settled.items()}
        spans, whole = self._gone(owner), dict[str, int]()
        for row in self._logs(owner):
            first = self._first_seq_to_read(owner, head, row, before, spans)
            first = min(first, _first_to_note(row)) if in_use else first
            whole[row.session] = self._index_log(owner, head, row.session, (first, row.indexed_seq), in_use=in_use)
        return _Seen(head.incarnation, revs, frozenset(lacking), whole, spans)

    def _current_state(self, owner: UserKeys, before: _Seen) -> tuple[UserHead, _Seen]:
        """Read the user's row; return it with what of ``before`` still holds: nothing for a user who has been erased,
        or came back since. An earlier run may have left some of it."""
        head = self._head(owner)
        if head.state == "active" and before.incarnation in (_NEW, head.incarnation):
            return head, before
        self.into.search.erase(owner.owner)
        return head, _Seen(_NEW)

    def _index(self, owner: UserKeys, kind: Kind, revs: Mapping[str, int]) -> set[str]:
        """Index the rows; return the ids of those without vectors. Raises EmbedAgain."""
        collection, size = INDEXED_COLLECTIONS[kind]
        lacking: set[str] = set()
        for part in batches(revs, most=size):
            part_revs = {identifier: revs[identifier] for identifier in part}
            lacking.update(
                self._retry_work(
                    partial(reindex_memories, UserData(self._ports_of(owner), owner), part_revs, collection=collection)
                )
            )
            self.done.memories += len(part) if kind == "memory" else 0
            self.done.documents += len(part) if kind == "document" else 0
            self.on_progress(self.done)
        return lacking

    def _first_seq_to_read(
        self, owner: UserKeys, head: UserHead, row: IndexedRow, before: _Seen, gone: Mapping[str, Spans]
    ) -> int:
        """Return from which seq on the log is to be read: from its start where something has left it since, which the
        words beside it carry, or where an earlier run may have filled in what has left since."""
        filled, spans = before.logs.get(row.session), gone.get(row.session, ())
        if filled is not None and spans == before.gone.get(row.session, ()):
            return filled + 1
        log = SessionData(self.into, owner.of_session(row.session))
        for step in (step for span in spans for step in batches_of_span(span)):
            self._retry_work(partial(self._take_out, log, head, step))
        return 1

    @staticmethod
    def _take_out(log: SessionData[IndexingPorts], head: UserHead, span: Span) -> None:
        with suppress(UserErased):
            take_out(log, read_log(log, head.incarnation), span)

    def _index_log(self, owner: UserKeys, head: UserHead, session: str, seqs: Span, *, in_use: bool) -> int:
        """Index the log; return up to which seq the new index has the vectors, too. Raises EmbedAgain."""
        first, last = seqs
        if first > last:
            return last
        log = SessionData(self._ports_of(owner), owner.of_session(session))
        lacking = self._retry_work(lambda: reindex_events(log, head.incarnation, seqs, in_use=in_use))
        self.done.logs += 1
        self.on_progress(self.done)
        return last if lacking is None else min(last, lacking - 1)

    def _retry_work(self, work: Callable[[], T]) -> T:
        """Do the work, again after a pause where it fails: an index that is being filled may turn writes away for a
        while. Raises StoreUnavailable after a minute."""
        for pause_s in PAUSES_S:
            try:
                return work()
            except StoreUnavailable:
                self.into.clock.sleep(pause_s)
        return work()

    def _head(self, owner: UserKeys) -> UserHead:
        return rows.read_head(self.into.table.get(owner.head))

    def _ports_of(self, owner: UserKeys) -> IndexingPorts:
        """Return the engines with the encoder of the user's tenant. Raises EmbeddingUnavailable, EmbeddingRetryable."""
        if owner.tenant not in self._of_tenants:
            item = self.into.table.get(tenant_row(owner.tenant)) if self.multi else None
            many = item is not None and read_tenant(item).policy.languages == "multi"
            self._of_tenants[owner.tenant] = self._in_many_languages() if many else self.into
        return self._of_tenants[owner.tenant]

    def _in_many_languages(self) -> IndexingPorts:
        if self.multi is None:
            return self.into
        _try_embedder(self.multi)
        into, search = self.into, OwnSearch(self.into.search, self.multi)
        return Indexing(into.table, into.objects, search, self.multi, into.caches, into.clock, into.ids)

    def _gone(self, owner: UserKeys) -> dict[str, Spans]:
        epochs = map(rows.read_epoch, state_rows(self.into.table, owner, "epoch"))
        return {epoch.session_id: gone_from(epoch) for epoch in epochs}

    def _logs(self, owner: UserKeys) -> list[IndexedRow]:
        found = state_rows(self.into.table, owner, "indexed")
        return [read_indexed(item["session_id"], item) for item in found]


def rows_in_index(table: Table, owner: UserKeys, kind: Kind) -> dict[str, Memory | Document]:
    """Read the rows that are in an index, by id; documents without their texts. Raises StoreUnavailable."""
    found: Iterator[Memory | Document]
    if kind == "memory":
        found = map(rows.read_memory, all_rows(table, owner.partition, prefix=MEMORY))
    else:
        found = (head for head in heads_below(table, owner, "/") if head.id is not None)
    return {str(one.id): one for one in found if one.status not in NEVER_RECALLED}


def _first_to_note(row: IndexedRow) -> int:
    """Return the first event of a log that was not noted to have its vector: the new index got it before it was in
    use."""
    lacking = (first for first, _ in row.not_embedded((1, row.indexed_seq)))
    return min(next(lacking, row.indexed_seq + 1), row.without_vectors_from or row.indexed_seq + 1)
