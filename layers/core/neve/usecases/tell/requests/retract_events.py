"""E2 retract: take a part of the log back, because it was edited, deleted, or another branch was taken
(docs/rules/retract.md#commit). One batch read, and one transaction of at most eight operations; where the end of what a
compaction covers is taken back, what is left of it is read before. What was made of the events is left to a job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from itertools import chain

from neve.domain.errors import invalid, not_found
from neve.domain.ids import ulid_named
from neve.domain.records.epochs import SessionEpoch
from neve.domain.records.jobs import Job
from neve.domain.records.markers import SessionMarker
from neve.domain.records.retractions import Retraction, RetractReason
from neve.domain.records.sessions import EventType, Participant, SessionHead, Spans
from neve.domain.records.users import UserHead
from neve.domain.sessions.spans import holds, joined, meets, without
from neve.domain.times import iso
from neve.ports.table import Item, Key, WriteOp
from neve.scope import SessionScope
from neve.store import idempotency, rows
from neve.store.idempotency import IdempotencyKey, StoredReply
from neve.store.partitions import all_rows_backwards
from neve.store.transact import transact
from neve.usecases.core.jobs.messages.compaction import RETRACT, new_job_id
from neve.usecases.core.jobs.note_lost import note_lost
from neve.usecases.core.jobs.read_jobs import find_job


@dataclass(frozen=True, slots=True)
class Retract:
    """A caller's wish. ``to_seq`` None: to the end of the log as it is. ``whole``: the session itself, with all that it
    is called and labelled by."""

    from_seq: int
    to_seq: int | None
    reason: RetractReason
    whole: bool = False


WHOLE = Retract(1, None, "deleted", whole=True)


@dataclass(frozen=True, slots=True)
class Retracted:
    """The answer of a call. ``epoch``: in which the session's history goes on without the events. ``job_id``: empty
    where there is nothing that anything could have been made of, which a session without events is."""

    from_seq: int
    to_seq: int
    epoch: int
    job_id: str


def retract_events(scope: SessionScope, wanted: Retract, idempotency_key: IdempotencyKey | None = None) -> Retracted:
    """Take events back: prompts and recall are without them from here on. A repeat answers what the first call was
    answered.

    Raises NeveError: session_not_found, validation_failed for seqs that are not in the log, idempotency_mismatch,
    erasing, user_closed, conflict. Raises StoreUnavailable; the call may then be repeated."""
    if wanted.to_seq is not None and wanted.to_seq < wanted.from_seq:
        raise invalid("to_seq", f"is before from_seq ({wanted.from_seq})")
    retract = _Retract(scope, wanted, idempotency_key, new_job_id(scope.ports))
    answer = transact(scope.ports, retract.attempt)
    if answer.job_id not in ("", retract.job_id) and (job := find_job(scope, answer.job_id)) is not None:
        note_lost(scope, job)
    return answer


@dataclass(frozen=True)
class _Session:
    """The rows of a session. ``used_up``: the record of the call's Idempotency-Key, where its day is over."""

    user: UserHead
    head: SessionHead
    marker: SessionMarker
    epoch: SessionEpoch
    used_up: Item | None


@dataclass(frozen=True)
class _Retract:
    scope: SessionScope
    wanted: Retract
    idempotency_key: IdempotencyKey | None
    job_id: str

    def attempt(self) -> Retracted:
        """Try once. Raises Conflict when another writer won."""
        keys, now = self.scope.keys, self.scope.ports.clock.now()
        own = [keys.session_head, keys.marker, keys.epoch, *map(keys.retraction, self._ids())]
        found = self.scope.ports.table.get_many([keys.head, *own, *self._idempotency_row()])
        row = None
        if self.idempotency_key:
            row = found.get(idempotency.row_key(keys, self.idempotency_key))
            earlier = idempotency.replay(row, self.idempotency_key, now)
            if earlier:
                return Retracted(**earlier.body)
        user = rows.read_head(found.get(keys.head))
        rows.writable(user)
        if not self._is_there(found):
            raise not_found("session", self.scope.session)
        session = _Session(
            user,
            rows.read_session(found[keys.session_head]),
            rows.read_marker(found[keys.marker]),
            rows.read_epoch(found[keys.epoch]),
            row,
        )
        return self._retract(session, self._earlier(found), now)

    def _is_there(self, found: Mapping[Key, Item]) -> bool:
        """Say whether the session is there: a caller that deletes a session may repeat it."""
        head = self.scope.keys.session_head
        return head in found if self.wanted.whole else rows.is_there(found, head)

    def _idempotency_row(self) -> list[Key]:
        return [idempotency.row_key(self.scope.keys, self.idempotency_key)] if self.idempotency_key else []

    # --- repeats --------------------------------------------------------------------------------

    def _ids(self) -> list[str]:
        """List the ids of the retractions that this call may be a repeat of: an id follows from what was asked."""
        ends = dict.fromkeys((None, self.wanted.to_seq))
        return [self._id(to_seq, erases) for to_seq in ends for erases in (False, True)]

    def _id(self, to_seq: int | None, erases: bool) -> str:
        keys, end = self.scope.keys, "end" if to_seq is None else str(to_seq)
        end = "whole" if self.wanted.whole else end
        place = f"{keys.tenant}/{keys.user}/{keys.session}/{self.wanted.from_seq}/{end}"
        return f"ret_{ulid_named(f'retract/{place}/{erases}')}"

    def _earlier(self, found: Mapping[Key, Item]) -> list[Retraction]:
        """Read earlier retractions in the order of their commits."""
        items = (found.get(self.scope.keys.retraction(i)) for i in self._ids())
        return sorted((rows.read_retraction(item) for item in items if item), key=lambda one: one.epoch)

    def _repeated(self, earlier: Sequence[Retraction], to_seq: int) -> Retraction | None:
        """Find the retraction that this call repeats. A deletion is no repeat of what left the words where they
        were."""
        same = (one for one in earlier if one.seq_to == to_seq and (one.erases or not self._erases))
        return next(same, None)

    @property
    def _erases(self) -> bool:
        return self.wanted.reason == "deleted"

    def _end(self, head: SessionHead, earlier: Sequence[Retraction]) -> int:
        """Give the last seq to take back. What the end of the log was for the first call that named none, it is for
        every later one. Raises 422 for seqs that are not in the log."""
        if self.wanted.whole:
            return next((one.seq_to for one in earlier), head.last_seq)
        if self.wanted.from_seq > head.last_seq:
            raise invalid("from_seq", f"event not found: the last seq of the session is {head.last_seq}")
        if self.wanted.to_seq is None:
            return next((one.seq_to for one in earlier if one.to_end), head.last_seq)
        if self.wanted.to_seq > head.last_seq:
            raise invalid("to_seq", f"event not found: the last seq of the session is {head.last_seq}")
        return self.wanted.to_seq

    # --- the commit -----------------------------------------------------------------------------

    def _retract(self, session: _Session, earlier: Sequence[Retraction], now: datetime) -> Retracted:
        to_seq = self._end(session.head, earlier)
        repeated = self._repeated(earlier, to_seq)
        ops: list[WriteOp]
        if repeated is None and not to_seq:
            answer = Retracted(1, 0, session.epoch.epoch, "")
            ops = self._without_events(session, now)
        elif repeated is not None:
            answer = Retracted(repeated.seq_from, repeated.seq_to, repeated.epoch, repeated.job_id)
            ops = [rows.check_head(self.scope.keys, session.user)]
        else:
            retraction = self._retraction(session, to_seq, now)
            answer = Retracted(retraction.seq_from, retraction.seq_to, retraction.epoch, retraction.job_id)
            ops = self._operations(session, retraction, now)
        if self.idempotency_key:
            reply = StoredReply(status=200, body=asdict(answer))
            used_up = idempotency.taken_over(session.used_up)
            ops.append(idempotency.done(self.scope.keys, self.idempotency_key, reply, now, used_up))
        if len(ops) > 1:
            self.scope.ports.table.write(ops)
        return answer

    def _retraction(self, session: _Session, to_seq: int, now: datetime) -> Retraction:
        span = (self.wanted.from_seq, to_seq)
        return Retraction(
            id=self._id(self.wanted.to_seq, self._erases),
            session_id=self.scope.session,
            seq_from=span[0],
            seq_to=span[1],
            reason=self.wanted.reason,
            epoch=session.epoch.epoch + 1,
            job_id=self.job_id,
            created_at=iso(now),
            to_end=self.wanted.to_seq is None,
            fresh=tuple(without(span, session.head.retracted)),
        )

    def _operations(self, session: _Session, retraction: Retraction, now: datetime) -> list[WriteOp]:
        keys, span = self.scope.keys, retraction.span
        retracted = joined((*session.head.retracted, span))
        erased = joined((*session.head.erased, span)) if retraction.erases else session.head.erased
        head = replace(session.head, retracted=retracted, erased=erased)
        marker = replace(_without_thread_state(session.marker, retraction), retracted=retracted)
        keeps = self._covered_request(session.epoch, retracted)
        epoch = replace(session.epoch, epoch=retraction.epoch, retracted=retracted, covers_keeps=keeps)
        if self.wanted.whole:
            head, marker, epoch = _deleted(head), replace(marker, deleted=True), replace(epoch, deleted=True)
        job = Job(
            id=retraction.job_id,
            kind=RETRACT,
            status="queued",
            created_at=iso(now),
            user_id=self.scope.user,
            session_id=self.scope.session,
            state={"retraction": retraction.id, "reason": retraction.reason},
        )
        return [
            self._guard(session.user, now),
            rows.put_retraction(keys, retraction, session.user.incarnation),
            rows.put_session(keys, head),
            rows.put_marker(keys, marker),
            rows.put_epoch(keys, epoch, now),
            *self._copy_summary(session.epoch, retraction),
            rows.put_queued_job(keys, job, session.user.incarnation),
        ]

    def _covered_request(self, epoch: SessionEpoch, retracted: Spans) -> int | None:
        """Find the covered message that prompts go on from. Where its answer is taken back, that is a message that a
        compaction had hidden with the answer: a regenerated answer would be asked for without the question."""
        if epoch.covers_from is None or epoch.covers_to is None or not holds(retracted, epoch.covers_to):
            return epoch.covers_keeps
        left = list(without((epoch.covers_from, epoch.covers_to), retracted))
        if not left:
            return None
        between = self.scope.keys.events(epoch.covers_from, left[-1][1])
        found = all_rows_backwards(self.scope.ports.table, self.scope.keys.log, between=between)
        standing = (event for event in map(rows.read_event, found) if not holds(retracted, event.seq))
        newest = next(standing, None)
        if newest is None or newest.event_type is EventType.ASSISTANT_RESPONSE:
            return None
        turn = chain([newest], standing)
        return next((event.seq for event in turn if event.event_type is EventType.USER_MESSAGE), None)

    def _without_events(self, session: _Session, now: datetime) -> list[WriteOp]:
        keys = self.scope.keys
        if session.head.deleted:
            return [rows.check_head(keys, session.user)]
        return [
            rows.guard_user(keys, session.user, now),
            rows.put_session(keys, _deleted(session.head)),
            rows.put_marker(keys, replace(session.marker, deleted=True)),
            rows.put_epoch(keys, replace(session.epoch, deleted=True), now),
        ]

    def _guard(self, user: UserHead, now: datetime) -> WriteOp:
        if user.takes_back:
            return rows.guard_user(self.scope.keys, user, now)
        return rows.put_head(self.scope.keys, replace(user, takes_back=True))

    def _copy_summary(self, epoch: SessionEpoch, retraction: Retraction) -> list[WriteOp]:
        """Copy the summary of what is covered into the new epoch, unless some of it was taken back: then an extract of
        what is left stands in until the job has it rewritten."""
        if epoch.covers_from is None or epoch.covers_to is None or covers_any(epoch, retraction.fresh):
            return []
        item: Item | None = self.scope.ports.table.get(self.scope.keys.summary(epoch.epoch))
        if item is None:
            return []
        summary = replace(rows.read_summary(item), epoch=retraction.epoch, version=0)
        return [rows.put_summary(self.scope.keys, summary)]


def covers_any(epoch: SessionEpoch, spans: Spans) -> bool:
    """Say whether a compaction has covered some of these events."""
    if epoch.covers_from is None or epoch.covers_to is None:
        return False
    return meets(spans, (epoch.covers_from, epoch.covers_to))


def _deleted(head: SessionHead) -> SessionHead:
    """Give what is left of a session: that its id was used. No sweep ends it, and no librarian files it."""
    people = tuple(Participant(one.id, "", one.user_id) for one in head.participants if one.user_id)
    bare = replace(head, title=None, user_meta={}, metadata={}, outcome=None, participants=people)
    return replace(bare, status="extracted", unwatched=False, deleted=True)


def _without_thread_state(marker: SessionMarker, retraction: Retraction) -> SessionMarker:
    """Remove what an observer said of the task, the title and how to go on, which may be about what is taken back; the
    next pass says it again. What is taken back may have set a scene."""
    if retraction.seq_from > marker.observed_seq:
        return marker
    return replace(marker, current_task=None, suggested_continuation=None, thread_title=None, scene=None)
