"""Bring the search index to what a user's memory rows say now (docs/rules/indexing.md#memories)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from neve.domain.records import EmbeddingState, Memory, Status, UserHead
from neve.domain.times import iso
from neve.ports import Conflict, IndexingPorts, Item, Key, Passage, SearchIndex, WordsPorts
from neve.store import rows
from neve.store.keys import UserKeys
from neve.store.transact import transact
from neve.usecases.erase.incarnation import UserErased
from neve.usecases.indexing.memory_passages import memory_passages
from neve.usecases.indexing.user_vectors import VectorsFound, known_vectors, passage_texts, vectors_for

NEVER_RECALLED = frozenset({Status.ARCHIVED})
"""Not in the index at all. A superseded row stays, with its status: recall finds it when asked to."""
MAX_BATCH_CHARS = 400_000
"""Characters of text that one transaction writes: a row holds its text twice, in up to 4 bytes a character."""


def index_memory_words(ports: WordsPorts, keys: UserKeys, revs: Mapping[str, int], *, again: bool) -> list[Memory]:
    """Bring the words of these rows into the index, with the vectors that are known already; what is gone, or never
    recalled, leaves it. ``revs``: memory ids with the rev that was told of. ``again``: the message was delivered
    before, and whoever had it may have died before it passed the rows on. The rows whose vectors are to be made next.
    Raises StoreUnavailable."""
    return _Words(ports, keys, revs, again).run()


def index_memories(ports: IndexingPorts, keys: UserKeys, revs: Mapping[str, int], *, anew: bool = False) -> set[str]:
    """Words and vectors. The ids that are to be told again: their text could not be embedded for now; until then they
    are found by keyword only. ``anew``: for an index that lacks them, whatever is noted in the rows; one that has
    another rev by now is left to its own message. Raises StoreUnavailable."""
    return _Batch(ports, keys, revs, anew).run()


def _forget(search: SearchIndex, keys: UserKeys, ids: Iterable[str], revs: Mapping[str, int]) -> None:
    for identifier in ids:
        search.trim(keys.owner, identifier, keep=0, version=revs[identifier])


def _write(
    search: SearchIndex, keys: UserKeys, memories: Iterable[Memory], to_index: Mapping[str, Sequence[Passage]]
) -> None:
    """The passages, then what a shortened text or a status leaves over."""
    passages = [passage for many in to_index.values() for passage in many]
    if passages:
        search.upsert(keys.owner, passages)
    for memory in memories:
        if memory.status in NEVER_RECALLED:
            search.trim(keys.owner, memory.id, keep=0, version=memory.rev)
        elif memory.rev > 1 and memory.id in to_index:
            search.trim(keys.owner, memory.id, keep=len(to_index[memory.id]), version=memory.rev)


@dataclass
class _Words:
    ports: WordsPorts
    keys: UserKeys
    revs: Mapping[str, int]
    again: bool

    def run(self) -> list[Memory]:
        found = self.ports.table.get_many([self.keys.memory(i) for i in self.revs])
        items = {i: found.get(self.keys.memory(i)) for i in self.revs}
        _forget(self.ports.search, self.keys, [i for i, item in items.items() if item is None], self.revs)
        memories = [rows.read_memory(item) for item in items.values() if item is not None]
        lacking = [m for m in memories if m.rev_at is not None and m.words_at is None]
        to_index = {m.id: memory_passages(m) for m in lacking if m.status not in NEVER_RECALLED}
        _write(self.ports.search, self.keys, lacking, self._with_known_vectors(lacking, to_index))
        noted = [memory for memory in lacking if self._note(memory)]
        return [m for m in memories if m.rev_at is not None] if self.again else noted

    def _with_known_vectors(
        self, memories: Sequence[Memory], to_index: Mapping[str, Sequence[Passage]]
    ) -> dict[str, list[Passage]]:
        """A row that changed takes along the vectors of the text that it kept."""
        changed = {m.id for m in memories if m.rev > 1}
        texts = passage_texts(p for i, passages in to_index.items() if i in changed for p in passages)
        model = self.ports.search.model()
        known = known_vectors(self.ports.table, self.keys, model, texts) if texts and model.dimensions else {}
        return {i: [replace(p, vector=known.get(p.text)) for p in passages] for i, passages in to_index.items()}

    def _note(self, wanted: Memory) -> bool:
        """Whether the row is still of this rev, and now says that its words can be found."""
        memory: Memory | None = wanted

        def attempt() -> bool:
            nonlocal memory
            if memory is None:
                item = self.ports.table.get(self.keys.memory(wanted.id))
                if item is None:
                    _forget(self.ports.search, self.keys, [wanted.id], self.revs)
                    return False
                memory = rows.read_memory(item)
            current, memory = memory, None  # another attempt reads the row again
            if current.rev != wanted.rev or current.rev_at is None:
                return False
            found_now = replace(current, words_at=iso(self.ports.clock.now()))
            self.ports.table.write([rows.put_memory(self.keys, found_now)])
            return True

        return transact(self.ports, attempt)


@dataclass
class _Batch:
    ports: IndexingPorts
    keys: UserKeys
    revs: Mapping[str, int]
    anew: bool = False
    again: set[str] = field(default_factory=set)

    def run(self) -> set[str]:
        places = [self.keys.memory(i) for i in self.revs]
        found = self.ports.table.get_many([self.keys.head, *places])
        head = rows.read_head(found.get(self.keys.head))
        memories = self._still_there(found)
        to_index = {m.id: memory_passages(m) for m in memories if self._to_be_indexed(m)}
        try:
            vectors = self._vectors(memories, to_index, head)
        except UserErased:
            _forget(self.ports.search, self.keys, self.revs, self.revs)
            return set()
        with_vectors = {
            i: [replace(p, vector=vectors.vectors.get(p.text)) for p in many] for i, many in to_index.items()
        }
        _write(self.ports.search, self.keys, memories, with_vectors)
        self._settle([m for m in memories if m.id in to_index or m.status in NEVER_RECALLED], to_index, vectors)
        return self.again

    # --- reading --------------------------------------------------------------------------------

    def _still_there(self, found: Mapping[Key, Item]) -> list[Memory]:
        """The rows that exist; what is gone leaves the index."""
        items = {i: found.get(self.keys.memory(i)) for i in self.revs}
        _forget(self.ports.search, self.keys, [i for i, item in items.items() if item is None], self.revs)
        return [rows.read_memory(item) for item in items.values() if item is not None]

    def _to_be_indexed(self, memory: Memory) -> bool:
        """Not what the index has already: ``rev_at`` is cleared when a rev is in it."""
        if memory.status in NEVER_RECALLED:
            return False
        if self.anew:
            return memory.rev == self.revs[memory.id]
        model = self.ports.embedder.model
        settled = EmbeddingState.READY if model.dimensions else EmbeddingState.SKIPPED
        known = memory.embedding_state is settled and (not model.dimensions or memory.embedding_model == model.tag)
        return memory.rev_at is not None or not known

    def _vectors(self, memories: list[Memory], to_index: Mapping[str, list[Passage]], head: UserHead) -> VectorsFound:
        """A superseded row is not worth an embedding, but keeps the vectors that it has."""
        old = {m.id for m in memories if m.status is Status.SUPERSEDED}
        wanted = passage_texts(p for i, passages in to_index.items() if i not in old for p in passages)
        known_only = passage_texts(p for i, passages in to_index.items() if i in old for p in passages)
        return vectors_for(self.ports, self.keys, head, wanted, known_only)

    # --- writing --------------------------------------------------------------------------------

    def _settle(self, done: list[Memory], to_index: Mapping[str, list[Passage]], found: VectorsFound) -> None:
        """Look at the rows again: one that was deleted meanwhile leaves the index, the others note what they have."""
        again = self.ports.table.get_many([self.keys.memory(m.id) for m in done]) if done else {}
        noted: list[Memory] = []
        for memory in done:
            item = again.get(self.keys.memory(memory.id))
            state = self._state(memory, to_index.get(memory.id, []), found)
            if item is None:
                _forget(self.ports.search, self.keys, [memory.id], self.revs)
            elif state is EmbeddingState.PENDING:
                self.again.add(memory.id)
            elif item["rev"] == memory.rev:
                noted.append(self._noted(rows.read_memory(item), state))
        for together in _of_one_transaction(noted):
            try:
                self.ports.table.write([rows.put_memory(self.keys, memory) for memory in together])
            except Conflict:
                for memory in together:
                    transact(self.ports, partial(self._settle_one, memory))

    def _settle_one(self, wanted: Memory) -> None:
        """Note one row's state although somebody else is changing the row. Raises Conflict."""
        item = self.ports.table.get(self.keys.memory(wanted.id))
        if item is None:
            _forget(self.ports.search, self.keys, [wanted.id], self.revs)
        elif item["rev"] == wanted.rev:
            noted = self._noted(rows.read_memory(item), wanted.embedding_state)
            self.ports.table.write([rows.put_memory(self.keys, noted)])

    def _state(self, memory: Memory, passages: list[Passage], found: VectorsFound) -> EmbeddingState:
        """PENDING: to be told again."""
        texts = {passage.text for passage in passages}
        if found.wanted and texts <= found.vectors.keys() and texts:
            return EmbeddingState.READY
        if not found.wanted or not texts or memory.status is Status.SUPERSEDED:
            return EmbeddingState.SKIPPED
        return EmbeddingState.FAILED if found.unavailable is not None else EmbeddingState.PENDING

    def _noted(self, memory: Memory, state: EmbeddingState) -> Memory:
        model = self.ports.embedder.model.tag if state is EmbeddingState.READY else None
        return replace(
            memory, embedding_state=state, embedding_model=model, rev_at=None, words_at=None, embed_queued_at=None
        )


def _of_one_transaction(memories: Iterable[Memory]) -> Iterator[list[Memory]]:
    """Parts that stay below the 4 MB of a transaction."""
    part: list[Memory] = []
    size = 0
    for memory in memories:
        if part and size + len(memory.text) > MAX_BATCH_CHARS:
            yield part
            part, size = [], 0
        part.append(memory)
        size += len(memory.text)
    if part:
        yield part
