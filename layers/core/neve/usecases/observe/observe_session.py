"""Turn a session's unobserved tail into memory: the worker behind E3 and the automatic pass.

A pass reads, asks the observer once, and commits in one transaction conditional on the lease: at most one observation,
the usage bumps, the marker, the live list. A conflicting write is redone from fresh rows; the observer is never asked
twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from neve.domain.observe.text import fingerprint, observed_date, priority_of, referenced_date, time_of_day
from neve.domain.records import (
    Event,
    EventType,
    Kind,
    LiveRow,
    Memory,
    MemoryPassage,
    Provenance,
    Scope,
    SessionHead,
    SessionMarker,
    Status,
    Tier,
    UserHead,
)
from neve.domain.sessions.rendered_blocks import strip_event
from neve.domain.sessions.transcript import plan_pass
from neve.domain.times import iso, parse
from neve.observing import Observed, PassInput
from neve.ports import Key, Put, WriteOp
from neve.scope import SessionScope
from neve.store import rows
from neve.store.partitions import all_rows
from neve.store.transact import transact
from neve.usecases.erase.incarnation import UserErased, still_there
from neve.usecases.observe.images import with_images
from neve.usecases.observe.lease import check_lease, release_lease, take_lease
from neve.usecases.observe.prior_memories import prior_memories
from neve.usecases.tenants.usage import usage_put

BASE_TAG = "observational-memory"
DEFAULT_IMPORTANCE = 3
EMPTY_OFFERS = 3
"""After this many passes that found nothing, the marker advances anyway (docs/rules/observe.md#marker)."""
NOTHING_NEW = "nothing new since the last pass"


@dataclass(slots=True)
class ObservationReport:
    """What the passes of one call did; it becomes the job's result."""

    passes: int = 0
    written: list[str] = field(default_factory=list)
    reinforced: list[str] = field(default_factory=list)
    facts_offered: int = 0
    observed_seq: int = 0
    reason: str | None = None

    def result(self) -> dict[str, Any]:
        return {
            "passes": self.passes,
            "written": self.written,
            "reinforced": self.reinforced,
            "facts_offered": self.facts_offered,
            "observed_seq": self.observed_seq,
        } | ({"reason": self.reason} if self.reason else {})


def observe_session(scope: SessionScope, incarnation: int, *, closing: bool = False) -> ObservationReport:
    """Consecutive passes, oldest events first, until nothing is left. ``closing`` (compaction, session end): the marker
    advances even past events that hold no memory.

    Raises LeaseHeld, LeaseLost, UserErased, ModelUnavailable, ModelRefused, StoreUnavailable. Whatever was committed
    before stays; the rest of the tail stays unobserved."""
    report = ObservationReport()
    head, session_head, marker = _read(scope)
    report.observed_seq = marker.observed_seq
    still_there(head, incarnation)
    if session_head.last_seq <= _done_through(marker, closing):
        report.reason = NOTHING_NEW
        return report
    token = take_lease(scope).lease_token
    try:
        while _Pass(scope, incarnation, token, closing, report).run():
            pass
        return report
    finally:
        release_lease(scope, token)


def _done_through(marker: SessionMarker, closing: bool) -> int:
    return marker.observed_seq if closing else max(marker.observed_seq, marker.offered_seq)


def _read(scope: SessionScope) -> tuple[UserHead, SessionHead, SessionMarker]:
    """Raises UserErased for a session that is gone."""
    keys = scope.keys
    found = scope.ports.table.get_many([keys.head, keys.session_head, keys.marker])
    if keys.session_head not in found:
        raise UserErased
    return (
        rows.read_head(found.get(keys.head)),
        rows.read_session(found[keys.session_head]),
        rows.read_marker(found[keys.marker]),
    )


@dataclass(frozen=True, slots=True)
class _Read:
    """What the observer was shown: the seqs ``first`` to ``last`` (``events`` are those of them that it can read), and
    whether the marker advances past them even when it found nothing."""

    first: int
    last: int
    events: Sequence[Event]
    advance: bool


@dataclass
class _Pass:
    scope: SessionScope
    incarnation: int
    token: int
    closing: bool
    report: ObservationReport

    def run(self) -> bool:
        """One pass; False when there is nothing left to read."""
        policy = self.scope.policy
        _, head, marker = _read(self.scope)
        if head.last_seq <= _done_through(marker, self.closing):
            return False
        raw = self._tail(marker.observed_seq)
        stripped = [event for event in (strip_event(e) for e in raw) if event is not None]
        plan = plan_pass(stripped, policy.observer_transcript_cap, self.scope.count)
        first, last = marker.observed_seq + 1, plan.events[-1].seq if plan.cut_by_cap else raw[-1].seq
        if not plan.events:  # all of it was our own rendering
            self._commit(None, _Read(first, last, raw, advance=True))
            return True
        observed = self.scope.ports.observer.observe(self._input(head, marker, plan.events))
        self.report.passes += 1
        self.report.facts_offered += len(observed.facts)
        self._commit(observed, _Read(first, last, plan.events, advance=plan.cut_by_cap or self.closing))
        return True

    def _tail(self, observed_seq: int) -> list[Event]:
        """Unobserved events, oldest first, a little more than one pass can hold."""
        keys, cap = self.scope.keys, self.scope.policy.observer_transcript_cap
        events: list[Event] = []
        tokens = 0
        for item in all_rows(self.scope.ports.table, keys.log, between=keys.events(observed_seq + 1)):
            events.append(rows.read_event(item))
            tokens += events[-1].original_tokens
            if tokens > 2 * cap:
                break
        return events

    def _input(self, head: SessionHead, marker: SessionMarker, events: Sequence[Event]) -> PassInput:
        policy = self.scope.policy
        return PassInput(
            session_id=self.scope.session,
            events=[with_images(self.scope.ports.objects, event) for event in events],
            prior=prior_memories(self.scope, marker),
            timezone=head.user_meta.get("timezone", "UTC"),
            output_cap=policy.observer_output_cap,
        )

    # --- commit ---------------------------------------------------------------------------------

    def _commit(self, observed: Observed | None, read: _Read) -> None:
        """Raises LeaseLost, UserErased. Everything but the observer's answer is read again on every attempt."""
        memory_id = f"mem_{self.scope.ports.ids.ulid(self.scope.ports.clock.now())}"
        written, reinforced, marker = transact(self.scope.ports, lambda: self._write(memory_id, observed, read))
        self.report.observed_seq = marker.observed_seq
        self.report.reinforced += reinforced
        if written:
            self.report.written.append(memory_id)
            self.report.reason = None
        elif not self.report.written:
            self.report.reason = "the observer found nothing worth keeping"

    def _write(self, memory_id: str, observed: Observed | None, read: _Read) -> tuple[bool, list[str], SessionMarker]:
        """Whether there is a new memory, the ids of those that were cited, and the marker as it was left."""
        keys, now = self.scope.keys, self.scope.ports.clock.now()
        cited = [keys.memory(i) for i in observed.used_memory_ids] if observed else []
        found = self.scope.ports.table.get_many([keys.head, keys.session_head, keys.marker, keys.usage, *cited])
        head = rows.read_head(found.get(keys.head))
        still_there(head, self.incarnation)
        if keys.marker not in found:
            raise UserErased
        marker = rows.read_marker(found[keys.marker])
        bumps = self._bumps(found, cited, iso(now))
        reinforced = [str(put.item["id"]) for put in bumps]
        if marker.last_pass == memory_id:  # our own commit, whose response was lost
            return any(row.id == memory_id for row in marker.live), reinforced, marker
        check_lease(marker, self.token, now)
        timezone = rows.read_session(found[keys.session_head]).user_meta.get("timezone", "UTC")
        memory = self._memory(memory_id, observed, read, timezone) if observed else None
        moved = replace(self._moved(marker, observed, memory, read), last_pass=memory_id)
        ops: list[WriteOp] = [rows.guard_user(keys, head, now), rows.put_marker(keys, moved), *bumps]
        if memory:
            ops.append(rows.put_memory(keys, replace(memory, born_gen=head.gen)))
        if observed and observed.usage:
            ops.append(usage_put(keys, found.get(keys.usage), _model_usage(observed)))
        self.scope.ports.table.write(ops)
        return memory is not None, reinforced, moved

    def _memory(self, memory_id: str, observed: Observed, read: _Read, timezone: str) -> Memory | None:
        """None when nothing was worth keeping."""
        if not observed.has_memory or not observed.lines:
            return None
        now = iso(self.scope.ports.clock.now())
        text = "\n".join(line.text for line in observed.lines)
        at = iso(parse(read.events[-1].created_at))
        by_user = any(event.event_type is EventType.USER_MESSAGE for event in read.events)
        return Memory(
            id=memory_id,
            kind=Kind.OBSERVATION,
            tier=Tier.EPISODIC,
            scope=Scope.SESSION,
            session_id=self.scope.session,
            text=text,
            passages=tuple(MemoryPassage(line.text, line.seq_from, line.seq_to) for line in observed.lines),
            priority=priority_of(text),
            importance=DEFAULT_IMPORTANCE,
            fingerprint=fingerprint(text),
            status=Status.ACTIVE,
            tags=(BASE_TAG,),
            provenance=Provenance(
                by="user_stated" if by_user else "assistant",
                session_id=self.scope.session,
                seq_from=read.first,
                seq_to=read.last,
                model=observed.model,
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

    def _bumps(self, found: dict[Key, Any], cited: list[Key], now: str) -> list[Put]:
        """Citation moves ``last_used_at`` and with it the rank; nothing else does."""
        puts = []
        for key in cited:
            if key in found:
                memory = rows.read_memory(found[key])
                puts.append(rows.put_memory(self.scope.keys, replace(memory, last_used_at=now)))
        return puts

    def _moved(
        self, marker: SessionMarker, observed: Observed | None, memory: Memory | None, read: _Read
    ) -> SessionMarker:
        empty_offers = 0 if memory else marker.empty_offers + 1
        if memory or read.advance or empty_offers >= EMPTY_OFFERS:
            marker = replace(marker, observed_seq=read.last, empty_offers=0)
        else:
            marker = replace(marker, empty_offers=empty_offers)
        marker = replace(marker, offered_seq=read.last)
        if memory:
            marker = replace(marker, live=(*marker.live, LiveRow(memory.id, memory.kind, memory.tokens)))
        if observed:
            marker = replace(
                marker,
                current_task=observed.current_task or marker.current_task,
                suggested_continuation=observed.suggested_continuation or marker.suggested_continuation,
                thread_title=observed.thread_title or marker.thread_title,
            )
        return marker


def _model_usage(observed: Observed) -> dict[str, int]:
    return {
        "model_calls": observed.calls,
        "model_input_tokens": sum(observed.usage.get(part, 0) for part in ("input", "cache_read", "cache_write")),
        "model_output_tokens": observed.usage.get("output", 0),
    }
