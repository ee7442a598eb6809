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
from neve.domain.tokens import counter
from neve.observing import Observed, PassInput
from neve.ports import Conflict, Key, Put, WriteOp
from neve.store import rows
from neve.usecases.observe.images import with_images
from neve.usecases.observe.lease import check_lease, release_lease, take_lease
from neve.usecases.observe.prior_memories import prior_memories
from neve.usecases.tenants.usage import usage_put
from neve.wiring import Ports, Tenant

BASE_TAG = "observational-memory"
DEFAULT_IMPORTANCE = 3
EMPTY_OFFERS = 3
"""After this many passes that found nothing, the marker advances anyway (engine.md §3)."""
READ_PAGE = 200


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


class UserGone(Exception):
    """The user was erased since the work was queued."""


def observe_session(
    ports: Ports, tenant: Tenant, user: str, session: str, incarnation: int, *, closing: bool = False
) -> ObservationReport:
    """Consecutive passes, oldest events first, until nothing is left. ``closing`` (compaction, session end): the marker
    advances even past events that hold no memory.

    Raises LeaseHeld, LeaseLost, UserGone, ModelUnavailable, ModelRefused, StoreUnavailable. Whatever was committed
    before stays; the rest of the tail stays unobserved."""
    report = ObservationReport()
    head, session_head, marker = _read(ports, tenant, user, session)
    report.observed_seq = marker.observed_seq
    if head.incarnation != incarnation:
        raise UserGone(user)
    if session_head.last_seq <= _done_through(marker, closing):
        report.reason = "nothing new since the last pass"
        return report
    token = take_lease(ports, tenant, user, session).lease_token
    try:
        while True:
            work = _Pass(ports, tenant, user, session, incarnation, token, closing, report)
            if not work.run():
                return report
    finally:
        release_lease(ports, tenant, user, session, token)


def _done_through(marker: SessionMarker, closing: bool) -> int:
    return marker.observed_seq if closing else max(marker.observed_seq, marker.offered_seq)


def _read(ports: Ports, tenant: Tenant, user: str, session: str) -> tuple[UserHead, SessionHead, SessionMarker]:
    keys = tenant.keys
    found = ports.table.get_many([keys.head(user), keys.session(user, session), keys.marker(user, session)])
    if keys.session(user, session) not in found:
        raise UserGone(user)
    return (
        rows.read_head(found.get(keys.head(user))),
        rows.read_session(found[keys.session(user, session)]),
        rows.read_marker(found[keys.marker(user, session)]),
    )


@dataclass
class _Pass:
    ports: Ports
    tenant: Tenant
    user: str
    session: str
    incarnation: int
    token: int
    closing: bool
    report: ObservationReport

    def run(self) -> bool:
        """One pass; False when there is nothing left to read."""
        _, head, marker = _read(self.ports, self.tenant, self.user, self.session)
        if head.last_seq <= _done_through(marker, self.closing):
            return False
        raw = self._tail(marker.observed_seq)
        stripped = [event for event in (strip_event(e) for e in raw) if event is not None]
        plan = plan_pass(
            stripped, self.tenant.policy.observer_transcript_cap, counter(self.tenant.policy.token_counter)
        )
        last_seq = plan.events[-1].seq if plan.cut_by_cap else raw[-1].seq
        span = (marker.observed_seq + 1, last_seq)
        if not plan.events:  # all of it was our own rendering
            self._commit(None, span, advance=True, events=raw)
            return True
        observed = self.ports.observer.observe(self._input(head, marker, plan.events))
        self.report.passes += 1
        self.report.facts_offered += len(observed.facts)
        self._commit(observed, span, advance=plan.cut_by_cap or self.closing, events=plan.events)
        return True

    def _tail(self, observed_seq: int) -> list[Event]:
        """Unobserved events, oldest first, a little more than one pass can hold."""
        keys, cap = self.tenant.keys, self.tenant.policy.observer_transcript_cap
        first, last = (keys.event(self.user, self.session, seq) for seq in (observed_seq + 1, 9_999_999_999))
        events: list[Event] = []
        cursor = None
        while True:
            page = self.ports.table.query(first.pk, between=(first.sk, last.sk), limit=READ_PAGE, cursor=cursor)
            events += [rows.read_event(item) for item in page.items]
            cursor = page.cursor
            if cursor is None or sum(event.original_tokens for event in events) > 2 * cap:
                return events

    def _input(self, head: SessionHead, marker: SessionMarker, events: Sequence[Event]) -> PassInput:
        policy = self.tenant.policy
        return PassInput(
            session_id=self.session,
            events=[with_images(self.ports, event) for event in events],
            prior=prior_memories(self.ports, self.tenant, self.user, marker),
            timezone=head.user_meta.get("timezone", "UTC"),
            transcript_cap=policy.observer_transcript_cap,
            output_cap=policy.observer_output_cap,
        )

    # --- commit ---------------------------------------------------------------------------------

    def _commit(
        self, observed: Observed | None, span: tuple[int, int], *, advance: bool, events: Sequence[Event]
    ) -> None:
        """Raises LeaseLost, UserGone. Everything but the observer's answer is read again on every attempt."""
        memory_id = f"mem_{self.ports.ids.ulid(self.ports.clock.now())}"
        memory, bumps = None, list[Put]()
        while True:
            keys, now = self.tenant.keys, self.ports.clock.now()
            cited = list(observed.used_memory_ids) if observed else []
            wanted = [keys.head(self.user), keys.session(self.user, self.session), keys.marker(self.user, self.session)]
            bumped = [keys.memory(self.user, i) for i in cited]
            usage_key = keys.usage(self.user)
            found = self.ports.table.get_many([*wanted, usage_key, *bumped])
            head = rows.read_head(found.get(wanted[0]))
            if head.incarnation != self.incarnation or head.state != "active" or wanted[2] not in found:
                raise UserGone(self.user)
            marker = rows.read_marker(found[wanted[2]])
            if marker.last_pass == memory_id:
                return self._report(memory, bumps, marker)  # our commit, whose response was lost
            check_lease(marker, self.token, now)
            timezone = rows.read_session(found[wanted[1]]).user_meta.get("timezone", "UTC")
            memory = self._memory(memory_id, observed, span, events, head.gen, timezone)
            bumps = self._bumps(found, bumped, iso(now))
            moved = replace(self._moved(marker, observed, memory, span[1], advance), last_pass=memory_id)
            ops: list[WriteOp] = [
                rows.guard_user(keys, self.user, head, now),
                rows.put_marker(keys, self.user, moved),
                *bumps,
            ]
            if memory:
                ops.append(rows.put_memory(keys, self.user, memory))
            if observed and observed.usage:
                ops.append(usage_put(keys, self.user, found.get(usage_key), _model_usage(observed)))
            try:
                self.ports.table.write(ops)
            except Conflict:
                continue
            return self._report(memory, bumps, moved)

    def _memory(
        self,
        memory_id: str,
        observed: Observed | None,
        span: tuple[int, int],
        events: Sequence[Event],
        gen: int,
        timezone: str,
    ) -> Memory | None:
        lines = observed.lines if observed and observed.has_memory else ()
        if not observed or not lines:
            return None
        now = iso(self.ports.clock.now())
        text = "\n".join(line.text for line in lines)
        at = iso(parse(events[-1].created_at))
        return Memory(
            id=memory_id,
            kind=Kind.OBSERVATION,
            tier=Tier.EPISODIC,
            scope=Scope.SESSION,
            session_id=self.session,
            text=text,
            passages=tuple(MemoryPassage(line.text, line.seq_from, line.seq_to) for line in lines),
            priority=priority_of(text),
            importance=DEFAULT_IMPORTANCE,
            fingerprint=fingerprint(text),
            status=Status.ACTIVE,
            tags=(BASE_TAG,),
            provenance=Provenance(
                by="user_stated" if any(e.event_type is EventType.USER_MESSAGE for e in events) else "assistant",
                session_id=self.session,
                seq_from=span[0],
                seq_to=span[1],
                model=observed.model,
            ),
            observed_date=observed_date(at, timezone),
            time_of_day=time_of_day(at, timezone),
            referenced_date=referenced_date(text),
            created_at=now,
            observed_at=at,
            last_used_at=now,
            tokens=counter(self.tenant.policy.token_counter)(text),
            rev=1,
            rev_at=now,
            born_gen=gen,
        )

    def _bumps(self, found: dict[Key, Any], cited: list[Key], now: str) -> list[Put]:
        """Citation moves ``last_used_at`` and with it the rank; nothing else does."""
        puts = []
        for key in cited:
            if key in found:
                memory = rows.read_memory(found[key])
                puts.append(rows.put_memory(self.tenant.keys, self.user, replace(memory, last_used_at=now)))
        return puts

    def _moved(
        self, marker: SessionMarker, observed: Observed | None, memory: Memory | None, last_seq: int, advance: bool
    ) -> SessionMarker:
        empty_offers = 0 if memory else marker.empty_offers + 1
        if memory or advance or empty_offers >= EMPTY_OFFERS:
            marker = replace(marker, observed_seq=last_seq, empty_offers=0)
        else:
            marker = replace(marker, empty_offers=empty_offers)
        marker = replace(marker, offered_seq=last_seq)
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

    def _report(self, memory: Memory | None, bumps: Sequence[Put], marker: SessionMarker) -> None:
        self.report.observed_seq = marker.observed_seq
        self.report.reinforced += [str(put.item["id"]) for put in bumps]
        if memory:
            self.report.written.append(memory.id)
            self.report.reason = None
        elif not self.report.written:
            self.report.reason = "the observer found nothing worth keeping"


def _model_usage(observed: Observed) -> dict[str, int]:
    return {
        "model_calls": observed.calls,
        "model_input_tokens": sum(observed.usage.get(part, 0) for part in ("input", "cache_read", "cache_write")),
        "model_output_tokens": observed.usage.get("output", 0),
    }
