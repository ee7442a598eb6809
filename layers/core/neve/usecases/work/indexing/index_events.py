"""Bring the utterances of a session's log into the search index: their words as soon as they are said, their vectors
when they are made (docs/rules/indexing.md#events).

``SESS#s#X`` says how far the words are indexed without a gap, so a message that was lost is made up for by the next
one, and a repeated message costs one read. The worker that moves it forward queues the vectors of just those events, so
none is embedded twice. An utterance is indexed with its neighbours' words: the two before a new one are indexed again
with it, and take the vectors along that they have."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from neve.domain.indexing.passage import MAX_FOLLOWING, Passage
from neve.domain.indexing.utterances import Utterance, utterance_of, utterance_passages
from neve.domain.records.sessions import Span, Spans
from neve.domain.records.users import UserHead
from neve.domain.sessions.spans import joined, without
from neve.observing import SecondsLeft, for_ever
from neve.ports.engines import IndexingPorts, WordsPorts
from neve.ports.queue import QueueName
from neve.ports.search import IndexModel
from neve.ports.table import Item, Table
from neve.scope import SessionData
from neve.store import rows
from neve.store.incarnation import UserErased, still_there
from neve.store.keys import LAST_SEQ, SessionKeys
from neve.store.partitions import all_rows, all_rows_backwards
from neve.store.transact import transact
from neve.usecases.core.jobs.messages.indexing import events_message
from neve.usecases.core.lag.indexed_row import IndexedRow, read_indexed
from neve.usecases.work.indexing.vectors.forget_vectors import forget_vectors
from neve.usecases.work.indexing.vectors.user_vectors import passage_texts, vectors_for, with_known_vectors
from neve.usecases.work.indexing.vectors.worker_time import RESERVE_S

BATCH_SIZE = 50
"""Events of one step; what is indexed is noted after each."""
LOOK_BACK, LOOK_AHEAD = 20, 8
"""Events that are read on either side to find the neighbours, two utterances each way and theirs. Between them there
may be what tools said; before more of that than this, a neighbour is left out."""
REACH = BATCH_SIZE + LOOK_BACK
"""How far ahead of an utterance the worker that wrote the words behind it may have found it (*follows*). As many events
are read ahead where fewer hold no two utterances: a worker that finds fewer neighbours than the index has does not get
a vector in."""
REINDEXED_BEFORE = 2
"""Utterances before the new ones whose own neighbours are new."""
CONTEXTS = 5
"""How often a step is written again because the words behind it came in meanwhile."""


class EmbedAgain(Exception):
    """Raised when texts could not be embedded for now. ``embedded``: what of the log is done with all the same."""

    def __init__(self, embedded: Spans = ()) -> None:
        super().__init__()
        self.embedded = embedded


class OutOfTime(EmbedAgain):
    """Raised when the worker ends before the last of the texts would be done: another one goes on. What was done stays
    done."""


def index_words(
    data: SessionData[WordsPorts], incarnation: int, last: int, *, again: bool, left: SecondsLeft = for_ever
) -> None:
    """Index the words of everything up to the seq ``last`` that is not indexed yet, and queue their vectors. ``again``:
    the message was delivered before, and the worker that had it may have died before it queued the vectors. ``left``:
    how long the worker may still run. Raises OutOfTime and StoreUnavailable; what was indexed before stays noted."""
    ports, keys = data.ports, data.keys
    found = ports.table.get_many([keys.head, keys.indexed])
    row = read_indexed(keys.session, found.get(keys.indexed))
    try:
        still_there(rows.read_head(found.get(keys.head)), incarnation)
        if again and row.indexed_seq:
            _queue_vectors(data, incarnation, row.not_embedded((1, min(last, row.indexed_seq))))
        for first, to in steps((row.indexed_seq + 1, last)):
            if left() < RESERVE_S:
                raise OutOfTime
            after: IndexedRow | None = None
            while after is None:
                noted = _index_words(data, incarnation, (first, to), row)
                after = noted.after
                row = after or noted.before
    except UserErased:
        return


def index_vectors(data: SessionData[IndexingPorts], incarnation: int, spans: Sequence[Span]) -> None:
    """Index the vectors of those of the events in ``spans`` that lack them. Raises EmbedAgain when some could not be
    embedded for now, behind the others, OutOfTime (what was embedded before stays noted), and StoreUnavailable."""
    ports, keys = data.ports, data.keys
    found = ports.table.get_many([keys.head, keys.indexed])
    read = row = read_indexed(keys.session, found.get(keys.indexed))
    lacking = [step for span in spans for part in _spans_to_embed(row, span) for step in steps(part)]
    head, failed = rows.read_head(found.get(keys.head)), False
    try:
        still_there(head, incarnation)
        for step in lacking:
            done = _Vectors(data, head).index(step, row)
            row, failed = done.row, failed or done.again
    except UserErased:
        return
    except OutOfTime:
        # A worker that only fails must not go round without a pause.
        if not failed or row != read:
            raise
    if failed:
        raise EmbedAgain(row.embedded)


def _spans_to_embed(row: IndexedRow, span: Span) -> Iterator[Span]:
    """Yield what of a span was not embedded yet, and all of it behind an event that could not be."""
    first, last = span[0], min(span[1], row.indexed_seq)
    failed_from = row.without_vectors_from
    if failed_from is None or not first <= failed_from <= last:
        yield from row.not_embedded((first, last))
    else:
        yield from row.not_embedded((first, failed_from - 1))
        yield failed_from, last


def reindex_events(
    data: SessionData[IndexingPorts], incarnation: int, seqs: Span, *, in_use: bool = True
) -> int | None:
    """Bring words and vectors of the events ``seqs``, first to last, into an index that lacks them. Return the first
    that has no vector there, because the embedder did not work. ``in_use``: recall searches this index already, so what
    is done is noted; of another one it would say that vectors are there which the index in use may still get. Raises
    EmbedAgain and StoreUnavailable."""
    ports, keys = data.ports, data.keys
    found = ports.table.get_many([keys.head, keys.indexed])
    head, row = rows.read_head(found.get(keys.head)), read_indexed(keys.session, found.get(keys.indexed))
    lacking: list[int] = []
    try:
        still_there(head, incarnation)
        for step in steps(seqs):
            done = _Vectors(data, head, reindexing=True, in_use=in_use).index(step, row)
            if done.again:
                raise EmbedAgain
            row = done.row
            lacking += [done.lacking_from] if done.lacking_from is not None else []
    except UserErased:
        return None
    return min(lacking, default=None)


def steps(span: Span) -> Iterator[Span]:
    first, last = span
    for start in range(first, last + 1, BATCH_SIZE):
        yield start, min(start + BATCH_SIZE - 1, last)


# --- what is in the log ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _StepPassages:
    """The passages of one step: of the utterances in it, and of those just before it, whose neighbours are new."""

    new: list[Passage]
    before: list[Passage]


def _step_passages(table: Table, keys: SessionKeys, incarnation: int, span: Span, row: IndexedRow) -> _StepPassages:
    """Make the passages of one step. ``row``: read before the log."""
    first, last = span
    utterances = utterances_around(table, keys, incarnation, first, last, holes=row.revs_raised)
    before = [utterance.seq for utterance in utterances if utterance.seq < first][-REINDEXED_BEFORE:]
    within = [utterance.seq for utterance in utterances if first <= utterance.seq <= last]
    passages = utterance_passages(utterances, {*before, *within})
    return _StepPassages(
        [p for p in passages if p.seq_from is not None and first <= p.seq_from <= last],
        [p for p in passages if p.seq_from in before],
    )


def utterances_around(
    table: Table, keys: SessionKeys, incarnation: int, first: int, last: int, *, holes: bool
) -> Sequence[Utterance]:
    """Read the utterances of the events ``first`` to ``last``, and of some on either side; events that were taken back
    do not count. ``holes``: nor do those that retention has removed, if it may have removed anything."""
    page = BATCH_SIZE + LOOK_BACK + LOOK_AHEAD
    begins, ends = max(1, first - LOOK_BACK), last + LOOK_AHEAD
    found = list(all_rows(table, keys.log, between=keys.events(begins, ends), page=page))
    if holes or any(item.get("taken_back") for item in found):
        before = [item for item in found if item["seq"] < first and not item.get("taken_back")]
        behind = [item for item in found if item["seq"] > last and not item.get("taken_back")]
        read_to = found[-1]["seq"] if found else begins - 1  # the log may have ended here, and have gone on since
        found = [
            *_read_nearest(table, keys, (1, begins - 1), LOOK_BACK - len(before), reverse=True),
            *found,
            *_read_nearest(table, keys, (read_to + 1, LAST_SEQ), LOOK_AHEAD - len(behind)),
        ]
    utterances = list(_uttered(keys, incarnation, found))
    left = [item["seq"] for item in found if item["seq"] > last and not item.get("taken_back")]
    if len(left) >= LOOK_AHEAD and sum(one.seq > last for one in utterances) < MAX_FOLLOWING:
        utterances += _uttered(
            keys, incarnation, _read_nearest(table, keys, (left[-1] + 1, LAST_SEQ), REACH - LOOK_AHEAD)
        )
    return utterances


def _uttered(keys: SessionKeys, incarnation: int, items: Iterable[Item]) -> Iterator[Utterance]:
    for item in items:
        utterance = utterance_of(keys.session, rows.read_event(item))
        if utterance and item["incarnation"] == incarnation:
            yield utterance


def _read_nearest(table: Table, keys: SessionKeys, span: Span, wanted: int, *, reverse: bool = False) -> list[Item]:
    """Read the ``wanted`` nearest events of a span that were not taken back, in the order of the log."""
    if span[0] > span[1]:
        return []
    read = all_rows_backwards if reverse else all_rows
    found = read(table, keys.log, between=keys.events(*span), page=BATCH_SIZE)
    nearest = list(islice((item for item in found if not item.get("taken_back")), max(0, wanted)))
    return nearest[::-1] if reverse else nearest


@dataclass(frozen=True, slots=True)
class _Noted:
    """The row before and after; ``after`` None: nothing was noted, what was written is to be written again first. Were
    it noted already, no worker would come back when this one fails in between."""

    before: IndexedRow
    after: IndexedRow | None


def _note_change(
    data: SessionData[WordsPorts] | SessionData[IndexingPorts],
    incarnation: int,
    written: Sequence[Passage],
    seen: IndexedRow,
    change: Callable[[IndexedRow], IndexedRow | None],
) -> _Noted:
    """Note the change of the row once ``written`` is in the index; return the row before and after. What was written
    leaves the index again if the user was erased meanwhile. ``change`` returns None where it is to be written again,
    and so it is where events were removed since the row was ``seen``, before what was written. The user is checked with
    the first row only: an erasure takes the row away, and then the expected version is not there. Raises UserErased."""

    ports, keys = data.ports, data.keys

    def attempt() -> _Noted:
        found = ports.table.get_many([keys.head, keys.indexed])
        head = rows.read_head(found.get(keys.head))
        try:
            still_there(head, incarnation)
            if not head.version:
                raise UserErased  # with the whole tenant: a log has a user
        except UserErased:
            trim_written(data, written)
            raise
        row = read_indexed(keys.session, found.get(keys.indexed))
        changed = change(row) if row.revs_raised == seen.revs_raised else None
        revs_change = head.takes_back or row.revs_raised
        if changed is None or (revs_change and _overtaken(ports.table, keys, written)):
            return _Noted(row, None)
        if changed == row:
            return _Noted(row, row)
        put = changed.put(keys, ports.clock.now())
        ports.table.write([put] if row.version else [put, rows.check_head(keys, head)])
        return _Noted(row, replace(changed, version=row.version + 1))

    return transact(ports, attempt)


def trim_written(data: SessionData[WordsPorts] | SessionData[IndexingPorts], written: Iterable[Passage]) -> None:
    """Remove what was written of a user who was erased meanwhile."""
    for identifier, version in {passage.item_id: passage.version for passage in written}.items():
        data.ports.search.trim(data.keys.owner, identifier, keep=0, version=version)


def _overtaken(table: Table, keys: SessionKeys, written: Sequence[Passage]) -> bool:
    """Say whether words beside some of these were taken back or removed while they were written: then the write is
    refused, and the worker that took the words away did not know of it."""
    revs = {keys.event(one.seq_from): one.version for one in written if one.seq_from is not None}
    found = table.get_many(list(revs)) if revs else {}
    return any(item.get("rev", 1) != revs[key] and not item.get("taken_back") for key, item in found.items())


# --- words ----------------------------------------------------------------------------------------


def _index_words(data: SessionData[WordsPorts], incarnation: int, span: Span, seen: IndexedRow) -> _Noted:
    """Write the words of one step and queue their vectors. ``seen``: the row as read before. Raises UserErased."""
    step, search = _step_passages(data.ports.table, data.keys, incarnation, span, seen), data.ports.search
    model = search.model()
    passages = [*with_known_vectors(data, model, step.before), *step.new]
    if passages:
        search.upsert(data.keys.owner, passages)
    last = span[1]

    def change(row: IndexedRow) -> IndexedRow:
        return _without_vectors(row.with_words(last), model) if last > row.indexed_seq else row

    noted = _note_change(data, incarnation, passages, seen, change)
    if noted.after is not None and model.dimensions and noted.after.indexed_seq > noted.before.indexed_seq:
        _queue_vectors(data, incarnation, [(noted.before.indexed_seq + 1, noted.after.indexed_seq)])
    return noted


def _without_vectors(row: IndexedRow, model: IndexModel) -> IndexedRow:
    """Note all as embedded in an index that takes no vectors: it lacks none."""
    return row if model.dimensions else row.with_vectors((1, row.indexed_seq), None)


def _queue_vectors(data: SessionData[WordsPorts], incarnation: int, spans: Iterator[Span] | list[Span]) -> None:
    messages = [events_message(data.keys, incarnation, first, last) for first, last in spans]
    if messages:
        data.ports.queue.send(QueueName.EMBED, messages)


def embed_again(data: SessionData[WordsPorts], incarnation: int, seqs: Collection[int]) -> None:
    """Queue the vectors of events that have lost them: they are kept by content, and the deletion of the same words
    elsewhere took them along. Raises UserErased, StoreUnavailable."""
    ports, keys = data.ports, data.keys

    def attempt() -> bool:
        found = ports.table.get_many([keys.head, keys.indexed])
        head, row = rows.read_head(found.get(keys.head)), read_indexed(keys.session, found.get(keys.indexed))
        still_there(head, incarnation)
        left = row.without_vectors(seqs)
        if left != row:
            ports.table.write([rows.check_head(keys, head), left.put(keys, ports.clock.now())])
        return left != row

    if transact(ports, attempt):
        _queue_vectors(data, incarnation, [(seq, seq) for seq in sorted(seqs)])


# --- vectors --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Written:
    """The result of one write. ``again``: the seqs of texts that a later attempt may embed. ``lacking_from``: the first
    of those that have no vector and will have none for now."""

    passages: Sequence[Passage]
    again: frozenset[int] = frozenset()
    lacking_from: int | None = None

    @property
    def complete(self) -> bool:
        """Say whether no words that are still to come belong to the context of a passage."""
        return all(passage.following_known == MAX_FOLLOWING for passage in self.passages)


@dataclass(frozen=True, slots=True)
class _Done:
    """One step. ``row``: as it is left. ``again``: some texts are to be tried again. ``lacking_from``: as written."""

    row: IndexedRow
    again: bool
    lacking_from: int | None = None


@dataclass(frozen=True, slots=True)
class _Vectors:
    """The vectors of one session's log. ``head``: of the user as the work began. ``reindexing``: also what has no
    vector, and whatever is noted; ``in_use`` False: and nothing is noted."""

    data: SessionData[IndexingPorts]
    head: UserHead
    reindexing: bool = False
    in_use: bool = True

    def index(self, span: Span, row: IndexedRow) -> _Done:
        """Index the vectors of one step. ``row`` was read before. Words that come in meanwhile belong to the context of
        what is written here, and their own write found no vectors to take along: then the step is written again. Raises
        OutOfTime, UserErased."""
        for _ in range(CONTEXTS):
            table, keys = self.data.ports.table, self.data.keys
            written = self._write(_step_passages(table, keys, self.head.incarnation, span, row))
            if written is None:
                return _Done(row, again=True)
            noted = self._note(span, row, written)
            if noted.after is not None:
                return _Done(noted.after, bool(written.again), written.lacking_from)
            row = noted.before
        return _Done(row, again=True)

    def _write(self, step: _StepPassages) -> _Written | None:
        """Embed and write one step; None when not one text could be embedded and a later attempt may do better. Raises
        OutOfTime."""
        found = vectors_for(self.data, self.head, passage_texts(step.new), passage_texts(step.before))
        forget_vectors(self.data, [p for p in step.new if p.text in found.made])
        if found.late:
            raise OutOfTime
        if step.new and found.failed >= {p.text for p in step.new}:
            return None
        passages = [replace(p, vector=found.vectors.get(p.text)) for p in (*step.before, *step.new)]
        written = passages if self.reindexing else [p for p in passages if p.vector is not None]
        if written:
            self.data.ports.search.upsert(self.data.keys.owner, written)
        lacking = [p for p in step.new if found.wanted and p.text not in found.vectors]
        if self.reindexing or found.unavailable is not None:
            return _Written(written, lacking_from=min(_seqs(lacking), default=None))
        return _Written(written, again=_seqs(lacking))

    def _note(self, span: Span, seen: IndexedRow, written: _Written) -> _Noted:
        """Note what was written. ``seen``: the row as read before. Nothing is noted where further words came in since
        that may belong to its context: in a burst of appends some always come in."""
        done = list(without(span, joined((seq, seq) for seq in written.again)))

        def noted(row: IndexedRow) -> IndexedRow | None:
            if row.indexed_seq != seen.indexed_seq and not written.complete:
                return None
            if not self.in_use:
                return row
            moved = replace(row, indexed_seq=max(row.indexed_seq, span[1])) if self.reindexing else row
            for part in done:
                moved = moved.with_vectors(part, written.lacking_from)
            return moved

        return _note_change(self.data, self.head.incarnation, written.passages, seen, noted)


def _seqs(passages: Iterable[Passage]) -> frozenset[int]:
    return frozenset(p.seq_from for p in passages if p.seq_from is not None)
