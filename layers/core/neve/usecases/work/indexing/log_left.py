"""Write the utterances beside events that leave a session's log again: their passages carry the words of those events
as their neighbours'."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from neve.domain.indexing.passage import Passage
from neve.domain.indexing.utterances import utterance_of, utterance_passages
from neve.domain.records.sessions import Spans
from neve.domain.sessions.spans import holds
from neve.ports.engines import WordsPorts
from neve.ports.table import Item, Table
from neve.scope import SessionData
from neve.store import rows
from neve.store.keys import LAST_SEQ, SessionKeys
from neve.store.partitions import PAGE
from neve.usecases.work.indexing.index_events import LOOK_BACK, REINDEXED_BEFORE, embed_again, utterances_around
from neve.usecases.work.indexing.vectors.user_vectors import with_known_vectors


@dataclass(frozen=True, slots=True)
class LogLeft:
    """The rest of a session's log without the spans ``removed``."""

    table: Table
    keys: SessionKeys
    incarnation: int
    removed: Spans

    def beside(self, edge: int, way: int) -> list[int]:
        """Return seqs of the utterances that may carry words from the other side of ``edge``, the nearest first,
        however many events of tools stand between. ``way``: -1 before it, 1 behind it."""
        found: list[int] = []
        at, limit = self._skip_removed(edge, way), LOOK_BACK
        while at > 0 and len(found) < REINDEXED_BEFORE:
            between = self.keys.events(1, at) if way < 0 else self.keys.events(at, LAST_SEQ)
            items = self.table.query(self.keys.log, between=between, reverse=way < 0, limit=limit).items
            if not items:
                break
            found += [item["seq"] for item in items if self._is_left(item)]
            at, limit = self._skip_removed(items[-1]["seq"] + way, way), PAGE
        return found[:REINDEXED_BEFORE]

    def _skip_removed(self, at: int, way: int) -> int:
        """Return the next seq that no removed span holds."""
        hole = next((span for span in self.removed if span[0] <= at <= span[1]), None)
        return at if hole is None else hole[way > 0] + way

    def _is_left(self, item: Item) -> bool:
        if item["incarnation"] != self.incarnation or holds(self.removed, item["seq"]):
            return False
        return utterance_of(self.keys.session, rows.read_event(item)) is not None

    def passages(self, seqs: Sequence[int]) -> list[Passage]:
        """Make the passages of these utterances, as a worker that indexes just those makes them."""
        around = utterances_around(self.table, self.keys, self.incarnation, min(seqs), max(seqs), holes=True)
        return utterance_passages([utterance for utterance in around if not holds(self.removed, utterance.seq)], seqs)


def write_again(data: SessionData[WordsPorts], incarnation: int, passages: Sequence[Passage]) -> None:
    """Write the passages with the vectors that their texts have; those that have none any more are made again. Raises
    UserErased, StoreUnavailable."""
    if not passages:
        return
    model = data.ports.search.model()
    written = with_known_vectors(data, model, passages)
    data.ports.search.upsert(data.keys.owner, written)
    lacking = {one.seq_from for one in written if one.vector is None and one.seq_from is not None}
    if model.dimensions and lacking:
        embed_again(data, incarnation, lacking)
