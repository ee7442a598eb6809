"""Holds how far a session's log is in the search index (row ``SESS#s#X``): with its words, and with its vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from neve.domain.records.sessions import Span
from neve.domain.sessions.spans import joined as joined
from neve.domain.sessions.spans import without
from neve.ports.table import Item, Put
from neve.store import rows
from neve.store.keys import SessionKeys


@dataclass(frozen=True, slots=True)
class IndexedRow:
    """The row that says how far a session is indexed. ``indexed_seq``: up to here the index has the words, without a
    gap. ``embedded``: whose vectors were made, or will not be for now, ascending and apart. ``without_vectors_from``:
    the first seq of those that will not be, to be embedded when they can be."""

    session: str
    indexed_seq: int = 0
    embedded: tuple[Span, ...] = ()
    without_vectors_from: int | None = None
    version: int = 0

    def put(self, keys: SessionKeys, now: datetime) -> Put:
        """Make its write; it stands in the index ``due`` while it lacks vectors."""
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
            "embedded": [list(span) for span in self.embedded],
        }
        if self.without_vectors_from is not None:
            item["without_vectors_from"] = self.without_vectors_from
            item |= rows.due_keys("failed", keys, self.session, now)
        return Put(item, rows.expectation(self.version))

    # --- what it says ---------------------------------------------------------------------------

    def unembedded(self, last: int) -> int:
        """Count the events up to ``last`` that have no vectors yet."""
        return sum(to - first + 1 for first, to in self.not_embedded((1, last)))

    @property
    def embedded_to(self) -> int:
        """Give the seq up to which every event has its vectors."""
        return next((to for first, to in self.embedded if first == 1), 0)

    def not_embedded(self, within: Span) -> Iterator[Span]:
        """Give the parts of a span whose vectors were not made; none of an empty span."""
        return without(within, self.embedded)

    # --- what comes next ------------------------------------------------------------------------

    def with_words(self, last: int) -> IndexedRow:
        return replace(self, indexed_seq=last)

    def with_vectors(self, span: Span, lacking_from: int | None) -> IndexedRow:
        """Add a span whose vectors were made. ``lacking_from``: the first of the span that has no vector and will have
        none for now."""
        first, last = span
        lacking = self.without_vectors_from
        if lacking is not None and first <= lacking <= last:
            lacking = last + 1 if last < self.indexed_seq else None
        lacking = min((seq for seq in (lacking, lacking_from) if seq is not None), default=None)
        return replace(self, embedded=joined((*self.embedded, span)), without_vectors_from=lacking)

    def to_embed_again(self, seqs: Iterable[int]) -> IndexedRow:
        """Remove events whose vectors are to be made again."""
        gone = joined((seq, seq) for seq in seqs)
        return replace(self, embedded=tuple(part for span in self.embedded for part in without(span, gone)))


def read_indexed(session: str, item: Item | None) -> IndexedRow:
    """Read the row. One from before vectors were noted apart has those of all its words."""
    if item is None:
        return IndexedRow(session)
    indexed_seq = int(item["indexed_seq"])
    spans = item.get("embedded", [[1, indexed_seq]] if indexed_seq else [])
    return IndexedRow(
        session,
        indexed_seq,
        tuple((first, last) for first, last in spans),
        item.get("without_vectors_from"),
        item["version"],
    )
