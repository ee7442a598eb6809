"""Take events that were taken back out of the search index (docs/rules/retract.md#index): their passages, and their
words from the passages beside them, which carry their neighbours'."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from neve.domain.records import Retraction, Span, Spans
from neve.domain.sessions.spans import holds
from neve.observing import SecondsLeft, for_ever
from neve.ports import Item, Passage, Put, Table, Version, WordsPorts, WriteOp
from neve.store import rows
from neve.store.keys import LAST_SEQ, SessionKeys
from neve.store.partitions import PAGE, all_rows
from neve.store.transact import transact
from neve.usecases.erase.incarnation import UserErased, still_there
from neve.usecases.indexing.index_events import (
    LOOK_BACK,
    REINDEXED_BEFORE,
    OutOfTime,
    steps,
    utterances_around,
)
from neve.usecases.indexing.utterances import ROLES, event_id, utterance_of, utterance_passages
from neve.usecases.indexing.vectors.user_vectors import known_vectors, passage_texts
from neve.usecases.indexing.vectors.worker_time import RESERVE_S


def forget_events(
    ports: WordsPorts, keys: SessionKeys, incarnation: int, retraction_id: str, *, left: SecondsLeft = for_ever
) -> None:
    """Every step may be repeated. ``left``: how long the worker may still run. Raises OutOfTime, StoreUnavailable; how
    far it has come is on the retraction's row."""
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
            _forget(ports, keys, incarnation, step, beyond=retraction.epoch + 1)
            transact(ports, partial(_note, ports, keys, retraction_id, incarnation, step[1]))
        _write_neighbours(ports, keys, incarnation, retraction, retracted)
    except UserErased:
        return


def _forget(ports: WordsPorts, keys: SessionKeys, incarnation: int, span: Span, beyond: int) -> None:
    """First the rows say that they are in no index, so that nobody brings them in again; a write that is under way
    comes behind the removal, and is refused. ``beyond``: a rev that none of their passages has."""
    transact(ports, partial(_mark, ports, keys, incarnation, span))
    for item in all_rows(ports.table, keys.log, between=keys.events(*span)):
        if item["event_type"] not in ROLES:
            continue
        ports.search.trim(
            keys.owner, event_id(keys.session, item["seq"]), keep=0, version=max(beyond, item.get("rev", 1) + 1)
        )


def _note(ports: WordsPorts, keys: SessionKeys, retraction_id: str, incarnation: int, forgotten_to: int) -> None:
    """Raises Conflict, UserErased."""
    item = ports.table.get(keys.retraction(retraction_id))
    if item is None:
        raise UserErased
    retraction = rows.read_retraction(item)
    if retraction.forgotten_to < forgotten_to:
        noted = replace(retraction, forgotten_to=forgotten_to)
        ports.table.write([rows.put_retraction(keys, noted, incarnation)])


def _mark(ports: WordsPorts, keys: SessionKeys, incarnation: int, span: Span) -> None:
    """Raises Conflict, UserErased."""
    items = list(all_rows(ports.table, keys.log, between=keys.events(*span)))
    puts: list[WriteOp] = [
        Put(item | {"taken_back": True}, Version(item["version"])) for item in items if not item.get("taken_back")
    ]
    if not puts:
        return
    head = rows.read_head(ports.table.get(keys.head))
    still_there(head, incarnation)
    ports.table.write([rows.check_head(keys, head), *puts])


# --- neighbours -----------------------------------------------------------------------------------


def _write_neighbours(
    ports: WordsPorts, keys: SessionKeys, incarnation: int, retraction: Retraction, retracted: Spans
) -> None:
    """Their words change although they do not, so their passages get another rev: those of the old one are refused from
    then on."""
    first, last = next((span for span in retracted if span[0] <= retraction.seq_from <= span[1]), retraction.span)
    log = _Log(ports.table, keys, incarnation, retracted, retraction.log_to)
    sides = [seqs for seqs in (log.beside(first - 1, -1), log.beside(last + 1, 1)) if seqs]
    for seq in (seq for seqs in sides for seq in seqs):
        transact(ports, partial(_raise_rev, ports, keys, incarnation, seq, retraction))
    passages = [passage for seqs in sides for passage in log.passages(seqs)]
    model = ports.search.model()
    known = known_vectors(ports.table, keys, model, passage_texts(passages)) if model.dimensions else {}
    if passages:
        ports.search.upsert(keys.owner, [replace(one, vector=known.get(one.text)) for one in passages])


@dataclass(frozen=True, slots=True)
class _Log:
    """What is left of a session's log. ``to``: who was appended behind it is indexed without what was taken back."""

    table: Table
    keys: SessionKeys
    incarnation: int
    retracted: Spans
    to: int | None

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
        if self.to is not None and item["seq"] > self.to:
            return False
        return utterance_of(self.keys.session, rows.read_event(item)) is not None

    def passages(self, seqs: Sequence[int]) -> list[Passage]:
        """As whoever indexes just those writes them."""
        around = utterances_around(self.table, self.keys, self.incarnation, min(seqs), max(seqs))
        return utterance_passages([said for said in around if not holds(self.retracted, said.seq)], seqs)


def _raise_rev(ports: WordsPorts, keys: SessionKeys, incarnation: int, seq: int, retraction: Retraction) -> None:
    """Once for each retraction: of two workers that have its message, the one whose passages count may be either.
    Raises Conflict, UserErased."""
    found = ports.table.get_many([keys.head, keys.event(seq)])
    head, item = rows.read_head(found.get(keys.head)), found.get(keys.event(seq))
    still_there(head, incarnation)
    if item is None or item.get("taken_back") or item.get("beside") == retraction.id:
        return
    # retractions are not always handled in the order of their epochs
    raised = item | {"rev": max(retraction.epoch + 1, item.get("rev", 1) + 1), "beside": retraction.id}
    ports.table.write([rows.check_head(keys, head), Put(raised, Version(item["version"]))])
