"""Take the words of events that are about to be removed out of the passages beside them, which carry their neighbours'
(docs/rules/sessions.md#retention)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from neve.domain.indexing.passage import Passage
from neve.domain.records.sessions import Span
from neve.domain.sessions.spans import joined
from neve.ports.engines import WordsPorts
from neve.ports.table import Check, Key, Put, Version, WriteOp
from neve.scope import SessionData
from neve.store import rows
from neve.store.incarnation import UserErased, still_there
from neve.store.transact import transact
from neve.usecases.core.lag.indexed_row import read_indexed
from neve.usecases.work.indexing.index_events import trim_written
from neve.usecases.work.indexing.log_left import LogLeft, write_again

Versions = dict[Key, int]


def write_without(data: SessionData[WordsPorts], incarnation: int, hole: Span) -> Versions | None:
    """Write the two utterances on either side of the events ``hole``, whose rows say already that they leave, with the
    vectors that they have. They get another rev, so that a worker that read the log before is refused, and sees it in
    *indexed* (SESS#s#X). Return what their rows are then, to be checked by the removal: for a rev that is raised behind
    it no worker would write. None where it is to be looked at again: the log has changed, or the user is gone. Raises
    StoreUnavailable."""
    ports, keys = data.ports, data.keys
    session = ports.table.get(keys.session_head)
    removed = joined((*(rows.read_session(session).retracted if session else ()), hole))
    log = LogLeft(ports.table, keys, incarnation, removed)
    sides = [sorted(log.beside(hole[0] - 1, -1)), log.beside(hole[1] + 1, 1)]
    seqs = [seq for side in sides for seq in side]
    if not seqs:
        return {}
    passages: list[Passage] = []
    try:
        versions = transact(ports, partial(_raise_revs, data, incarnation, hole, seqs))
        if versions is None:
            return None
        passages = [passage for side in sides if side for passage in log.passages(side)]
        write_again(data, incarnation, passages)
        still_there(rows.read_head(ports.table.get(keys.head)), incarnation)
    except UserErased:
        trim_written(data, passages)
        return None
    return versions


def _raise_revs(data: SessionData[WordsPorts], incarnation: int, hole: Span, seqs: Sequence[int]) -> Versions | None:
    """Raise the revs of the utterances; return their rows' versions. None where another worker has removed the events
    of the hole, or one beside it was taken back. Raises Conflict, UserErased."""
    table, keys = data.ports.table, data.keys
    places = list(map(keys.event, seqs))
    found = table.get_many([keys.head, keys.epoch, keys.indexed, *places])
    head, beside = rows.read_head(found.get(keys.head)), {place: found[place] for place in places if place in found}
    still_there(head, incarnation)
    if keys.epoch not in found or len(beside) < len(places) or any(item.get("taken_back") for item in beside.values()):
        return None
    epoch = rows.read_epoch(found[keys.epoch])
    if epoch.removed_to >= hole[1]:
        return None
    indexed = read_indexed(keys.session, found.get(keys.indexed))
    ops: list[WriteOp] = [rows.check_head(keys, head), Check(keys.epoch, Version(epoch.version))]
    if not indexed.revs_raised:
        ops.append(replace(indexed, revs_raised=True).put(keys, data.ports.clock.now()))
    ops += [Put(item | {"rev": item.get("rev", 1) + 1}, Version(item["version"])) for item in beside.values()]
    table.write(ops)
    return {place: item["version"] + 1 for place, item in beside.items()}
