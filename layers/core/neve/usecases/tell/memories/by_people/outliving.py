"""Finds the memories that stay although something of their range is taken back: nothing of it that the user uttered is,
and a person has said something of them (docs/rules/retract.md#corrected)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from neve.domain.memories.made_of import ranges_of
from neve.domain.records.memories import Kind, Memory
from neve.domain.records.sessions import Event, EventType, SessionHead, Span, Spans
from neve.domain.retract.outliving import in_their_words, may_outlive
from neve.domain.sessions.spans import common, holds, meets, without
from neve.domain.sessions.transcript import event_text
from neve.domain.words import content_words
from neve.scope import SessionScope
from neve.store import rows
from neve.store.partitions import all_rows


@dataclass
class Outliving:
    """The memories of one session that stay, as its row says what is taken back. What has been found is known from then
    on: ``uttered`` says of parts of what is taken back whether the user uttered any of it, ``said`` the words of the
    events of a range."""

    scope: SessionScope
    session: SessionHead
    uttered: dict[Span, bool] = field(default_factory=dict)
    said: dict[Span, Mapping[int, frozenset[str]]] = field(default_factory=dict)

    def of(self, memories: Iterable[Memory]) -> frozenset[str]:
        """Give the ids of those that stay. Raises StoreUnavailable."""
        return frozenset(memory.id for memory in memories if self.stays(memory, self._ranges(memory)))

    def stays(self, memory: Memory, ranges: Spans) -> bool:
        """Say whether a memory stays. ``ranges``: what of the log it was made from. What was deleted cannot outlive its
        deletion. Raises StoreUnavailable."""
        taken_back = common(ranges, self.session.retracted)
        if not taken_back or any(meets(self.session.erased, part) for part in ranges):
            return False
        if not may_outlive(memory, self.scope.session, self.session.retracted):
            return False
        left = any(True for own in ranges for _ in without(own, self.session.retracted))
        if not left and self._ranges(memory):  # a reflection without a range has sources in other logs
            return False
        if any(self._user_uttered(part) for part in taken_back):
            return False
        return memory.kind is not Kind.FACT or in_their_words(memory) or self._still_said(memory, ranges)

    def _ranges(self, memory: Memory) -> Spans:
        return ranges_of(memory, self.scope.session)

    def _user_uttered(self, part: Span) -> bool:
        """Say whether the user uttered any of it; yes also where that is not known any more, because the event's time
        was over."""
        if part not in self.uttered:
            self.uttered[part] = self._any_of_the_user(part)
        return self.uttered[part]

    def _any_of_the_user(self, part: Span) -> bool:
        expected = part[0]
        for event in self._log(part):
            if event.seq != expected or event.event_type is EventType.USER_MESSAGE:
                return True
            expected += 1
        return expected <= part[1]

    def _still_said(self, fact: Memory, ranges: Spans) -> bool:
        """Say whether the events that stay have all of the fact's words that the events taken back have."""
        gone, stays = set[str](), set[str]()
        for part in ranges:
            for seq, words in self._words(part).items():
                (gone if holds(self.session.retracted, seq) else stays).update(words)
        return not (content_words(fact.text) & gone) - stays

    def _words(self, part: Span) -> Mapping[int, frozenset[str]]:
        if part not in self.said:
            self.said[part] = {event.seq: content_words(event_text(event)) for event in self._log(part)}
        return self.said[part]

    def _log(self, part: Span) -> Iterator[Event]:
        keys = self.scope.keys
        return map(rows.read_event, all_rows(self.scope.ports.table, keys.log, between=keys.events(*part)))
