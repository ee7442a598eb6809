"""Bring the utterances of a session's log into the search index.

``SESX#`` says how far the log is indexed without a gap, so a message that was lost is made up for by the next one, and
a repeated message costs one read. An utterance is indexed with its neighbours' words, so the two before a new one are
indexed again with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from neve.domain.records import UserHead
from neve.ports import Conflict, Item, Key, Owner, Passage, Put, WriteOp
from neve.store import rows
from neve.store.keys import Keys
from neve.usecases.indexing.embed_texts import Pause
from neve.usecases.indexing.user_vectors import (
    UserErased,
    VectorsFound,
    head_check,
    passage_texts,
    still_there,
    vectors_for,
)
from neve.usecases.indexing.utterances import EVENT_VERSION, Utterance, utterance_of, utterance_passages
from neve.wiring import Ports

AT_ONCE = 50
"""Events of one step; what is indexed is noted after each."""
LOOK_BACK, LOOK_AHEAD = 20, 8
"""Events that are read on either side to find the neighbours, two utterances each way and theirs. Between them there
may be what tools said; behind more of that than this, a neighbour is left out."""
AGAIN_BEFORE = 2
"""Utterances before the new ones whose own neighbours are new."""


class EmbedAgain(Exception):
    """The texts could not be embedded for now."""


@dataclass(frozen=True, slots=True)
class IndexedRow:
    """``without_vectors_from``: the first seq that is in the index by its words only, to be embedded when it can be."""

    session: str
    indexed_seq: int = 0
    without_vectors_from: int | None = None
    version: int = 0

    def put(self, keys: Keys, user: str, now: datetime) -> Put:
        key = keys.indexed(user, self.session)
        item: Item = {
            "pk": key.pk,
            "sk": key.sk,
            "type": "indexed",
            "id": self.session,
            "tenant_id": keys.tenant,
            "user_id": user,
            "session_id": self.session,
            "indexed_seq": self.indexed_seq,
        }
        if self.without_vectors_from is not None:
            item["without_vectors_from"] = self.without_vectors_from
            item |= rows.due_keys("failed", keys.tenant, user, self.session, now)
        return Put(item, rows.expectation(self.version))


def read_indexed(session: str, item: Item | None) -> IndexedRow:
    if item is None:
        return IndexedRow(session)
    return IndexedRow(session, item["indexed_seq"], item.get("without_vectors_from"), item["version"])


def index_events(
    ports: Ports, tenant: str, user: str, session: str, incarnation: int, seqs: tuple[int, int], pause: Pause
) -> None:
    """``seqs``: first and last of the events that were told of. Indexed is everything up to the last one that is not
    yet, or, for events that are indexed, what lacks its vectors. Raises EmbedAgain when no text could be embedded for
    now (what was indexed before stays noted), and StoreUnavailable."""
    keys = Keys(tenant)
    found = ports.table.get_many([keys.head(user), keys.indexed(user, session)])
    row = read_indexed(session, found.get(keys.indexed(user, session)))
    first, last = row.indexed_seq + 1, seqs[1]
    if last <= row.indexed_seq:
        if row.without_vectors_from is None or not seqs[0] <= row.without_vectors_from <= last:
            return
        first = row.without_vectors_from
    work = _Indexing(ports, keys, user, session, incarnation, pause)
    try:
        still_there(rows.read_head(found.get(keys.head(user))), incarnation)
        work.run(first, last)
    except UserErased:
        return


def index_events_anew(
    ports: Ports, tenant: str, user: str, session: str, incarnation: int, seqs: tuple[int, int], pause: Pause
) -> None:
    """For an index that lacks them: the events ``seqs``, first to last, which are noted as indexed. Raises EmbedAgain
    and StoreUnavailable."""
    try:
        _Indexing(ports, Keys(tenant), user, session, incarnation, pause).run(*seqs)
    except UserErased:
        return


@dataclass(frozen=True, slots=True)
class _Indexing:
    ports: Ports
    keys: Keys
    user: str
    session: str
    incarnation: int
    pause: Pause

    def run(self, first: int, last: int) -> None:
        """Raises EmbedAgain, UserErased."""
        for start in range(first, last + 1, AT_ONCE):
            self.step(start, min(start + AT_ONCE - 1, last), is_first=start == first)

    def step(self, first: int, last: int, *, is_first: bool) -> None:
        """Index the events ``first`` to ``last`` and note it. Raises EmbedAgain, UserErased."""
        utterances = list(self._utterances(first - LOOK_BACK, last + LOOK_AHEAD))
        new = [said.seq for said in utterances if first <= said.seq <= last]
        before = [said.seq for said in utterances if said.seq < first]
        again = before[-AGAIN_BEFORE:] if is_first else []
        passages = [p for p in utterance_passages(utterances) if p.seq_from in {*again, *new}]
        new_texts = passage_texts(p for p in passages if p.seq_from in set(new))
        found = self._vectors(new_texts, passage_texts(passages))
        if passages:
            owner = Owner(self.keys.tenant, self.user)
            self.ports.search.upsert(owner, [replace(p, vector=found.vectors.get(p.text)) for p in passages])
            self._check_user(owner, passages)
        lacking = [
            p.seq_from for p in passages if found.wanted and p.seq_from in set(new) and p.text not in found.vectors
        ]
        self._note(first, last, min((seq for seq in lacking if seq is not None), default=None))

    def _utterances(self, first: int, last: int) -> Iterator[Utterance]:
        low, high = (self.keys.event(self.user, self.session, max(1, seq)) for seq in (first, last))
        cursor: str | None = None
        while True:
            page = self.ports.table.query(
                low.pk, between=(low.sk, high.sk), limit=AT_ONCE + LOOK_BACK + LOOK_AHEAD, cursor=cursor
            )
            for item in page.items:
                said = utterance_of(self.session, rows.read_event(item))
                if said and item["incarnation"] == self.incarnation:
                    yield said
            cursor = page.cursor
            if cursor is None:
                return

    def _vectors(self, new: Sequence[str], all_texts: Sequence[str]) -> VectorsFound:
        """Raises EmbedAgain when not one text could be embedded and a later attempt may do better."""
        known_only = [text for text in all_texts if text not in set(new)]
        found = vectors_for(self.ports, self.keys, self.user, self.incarnation, new, known_only, self.pause)
        if new and found.failed >= set(new):
            raise EmbedAgain
        return found

    def _check_user(self, owner: Owner, passages: Sequence[Passage]) -> None:
        """Take back what was indexed of a user who was erased meanwhile."""
        head = self._head()
        try:
            still_there(head, self.incarnation)
        except UserErased:
            for identifier in {passage.item_id for passage in passages}:
                self.ports.search.trim(owner, identifier, keep=0, version=EVENT_VERSION)
            raise

    def _head(self) -> UserHead:
        return rows.read_head(self.ports.table.get(self.keys.head(self.user)))

    def _note(self, first: int, last: int, lacking_from: int | None) -> None:
        """Move ``indexed_seq`` forward, never back."""
        head_key, key = self.keys.head(self.user), self.keys.indexed(self.user, self.session)
        while True:
            found: dict[Key, Item] = self.ports.table.get_many([head_key, key])
            head = rows.read_head(found.get(head_key))
            still_there(head, self.incarnation)
            row = read_indexed(self.session, found.get(key))
            noted = _advanced(row, first, last, lacking_from)
            if noted == row:
                return
            put = noted.put(self.keys, self.user, self.ports.clock.now())
            ops: list[WriteOp] = [put, head_check(self.keys, self.user, head)]
            try:
                self.ports.table.write(ops)
            except Conflict:
                continue
            return


def _advanced(row: IndexedRow, first: int, last: int, lacking_from: int | None) -> IndexedRow:
    """``first`` is never behind a gap: every run begins at or before the first seq that is not indexed."""
    lacking = row.without_vectors_from
    if lacking is not None and first <= lacking <= last:
        lacking = last + 1 if last < row.indexed_seq else None
    lacking = min((seq for seq in (lacking, lacking_from) if seq is not None), default=None)
    return replace(row, indexed_seq=max(row.indexed_seq, last), without_vectors_from=lacking)
