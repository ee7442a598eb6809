"""E2 GET: the log in seq order, or backwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from neve.domain.errors import not_found
from neve.domain.metadata import has_all
from neve.domain.records.sessions import Event, Spans
from neve.domain.sessions.spans import holds
from neve.scope import SessionScope
from neve.store import rows
from neve.store.keys import LAST_SEQ
from neve.store.sessions.thinking import read_thinking, shown_thinking, with_thinking

MOST_READS = 8
"""Reads of the log by one call (*chosen*): what was taken back in one stretch is stepped over without a read."""
_ANY: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class EventPage:
    """One page of a log. ``covers``: the seqs that a compaction has summarised; events inside it are ``archived``.
    ``removed``: those of them that are gone for good, because their time was over. ``retracted``: what was taken
    back."""

    events: list[Event]
    covers: tuple[int, int] | None
    removed: tuple[int, int] | None
    next_from_seq: int | None
    retracted: Spans = ()


def list_events(
    scope: SessionScope,
    from_seq: int | None,
    limit: int,
    *,
    backwards: bool = False,
    retracted: bool = True,
    metadata: Mapping[str, str] = _ANY,
) -> EventPage:
    """Read at most ``limit`` events from ``from_seq`` on, that one included; None: from the end that the reading begins
    at. ``retracted``: with those that were taken back. ``metadata``: of these the ones that have all of it, so that a
    page may be short. Two reads, and one for what was thought in the open turn; without those that were taken back up
    to ``MOST_READS`` of the log, behind which the page ends, however short it is. Raises session_not_found."""
    keys = scope.keys
    found = scope.ports.table.get_many([keys.head, keys.session_head, keys.epoch])
    if rows.hidden(rows.read_head(found.get(keys.head))) or not rows.is_there(found, keys.session_head):
        raise not_found("session", scope.session)
    epoch = rows.read_epoch(found[keys.epoch])
    reading = _Reading(scope, limit, backwards, () if retracted else epoch.retracted)
    reading.run(from_seq or (LAST_SEQ if backwards else 1))
    covers = (epoch.covers_from, epoch.covers_to) if epoch.covers_from and epoch.covers_to else None
    removed = (epoch.covers_from, epoch.removed_to) if epoch.covers_from and epoch.removed_to else None
    shown = set(shown_thinking(rows.read_session(found[keys.session_head]))) & {event.seq for event in reading.events}
    events = with_thinking(reading.events, read_thinking(scope.ports.table, keys, shown))
    events = [event for event in events if has_all(event.metadata, metadata)]
    return EventPage(events, covers, removed, reading.next_seq, epoch.retracted)


@dataclass
class _Reading:
    """The state of one reading. ``skipped``: what is left out. ``next_seq``: where the next page begins; None where
    there is none."""

    scope: SessionScope
    limit: int
    backwards: bool
    skipped: Spans
    events: list[Event] = field(default_factory=list)
    next_seq: int | None = None

    def run(self, at: int) -> None:
        for _ in range(MOST_READS):
            at = self._behind(at)
            if at < 1:
                return
            keys, step = self.scope.keys, -1 if self.backwards else 1
            between = keys.events(1, at) if self.backwards else keys.events(at)
            page = self.scope.ports.table.query(keys.log, between=between, reverse=self.backwards, limit=self.limit)
            read = [rows.read_event(item) for item in page.items]
            kept = [event for event in read if not holds(self.skipped, event.seq)]
            room = self.limit - len(self.events)
            self.events += kept[:room]
            last = self.events[-1].seq if len(kept) > room else read[-1].seq if page.cursor and read else None
            self.next_seq = at = (last + step) if last is not None else 0
            if len(self.events) == self.limit or last is None:
                break
        self.next_seq = self.next_seq if self.next_seq and self.next_seq > 0 else None

    def _behind(self, at: int) -> int:
        """Give the first seq from there on that is in nothing ``skipped``."""
        for first, last in self.skipped:
            if first <= at <= last:
                return first - 1 if self.backwards else last + 1
        return at
