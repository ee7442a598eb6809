"""Bring the search index to what a user's memories and documents say now (docs/rules/indexing.md#memories)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic

from neve.domain.indexing.passage import Passage
from neve.domain.memories.text import fingerprint
from neve.domain.records.documents import Document
from neve.domain.records.memories import EmbeddingState, Memory, Status
from neve.domain.times import iso
from neve.observing import SecondsLeft, for_ever
from neve.ports.engines import IndexingPorts, WordsPorts
from neve.ports.errors import Conflict
from neve.ports.search import IndexModel
from neve.ports.table import Delete
from neve.scope import UserData
from neve.store import rows
from neve.store.transact import batches, transact
from neve.store.vectors import erase_vectors
from neve.usecases.work.indexing.index_events import EmbedAgain, IndexingOutOfTime
from neve.usecases.work.indexing.indexed_collections import MEMORIES, IndexedCollection, R
from neve.usecases.work.indexing.vectors.user_vectors import (
    VectorsFound,
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
    index = _Projection(data, revs, collection, left)
    found, _ = collection.find(data.ports.table, data.keys, list(revs))
    gone = index.forget_gone(found)
    for identifier in gone:
        collection.clear_away(data, identifier)
    _acknowledge_deletions(index, gone)
    noted: list[Any] = []
    for part, passages in index.parts([row for row in found.values() if row.rev_at is not None and not row.words_at]):
        index.write(part, _with_known_vectors(data, part, passages))
        noted += index.note(part, passages, partial(_with_words, iso(data.ports.clock.now())))
    if again:
        noted = [row for row in found.values() if row.rev_at is not None and str(row.id) not in index.again]
    return [(str(row.id), row.rev) for row in noted], index.again


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
    index = _Projection(data, revs, collection, left)
    _embed(index, data, partial(_lacks_vectors, data.ports.embedder.model))
    return index.again


def reindex_memories(
    data: UserData[IndexingPorts], revs: Mapping[str, int], *, collection: IndexedCollection[Any] = MEMORIES
) -> Collection[str]:
    """Bring words and vectors into an index that lacks them, whatever is noted in the rows; a row that has another rev
    by now is left to its own message. Return the ids of those that have no vectors there, because the embedder did not
    work. Raises EmbedAgain, StoreUnavailable."""
    index = _Projection(data, revs, collection, for_ever)
    failed = _embed(index, data, lambda row: row.rev == revs[str(row.id)])
    if index.again:
        raise EmbedAgain
    return failed


Passages = Mapping[str, list[Passage]]
"""Those of several rows, by id."""


@dataclass
class _Projection(Generic[R]):
    """Rows on their way into the index. ``again``: ids that are to be told again, and why."""

    data: _Data
    revs: Mapping[str, int]
    collection: IndexedCollection[R]
    left: SecondsLeft
    again: dict[str, EmbedAgain] = field(default_factory=dict)

    def forget_gone(self, found: Mapping[str, R]) -> list[str]:
        gone = [i for i in self.revs if i not in found]
        for identifier in gone:
            self.forget(identifier, self.revs[identifier])
        return gone

    def forget(self, identifier: str, rev: int) -> None:
        """Remove passages of a deleted row at ``rev + 1``, so that a late write of ``rev`` is refused: the newest
        document of a rev has the version of its removal, and a worker that was taken for dead would bring it back."""
        self.data.ports.search.trim(self.data.keys.owner, identifier, keep=0, version=rev + 1)

    def parts(self, lacking: Sequence[R]) -> Iterator[tuple[list[R], Passages]]:
        """Yield the rows with their passages, part by part, so that long rows which are written together do not outlive
        the worker again and again. At least one part."""
        texts = self.collection.whole(self.data, [row for row in lacking if row.status not in NEVER_RECALLED])
        passages = {i: self.collection.passages(row) for i, row in texts.items()}
        for number, part in enumerate(_of_one_request(lacking, passages)):
            if number and self.left() < RESERVE_S:
                self.again |= {str(row.id): IndexingOutOfTime() for row in part}
            else:
                yield part, _passages_of(part, passages)

    def write(self, part: Iterable[R], passages: Mapping[str, Sequence[Passage]]) -> None:
        """Write the passages, then remove what a shortened text or a status leaves over."""
        search, owner = self.data.ports.search, self.data.keys.owner
        if written := [passage for many in passages.values() for passage in many]:
            search.upsert(owner, written)
        for row in part:
            identifier = str(row.id)
            if row.status in NEVER_RECALLED:
                search.trim(owner, identifier, keep=0, version=row.rev)
            elif row.rev > 1 and identifier in passages:
                search.trim(owner, identifier, keep=len(passages[identifier]), version=row.rev)

    def note(self, part: Iterable[R], passages: Passages, change: Callable[[R], R | None]) -> list[R]:
        """Note what is in the index now; return the rows that are still there, at their rev. ``change`` returns None
        where there is nothing to note."""
        there: list[R] = []
        for together in _of_one_transaction(part):
            puts = [self.collection.put(self.data.keys, now) for row in together if (now := change(row)) is not None]
            try:
                self.data.ports.table.write(puts)
                there += together
            except Conflict:
                there += [row for row in together if self.note_one(row, passages, change)]
        return there

    def note_one(self, row: R, passages: Passages, change: Callable[[R], R | None]) -> bool:
        """Note one row's state although another writer is changing the row. False where it is gone, which takes it out
        of the index again, or of another rev: the vectors of its former text go, of which that writer knew nothing."""
        identifier, table, keys = str(row.id), self.data.ports.table, self.data.keys

        def attempt() -> bool:
            now = self.collection.find(table, keys, [identifier])[0].get(identifier)
            if now is None:
                self.forget(identifier, max(row.rev, self.revs[identifier]))
            if now is None or now.rev != row.rev:
                left = self.collection.no_longer_said(self.data, row, passages.get(identifier, []), now)
                erase_vectors(table, keys, {fingerprint(passage.text) for passage in left})
                return False
            if (changed := change(now)) is not None:
                table.write([self.collection.put(keys, changed)])
            return True

        return transact(self.data.ports, attempt)


# --- words ----------------------------------------------------------------------------------------


def _with_words(at: str, row: R) -> R | None:
    return replace(row, words_at=at) if row.rev_at is not None else None


def _acknowledge_deletions(index: _Projection[Any], gone: Sequence[str]) -> None:
    """Delete the rows that told of these deletions, once the vectors of what was deleted for good are gone, too:
    vectors are kept by content, and what is still needed of them is made again. The row of a later deletion, which a
    message from before it does not know of, stays: its passages are still there."""
    table, keys = index.data.ports.table, index.data.keys
    places = [keys.leaving(index.collection.kind, i, index.revs[i]) for i in gone]
    for place, item in (table.get_many(places) if places else {}).items():
        erase_vectors(table, keys, item.get("texts", ()))
        table.write([Delete(place)])


def _with_known_vectors(data: UserData[WordsPorts], part: Iterable[R], passages: Passages) -> dict[str, list[Passage]]:
    """Add known vectors: a row that changed takes along those of the text that it kept."""
    changed = {str(row.id) for row in part if row.rev > 1}
    texts = passage_texts(p for i, many in passages.items() if i in changed for p in many)
    model = data.ports.search.model()
    known = known_vectors(data, model, texts) if texts and model.dimensions else {}
    return {i: [replace(p, vector=known.get(p.text)) for p in many] for i, many in passages.items()}


# --- vectors --------------------------------------------------------------------------------------


def _embed(index: _Projection[R], data: UserData[IndexingPorts], lacks: Callable[[R], bool]) -> set[str]:
    """Index the rows with their vectors, without those that there was no time to embed whole: their words are there,
    their vectors are kept. Return the ids of those that have none, because the embedder did not work."""
    found, head = index.collection.find(data.ports.table, data.keys, list(index.revs), data.keys.head)
    failed = set[str]()
    if rows.read_head(head).state != "active":
        index.forget_gone({})
        return failed
    index.forget_gone(found)
    for part, passages in index.parts([r for r in found.values() if r.status in NEVER_RECALLED or lacks(r)]):
        # a superseded row is not worth an embedding, but keeps the vectors that it has
        old = {str(row.id) for row in part if row.status is Status.SUPERSEDED}
        wanted = passage_texts(p for i, many in passages.items() if i not in old for p in many)
        known_only = passage_texts(p for i, many in passages.items() if i in old for p in many)
        vectors = vectors_for(data, wanted, known_only)
        with_vectors = {
            i: [replace(p, vector=vectors.vectors.get(p.text)) for p in many]
            for i, many in passages.items()
            if vectors.late.isdisjoint(p.text for p in many)
        }
        index.write(part, with_vectors)
        failed |= _settle(index, data.ports.embedder.model.tag, part, passages, vectors)
    return failed


def _lacks_vectors(model: IndexModel, row: Memory | Document) -> bool:
    """Say whether the index lacks something of the row: ``rev_at`` is cleared when a rev is in it."""
    settled = EmbeddingState.READY if model.dimensions else EmbeddingState.SKIPPED
    known = row.embedding_state is settled and (not model.dimensions or row.embedding_model == model.tag)
    return row.rev_at is not None or not known


def _settle(
    index: _Projection[R], model: str, part: Sequence[R], passages: Passages, vectors: VectorsFound
) -> set[str]:
    """Note the states of the rows that are done; return the ids of those without vectors. A row whose text was deleted
    meanwhile is left as it is."""
    states: dict[str, EmbeddingState] = {}
    for row in part:
        identifier = str(row.id)
        if identifier in passages or row.status in NEVER_RECALLED:
            texts = {passage.text for passage in passages.get(identifier, [])}
            states[identifier] = _state(row, texts, vectors)
            if states[identifier] is EmbeddingState.PENDING and index.note_one(row, passages, lambda _: None):
                index.again[identifier] = IndexingOutOfTime() if texts & vectors.late else EmbedAgain()

    def settled(row: R) -> R:
        state = states[str(row.id)]
        made_by = model if state is EmbeddingState.READY else None
        return replace(
            row, embedding_state=state, embedding_model=made_by, rev_at=None, words_at=None, embed_queued_at=None
        )

    done = [row for row in part if states.get(str(row.id), EmbeddingState.PENDING) is not EmbeddingState.PENDING]
    index.note(done, passages, settled)
    return {identifier for identifier, state in states.items() if state is EmbeddingState.FAILED}


def _state(row: Memory | Document, texts: Set[str], found: VectorsFound) -> EmbeddingState:
    """Return the state that the row has now; PENDING: it is to be told again."""
    if found.wanted and texts <= found.vectors.keys() and texts:
        return EmbeddingState.READY
    if not found.wanted or not texts or row.status is Status.SUPERSEDED:
        return EmbeddingState.SKIPPED
    return EmbeddingState.FAILED if found.unavailable is not None else EmbeddingState.PENDING


def _passages_of(part: Iterable[R], to_index: Mapping[str, list[Passage]]) -> dict[str, list[Passage]]:
    return {str(row.id): to_index[str(row.id)] for row in part if str(row.id) in to_index}


def _of_one_request(found: Iterable[R], to_index: Mapping[str, Sequence[Passage]]) -> Iterator[list[R]]:
    """Split the rows into parts of at most ``PART_PASSAGES``, a longer row alone."""
    return batches(found, lambda row: len(to_index.get(str(row.id), ())), most=PART_PASSAGES, largest=PART_PASSAGES)


def _of_one_transaction(found: Iterable[R]) -> Iterator[list[R]]:
    """Split the rows into parts that stay below the 4 MB of a transaction."""
    return batches(found, lambda row: len(row.text), largest=MAX_BATCH_CHARS)
