"""One pass's commit: at most one observation, the citations, the marker, the live list, and which events were refused,
in one transaction conditional on the lease (docs/rules/observe.md#commit)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from neve.domain.observe.text import fingerprint, observed_date, priority_of, referenced_date, time_of_day
from neve.domain.observe.trust import lowest, trust_of_lines
from neve.domain.records import (
    Event,
    EventType,
    Kind,
    LiveRow,
    Memory,
    MemoryPassage,
    Provenance,
    RefusedEvent,
    Scope,
    SessionMarker,
    Status,
    Tier,
)
from neve.domain.times import iso, parse
from neve.observing import Observed
from neve.ports import MAX_WRITE_OPS, Item, Key, Put, Version, WriteOp
from neve.scope import SessionScope
from neve.store import rows
from neve.store.transact import transact
from neve.usecases.erase.incarnation import UserErased, still_there
from neve.usecases.observe.lease import check_lease
from neve.usecases.tenants.usage import usage_put

BASE_TAG = "observational-memory"
DEFAULT_IMPORTANCE = 3
EMPTY_OFFERS = 3
"""After this many passes that found nothing, the marker advances anyway (docs/rules/observe.md#marker)."""


@dataclass(frozen=True, slots=True)
class PassRead:
    """What the observer was shown: the seqs ``first`` to ``shown_to`` (``events`` are those of them that it can read).
    It did justice to them up to ``covered_to``. ``advance``: the marker moves there even when it found nothing.
    ``refused``: events among them that it would not read."""

    first: int
    covered_to: int
    shown_to: int
    events: Sequence[Event]
    advance: bool
    refused: tuple[RefusedEvent, ...] = ()


@dataclass(frozen=True, slots=True)
class Committed:
    """``written``: the id of the new memory, if there is one; ``reinforced``: ids of those that were cited."""

    written: str | None
    reinforced: list[str]
    marker: SessionMarker


@dataclass(frozen=True)
class PassCommit:
    """``observed`` None: the observer was not asked, or refused. ``token``: of the lease."""

    scope: SessionScope
    incarnation: int
    token: int
    observed: Observed | None
    read: PassRead

    def write(self) -> Committed:
        """Raises LeaseLost, UserErased. Everything but the observer's answer is read again on every attempt."""
        memory_id = f"mem_{self.scope.ports.ids.ulid(self.scope.ports.clock.now())}"
        return transact(self.scope.ports, lambda: self._attempt(memory_id))

    def _attempt(self, memory_id: str) -> Committed:
        keys, now, observed = self.scope.keys, self.scope.ports.clock.now(), self.observed
        cited = [keys.memory(i) for i in observed.used_memory_ids] if observed else []
        refused = [keys.event(one.seq) for one in self.read.refused]
        found = self.scope.ports.table.get_many(
            [keys.head, keys.session_head, keys.marker, keys.usage, *cited, *refused]
        )
        head = rows.read_head(found.get(keys.head))
        still_there(head, self.incarnation)
        if keys.marker not in found:
            raise UserErased
        marker = rows.read_marker(found[keys.marker])
        bumps = self._bumps(found, cited, iso(now))
        if marker.last_pass == memory_id:  # our own commit, whose response was lost
            written = memory_id if any(row.id == memory_id for row in marker.live) else None
            return Committed(written, _ids(bumps), marker)
        check_lease(marker, self.token, now)
        timezone = rows.read_session(found[keys.session_head]).user_meta.get("timezone", "UTC")
        memory = self._memory(memory_id, observed, timezone) if observed else None
        moved = replace(self._moved(marker, memory), last_pass=memory_id)
        ops: list[WriteOp] = [rows.guard_user(keys, head, now), rows.put_marker(keys, moved)]
        ops += self._notes(found)
        if memory:
            ops.append(rows.put_memory(keys, replace(memory, born_gen=head.gen)))
        if observed and observed.usage:
            ops.append(usage_put(keys, found.get(keys.usage), _model_usage(observed)))
        bumps = bumps[: MAX_WRITE_OPS - len(ops)]
        self.scope.ports.table.write([*ops, *bumps])
        return Committed(memory.id if memory else None, _ids(bumps), moved)

    def _memory(self, memory_id: str, observed: Observed, timezone: str) -> Memory | None:
        """None when nothing was worth keeping."""
        if not observed.has_memory or not observed.lines:
            return None
        now, events = iso(self.scope.ports.clock.now()), self.read.events
        text = "\n".join(line.text for line in observed.lines)
        trusts = trust_of_lines(observed.lines, events)
        at = iso(parse(events[-1].created_at))
        by_user = any(event.event_type is EventType.USER_MESSAGE for event in events)
        return Memory(
            id=memory_id,
            kind=Kind.OBSERVATION,
            tier=Tier.EPISODIC,
            scope=Scope.SESSION,
            session_id=self.scope.session,
            text=text,
            passages=tuple(
                MemoryPassage(line.text, line.seq_from, line.seq_to, trust)
                for line, trust in zip(observed.lines, trusts, strict=True)
            ),
            priority=priority_of(text),
            importance=DEFAULT_IMPORTANCE,
            fingerprint=fingerprint(text),
            status=Status.ACTIVE,
            tags=(BASE_TAG,),
            provenance=Provenance(
                by="user_stated" if by_user else "assistant",
                session_id=self.scope.session,
                seq_from=self.read.first,
                seq_to=self.read.covered_to,
                model=observed.model,
                trust=lowest(trusts),
            ),
            observed_date=observed_date(at, timezone),
            time_of_day=time_of_day(at, timezone),
            referenced_date=referenced_date(text),
            created_at=now,
            observed_at=at,
            last_used_at=now,
            tokens=self.scope.count(text),
            rev=1,
            rev_at=now,
            born_gen=0,
        )

    def _bumps(self, found: dict[Key, Item], cited: list[Key], now: str) -> list[Put]:
        """Citation moves ``last_used_at`` and with it the rank; nothing else does."""
        puts = []
        for key in cited:
            if key in found:
                memory = rows.read_memory(found[key])
                puts.append(rows.put_memory(self.scope.keys, replace(memory, last_used_at=now)))
        return puts

    def _notes(self, found: dict[Key, Item]) -> list[WriteOp]:
        """The rows of the refused events, each with the reason."""
        notes: list[WriteOp] = []
        for one in self.read.refused:
            row = found.get(self.scope.keys.event(one.seq))
            if row:
                notes.append(Put(row | {"unobservable": {"reason": one.reason}}, Version(row["version"])))
        return notes

    def _moved(self, marker: SessionMarker, memory: Memory | None) -> SessionMarker:
        marker = self._read_to(marker, memory)
        if self.read.refused or marker.limit_to is None or marker.observed_seq >= marker.limit_to:
            marker = replace(marker, pass_limit=None, limit_to=None, refused=())
        if memory:
            marker = replace(marker, live=(*marker.live, LiveRow(memory.id, memory.kind, memory.tokens)))
        if self.observed is None:
            return marker
        return replace(
            marker,
            current_task=self.observed.current_task or marker.current_task,
            suggested_continuation=self.observed.suggested_continuation or marker.suggested_continuation,
            thread_title=self.observed.thread_title or marker.thread_title,
        )

    def _read_to(self, marker: SessionMarker, memory: Memory | None) -> SessionMarker:
        """How far the session is observed and offered. What the observer left to the next pass is neither."""
        covered_to = self.read.covered_to
        if memory or self.read.advance:
            return replace(marker, observed_seq=covered_to, offered_seq=covered_to, empty_offers=0)
        empty_offers = marker.empty_offers + 1
        if empty_offers < EMPTY_OFFERS:
            return replace(marker, offered_seq=covered_to, empty_offers=empty_offers)
        last = self.read.shown_to
        return replace(marker, observed_seq=last, offered_seq=last, empty_offers=0)


def _ids(puts: Sequence[Put]) -> list[str]:
    return [str(put.item["id"]) for put in puts]


def _model_usage(observed: Observed) -> dict[str, Any]:
    return {
        "model_calls": observed.calls,
        "model_input_tokens": sum(observed.usage.get(part, 0) for part in ("input", "cache_read", "cache_write")),
        "model_output_tokens": observed.usage.get("output", 0),
    }
