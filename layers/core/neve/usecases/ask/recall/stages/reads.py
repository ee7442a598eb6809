"""Read from the row store who asks, what their prompt holds already, and what is so new that the search index may not
have it. This is the first step of a recall, beside the embedding of the query and before the index is searched by
words: rows that the index gets meanwhile are in both, and rows that it lacks are here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Generic, TypeVar

from neve.domain.compile.history import hidden_events
from neve.domain.errors import not_found
from neve.domain.indexing.passage import Source
from neve.domain.records.epochs import HistoryCut, SessionEpoch
from neve.domain.records.packs import PackPointer
from neve.domain.records.sessions import SessionHead, Spans
from neve.domain.records.users import UserHead
from neve.domain.sessions.spans import holds
from neve.ports.errors import DeadlineExceeded, StoreUnavailable
from neve.ports.runtime import Task
from neve.ports.table import Index, Item, ItemPage
from neve.scope import UserScope
from neve.store import rows
from neve.store.keys import NO_WORDS, is_unheld_key
from neve.usecases.ask.recall.command import Beside, ResolvedRequest
from neve.usecases.ask.recall.dropped import History
from neve.usecases.ask.recall.recall_rows import NOT_READ, RecallRow, read_row, row_key
from neve.usecases.ask.recall.stages.hydrate import with_texts
from neve.usecases.ask.recall.time_budget import Collector, TimeBudget
from neve.usecases.core.lag.indexed_row import read_indexed
from neve.usecases.core.lag.memory_lag import MemoryLag, memories_lag, some_behind, user_lag, words_lag
from neve.usecases.core.pack.served_pack import PACK_CONTENTS, PackContents, contents_of

NEW_ROWS = 200
"""Rows whose words the index may not have compete by themselves, at most this many, newest first
(docs/rules/recall.md#new-rows). Behind them the same read has the facts that do not hold, as far as it goes."""
TAIL_EVENTS = 50
"""The newest events of the session that compete by themselves, likewise."""
PACK_ERROR = "pack:error"
RECENT_ERROR = "recent:error"
"""The flags, with ``pack:timeout`` and ``recent:timeout``: what a recall goes on without."""


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Known(Generic[T]):
    """A ``ports.Task`` whose result is there already: it takes no thread."""

    value: T
    elapsed_ms: float = 0.0

    def result(self, deadline_ms: float | None = None) -> T:  # noqa: ARG002  (of the port)
        return self.value


@dataclass(frozen=True, slots=True)
class UserState:
    """The rows of the user and the session. ``indexed_seq``: utterances of the session up to here are in the search
    index. ``last_seq``: of its log. ``excluded``: the rows of the ids that the caller named. ``pack``: the one that it
    serves. ``history``: what the prompt shows of the session, where it does. ``retracted``: what was taken back of it.
    ``timezone``: of its user."""

    head: UserHead
    excluded: list[Item]
    indexed_seq: int = 0
    last_seq: int = 0
    pack: PackPointer | None = None
    history: History | None = None
    retracted: Spans = ()
    timezone: str = "UTC"


@dataclass(frozen=True, slots=True)
class IndexLag:
    """The lag of memory: ``known`` of what was found missing, and ``counted`` over all that the user has."""

    known: MemoryLag
    counted: Task[MemoryLag]

    def lag(self, deadline_ms: float) -> MemoryLag:
        """Return the counted lag; where it was not counted in time, what is known, as the least: it decides over no
        hit."""
        try:
            return self.counted.result(deadline_ms)
        except (DeadlineExceeded, StoreUnavailable):
            return replace(self.known, at_least=True)


@dataclass(frozen=True, slots=True)
class Aside:
    """The reads under way beside the legs: the pack of the session; the rows that may be missing in the index, newest
    first, with the texts of documents; the newest of the session's events that are; how far memory is behind, where
    there is something among what could be found which neither the index nor these cover; and the facts that do not
    hold."""

    pack: Task[PackContents | None]
    new_rows: Task[list[Item]]
    unheld: Task[list[Item]]
    tail: Task[list[Item]]
    index_lag: IndexLag | None

    def collect(self, deadline_ms: float, collected: Collector) -> tuple[PackContents | None, list[Item], list[Item]]:
        """Return the pack, what may be missing in the index, and what does not hold, without what could not be read:
        hits may then repeat the pack, lack what is newest, or say what holds no longer."""
        pack = collected.of(self.pack, deadline_ms, PACK_ERROR)
        new_rows = collected.of(self.new_rows, deadline_ms, RECENT_ERROR) or []
        unheld = collected.of(self.unheld, deadline_ms, RECENT_ERROR) or []
        return pack, new_rows + (collected.of(self.tail, deadline_ms, RECENT_ERROR) or []), unheld


@dataclass(frozen=True, slots=True)
class Reads:
    """The reads under way; see ``collect``."""

    scope: UserScope
    request: ResolvedRequest
    user_state: Task[UserState]
    new_rows: Task[ItemPage]
    missed: Task[MemoryLag | None]

    def collect(self, budget: TimeBudget) -> tuple[UserState, Aside]:
        """Wait for the user's rows; return them and the reads that were begun with them. Raises session_not_found,
        user_closed, StoreUnavailable, DeadlineExceeded."""
        user_state = self.user_state.result(budget.legs_end_ms)
        known = Collector()
        new_rows = known.of(self.new_rows, budget.words_begin_ms, RECENT_ERROR)
        missed = [_missed_here(self.request, user_state)]
        if new_rows is not None:
            missed.append(_missed_rows(self.request, user_state.head, new_rows, self.scope.ports.clock.now()))
        missed.append(known.of(self.missed, budget.words_begin_ms, RECENT_ERROR))
        if known.degraded:
            # Rows that could not be read, or not in time, may lack words.
            missed.append(MemoryLag(at_least=True))
        lags, count = [lag for lag in missed if lag is not None], self.scope.ports.tasks.start
        return user_state, Aside(
            _start_contents(self.scope, self.request, user_state.pack),
            self._start_texts(new_rows),
            self.scope.ports.tasks.start(lambda: _unheld(self.new_rows.result()))
            if new_rows is None
            else Known(_unheld(new_rows)),
            _start_tail(self.scope, self.request, user_state),
            IndexLag(sum(lags, MemoryLag()), count(lambda: user_lag(self.scope))) if lags else None,
        )

    def _start_texts(self, new_rows: ItemPage | None) -> Task[list[Item]]:
        """Start to read the texts of new rows, also of those that are late: they compete if they are there when the
        legs end."""
        if new_rows is not None and not _without_words(new_rows):
            return Known([])
        table, keys = self.scope.ports.table, self.scope.keys
        return self.scope.ports.tasks.start(lambda: with_texts(table, keys, _without_words(self.new_rows.result())))


def start_reads(scope: UserScope, request: ResolvedRequest) -> Reads:
    return Reads(
        scope,
        request,
        scope.ports.tasks.start_read(lambda: _user_state(scope, request)),
        scope.ports.tasks.start_read(lambda: _new_rows(scope)),
        scope.ports.tasks.start_read(lambda: _missed_elsewhere(scope, request)),
    )


def _user_state(scope: UserScope, request: ResolvedRequest) -> UserState:
    named = [key for i in request.command.exclude_ids if (key := row_key(scope.keys, i))]
    session = scope.of_session(request.command.session_id) if request.command.session_id is not None else None
    own = [session.keys.session_head, session.keys.epoch, session.keys.indexed] if session else []
    found = scope.ports.table.get_many(list(dict.fromkeys([scope.keys.head, *named, *own])))
    head, excluded = rows.read_head(found.get(scope.keys.head)), [found[key] for key in named if key in found]
    rows.not_closed(head)  # nothing is left of a closed user's sessions
    if session is None or rows.hidden(head):
        return UserState(head, excluded)
    if not rows.is_there(found, session.keys.session_head):
        raise not_found("session", session.session)
    item, indexed = found.get(session.keys.epoch), read_indexed(session.session, found.get(session.keys.indexed))
    log = rows.read_session(found[session.keys.session_head])
    epoch = rows.read_epoch(item) if item else None
    pack = epoch.pack if epoch else None
    return UserState(
        head,
        excluded,
        indexed.indexed_seq,
        log.last_seq,
        pack,
        _history(request.command.beside, log, epoch) if epoch else None,
        log.retracted,
        timezone=log.timezone,
    )


def _history(beside: Beside, log: SessionHead, epoch: SessionEpoch) -> History | None:
    """Return what the prompt shows of the session. The question is what stands behind the last complete turn."""
    if beside == "pack":
        return None
    before_the_question = HistoryCut(epoch.epoch, 1, log.complete_seq)
    return History(log.session_id, hidden_events(epoch) if beside == "history" else before_the_question)


def _start_contents(scope: UserScope, request: ResolvedRequest, pack: PackPointer | None) -> Task[PackContents | None]:
    """Start to read what the pack holds, where this process has not seen it. It does not say what held in the past."""
    of_now = request.command.as_of is None and request.command.beside != "question"
    if request.command.session_id is None or pack is None or not of_now:
        return Known(None)
    keys, cache = scope.keys.of_session(request.command.session_id), scope.ports.caches.of(PACK_CONTENTS)
    known = cache.get(keys)
    if known is not None and known.served_by(pack):
        return Known(known)

    def read() -> PackContents | None:
        item = scope.ports.table.get(keys.pack(pack.pack_version))
        try:
            return cache.put(keys, contents_of(rows.read_manifest(item))) if item else None
        except NOT_READ as error:
            raise StoreUnavailable("table", f"a manifest that this version cannot read: {error!r}") from error

    return scope.ports.tasks.start_read(read)


def _new_rows(scope: UserScope) -> ItemPage:
    """Read the rows that have no words in the index yet, and behind them facts that do not hold, in one read."""
    return scope.ports.table.query(
        scope.keys.partition,
        index=Index.RECENT,
        prefix=NO_WORDS,
        reverse=True,
        limit=NEW_ROWS,
    )


def _without_words(page: ItemPage) -> list[Item]:
    return [item for item in page.items if "rev_at" in item and "words_at" not in item]


def _unheld(page: ItemPage) -> list[Item]:
    return [item for item in page.items if is_unheld_key(item["recent_sk"])]


def _start_tail(scope: UserScope, request: ResolvedRequest, user_state: UserState) -> Task[list[Item]]:
    """Start to read the newest events of the session that the index lacks. As a rule there are none, and nothing is
    read: fifty of them may be many megabytes."""
    last, indexed = user_state.last_seq, user_state.indexed_seq
    if not request.session_tail or indexed >= last:
        return Known([])
    keys, table = scope.keys.of_session(str(request.command.session_id)), scope.ports.table
    lacking = keys.events(max(indexed, last - TAIL_EVENTS) + 1, last)

    def read() -> list[Item]:
        found = table.query(keys.log, between=lacking, reverse=True, limit=TAIL_EVENTS).items
        return [item for item in found if not holds(user_state.retracted, item["seq"])]

    return scope.ports.tasks.start(read)


# --- what cannot be found yet ----------------------------------------------------------------------


def _missed_here(request: ResolvedRequest, user_state: UserState) -> MemoryLag | None:
    """Return the lag of the session that was named, if it has events which neither the index nor its tail covers."""
    named, where = request.command.session_id, request.where
    if named is None or where.not_session_id == named or not request.utterances:
        return None
    covered = user_state.last_seq - TAIL_EVENTS if request.session_tail else user_state.last_seq
    lacking = user_state.last_seq - user_state.indexed_seq
    return MemoryLag(lacking, lacking, lacking) if covered > user_state.indexed_seq else None


def _missed_rows(request: ResolvedRequest, head: UserHead, new_rows: ItemPage, now: datetime) -> MemoryLag | None:
    """Return the lag of memories and documents, if more of them lack their words than compete by themselves, or if a
    document does whose text is an object, which cannot compete."""
    if not request.looked_for or not {Source.MEMORY, Source.DOCUMENT} & set(request.where.sources):
        return None
    if new_rows.cursor is not None and not _unheld(new_rows):
        return memories_lag(new_rows.items, now)
    long = [item for item in new_rows.items if "text_object" in item]
    asked_for = [one for one in long if isinstance(read_row(one | {"text": "?"}, head, request.where), RecallRow)]
    return memories_lag(asked_for, now) if asked_for else None


def _missed_elsewhere(scope: UserScope, request: ResolvedRequest) -> MemoryLag | None:
    """Return the lag of other sessions, if they have events that are not in the index yet. One query while none is
    behind."""
    if not request.utterances or request.where.session_id is not None:
        return None
    table, named = scope.ports.table, request.command.session_id
    sessions, all_of_them = some_behind(table, scope.keys)
    lag = words_lag(table, (keys for keys in sessions if keys.session != named), scope.ports.clock.now())
    return lag if lag.events or not all_of_them else None
