"""Take away vectors of events that have left their log while a worker made them (docs/rules/indexing.md#embedding). The
worker that deletes or removes an event looks for its vectors once."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from neve.domain.indexing.passage import Passage
from neve.domain.memories.text import fingerprint
from neve.domain.records.epochs import SessionEpoch
from neve.domain.sessions.spans import holds
from neve.ports.engines import IndexingPorts
from neve.scope import SessionData
from neve.store import rows
from neve.store.vectors import erase_vectors


def forget_vectors(data: SessionData[IndexingPorts], made: Sequence[Passage]) -> None:
    """Take away those of the vectors that are of deleted events, or of events that retention removes: that they go is
    noted before a worker looks for their vectors. ``made``: passages of one session whose vectors have just been kept.
    The same text elsewhere is embedded once more. Raises StoreUnavailable."""
    if not made:
        return
    table, keys = data.ports.table, data.keys
    found = table.get_many([keys.session_head, keys.epoch])
    if keys.session_head not in found or keys.epoch not in found:
        return  # an erasure takes the vectors along
    erased = rows.read_session(found[keys.session_head]).erased
    seqs = {one.seq_from for one in made if one.seq_from is not None}
    gone = {seq for seq in seqs if holds(erased, seq)} | _removed(data, rows.read_epoch(found[keys.epoch]), seqs)
    erase_vectors(table, keys, {fingerprint(one.text) for one in made if one.seq_from in gone})


def _removed(data: SessionData[IndexingPorts], epoch: SessionEpoch, seqs: Collection[int]) -> set[int]:
    """Return those of the events that are removed. Retention removes only what is covered; of the rest no row is
    read."""
    if epoch.covers_from is None or epoch.covers_to is None:
        return set()
    covered = {data.keys.event(seq): seq for seq in seqs if epoch.covers_from <= seq <= epoch.covers_to}
    there = data.ports.table.get_many(list(covered)) if covered else {}
    return {seq for key, seq in covered.items() if key not in there or rows.EXPIRED in there[key]}
