"""Finds where else may stand what a deleted memory said (docs/rules/memories.md#also-in): at most ``MAX_NAMED`` places,
in at most ten reads of the table, however much the user has."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice

from neve.domain.ids import is_own_memory_id, ulid_time
from neve.domain.librarian.filing import Filing
from neve.domain.memories.copies import Copy, document_copy, in_order, log_copies, made_of_any, nearest, spoken_of
from neve.domain.memories.visibility import born, status_at
from neve.domain.records.memories import Kind, Memory
from neve.domain.records.sessions import Spans
from neve.domain.times import parse
from neve.ports.table import Index, Item, Key
from neve.scope import UserScope
from neve.store import rows
from neve.store.filings import read_filing
from neve.store.memories import memories_of
from neve.usecases.ask.documents.list_documents import heads_below
from neve.usecases.tell.memories.copies.derived_memories import written_between
from neve.usecases.tell.memories.fact_place import place_key

MAX_NAMED = 50
MAX_RANKED = 500
"""Active memories whose fingerprints are compared, the best ranked first: what stands in packs."""
MAX_ROWS = 100
"""Memories that are read by their ids, of one batch; and those of one pass."""
MAX_HEADS = 200
"""Documents that are looked at, in the order of their paths."""
MAX_FOLLOWED = 3
"""Replacements whose rows are looked for."""
PASS = timedelta(seconds=5)
"""The rows of one pass get their ids as they are put together: its observation first."""


@dataclass(frozen=True, slots=True)
class AlsoIn:
    """The places that may say it, too. ``complete``: everything was looked at, and everything that was found is
    named."""

    copies: list[Copy] = field(default_factory=list)
    complete: bool = True


def also_in(scope: UserScope, memory: Memory, known: Collection[str]) -> AlsoIn:
    """Find where else may stand what ``memory`` says. ``known``: ids that the answer names already. Raises
    StoreUnavailable."""
    return _Looking(scope, memory, {memory.id, *known}).found()


@dataclass
class _Looking:
    """The state of one search. ``events``: what the memory was made from, by session. ``rows``: what was read, by id;
    ``condensed``: those of them that were made of what says it. ``gen``: the user's."""

    scope: UserScope
    memory: Memory
    known: set[str]
    gen: int = 0
    complete: bool = True
    events: Mapping[str, Spans] = field(default_factory=dict)
    rows: dict[str, Memory] = field(default_factory=dict)
    filings: dict[str, Filing] = field(default_factory=dict)
    condensed: set[str] = field(default_factory=set)

    def found(self) -> AlsoIn:
        self.events = spoken_of(self.memory)
        rows_found = self._sessions()
        copies = [*self._log_copies(rows_found), *self._documents()]
        wanted = [
            *self.memory.supersedes,
            *self._ids_of_same_words(rows_found),
            *self._summary_ids(),
            *self._nearest_live_ids(rows_found),
        ]
        wanted = [i for i in dict.fromkeys(wanted) if i not in self.known]
        self.complete &= len(wanted) <= MAX_ROWS
        self._add(memories_of(self.scope.ports.table, self.scope.keys, wanted[:MAX_ROWS]))
        self._add(self._written_in_its_pass())
        self._follow_replacements()
        ordered = in_order([*copies, *self._memories()])
        return AlsoIn(ordered[:MAX_NAMED], self.complete and len(ordered) <= MAX_NAMED)

    def _sessions(self) -> dict[Key, Item]:
        keys = self.scope.keys
        wanted = [keys.head, place_key(keys, self.memory.text)]
        for session in self.events:
            at = keys.of_session(session)
            wanted += [at.session_head, at.epoch, at.marker, at.filing]
        found = self.scope.ports.table.get_many(wanted)
        self.gen = rows.read_head(found.get(keys.head)).gen
        for session in self.events:
            self.filings[session] = read_filing(session, found.get(keys.of_session(session).filing))
        return found

    # --- the log, documents -----------------------------------------------------------------------

    def _log_copies(self, found: Mapping[Key, Item]) -> Iterator[Copy]:
        for session, spans in self.events.items():
            at = self.scope.keys.of_session(session)
            if at.session_head in found:
                epoch = rows.read_epoch(found[at.epoch]) if at.epoch in found else None
                yield from log_copies(rows.read_session(found[at.session_head]), epoch, spans)

    def _documents(self) -> Iterator[Copy]:
        """Find documents that say it; none is read where no librarian has read the events."""
        if not any(self.filings[session].read_to >= spans[0][0] for session, spans in self.events.items()):
            return
        filed = [filing.document_id for filing in self.filings.values() if filing.document_id is not None]
        heads = heads_below(self.scope.ports.table, self.scope.keys, "/")
        for head in islice(heads, MAX_HEADS):
            copy = document_copy(head, self.memory, self.events, filed)
            if copy is not None:
                yield copy
        self.complete &= next(heads, None) is None

    # --- memories ---------------------------------------------------------------------------------

    def _ids_of_same_words(self, found: Mapping[Key, Item]) -> list[str]:
        """Give the id of the fact that says it, and of those of the best ranked memories that do."""
        holder = found.get(place_key(self.scope.keys, self.memory.text))
        page = self.scope.ports.table.query(self.scope.keys.partition, index=Index.RANK, limit=MAX_RANKED)
        self.complete &= page.cursor is None
        same = [str(item["id"]) for item in page.items if item["fingerprint"] == self.memory.fingerprint]
        return ([str(holder["memory_id"])] if holder else []) + same

    def _summary_ids(self) -> list[str]:
        """Give the ids of the summaries of the sessions."""
        return [filing.memory_id for filing in self.filings.values() if filing.memory_id is not None]

    def _nearest_live_ids(self, found: Mapping[Key, Item]) -> list[str]:
        near: list[str] = []
        for session in self.events:
            marker = found.get(self.scope.keys.of_session(session).marker)
            if marker is not None:
                live = rows.read_marker(marker).live
                near += nearest(live, f"mem_{ulid_time(parse(self.memory.observed_at))}", MAX_ROWS)
                self.complete &= len(live) <= MAX_ROWS
        return near

    def _written_in_its_pass(self) -> list[Memory]:
        """Read what was written with it: an observation may have been condensed since, and is in no list any more."""
        if not self.events or not is_own_memory_id(self.memory.id):
            return []
        at = parse(self.memory.created_at)
        return self._written(self.scope.keys.memories_between(ulid_time(at - PASS), ulid_time(at + PASS)))

    def _follow_replacements(self) -> None:
        """Add what condensed the observations that have been replaced, and what condensed that."""
        ahead = [row for row in self.rows.values() if self._says_it(row)]
        for _ in range(MAX_FOLLOWED):
            ahead = [row for row in ahead if row.superseded_by is not None and row.superseded_by not in self.known]
            if not ahead:
                return
            made = self._condensed(ahead.pop(0))
            self._add(made)
            self.condensed |= {row.id for row in made}
            ahead += made
        self.complete &= not ahead

    def _condensed(self, source: Memory) -> list[Memory]:
        successor, at = source.superseded_by, source.superseded_at
        if successor is None or at is None or not is_own_memory_id(successor):
            return []
        made = self._written(written_between(self.scope, successor, at))
        made = [row for row in made if row.kind is Kind.REFLECTION and source.id in row.supersedes]
        return [row for row in made if row.id not in self.condensed]

    def _written(self, between: tuple[str, str]) -> list[Memory]:
        """Read one page of what was written in a time: so many rows may have been, and so long ones."""
        page = self.scope.ports.table.query(self.scope.keys.partition, between=between, limit=MAX_ROWS)
        self.complete &= page.cursor is None
        return [rows.read_memory(item) for item in page.items]

    def _add(self, found: Iterable[Memory]) -> None:
        self.rows |= {row.id: row for row in found if row.id not in self.known and born(row.born_gen, self.gen)}

    def _says_it(self, row: Memory) -> bool:
        return row.fingerprint == self.memory.fingerprint or made_of_any(row, self.events)

    def _memories(self) -> Iterator[Copy]:
        for row in self.rows.values():
            same = row.fingerprint == self.memory.fingerprint
            if same or self._says_it(row) or self._is_condensed(row):
                status = status_at(row, self.gen)
                yield Copy("memory", "same_words" if same else "same_events", id=row.id, status=status)

    def _is_condensed(self, row: Memory) -> bool:
        """Say whether it was made from what says it; or the memory was condensed from it, which stays readable by its
        id."""
        source = self.memory.kind is Kind.REFLECTION and row.id in self.memory.supersedes
        return source or row.id in self.condensed
