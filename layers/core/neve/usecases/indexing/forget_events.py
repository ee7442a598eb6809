"""Take events that were taken back out of the search index (docs/rules/retract.md#index): their passages, and their
words from the passages beside them, which carry their neighbours'."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from neve.domain.ids import event_id
from neve.domain.indexing.passage import Passage
from neve.domain.indexing.utterances import ROLES, utterance_of, utterance_passages
from neve.domain.records.retractions import Retraction
from neve.domain.records.sessions import Span, Spans
from neve.domain.sessions.spans import holds
from neve.observing import SecondsLeft, for_ever
from neve.ports.engines import WordsPorts
from neve.ports.table import Item, Put, Table, Version
from neve.scope import SessionData
from neve.store import rows
from neve.store.incarnation import UserErased, still_there
from neve.store.keys import LAST_SEQ, SessionKeys
from neve.store.partitions import PAGE, all_rows
from neve.store.transact import batches, item_bytes, transact
from neve.usecases.indexing.index_events import (
    LOOK_BACK,
    REINDEXED_BEFORE,
    OutOfTime,
    steps,
    utterances_around,
)
from neve.usecases.indexing.vectors.user_vectors import known_vectors, passage_texts
from neve.usecases.indexing.vectors.worker_time import RESERVE_S


def forget_events(
    data: SessionData[WordsPorts], incarnation: int, retraction_id: str, *, left: SecondsLeft = for_ever
) -> None:
    """Every step may be repeated. ``left``: how long the worker may still run. Raises OutOfTime, StoreUnavailable; how
    far it has come is on the retraction's row."""
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
    """First the rows say that they are in no index, so that nobody brings them in again; a write that is under way
    comes behind the removal, and is refused. ``beyond``: a rev that none of their passages has."""
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
    """Raises Conflict, UserErased."""
    retraction = _read(data.ports.table, data.keys, retraction_id)
    if retraction.forgotten_to < forgotten_to:
        noted = replace(retraction, forgotten_to=forgotten_to)
        data.ports.table.write([rows.put_retraction(data.keys, noted, incarnation)])


def _read(table: Table, keys: SessionKeys, retraction_id: str) -> Retraction:
    """Raises UserErased."""
    item = table.get(keys.retraction(retraction_id))
    if item is None:
        raise UserErased
    return rows.read_retraction(item)


def _mark(data: SessionData[WordsPorts], incarnation: int, seqs: Sequence[int]) -> None:
    """Raises Conflict, UserErased."""
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
    """Their words change although they do not, so their passages get another rev: those of the old one are refused from
    then on. Each gets one once for each retraction, and none once their passages are written: who had been taken for
    dead would leave a rev behind for which nobody writes."""

    data: SessionData[WordsPorts]
    incarnation: int
    retraction: Retraction
    retracted: Spans

    def forget(self) -> None:
        while not self._forgotten():
            pass

    def _forgotten(self) -> bool:
        """False where another worker has raised one since: then its passages are written, too."""
        first, last = next(
            (span for span in self.retracted if span[0] <= self.retraction.seq_from <= span[1]), self.retraction.span
        )
        log = _Log(self.data.ports.table, self.data.keys, self.incarnation, self.retracted)
        beside = {*log.beside(first - 1, -1), *log.beside(last + 1, 1)}
        for seq in sorted(beside):
            transact(self.data.ports, partial(self._raise_rev, seq))
        noted = _read(self.data.ports.table, self.data.keys, self.retraction.id)
        if noted.forgotten:
            return True
        beside.update(noted.raised)
        sides = [sorted(seq for seq in beside if seq < first), sorted(seq for seq in beside if seq > last)]
        self._write([passage for seqs in sides if seqs for passage in log.passages(seqs)])
        return transact(self.data.ports, partial(self._note, noted.raised))

    def _raise_rev(self, seq: int) -> None:
        """Raises Conflict, UserErased."""
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

    def _write(self, passages: list[Passage]) -> None:
        if not passages:
            return
        ports, keys = self.data.ports, self.data.keys
        model = ports.search.model()
        known = known_vectors(self.data, model, passage_texts(passages)) if model.dimensions else {}
        ports.search.upsert(keys.owner, [replace(one, vector=known.get(one.text)) for one in passages])

    def _note(self, raised: tuple[int, ...]) -> bool:
        """Raises Conflict, UserErased."""
        retraction = _read(self.data.ports.table, self.data.keys, self.retraction.id)
        if retraction.raised != raised:
            return False
        if not retraction.forgotten:
            done = replace(retraction, forgotten=True)
            self.data.ports.table.write([rows.put_retraction(self.data.keys, done, self.incarnation)])
        return True


@dataclass(frozen=True, slots=True)
class _Log:
    """What is left of a session's log."""

    table: Table
    keys: SessionKeys
    incarnation: int
    retracted: Spans

    def beside(self, edge: int, way: int) -> list[int]:
        """Seqs of the utterances that may carry words from the other side of ``edge``, the nearest first, however many
        events of tools stand between. ``way``: -1 before it, 1 behind it."""
        found: list[int] = []
        at, limit = self._stepped_over(edge, way), LOOK_BACK
        while at > 0 and len(found) < REINDEXED_BEFORE:
            between = self.keys.events(1, at) if way < 0 else self.keys.events(at, LAST_SEQ)
            items = self.table.query(self.keys.log, between=between, reverse=way < 0, limit=limit).items
            if not items:
                break
            found += [item["seq"] for item in items if self._is_left(item)]
            at, limit = self._stepped_over(items[-1]["seq"] + way, way), PAGE
        return found[:REINDEXED_BEFORE]

    def _stepped_over(self, at: int, way: int) -> int:
        """The next seq that no retraction holds."""
        hole = next((span for span in self.retracted if span[0] <= at <= span[1]), None)
        return at if hole is None else hole[way > 0] + way

    def _is_left(self, item: Item) -> bool:
        if item["incarnation"] != self.incarnation or holds(self.retracted, item["seq"]):
            return False
        return utterance_of(self.keys.session, rows.read_event(item)) is not None

    def passages(self, seqs: Sequence[int]) -> list[Passage]:
        """As whoever indexes just those writes them."""
        around = utterances_around(self.table, self.keys, self.incarnation, min(seqs), max(seqs))
        return utterance_passages([utterance for utterance in around if not holds(self.retracted, utterance.seq)], seqs)
