"""Bring the search index to a part of a log of which events are gone: their passages leave it, and their words
leave the passages beside them, which carry their neighbours' (docs/rules/retract.md#index)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from neve.domain.ids import event_id
from neve.domain.indexing.passage import Passage
from neve.domain.indexing.utterances import ROLES, utterance_passages
from neve.domain.records.sessions import Span
from neve.domain.sessions.spans import common
from neve.observing import SecondsLeft, for_ever
from neve.ports.engines import IndexingPorts, WordsPorts
from neve.ports.table import Item
from neve.scope import SessionData
from neve.store import rows
from neve.store.incarnation import UserErased
from neve.store.partitions import all_rows
from neve.store.transact import transact
from neve.usecases.work.indexing.index_events import IndexingOutOfTime, batches_of_span, confirm_words
from neve.usecases.work.indexing.indexed_log import IndexedLog, read_log
from neve.usecases.work.indexing.vectors.user_vectors import with_known_vectors
from neve.usecases.work.indexing.vectors.worker_time import RESERVE_S

Data = SessionData[WordsPorts]


def forget_retracted(data: Data, incarnation: int, retraction_id: str, *, left: SecondsLeft = for_ever) -> None:
    """Take the events of a retraction, and their words, out of the index. Every step may be repeated; how far it has
    come is on the retraction's row. ``left``: how long the worker may still run. Raises
    IndexingOutOfTime, StoreUnavailable."""
    table, own, read = data.ports.table, data.keys.retraction(retraction_id), list[Item]()

    def note(to: int) -> None:
        item = read.pop() if read else table.get(own)
        if item is None:
            raise UserErased
        now = rows.read_retraction(item)
        if now.forgotten_to < to:
            table.write([rows.put_retraction(data.keys, replace(now, forgotten_to=to), incarnation)])

    try:
        log, item = read_log(data, incarnation), table.get(own)
        if item is None:
            return
        retraction = rows.read_retraction(item)
        read.append(item)
        for step in batches_of_span((max(retraction.seq_from, retraction.forgotten_to + 1), retraction.seq_to)):
            if left() < RESERVE_S:
                raise IndexingOutOfTime
            take_out(data, log, step)
            if step[1] == retraction.seq_to:
                write_beside(data, log, retraction.span)
            transact(data.ports, partial(note, step[1]))
    except UserErased:
        return


def take_out(data: Data | SessionData[IndexingPorts], log: IndexedLog, span: Span) -> None:
    """Remove the passages of those of the events that are gone. A write of them that is under way comes behind the
    removal, and is refused. Raises StoreUnavailable."""
    keys = data.keys
    for first, last in common(log.gone, (span,)):
        found = all_rows(data.ports.table, keys.log, between=keys.events(first, last))
        silent = {item["seq"] for item in found if item["event_type"] not in ROLES}
        for seq in range(first, last + 1):
            if seq not in silent:
                data.ports.search.trim(keys.owner, event_id(keys.session, seq), keep=0, version=log.version)


def write_beside(data: Data, log: IndexedLog, span: Span) -> None:
    """Write the two utterances on either side of events that are gone, with the vectors that they have; those that
    have lost theirs are embedded again. Raises UserErased, StoreUnavailable."""
    done = False
    while not done:
        model = data.ports.search.model()
        passages = with_known_vectors(data, model, _passages_beside(log, span))
        if passages:
            data.ports.search.upsert(data.keys.owner, passages)
        log, done = confirm_words(data, log, model, passages)


def _passages_beside(log: IndexedLog, span: Span) -> list[Passage]:
    """Make their passages as a worker that indexes just those makes them."""
    log = replace(log, known=[])
    first, last = next(hole for hole in log.gone if hole[0] <= span[0] <= hole[1])
    sides = [log.nearest(first, -1), log.nearest(last, 1)]
    return [
        passage
        for side in sides
        if side
        for passage in utterance_passages(log.utterances_around(side[0], side[-1]), side, log.version)
    ]
