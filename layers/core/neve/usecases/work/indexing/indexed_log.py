"""Read a session's log as the search index is to hold it: without what was taken back and what retention removes. What
its passages are follows from the log and from that, and nothing else (docs/rules/indexing.md#events)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from neve.domain.indexing.passage import MAX_FOLLOWING, version_at
from neve.domain.indexing.utterances import Utterance, utterance_of
from neve.domain.records.epochs import SessionEpoch
from neve.domain.records.sessions import Span, Spans
from neve.domain.records.users import UserHead
from neve.domain.sessions.spans import joined, without
from neve.ports.engines import IndexingPorts, WordsPorts
from neve.ports.table import Item, Table
from neve.scope import SessionData
from neve.store import rows
from neve.store.incarnation import UserErased, still_there
from neve.store.keys import SessionKeys
from neve.store.partitions import all_rows
from neve.usecases.core.lag.indexed_row import IndexedRow, read_indexed

LOOK_BACK, LOOK_AHEAD = 20, 8
"""Events that are read on either side to find the neighbours, two utterances each way and theirs. Between them there
may be what tools said; before more of that than this, a neighbour is left out."""
BATCH_SIZE = 50
"""Events of one step; what is indexed is noted after each."""
REACH = BATCH_SIZE + LOOK_BACK
"""How far ahead of an utterance the worker that wrote the words behind it may have found it (*follows*). As many events
are read ahead where fewer hold no two utterances: a worker that finds fewer neighbours than the index has does not get
a vector in."""


@dataclass(frozen=True, slots=True)
class IndexedLog:
    """A log at one time. ``row``: how far it is indexed. ``epoch``: what was taken back, and what is removed.
    ``known``: parts that were read, for a caller that looks at the same part several times; None: each is read."""

    table: Table
    keys: SessionKeys
    head: UserHead
    row: IndexedRow
    epoch: SessionEpoch
    known: list[tuple[Span, list[Item]]] | None = None

    @property
    def gone(self) -> Spans:
        return gone_from(self.epoch)

    @property
    def version(self) -> int:
        """Give the version of passages that are made of the log as it is now. It moves with each retraction and each
        removal, so that an index refuses what was made before."""
        return version_at(self.epoch.epoch + self.epoch.removing_to)

    def utterances_around(self, first: int, last: int) -> list[Utterance]:
        """Read the utterances of the events ``first`` to ``last``, and of some on either side. Raises
        StoreUnavailable."""
        ends = self._outward(last, LOOK_AHEAD, 1)
        items = self._read(self._outward(first, LOOK_BACK, -1), ends)
        found = list(self._uttered(items))
        if items and items[-1]["seq"] == ends and sum(one.seq > last for one in found) < MAX_FOLLOWING:
            found += self._uttered(self._read(ends + 1, self._outward(ends, REACH - LOOK_AHEAD, 1)))
        return found

    def nearest(self, at: int, way: int) -> list[int]:
        """Return the seqs of the two utterances nearest to ``at``, ascending, however many events of tools stand
        between. ``way``: -1 before it, 1 behind it. Raises StoreUnavailable."""
        found: list[int] = []
        while len(found) < MAX_FOLLOWING:
            first, at = at + way, self._outward(at, REACH, way)
            items = self._read(min(first, at), max(first, at))
            if not items:
                break
            found += [one.seq for one in self._uttered(items)][::way]
        return sorted(found[:MAX_FOLLOWING])

    def _outward(self, at: int, count: int, way: int) -> int:
        """Return the seq that is ``count`` events away, those that are gone not counted; below 1 before the log."""
        for _ in range(count):
            at += way
            at = next((hole[way > 0] + way for hole in self.gone if hole[0] <= at <= hole[1]), at)
        return at

    def _read(self, first: int, last: int) -> list[Item]:
        return [item for part in without((max(1, first), last), self.gone) for item in self._read_part(*part)]

    def _read_part(self, first: int, last: int) -> list[Item]:
        for (begins, ends), items in self.known or ():
            if begins <= first and last <= ends:
                return [item for item in items if first <= item["seq"] <= last]
        found = [*all_rows(self.table, self.keys.log, between=self.keys.events(first, last), page=2 * REACH)]
        if self.known is not None:
            self.known.append(((first, last), found))
        return found

    def _uttered(self, items: Iterable[Item]) -> Iterator[Utterance]:
        for item in items:
            utterance = utterance_of(self.keys.session, rows.read_event(item))
            if utterance and item["incarnation"] == self.head.incarnation:
                yield utterance


def gone_from(epoch: SessionEpoch) -> Spans:
    """Return the events of a session that no index holds."""
    removed = ((epoch.covers_from or 1, epoch.removing_to),) if epoch.removing_to else ()
    return joined((*epoch.retracted, *removed))


def read_log(data: SessionData[WordsPorts] | SessionData[IndexingPorts], incarnation: int) -> IndexedLog:
    """Read what says how the log is to be indexed, in one batch read. Raises UserErased, StoreUnavailable."""
    keys, table = data.keys, data.ports.table
    found = table.get_many([keys.head, keys.indexed, keys.epoch])
    head, epoch = rows.read_head(found.get(keys.head)), found.get(keys.epoch)
    still_there(head, incarnation)
    if not head.version:
        raise UserErased  # with the whole tenant: a log has a user
    row = read_indexed(keys.session, found.get(keys.indexed))
    return IndexedLog(table, keys, head, row, rows.read_epoch(epoch) if epoch else SessionEpoch(keys.session))
