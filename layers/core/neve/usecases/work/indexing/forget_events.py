"""Take events that were taken back out of the search index (docs/rules/retract.md#index): their passages, and their
words from the passages beside them, which carry their neighbours'."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from neve.domain.ids import event_id
from neve.domain.indexing.utterances import ROLES
from neve.domain.records.retractions import Retraction
from neve.domain.records.sessions import Span, Spans
from neve.observing import SecondsLeft, for_ever
from neve.ports.engines import WordsPorts
from neve.ports.table import Put, Table, Version
from neve.scope import SessionData
from neve.store import rows
from neve.store.incarnation import UserErased, still_there
from neve.store.keys import SessionKeys
from neve.store.partitions import all_rows
from neve.store.transact import batches, item_bytes, transact
from neve.usecases.work.indexing.index_events import OutOfTime, steps
from neve.usecases.work.indexing.log_left import LogLeft, write_again
from neve.usecases.work.indexing.vectors.worker_time import RESERVE_S


def forget_events(
    data: SessionData[WordsPorts], incarnation: int, retraction_id: str, *, left: SecondsLeft = for_ever
) -> None:
    """Take the events of a retraction out of the index, and their words out of the passages beside them. Every step may
    be repeated. ``left``: how long the worker may still run. Raises OutOfTime, StoreUnavailable; how far it has come is
    on the retraction's row."""
    ports, keys = data.ports, data.keys
    found = ports.table.get_many([keys.head, keys.session_head, keys.retraction(retraction_id)])
    if keys.session_head not in found or keys.retraction(retraction_id) not in found:
        return
    retraction = rows.read_retraction(found[keys.retraction(retraction_id)])
    retracted = rows.read_session(found[keys.session_head]).retracted
    try:
        still_there(rows.read_head(found.get(keys.head)), incarnation)
        for step in steps((max(retraction.seq_from, retraction.forgotten_to + 1), retraction.seq_to)):
            if left() < RESERVE_S:
                raise OutOfTime
            _forget(data, incarnation, step, beyond=retraction.epoch + 1)
            transact(ports, partial(_note, data, retraction_id, incarnation, step[1]))
        _Neighbours(data, incarnation, retraction, retracted).forget()
    except UserErased:
        return


def _forget(data: SessionData[WordsPorts], incarnation: int, span: Span, beyond: int) -> None:
    """Mark the rows as in no index, so that no worker brings them in again, then remove their passages; a write that is
    under way comes behind the removal, and is refused. ``beyond``: a rev that none of their passages has."""
    ports, keys = data.ports, data.keys
    log = all_rows(ports.table, keys.log, between=keys.events(*span))
    for batch in batches((item for item in log if not item.get("taken_back")), item_bytes):
        transact(ports, partial(_mark, data, incarnation, [item["seq"] for item in batch]))
    for item in all_rows(ports.table, keys.log, between=keys.events(*span)):
        if item["event_type"] not in ROLES:
            continue
        ports.search.trim(
            keys.owner, event_id(keys.session, item["seq"]), keep=0, version=max(beyond, item.get("rev", 1) + 1)
        )


def _note(data: SessionData[WordsPorts], retraction_id: str, incarnation: int, forgotten_to: int) -> None:
    """Note up to which seq the events are forgotten. Raises Conflict, UserErased."""
    retraction = _read(data.ports.table, data.keys, retraction_id)
    if retraction.forgotten_to < forgotten_to:
        noted = replace(retraction, forgotten_to=forgotten_to)
        data.ports.table.write([rows.put_retraction(data.keys, noted, incarnation)])


def _read(table: Table, keys: SessionKeys, retraction_id: str) -> Retraction:
    """Read the retraction's row. Raises UserErased."""
    item = table.get(keys.retraction(retraction_id))
    if item is None:
        raise UserErased
    return rows.read_retraction(item)


def _mark(data: SessionData[WordsPorts], incarnation: int, seqs: Sequence[int]) -> None:
    """Mark the rows as taken back. Raises Conflict, UserErased."""
    ports, keys = data.ports, data.keys
    found = ports.table.get_many([keys.head, *map(keys.event, seqs)])
    head = rows.read_head(found.pop(keys.head, None))
    left = [item for item in found.values() if not item.get("taken_back")]
    if not left:
        return
    still_there(head, incarnation)
    ports.table.write(
        [rows.check_head(keys, head), *(Put(item | {"taken_back": True}, Version(item["version"])) for item in left)]
    )


# --- neighbours -----------------------------------------------------------------------------------


@dataclass
class _Neighbours:
    """The utterances beside the retracted events. Their passages change although they do not, so they get another rev:
    writes of the old one are refused from then on. Each gets one once for each retraction, and none once their passages
    are written: a worker that had been taken for dead would leave a rev behind for which no worker writes."""

    data: SessionData[WordsPorts]
    incarnation: int
    retraction: Retraction
    retracted: Spans

    def forget(self) -> None:
        while not self._rewrite_passages():
            pass

    def _rewrite_passages(self) -> bool:
        """Write the neighbours' passages again and note it; False where another worker has raised a rev since: then
        that row's passages have to be written, too."""
        first, last = next(
            (span for span in self.retracted if span[0] <= self.retraction.seq_from <= span[1]), self.retraction.span
        )
        log = LogLeft(self.data.ports.table, self.data.keys, self.incarnation, self.retracted)
        beside = {*log.beside(first - 1, -1), *log.beside(last + 1, 1)}
        for seq in sorted(beside):
            transact(self.data.ports, partial(self._raise_rev, seq))
        noted = _read(self.data.ports.table, self.data.keys, self.retraction.id)
        if noted.forgotten:
            return True
        beside.update(noted.raised)
        sides = [sorted(seq for seq in beside if seq < first), sorted(seq for seq in beside if seq > last)]
        passages = [passage for seqs in sides if seqs for passage in log.passages(seqs)]
        write_again(self.data, self.incarnation, passages)
        return transact(self.data.ports, partial(self._note, noted.raised))

    def _raise_rev(self, seq: int) -> None:
        """Raise the rev of one neighbour, once for the retraction. Raises Conflict, UserErased."""
        table, keys = self.data.ports.table, self.data.keys
        own = keys.retraction(self.retraction.id)
        found = table.get_many([keys.head, keys.event(seq), own])
        head, item = rows.read_head(found.get(keys.head)), found.get(keys.event(seq))
        still_there(head, self.incarnation)
        if own not in found:
            raise UserErased
        retraction = rows.read_retraction(found[own])
        if item is None or item.get("taken_back") or retraction.forgotten or seq in retraction.raised:
            return
        # retractions are not always handled in the order of their epochs
        raised = item | {"rev": max(retraction.epoch + 1, item.get("rev", 1) + 1)}
        retraction = replace(retraction, raised=(*retraction.raised, seq))
        table.write(
            [
                rows.check_head(keys, head),
                Put(raised, Version(item["version"])),
                rows.put_retraction(keys, retraction, self.incarnation),
            ]
        )

    def _note(self, raised: tuple[int, ...]) -> bool:
        """Note that the retraction is forgotten; False where further revs were raised. Raises Conflict, UserErased."""
        retraction = _read(self.data.ports.table, self.data.keys, self.retraction.id)
        if retraction.raised != raised:
            return False
        if not retraction.forgotten:
            done = replace(retraction, forgotten=True)
            self.data.ports.table.write([rows.put_retraction(self.data.keys, done, self.incarnation)])
        return True
