"""The ends of a user's logs that no observer has read yet (docs/rules/pack.md#just-said)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from neve.domain.records.markers import SessionMarker
from neve.domain.records.sessions import Event, EventType, SessionHead
from neve.domain.records.users import UserHead
from neve.domain.sessions.spans import holds
from neve.domain.tails.told import Told, told_of
from neve.ports.table import Index, Item, Table
from neve.scope import UserScope
from neve.store import rows
from neve.store.keys import SessionKeys, behind_prefix, due_partition, due_shard
from neve.usecases.core.lag.memory_lag import progress_of

MAX_LOOKED_AT = 50
"""Sessions whose rows are looked at for when they went on, the last ones by id (*chosen*: three rows of each)."""
MAX_SESSIONS = 3
"""The newest of these, which are told (docs/rules/pack.md#just-said)."""
PAGE, MAX_PAGES = 100, 3
"""Events of one query, and queries of one tail, from its end on (*chosen*: a turn of a hundred tool calls, and what was
said before it; a page ends at 1 MB)."""
ENOUGH_TOKENS = 1_000
"""Tokens of what the user said: no more of a tail is told."""


@dataclass(frozen=True, slots=True)
class Tail:
    """The end of a log that may not be observed. ``first``: seq of the first event that no observer has read."""

    keys: SessionKeys
    head: SessionHead
    marker: SessionMarker

    @property
    def first(self) -> int:
        return max(self.marker.observed_seq, self.marker.offered_seq) + 1


def sessions_that_may_have_one(scope: UserScope, but: str | None) -> list[SessionKeys]:
    """Find the user's sessions that may be behind, without the session ``but``: one query of the sparse index. Raises
    StoreUnavailable."""
    keys = scope.keys
    page = scope.ports.table.query(
        due_partition("behind", due_shard(keys)),
        index=Index.DUE,
        prefix=behind_prefix(keys),
        reverse=True,
        limit=MAX_LOOKED_AT,
    )
    return [keys.of_session(item["session_id"]) for item in page.items if item["session_id"] != but]


def tails_of(table: Table, sessions: Sequence[SessionKeys]) -> list[Tail]:
    """Read the tails of the ``MAX_SESSIONS`` that went on last, the newest first: one batch read, none for no session.
    Raises StoreUnavailable."""
    return newest_tails(
        Tail(keys, progress.head, progress.marker) for keys, progress in progress_of(table, sessions, passed_over)
    )


def passed_over(_: Exception) -> None:
    """Ignore a row that cannot be read: a prompt goes on without it, and the sweep says so
    (docs/rules/jobs.md#sweep)."""


def newest_tails(tails: Iterable[Tail]) -> list[Tail]:
    """Choose the newest of the tails that have events."""
    behind = [tail for tail in tails if tail.head.last_seq >= tail.first]
    behind.sort(key=lambda tail: (tail.head.last_event_at or "", tail.keys.session), reverse=True)
    return behind[:MAX_SESSIONS]


def told_in(table: Table, user: UserHead, tail: Tail) -> list[Told]:
    """Read what may be told elsewhere of a tail, in its order. Raises StoreUnavailable."""
    events: list[Event] = []
    cursor, said = None, 0
    between = tail.keys.events(tail.first, tail.head.last_seq)
    for _ in range(MAX_PAGES):
        page = table.query(tail.keys.log, between=between, reverse=True, limit=PAGE, cursor=cursor)
        events += [event for item in page.items if (event := _event(item, user, tail))]
        cursor = page.cursor
        said = sum(event.original_tokens for event in events if event.event_type is EventType.USER_MESSAGE)
        if cursor is None or said >= ENOUGH_TOKENS:
            break
    scene = tail.marker.scene if cursor is None else None
    return told_of(tail.keys.session, reversed(events), scene, tail.head.timezone)


def _event(item: Item, user: UserHead, tail: Tail) -> Event | None:
    """Read an event; None for what was taken back or is told in its session alone, and for one of an earlier
    incarnation."""
    if "audience" in item or item["incarnation"] != user.incarnation or holds(tail.head.retracted, item["seq"]):
        return None
    return rows.read_event(item)
