"""Bring the utterances of a session's log into the search index.

``SESX#`` says how far the log is indexed without a gap, so a message that was lost is made up for by the next one, and
a repeated message costs one read. An utterance is indexed with its neighbours' words, so the two before a new one are
indexed again with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from neve.ports import IndexingPorts, Item, Passage, Put
from neve.store import rows
from neve.store.keys import SessionKeys
from neve.store.partitions import all_rows
from neve.store.transact import transact
from neve.usecases.erase.incarnation import UserErased, still_there
from neve.usecases.indexing.user_vectors import VectorsFound, passage_texts, vectors_for
from neve.usecases.indexing.utterances import EVENT_VERSION, Utterance, utterance_of, utterance_passages

BATCH_SIZE = 50
"""Events of one step; what is indexed is noted after each."""
LOOK_BACK, LOOK_AHEAD = 20, 8
"""Events that are read on either side to find the neighbours, two utterances each way and theirs. Between them there
may be what tools said; behind more of that than this, a neighbour is left out."""
REINDEXED_BEFORE = 2
"""Utterances before the new ones whose own neighbours are new."""


class EmbedAgain(Exception):
    """The texts could not be embedded for now."""


@dataclass(frozen=True, slots=True)
class IndexedRow:
    """``without_vectors_from``: the first seq that is indexed without its vectors, to be embedded when it can be."""

    session: str
    indexed_seq: int = 0
    without_vectors_from: int | None = None
    version: int = 0

    def put(self, keys: SessionKeys, now: datetime) -> Put:
        key = keys.indexed
        item: Item = {
            "pk": key.pk,
            "sk": key.sk,
            "type": "indexed",
            "id": self.session,
            "tenant_id": keys.tenant,
            "user_id": keys.user,
            "session_id": self.session,
            "indexed_seq": self.indexed_seq,
        }
        if self.without_vectors_from is not None:
            item["without_vectors_from"] = self.without_vectors_from
            item |= rows.due_keys("failed", keys, self.session, now)
        return Put(item, rows.expectation(self.version))


def read_indexed(session: str, item: Item | None) -> IndexedRow:
    if item is None:
        return IndexedRow(session)
    return IndexedRow(session, item["indexed_seq"], item.get("without_vectors_from"), item["version"])


def index_events(ports: IndexingPorts, keys: SessionKeys, incarnation: int, seqs: tuple[int, int]) -> None:
    """``seqs``: first and last of the events that were told of. Indexed is everything up to the last one that is not
    yet, or, for events that are indexed, what lacks its vectors. Raises EmbedAgain when no text could be embedded for
    now (what was indexed before stays noted), and StoreUnavailable."""
    found = ports.table.get_many([keys.head, keys.indexed])
    row = read_indexed(keys.session, found.get(keys.indexed))
    first, last = row.indexed_seq + 1, seqs[1]
    if last <= row.indexed_seq:
        if row.without_vectors_from is None or not seqs[0] <= row.without_vectors_from <= last:
            return
        first = row.without_vectors_from
    try:
        still_there(rows.read_head(found.get(keys.head)), incarnation)
        _Indexing(ports, keys, incarnation).run(first, last)
    except UserErased:
        return


def index_events_anew(ports: IndexingPorts, keys: SessionKeys, incarnation: int, seqs: tuple[int, int]) -> None:
    """For an index that lacks them: the events ``seqs``, first to last, which are noted as indexed. Raises EmbedAgain
    and StoreUnavailable."""
    try:
        _Indexing(ports, keys, incarnation).run(*seqs)
    except UserErased:
        return


@dataclass(frozen=True, slots=True)
class _Indexing:
    ports: IndexingPorts
    keys: SessionKeys
    incarnation: int

    def run(self, first: int, last: int) -> None:
        """Raises EmbedAgain, UserErased."""
        for start in range(first, last + 1, BATCH_SIZE):
            self.step(start, min(start + BATCH_SIZE - 1, last), is_first=start == first)

    def step(self, first: int, last: int, *, is_first: bool) -> None:
        """Index the events ``first`` to ``last`` and note it. Raises EmbedAgain, UserErased."""
        utterances = list(self._utterances(first - LOOK_BACK, last + LOOK_AHEAD))
        new = [said.seq for said in utterances if first <= said.seq <= last]
        before = [said.seq for said in utterances if said.seq < first]
        again = before[-REINDEXED_BEFORE:] if is_first else []
        passages = [p for p in utterance_passages(utterances) if p.seq_from in {*again, *new}]
        new_texts = passage_texts(p for p in passages if p.seq_from in set(new))
        found = self._vectors(new_texts, passage_texts(passages))
        if passages:
            with_vectors = [replace(p, vector=found.vectors.get(p.text)) for p in passages]
            self.ports.search.upsert(self.keys.owner, with_vectors)
            self._check_user(passages)
        lacking = [
            p.seq_from for p in passages if found.wanted and p.seq_from in set(new) and p.text not in found.vectors
        ]
        self._note(first, last, min((seq for seq in lacking if seq is not None), default=None))

    def _utterances(self, first: int, last: int) -> Iterator[Utterance]:
        page = BATCH_SIZE + LOOK_BACK + LOOK_AHEAD
        bounds = self.keys.events(max(1, first), last)
        for item in all_rows(self.ports.table, self.keys.log, between=bounds, page=page):
            said = utterance_of(self.keys.session, rows.read_event(item))
            if said and item["incarnation"] == self.incarnation:
                yield said

    def _vectors(self, new: Sequence[str], all_texts: Sequence[str]) -> VectorsFound:
        """Raises EmbedAgain when not one text could be embedded and a later attempt may do better."""
        known_only = [text for text in all_texts if text not in set(new)]
        found = vectors_for(self.ports, self.keys, self.incarnation, new, known_only)
        if new and found.failed >= set(new):
            raise EmbedAgain
        return found

    def _check_user(self, passages: Sequence[Passage]) -> None:
        """Take back what was indexed of a user who was erased meanwhile."""
        head = rows.read_head(self.ports.table.get(self.keys.head))
        try:
            still_there(head, self.incarnation)
        except UserErased:
            for identifier in {passage.item_id for passage in passages}:
                self.ports.search.trim(self.keys.owner, identifier, keep=0, version=EVENT_VERSION)
            raise

    def _note(self, first: int, last: int, lacking_from: int | None) -> None:
        """Move ``indexed_seq`` forward, never back."""

        def attempt() -> None:
            found = self.ports.table.get_many([self.keys.head, self.keys.indexed])
            head = rows.read_head(found.get(self.keys.head))
            still_there(head, self.incarnation)
            row = read_indexed(self.keys.session, found.get(self.keys.indexed))
            noted = _advanced(row, first, last, lacking_from)
            if noted != row:
                put = noted.put(self.keys, self.ports.clock.now())
                self.ports.table.write([put, rows.check_head(self.keys, head)])

        transact(self.ports, attempt)


def _advanced(row: IndexedRow, first: int, last: int, lacking_from: int | None) -> IndexedRow:
    """``first`` is never behind a gap: every run begins at or before the first seq that is not indexed."""
    lacking = row.without_vectors_from
    if lacking is not None and first <= lacking <= last:
        lacking = last + 1 if last < row.indexed_seq else None
    lacking = min((seq for seq in (lacking, lacking_from) if seq is not None), default=None)
    return replace(row, indexed_seq=max(row.indexed_seq, last), without_vectors_from=lacking)
