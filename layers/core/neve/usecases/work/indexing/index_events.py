"""Bring the utterances of a session's log into the search index: their words as soon as they are said, their vectors
when they are made (docs/rules/indexing.md#events).

``SESS#s#X`` says how far the words are indexed without a gap, so a message that was lost is made up for by the next
one, and a repeated message costs one read. The worker that moves it forward queues the vectors of just those events, so
none is embedded twice. An utterance is indexed with its neighbours' words: the two before a new one are indexed again
with it, and take the vectors along that they have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from neve.domain.indexing.passage import MAX_FOLLOWING, Passage
from neve.domain.indexing.utterances import utterance_passages
from neve.domain.memories.text import fingerprint
from neve.domain.records.sessions import Span, Spans
from neve.domain.sessions.spans import common, holds, joined, without
from neve.observing import SecondsLeft, for_ever
from neve.ports.engines import IndexingPorts, WordsPorts
from neve.ports.queue import QueueName
from neve.ports.search import IndexModel
from neve.scope import SessionData
from neve.store import rows
from neve.store.delete_rows import delete_partition
from neve.store.incarnation import UserErased
from neve.store.transact import transact
from neve.store.vectors import erase_vectors
from neve.usecases.core.jobs.messages.indexing import events_message
from neve.usecases.core.lag.indexed_row import IndexedRow
from neve.usecases.work.indexing.indexed_log import BATCH_SIZE, IndexedLog, read_log
from neve.usecases.work.indexing.vectors.user_vectors import passage_texts, vectors_for, with_known_vectors
from neve.usecases.work.indexing.vectors.worker_time import RESERVE_S

REINDEXED_BEFORE = 2
"""Utterances before the new ones whose own neighbours are new."""
CONTEXTS = 5
"""How often a step is written again because the words behind it came in meanwhile."""


class EmbedAgain(Exception):
    """Raised when texts could not be embedded for now. ``embedded``: what of the log is done with all the same."""

    def __init__(self, embedded: Spans = ()) -> None:
        super().__init__()
        self.embedded = embedded


class IndexingOutOfTime(EmbedAgain):
    """Raised when the worker ends before the last of the texts would be done: another one goes on. What was done stays
    done."""


def index_words(
    data: SessionData[WordsPorts], incarnation: int, last: int, *, again: bool, left: SecondsLeft = for_ever
) -> None:
    """Index the words of everything up to the seq ``last`` that is not indexed yet, and queue their vectors. ``again``:
    the message was delivered before, and the worker that had it may have died before it queued the vectors. ``left``:
    how long the worker may still run. Raises IndexingOutOfTime and StoreUnavailable; what was indexed before stays
    noted."""
    try:
        log = read_log(data, incarnation)
        if again and log.row.indexed_seq:
            queue_vectors(data, incarnation, log.row.not_embedded((1, min(last, log.row.indexed_seq))))
        for step in batches_of_span((log.row.indexed_seq + 1, last)):
            if left() < RESERVE_S:
                raise IndexingOutOfTime
            done = False
            while not done:
                log, done = _index_words(data, log, step)
    except UserErased:
        return


def index_vectors(
    data: SessionData[IndexingPorts], incarnation: int, spans: Sequence[Span], *, again: bool = False
) -> None:
    """Index the vectors of those of the events in ``spans`` that lack them. ``again``: the message was delivered
    before, and the worker that had it may have died between a vector and its look whether the text is still there:
    where something of it is not, all vectors of the user go (ADR 79). Raises EmbedAgain when some could not be
    embedded for now, behind the others, IndexingOutOfTime (what was embedded before stays noted), and
    StoreUnavailable."""
    failed = False
    try:
        read = log = read_log(data, incarnation)
        if again and common(log.gone, spans):
            delete_partition(data.ports.table, data.keys.vectors)
        lacking = [step for span in spans for part in _spans_to_embed(log.row, span) for step in batches_of_span(part)]
        for step in lacking:
            done = _Vectors(data).index(step, log)
            log, failed = done.log, failed or done.again
    except UserErased:
        return
    except IndexingOutOfTime:
        # A worker that only fails must not go round without a pause.
        if not failed or log.row != read.row:
            raise
    if failed:
        raise EmbedAgain(log.row.embedded)


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
    lacking: list[int] = []
    try:
        log = read_log(data, incarnation)
        for step in batches_of_span(seqs):
            done = _Vectors(data, reindexing=True, in_use=in_use).index(step, log)
            if done.again:
                raise EmbedAgain
            log = done.log
            lacking += [done.lacking_from] if done.lacking_from is not None else []
    except UserErased:
        return None
    return min(lacking, default=None)


def batches_of_span(span: Span) -> Iterator[Span]:
    first, last = span
    for start in range(first, last + 1, BATCH_SIZE):
        yield start, min(start + BATCH_SIZE - 1, last)


# --- what is in the log ---------------------------------------------------------------------------


def _step_passages(log: IndexedLog, span: Span) -> tuple[list[Passage], list[Passage]]:
    """Make the passages of the utterances just before a step, whose neighbours are new, and of those in it."""
    first, last = span
    utterances = log.utterances_around(first, last)
    before = [utterance.seq for utterance in utterances if utterance.seq < first][-REINDEXED_BEFORE:]
    within = [utterance.seq for utterance in utterances if first <= utterance.seq <= last]
    return (
        utterance_passages(utterances, before, log.version),
        utterance_passages(utterances, within, log.version),
    )


def confirm(
    data: SessionData[WordsPorts] | SessionData[IndexingPorts],
    seen: IndexedLog,
    written: Sequence[Passage],
    change: Callable[[IndexedLog], IndexedRow | None],
) -> tuple[IndexedLog, bool]:
    """Note the change of the row once ``written``, made of the log as it was ``seen``, is in the index. Return the log
    as it is now, and False where ``change`` returns None: it is to be written again first. Were it noted already, no
    worker would come back when this one fails in between. What has left the log meanwhile needs no look: whoever takes
    it out of the index writes what stands beside it too, and what comes behind with the version from before is refused.
    What was written leaves the index again if the user was erased. The user is checked with the first row only: an
    erasure takes the row away, and then the expected version is not there. Raises UserErased."""

    def attempt() -> tuple[IndexedLog, bool]:
        try:
            now = read_log(data, seen.head.incarnation)
        except UserErased:
            for identifier in sorted({passage.item_id for passage in written}):
                data.ports.search.trim(data.keys.owner, identifier, keep=0, version=seen.version)
            raise
        changed = change(now)
        if changed is None or changed == now.row:
            return now, changed is not None
        put = changed.put(data.keys, data.ports.clock.now())
        data.ports.table.write([put] if now.row.version else [put, rows.check_head(data.keys, now.head)])
        return replace(now, row=replace(changed, version=now.row.version + 1)), True

    return transact(data.ports, attempt)


# --- words ----------------------------------------------------------------------------------------


def _index_words(data: SessionData[WordsPorts], seen: IndexedLog, span: Span) -> tuple[IndexedLog, bool]:
    """Write the words of one step and queue their vectors. Return as ``confirm``. Raises UserErased."""
    search, (around, new) = data.ports.search, _step_passages(seen, span)
    model = search.model()
    # A step whose words another worker has noted meanwhile may have its vectors already.
    had = [one for one in new if one.seq_from and holds(seen.row.embedded, one.seq_from)]
    passages = [*with_known_vectors(data, model, [*around, *had]), *(one for one in new if one not in had)]
    if passages:
        search.upsert(data.keys.owner, passages)
    last, before = span[1], seen.row.indexed_seq

    def change(row: IndexedRow) -> IndexedRow:
        nonlocal before
        before = row.indexed_seq
        return _none_lacking(row.with_words(last), model) if last > before else row

    now, done = confirm_words(data, seen, model, passages, change)
    if done and model.dimensions and last > before:
        queue_vectors(data, seen.head.incarnation, [(before + 1, last)])
    return now, done


def confirm_words(
    data: SessionData[WordsPorts],
    seen: IndexedLog,
    model: IndexModel,
    written: Sequence[Passage],
    change: Callable[[IndexedRow], IndexedRow] = lambda row: row,
) -> tuple[IndexedLog, bool]:
    """Do as ``confirm``, and queue the vectors of events that were embedded and are written without: a vector is kept
    by content, and went with another text in the same words (ADR 62). Raises UserErased, StoreUnavailable."""
    seqs = {one.seq_from for one in written if model.dimensions and one.vector is None and one.seq_from}
    lost: list[int] = []

    def noted(log: IndexedLog) -> IndexedRow:
        row = log.row
        none_from = row.without_vectors_from
        lost[:] = [s for s in sorted(seqs) if holds(row.embedded, s) and (none_from is None or s < none_from)]
        return change(row.to_embed_again(lost))

    now, done = confirm(data, seen, written, noted)
    if done:
        queue_vectors(data, seen.head.incarnation, [(seq, seq) for seq in lost])
    return now, done


def _none_lacking(row: IndexedRow, model: IndexModel) -> IndexedRow:
    """Note all as embedded in an index that takes no vectors: it lacks none."""
    return row if model.dimensions else row.with_vectors((1, row.indexed_seq), None)


def queue_vectors(data: SessionData[WordsPorts], incarnation: int, spans: Iterator[Span] | list[Span]) -> None:
    """Queue the vectors of the events in these spans. Raises StoreUnavailable."""
    messages = [events_message(data.keys, incarnation, first, last) for first, last in spans]
    if messages:
        data.ports.queue.send(QueueName.EMBED, messages)


# --- vectors --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Written:
    """The result of one write. ``made``: the passages whose vectors may be new. ``again``: the seqs of texts that a
    later attempt may embed. ``lacking_from``: the first of those that have no vector and will have none for now."""

    passages: Sequence[Passage]
    made: Sequence[Passage]
    again: frozenset[int] = frozenset()
    lacking_from: int | None = None

    @property
    def complete(self) -> bool:
        """Say whether no words that are still to come belong to the context of a passage."""
        return all(passage.following_known == MAX_FOLLOWING for passage in self.passages)


@dataclass(frozen=True, slots=True)
class _Done:
    """One step. ``log``: as it is left. ``again``: some texts are to be tried again. ``lacking_from``: as written."""

    log: IndexedLog
    again: bool
    lacking_from: int | None = None


@dataclass(frozen=True, slots=True)
class _Vectors:
    """The vectors of one session's log. ``reindexing``: also what has no vector, and whatever is noted; ``in_use``
    False: and nothing is noted."""

    data: SessionData[IndexingPorts]
    reindexing: bool = False
    in_use: bool = True

    def index(self, span: Span, log: IndexedLog) -> _Done:
        """Index the vectors of one step. Words that come in meanwhile belong to the context of what is written here,
        and their own write found no vectors to take along: then the step is written again. Raises IndexingOutOfTime,
        UserErased."""
        for _ in range(CONTEXTS):
            written = self._write(log, span)
            if written is None:
                return _Done(log, again=True)
            log, done = self._note(span, log, written)
            if done:
                return _Done(log, bool(written.again), written.lacking_from)
        return _Done(log, again=True)

    def _write(self, log: IndexedLog, span: Span) -> _Written | None:
        """Embed and write one step; None when not one text could be embedded and a later attempt may do better. Raises
        IndexingOutOfTime, UserErased."""
        before, new = _step_passages(log, span)
        found = vectors_for(self.data, passage_texts(new), passage_texts(before))
        if found.late:
            self._has_left(log, read_log(self.data, log.head.incarnation), new)
            raise IndexingOutOfTime
        if new and found.failed >= {p.text for p in new}:
            return None
        passages = [replace(p, vector=found.vectors.get(p.text)) for p in (*before, *new)]
        written = passages if self.reindexing else [p for p in passages if p.vector is not None]
        if written:
            self.data.ports.search.upsert(self.data.keys.owner, written)
        lacking = [p for p in new if found.wanted and p.text not in found.vectors]
        if self.reindexing or found.unavailable is not None:
            return _Written(written, new, lacking_from=min(_seqs(lacking), default=None))
        return _Written(written, new, again=_seqs(lacking))

    def _note(self, span: Span, seen: IndexedLog, written: _Written) -> tuple[IndexedLog, bool]:
        """Note what was written. Nothing is noted where further words came in since that may belong to its context: in
        a burst of appends some always come in."""
        done = list(without(span, joined((seq, seq) for seq in written.again)))

        def noted(now: IndexedLog) -> IndexedRow | None:
            row = now.row
            if self._has_left(seen, now, written.made):
                return None
            if row.indexed_seq != seen.row.indexed_seq and not written.complete:
                return None
            if not self.in_use:
                return row
            moved = replace(row, indexed_seq=max(row.indexed_seq, span[1])) if self.reindexing else row
            for part in done:
                moved = moved.with_vectors(part, written.lacking_from)
            return moved

        return confirm(self.data, seen, written.passages, noted)

    def _has_left(self, seen: IndexedLog, now: IndexedLog, made: Sequence[Passage]) -> bool:
        """Say whether something has left the log since its texts were read. Whoever took it out may have looked for its
        vectors before they were kept: then those of all texts go that were read. Raises StoreUnavailable."""
        if now.version == seen.version:
            return False
        erase_vectors(self.data.ports.table, self.data.keys, {fingerprint(one.text) for one in made})
        return True


def _seqs(passages: Iterable[Passage]) -> frozenset[int]:
    return frozenset(p.seq_from for p in passages if p.seq_from is not None)
