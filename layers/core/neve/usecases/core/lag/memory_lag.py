"""Measures how far a user's memory is behind what was said: what recall cannot find yet, and why
(docs/rules/indexing.md#lag).

A session enters the sparse index of those that may be behind with an append, and is taken out when everything is done:
by the pass that observed it, else by the sweep. What is up to date costs no read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Protocol

from neve.domain.records.markers import SessionMarker
from neve.domain.records.sessions import SessionHead
from neve.domain.sessions.idle import looked_at_next
from neve.domain.sessions.spans import without
from neve.domain.times import parse
from neve.ports.errors import Conflict
from neve.ports.table import Index, Item, Key, Table
from neve.scope import SessionData, UserScope
from neve.store import rows
from neve.store.filings import put_open_session
from neve.store.keys import (
    LACK_WORDS,
    SessionKeys,
    UserKeys,
    behind_prefix,
    due_partition,
    due_shard,
)
from neve.store.partitions import all_rows
from neve.usecases.core.lag.indexed_row import IndexedRow, read_indexed

MAX_MEMORIES = 1_000
"""Memories and documents that a user's lag counts (*chosen*: the index of those that lack something holds whole rows,
some 1 KB each, so this many are read for 125 units)."""
MAX_SESSIONS = 200
"""Sessions that it counts (*chosen*: three rows of each are read)."""
_PAGE = 200
Unreadable = Callable[[Exception], object]
"""Hears of a row that this version cannot read."""


@dataclass(frozen=True, slots=True)
class MemoryLag:
    """The lag of a user or a session. ``events``: not in the index with their words. ``unindexed``: those, and memories
    that are not at their rev. ``unembedded``: events and memories without their vectors. ``unobserved``: events up to
    the last complete turn that no pass has read. ``seconds``: how long the oldest of all these has waited.
    ``at_least``: not everything was counted, so each number may be larger."""

    events: int = 0
    unindexed: int = 0
    unembedded: int = 0
    unobserved: int = 0
    seconds: int = 0
    at_least: bool = False

    def __add__(self, other: MemoryLag) -> MemoryLag:
        return MemoryLag(
            self.events + other.events,
            self.unindexed + other.unindexed,
            self.unembedded + other.unembedded,
            self.unobserved + other.unobserved,
            max(self.seconds, other.seconds),
            self.at_least or other.at_least,
        )

    @property
    def none(self) -> bool:
        return not (self.unindexed or self.unembedded or self.unobserved)


@dataclass(frozen=True, slots=True)
class Progress:
    """The rows of one session that say how far everything is."""

    head: SessionHead
    marker: SessionMarker
    indexed: IndexedRow

    def lag(self, now: datetime) -> MemoryLag:
        events = max(0, self.head.last_seq - self.indexed.indexed_seq)
        unembedded = self.indexed.unembedded(self.head.last_seq)
        done = [self.head.last_seq]
        done += [self.indexed.embedded_to] if unembedded else []
        done += [self.read_to] if self.unobserved else []
        since = self._appended_behind(min(done))
        return MemoryLag(events, events, unembedded, self.unobserved, _seconds(now, since))

    def lacking_s(self, now: datetime) -> int:
        """Give how long the oldest event that lacks its words or vectors has waited, in seconds. What waits for a pass
        alone lacks nothing of the index."""
        return _seconds(now, self._appended_behind(self.indexed.embedded_to)) if self.lacks_something else 0

    @property
    def unobserved(self) -> int:
        """Count the events up to the last complete turn that no pass has read."""
        return max(0, self.head.complete_seq - self.read_to)

    @property
    def read_to(self) -> int:
        """Give the last event that a pass has read."""
        return max(self.marker.observed_seq, self.marker.offered_seq)

    def caught_up(self, now: datetime) -> bool:
        """Say whether the session may leave the index: nothing lags, and no message waits for an answer that never
        came. A new session's first pack tells of that one, which no pass reads before the end."""
        left = without((self.read_to + 1, self.head.last_seq), self.head.retracted)
        return self.lag(now).none and (self.head.status == "extracted" or not any(left))

    @property
    def lacks_something(self) -> bool:
        """Say whether events lack their words or their vectors."""
        return self.indexed.unembedded(self.head.last_seq) > 0

    def _appended_behind(self, seq: int) -> int | None:
        """Give the time when the first event behind ``seq`` was appended, in epoch seconds; None when there is none."""
        return next((at for last, at in self.head.behind if last > seq), None)


def progress_rows(keys: SessionKeys) -> list[Key]:
    return [keys.session_head, keys.marker, keys.indexed]


def read_progress(keys: SessionKeys, found: Mapping[Key, Item]) -> Progress | None:
    """Read the progress of a session; None for one that is not there (any more)."""
    head, marker, indexed = (found.get(key) for key in progress_rows(keys))
    if head is None or marker is None:
        return None
    return Progress(rows.read_session(head), rows.read_marker(marker), read_indexed(keys.session, indexed))


# --- of a user ------------------------------------------------------------------------------------


def sessions_behind(table: Table, keys: UserKeys) -> list[SessionKeys]:
    """Find the sessions of one user that may be behind; the index may be a moment late. Raises StoreUnavailable."""
    return list(_behind(table, keys))


def _behind(table: Table, keys: UserKeys) -> Iterator[SessionKeys]:
    partition = due_partition("behind", due_shard(keys))
    found = all_rows(table, partition, index=Index.DUE, prefix=behind_prefix(keys))
    return (keys.of_session(item["session_id"]) for item in found)


def progress_of(
    table: Table, sessions: Iterable[SessionKeys], unreadable: Unreadable | None = None
) -> Iterator[tuple[SessionKeys, Progress]]:
    """Read the progress of sessions in one batch read. ``unreadable``: told of rows that cannot be read, which are left
    out then; without it they raise. Raises StoreUnavailable."""
    wanted = list(sessions)
    found = table.get_many([key for keys in wanted for key in progress_rows(keys)]) if wanted else {}
    for keys in wanted:
        try:
            progress = read_progress(keys, found)
        except Exception as error:
            if unreadable is None:
                raise
            unreadable(error)
            continue
        if progress is not None:
            yield keys, progress


def user_lag(scope: UserScope) -> MemoryLag:
    """Measure the lag over the first ``MAX_SESSIONS`` that may be behind, and ``MAX_MEMORIES``. Raises
    StoreUnavailable."""
    table, now = scope.ports.table, scope.ports.clock.now()
    sessions, all_of_them = some_behind(table, scope.keys)
    lag = sum(
        (progress.lag(now) for _, progress in progress_of(table, sessions)), lag_of_memories(table, scope.keys, now)
    )
    return replace(lag, at_least=lag.at_least or not all_of_them)


def some_behind(table: Table, keys: UserKeys) -> tuple[list[SessionKeys], bool]:
    """Find the first ``MAX_SESSIONS`` of ``sessions_behind``, and whether these are all. Raises StoreUnavailable."""
    found = list(islice(_behind(table, keys), MAX_SESSIONS + 1))
    return found[:MAX_SESSIONS], len(found) <= MAX_SESSIONS


def words_lag(table: Table, sessions: Iterable[SessionKeys], now: datetime) -> MemoryLag:
    """Measure the lag of those of the sessions whose words are not all in the index, observed or not: two rows each are
    read. Raises StoreUnavailable."""
    wanted = list(sessions)
    places = [key for keys in wanted for key in (keys.session_head, keys.indexed)]
    found = table.get_many(places) if places else {}
    lag = MemoryLag()
    for keys in wanted:
        if keys.session_head in found:
            head = rows.read_session(found[keys.session_head])
            observed = SessionMarker(keys.session, observed_seq=head.last_seq)
            one = Progress(head, observed, read_indexed(keys.session, found.get(keys.indexed))).lag(now)
            lag += one if one.events else MemoryLag()
    return lag


def memories_lag(lacking: Iterable[Item], now: datetime) -> MemoryLag:
    """Measure the lag by what the index ``recent`` says of memories and documents. Of facts that do not hold it has
    those, too, that lack nothing."""
    lag = MemoryLag()
    for item in lacking:
        if "rev_at" in item:
            since = _seconds(now, int(parse(item.get("words_at") or item["rev_at"]).timestamp()))
            lag += MemoryLag(unindexed=int("words_at" not in item), unembedded=1, seconds=since)
    return lag


def lag_of_memories(table: Table, keys: UserKeys, now: datetime) -> MemoryLag:
    """Measure the lag of memories: those without words before those without vectors only, of each the newest first.
    Where they are too many, the oldest of both is looked up beside."""
    lag, cursor = MemoryLag(), None
    for _ in range(MAX_MEMORIES // _PAGE):
        page = table.query(keys.partition, index=Index.RECENT, reverse=True, limit=_PAGE, cursor=cursor)
        lag, cursor = lag + memories_lag(page.items, now), page.cursor
        if cursor is None:
            return lag
    oldest = [
        memories_lag(table.query(keys.partition, index=Index.RECENT, between=between, limit=1).items, now).seconds
        for between in (None, LACK_WORDS)
    ]
    return replace(lag, seconds=max(lag.seconds, *oldest), at_least=True)


def _seconds(now: datetime, since: int | None) -> int:
    return 0 if since is None else max(0, int(now.timestamp()) - since)


# --- leaving --------------------------------------------------------------------------------------


class _Ports(Protocol):
    @property
    def table(self) -> Table: ...


def leave_if_caught_up(data: SessionData[_Ports], now: datetime) -> None:
    """Take a session that is caught up out of the index: behind a pass, and by the sweep for sessions whose turn was
    never completed before their end, or whose vectors came later. Raises StoreUnavailable."""
    progress = read_progress(data.keys, data.ports.table.get_many(progress_rows(data.keys)))
    if progress is not None and progress.caught_up(now):
        leave(data, progress, now)


def leave(data: SessionData[_Ports], progress: Progress, now: datetime) -> None:
    """Take a session of which nothing lags out of the index, unless a message of it waits: then its end is waited for,
    too, which comes when it is looked at. An append that wins against this is another that has to be caught up with.
    Raises StoreUnavailable."""
    if not progress.head.behind:
        return
    _ensure_watched(data, progress.head)
    if not progress.caught_up(now):
        return
    try:
        data.ports.table.write([rows.put_session(data.keys, replace(progress.head, behind=(), unwatched=False))])
    except Conflict:
        return


def _ensure_watched(data: SessionData[_Ports], head: SessionHead) -> None:
    """Note the session among those that are looked at when they may be idle, where the outbox has given up the batch
    that says so. One read for each time that a session is opened or goes on after its end."""
    table, keys = data.ports.table, data.keys
    if head.unwatched and head.status != "extracted" and table.get(keys.open_session) is None:
        table.write([put_open_session(keys, looked_at_next(head))])
