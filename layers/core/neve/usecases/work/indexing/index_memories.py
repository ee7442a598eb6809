"""Bring the search index to what a user's memories and documents say now (docs/rules/indexing.md#memories)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic

from neve.domain.indexing.passage import Passage
from neve.domain.memories.text import fingerprint
from neve.domain.records.memories import EmbeddingState, Status
from neve.domain.records.users import UserHead
from neve.domain.times import iso
from neve.observing import SecondsLeft, for_ever
from neve.ports.engines import IndexingPorts, WordsPorts
from neve.ports.errors import Conflict
from neve.ports.table import Delete
from neve.scope import UserData
from neve.store import rows
from neve.store.incarnation import UserErased
from neve.store.transact import batches, transact
from neve.store.vectors import erase_vectors
from neve.usecases.work.indexing.index_events import EmbedAgain, OutOfTime
from neve.usecases.work.indexing.indexed_collections import MEMORIES, IndexedCollection, R
from neve.usecases.work.indexing.vectors.user_vectors import (
    VectorsFound,
    checks_of_user,
    known_vectors,
    passage_texts,
    vectors_for,
)
from neve.usecases.work.indexing.vectors.worker_time import RESERVE_S

NEVER_RECALLED = frozenset({Status.ARCHIVED})
"""Statuses of rows that are not in the index at all. A superseded row stays, with its status: recall finds it when
asked to."""
MAX_BATCH_CHARS = 400_000
"""Characters of text that one transaction writes: a row holds its text twice, in up to 4 bytes a character."""
PART_PASSAGES = 500
"""Passages of several rows that are written together: with their vectors 5 MB, one request to the search index."""

_Data = UserData[WordsPorts] | UserData[IndexingPorts]


def index_memory_words(
    data: UserData[WordsPorts],
    revs: Mapping[str, int],
    *,
    again: bool,
    collection: IndexedCollection[Any] = MEMORIES,
    left: SecondsLeft = for_ever,
) -> tuple[list[tuple[str, int]], Mapping[str, EmbedAgain]]:
    """Bring the words of these rows into the index, with the vectors that are known already; what is gone, or never
    recalled, leaves it. ``revs``: ids with the rev that was told of. ``again``: the message was delivered before, and
    the worker that had it may have died before it passed the rows on. ``left``: how long the worker may still run.
    Return id and rev of the rows whose vectors are to be made next, and the ids that are to be told again, because the
    worker ends before. Raises StoreUnavailable."""
    words = _Words(data, revs, again, collection, left)
    return [(row.id, row.rev) for row in words.run()], words.late


def index_memories(
    data: UserData[IndexingPorts],
    revs: Mapping[str, int],
    *,
    collection: IndexedCollection[Any] = MEMORIES,
    left: SecondsLeft = for_ever,
) -> Mapping[str, EmbedAgain]:
    """Bring words and vectors of these rows into the index. Return the ids that are to be told again, and why: their
    text could not be embedded for now, or the worker ends before; until then they are found by keyword only. ``left``:
    how long it may still run. Raises StoreUnavailable."""
    return _Batch(data, revs, collection, left=left).run()


def reindex_memories(
    data: UserData[IndexingPorts], revs: Mapping[str, int], *, collection: IndexedCollection[Any] = MEMORIES
) -> Collection[str]:
    """Bring words and vectors into an index that lacks them, whatever is noted in the rows; a row that has another rev
    by now is left to its own message. Return the ids of those that have no vectors there, because the embedder did not
    work. Raises EmbedAgain, StoreUnavailable."""
    batch = _Batch(data, revs, collection, reindexing=True)
    if batch.run():
        raise EmbedAgain
    return batch.failed


def _forget(data: _Data, ids: Iterable[str], revs: Mapping[str, int]) -> None:
    """Remove passages of deleted rows at ``rev + 1``, so that a late write of ``rev`` is refused: the newest document
    of a rev has the version of its removal, and a worker that was taken for dead would bring it back."""
    for identifier in ids:
        data.ports.search.trim(data.keys.owner, identifier, keep=0, version=revs[identifier] + 1)


def _forget_written(data: _Data, row: R, revs: Mapping[str, int]) -> None:
    """Remove a row that was deleted while it was written here. Its rev may be above that of the message."""
    identifier = str(row.id)
    _forget(data, [identifier], {identifier: max(row.rev, revs[identifier])})


def _write(data: _Data, found: Iterable[R], to_index: Mapping[str, Sequence[Passage]]) -> None:
    """Write the passages, then remove what a shortened text or a status leaves over."""
    passages = [passage for many in to_index.values() for passage in many]
    if passages:
        data.ports.search.upsert(data.keys.owner, passages)
    for row in found:
        identifier = str(row.id)
        if row.status in NEVER_RECALLED:
            data.ports.search.trim(data.keys.owner, identifier, keep=0, version=row.rev)
        elif row.rev > 1 and identifier in to_index:
            data.ports.search.trim(data.keys.owner, identifier, keep=len(to_index[identifier]), version=row.rev)


@dataclass
class _Words(Generic[R]):
    data: UserData[WordsPorts]
    revs: Mapping[str, int]
    again: bool
    collection: IndexedCollection[R]
    left: SecondsLeft
    late: dict[str, EmbedAgain] = field(default_factory=dict)

    def run(self) -> list[R]:
        found = self.collection.find(self.data.ports.table, self.data.keys, list(self.revs))
        gone = [i for i in self.revs if i not in found]
        _forget(self.data, gone, self.revs)
        for identifier in gone:
            self.collection.clear_away(self.data, identifier)
        self._acknowledge_deletions(gone)
        lacking = [row for row in found.values() if row.rev_at is not None and row.words_at is None]
        texts = self.collection.whole(self.data, [row for row in lacking if row.status not in NEVER_RECALLED])
        to_index = {i: self.collection.passages(row) for i, row in texts.items()}
        noted: list[R] = []
        for number, part in enumerate(_of_one_request(lacking, to_index)):
            if number and self.left() < RESERVE_S:
                self.late |= {str(row.id): OutOfTime() for row in part}
                continue
            _write(self.data, part, self._with_known_vectors(part, _passages_of(part, to_index)))
            noted += [row for row in part if self._note(row)]
        if not self.again:
            return noted
        return [row for row in found.values() if row.rev_at is not None and str(row.id) not in self.late]

    def _acknowledge_deletions(self, gone: Sequence[str]) -> None:
        """Delete the rows that told of these deletions, once the vectors of what was deleted for good are gone, too:
        vectors are kept by content, and what is still needed of them is made again. The row of a later deletion, which
        a message from before it does not know of, stays: its passages are still there."""
        places = [self.data.keys.leaving(self.collection.kind, i, self.revs[i]) for i in gone]
        table, keys = self.data.ports.table, self.data.keys
        for place, item in (table.get_many(places) if places else {}).items():
            erase_vectors(table, keys, item.get("texts", ()))
            table.write([Delete(place)])

    def _with_known_vectors(
        self, found: Sequence[R], to_index: Mapping[str, Sequence[Passage]]
    ) -> dict[str, list[Passage]]:
        """Add known vectors: a row that changed takes along those of the text that it kept."""
        changed = {row.id for row in found if row.rev > 1}
        texts = passage_texts(p for i, passages in to_index.items() if i in changed for p in passages)
        model = self.data.ports.search.model()
        known = known_vectors(self.data, model, texts) if texts and model.dimensions else {}
        return {i: [replace(p, vector=known.get(p.text)) for p in passages] for i, passages in to_index.items()}

    def _note(self, wanted: R) -> bool:
        """Note that the row's words can be found; False where it is gone or of another rev."""
        row: R | None = wanted
        identifier = str(wanted.id)

        def attempt() -> bool:
            nonlocal row
            if row is None:
                row = self.collection.find(self.data.ports.table, self.data.keys, [identifier]).get(identifier)
                if row is None:
                    _forget_written(self.data, wanted, self.revs)
                    return False
            current, row = row, None  # another attempt reads the row again
            if current.rev != wanted.rev or current.rev_at is None:
                return False
            found_now = replace(current, words_at=iso(self.data.ports.clock.now()))
            self.data.ports.table.write([self.collection.put(self.data.keys, found_now)])
            return True

        return transact(self.data.ports, attempt)


@dataclass
class _Batch(Generic[R]):
    data: UserData[IndexingPorts]
    revs: Mapping[str, int]
    collection: IndexedCollection[R]
    reindexing: bool = False
    left: SecondsLeft = for_ever
    again: dict[str, EmbedAgain] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)

    def run(self) -> dict[str, EmbedAgain]:
        """Index part by part, so that long rows which are written together do not outlive the worker again and
        again."""
        table, keys = self.data.ports.table, self.data.keys
        found, head_item = self.collection.find_with(table, keys, list(self.revs), keys.head)
        head = rows.read_head(head_item)
        _forget(self.data, [i for i in self.revs if i not in found], self.revs)
        texts = self.collection.whole(self.data, [row for row in found.values() if self._to_be_indexed(row)])
        to_index = {i: self.collection.passages(row) for i, row in texts.items()}
        try:
            for number, part in enumerate(_of_one_request(found.values(), to_index)):
                if number and self.left() < RESERVE_S:
                    self.again |= {str(row.id): OutOfTime() for row in part}
                else:
                    self._index(part, _passages_of(part, to_index), head)
        except UserErased:
            _forget(self.data, self.revs, self.revs)
            return {}
        return self.again

    def _index(self, part: Sequence[R], to_index: Mapping[str, list[Passage]], head: UserHead) -> None:
        """Index one part, without rows that there was no time to embed whole: their words are there, their vectors are
        kept. Raises UserErased."""
        found = self._vectors(part, to_index, head)
        with_vectors = {
            i: [replace(p, vector=found.vectors.get(p.text)) for p in many]
            for i, many in to_index.items()
            if found.late.isdisjoint(p.text for p in many)
        }
        _write(self.data, part, with_vectors)
        done = [row for row in part if str(row.id) in to_index or row.status in NEVER_RECALLED]
        self._settle(done, to_index, found)

    # --- reading --------------------------------------------------------------------------------

    def _to_be_indexed(self, row: R) -> bool:
        """Say whether the index lacks something of the row: ``rev_at`` is cleared when a rev is in it."""
        if row.status in NEVER_RECALLED:
            return False
        if self.reindexing:
            return row.rev == self.revs[str(row.id)]
        model = self.data.ports.embedder.model
        settled = EmbeddingState.READY if model.dimensions else EmbeddingState.SKIPPED
        known = row.embedding_state is settled and (not model.dimensions or row.embedding_model == model.tag)
        return row.rev_at is not None or not known

    def _vectors(self, found: Iterable[R], to_index: Mapping[str, list[Passage]], head: UserHead) -> VectorsFound:
        """Find or make the vectors. A superseded row is not worth an embedding, but keeps the vectors that it has."""
        old = {row.id for row in found if row.status is Status.SUPERSEDED}
        wanted = passage_texts(p for i, passages in to_index.items() if i not in old for p in passages)
        known_only = passage_texts(p for i, passages in to_index.items() if i in old for p in passages)
        return vectors_for(self.data, checks_of_user(self.data, head), wanted, known_only)

    # --- writing --------------------------------------------------------------------------------

    def _settle(self, done: Sequence[R], to_index: Mapping[str, list[Passage]], found: VectorsFound) -> None:
        """Look at the rows again: one that was deleted meanwhile leaves the index, the others note what they have."""
        again = (
            self.collection.find(self.data.ports.table, self.data.keys, [str(row.id) for row in done]) if done else {}
        )
        noted: list[R] = []
        for row in done:
            identifier = str(row.id)
            now = again.get(identifier)
            state = self._state(row, to_index.get(identifier, []), found)
            if state is EmbeddingState.FAILED:
                self.failed.add(identifier)
            if now is None or now.rev != row.rev:
                self._forget_stale_vectors(row, to_index.get(identifier, []), now)
            if now is None:
                continue
            if state is EmbeddingState.PENDING:
                texts = {passage.text for passage in to_index.get(identifier, [])}
                self.again[identifier] = OutOfTime() if texts & found.late else EmbedAgain()
            elif now.rev == row.rev:
                noted.append(self._noted(now, state))
        for together in batches(noted, lambda row: len(row.text), largest=MAX_BATCH_CHARS):
            try:
                self.data.ports.table.write([self.collection.put(self.data.keys, row) for row in together])
            except Conflict:
                for row in together:
                    passages = to_index.get(str(row.id), [])
                    transact(self.data.ports, partial(self._settle_one, row, passages))

    def _settle_one(self, wanted: R, passages: Sequence[Passage]) -> None:
        """Note one row's state although another writer is changing the row. Raises Conflict."""
        identifier = str(wanted.id)
        now = self.collection.find(self.data.ports.table, self.data.keys, [identifier]).get(identifier)
        if now is None or now.rev != wanted.rev:
            self._forget_stale_vectors(wanted, passages, now)
        else:
            noted = self._noted(now, wanted.embedding_state)
            self.data.ports.table.write([self.collection.put(self.data.keys, noted)])

    def _forget_stale_vectors(self, row: R, passages: Sequence[Passage], now: R | None) -> None:
        """Remove the vectors of a row that was deleted or edited while it was embedded: the writer of that change knew
        nothing of them."""
        if now is None:
            _forget_written(self.data, row, self.revs)
        left = self.collection.no_longer_said(self.data, row, passages, now)
        erase_vectors(self.data.ports.table, self.data.keys, {fingerprint(passage.text) for passage in left})

    def _state(self, row: R, passages: list[Passage], found: VectorsFound) -> EmbeddingState:
        """Return the state that the row has now; PENDING: it is to be told again."""
        texts = {passage.text for passage in passages}
        if found.wanted and texts <= found.vectors.keys() and texts:
            return EmbeddingState.READY
        if not found.wanted or not texts or row.status is Status.SUPERSEDED:
            return EmbeddingState.SKIPPED
        return EmbeddingState.FAILED if found.unavailable is not None else EmbeddingState.PENDING

    def _noted(self, row: R, state: EmbeddingState) -> R:
        model = self.data.ports.embedder.model.tag if state is EmbeddingState.READY else None
        return replace(
            row, embedding_state=state, embedding_model=model, rev_at=None, words_at=None, embed_queued_at=None
        )


def _passages_of(part: Iterable[R], to_index: Mapping[str, list[Passage]]) -> dict[str, list[Passage]]:
    return {str(row.id): to_index[str(row.id)] for row in part if str(row.id) in to_index}


def _of_one_request(found: Iterable[R], to_index: Mapping[str, Sequence[Passage]]) -> Iterator[list[R]]:
    """Split the rows into parts of at most ``PART_PASSAGES``, a longer row alone."""
    return batches(found, lambda row: len(to_index.get(str(row.id), ())), most=PART_PASSAGES, largest=PART_PASSAGES)
