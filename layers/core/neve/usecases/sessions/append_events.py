"""E2: append events to a session's log. One batch read and one transaction, whatever the number of events."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from neve.domain.errors import NeveError, invalid, not_found
from neve.domain.records import Event, EventType, SessionHead, UserHead
from neve.domain.sessions.checkpoints import appended
from neve.domain.sessions.transcript import completed_to, completes_turn
from neve.domain.times import iso
from neve.domain.tokens import event_tokens
from neve.ports import Expect, Item, Key, Put, WriteOp
from neve.scope import SessionScope
from neve.store import idempotency, rows
from neve.store.idempotency import IdempotencyKey, StoredReply
from neve.store.keys import seq_of
from neve.store.transact import transact
from neve.usecases.sessions.event_images import store_images

Queued = Literal["queued", "none"]


@dataclass(frozen=True, slots=True)
class NewEvent:
    """One event as the caller sent it. Image blocks hold exactly one of ``data`` (base64), ``url``, ``upload_id``."""

    event_type: EventType
    content: str | list[dict[str, Any]]
    client_id: str | None = None
    name: str | None = None
    event_data: dict[str, Any] = field(default_factory=dict)
    created_at: str | None = None


@dataclass(frozen=True, slots=True)
class Appended:
    """``seqs`` in the order of the request; ``observation`` says whether a pass over them is under way."""

    seqs: list[int]
    observation: Queued
    compaction: Queued


def append_events(
    scope: SessionScope, events: Sequence[NewEvent], idempotency_key: IdempotencyKey | None = None
) -> Appended:
    """All of ``events`` or none. Raises NeveError: session_not_found, client_id_conflict, idempotency_mismatch,
    erasing, user_closed, conflict, and what ``store_images`` raises. Raises StoreUnavailable; the caller may then
    repeat the call safely if it sent client ids or an idempotency key."""
    _check_client_ids(events)
    stored = [
        replace(event, content=store_images(scope, event.content, f"events[{n}].content"))
        for n, event in enumerate(events)
    ]
    append = _Append(scope, stored, idempotency_key, scope.ports.ids.token())
    return transact(scope.ports, append.attempt)


@dataclass
class _Append:
    """``write_id`` names this call on the rows it writes. ``tried``: the first event's row of its last attempt."""

    scope: SessionScope
    events: list[NewEvent]
    idempotency_key: IdempotencyKey | None
    write_id: str
    tried: Key | None = None

    def attempt(self) -> Appended:
        """One read and at most one transaction. Raises Conflict when another writer won."""
        found = self.scope.ports.table.get_many(self._keys_to_read())
        keys, now = self.scope.keys, self.scope.ports.clock.now()
        if self.idempotency_key:
            earlier = idempotency.replay(
                found.get(idempotency.row_key(keys, self.idempotency_key)), self.idempotency_key, now
            )
            if earlier:
                return Appended(**earlier.body)
        user = rows.read_head(found.get(keys.head))
        rows.writable(user)
        row = found.get(keys.session_head)
        if row is None:
            raise not_found("session", self.scope.session)
        head = rows.read_session(row)
        if self.tried and found.get(self.tried, {}).get("write_id") == self.write_id:
            # the response of our own commit was lost: the rows are there
            return self._answer_of(head, seq_of(self.tried), found)
        return self._commit(found, head, user, now)

    def _keys_to_read(self) -> list[Key]:
        keys = self.scope.keys
        wanted = [keys.head, keys.session_head]
        if self.idempotency_key:
            wanted.append(idempotency.row_key(keys, self.idempotency_key))
        if self.tried:
            wanted.append(self.tried)
        ids = dict.fromkeys(e.client_id for e in self.events if e.client_id)
        return wanted + [keys.client_id(c) for c in ids]

    def _known_seqs(self, found: dict[Key, Item]) -> dict[str, int]:
        """client id -> seq of an earlier append. Raises client_id_conflict when its content was another."""
        known: dict[str, int] = {}
        for position, event in enumerate(self.events):
            row = event.client_id and found.get(self.scope.keys.client_id(event.client_id))
            if not row or not event.client_id:
                continue
            if row["sha"] != _content_sha(event):
                raise NeveError(
                    "client_id_conflict",
                    f"events[{position}].client_id: '{event.client_id}' was used before for another event"
                    f" (seq {row['seq']}).",
                )
            known[event.client_id] = int(row["seq"])
        return known

    def _commit(self, found: dict[Key, Item], head: SessionHead, user: UserHead, now: datetime) -> Appended:
        keys = self.scope.keys
        seqs, new = _number(self.events, self._known_seqs(found), head.last_seq)
        ops: list[WriteOp] = [rows.guard_user(keys, user, now)]
        records = [self._to_event(event, seq, iso(now)) for seq, event in new]
        for record, (seq, event) in zip(records, new, strict=True):
            put = rows.put_event(keys, record, user.incarnation)
            ops.append(Put(put.item | {"write_id": self.write_id}, Expect.ABSENT))
            if event.client_id:
                ops.append(self._client_id_row(event.client_id, seq, event))
        queued: Queued = "none"
        if new:
            if completes_turn([e.event_type for _, e in new], head.last_event_type):
                queued = "queued"
            tokens = sum(record.original_tokens for record in records)
            ops.append(rows.put_session(keys, self._advanced(head, new, tokens, now)))
            self.tried = keys.event(new[0][0])
        answer = Appended(seqs=seqs, observation=queued, compaction="none")
        if self.idempotency_key:
            reply = StoredReply(status=201, body=asdict(answer))
            ops.append(idempotency.done(keys, self.idempotency_key, reply, now))
        if len(ops) > 1:
            self.scope.ports.table.write(ops)
        return answer

    def _to_event(self, event: NewEvent, seq: int, now: str) -> Event:
        return Event(
            seq=seq,
            event_type=event.event_type,
            content=event.content,
            original_tokens=event_tokens(event.content, event.event_data, count=self.scope.count),
            created_at=event.created_at or now,
            client_id=event.client_id,
            name=event.name,
            event_data=event.event_data,
        )

    def _advanced(self, head: SessionHead, new: list[tuple[int, NewEvent]], tokens: int, now: datetime) -> SessionHead:
        return replace(
            head,
            status="open",
            last_seq=new[-1][0],
            last_event_at=iso(now),
            last_event_type=new[-1][1].event_type,
            complete_seq=completed_to(head.complete_seq, [(seq, event.event_type) for seq, event in new]),
            behind=appended(head, new[-1][0], now),
            total_tokens=head.total_tokens + tokens,
            write_id=self.write_id,
        )

    def _client_id_row(self, client_id: str, seq: int, event: NewEvent) -> Put:
        key = self.scope.keys.client_id(client_id)
        item = {"pk": key.pk, "sk": key.sk, "type": "client_id", "seq": seq, "sha": _content_sha(event)}
        return Put(item, Expect.ABSENT)

    def _answer_of(self, head: SessionHead, first_seq: int, found: dict[Key, Item]) -> Appended:
        """The answer of a commit whose response was lost. Later appends may have moved the head, so whether a turn was
        complete is answered from our own events alone."""
        own = {c: seq for c, seq in self._known_seqs(found).items() if seq < first_seq}
        seqs, new = _number(self.events, own, first_seq - 1)
        complete = completes_turn([e.event_type for _, e in new], head.last_event_type)
        return Appended(seqs=seqs, observation="queued" if complete else "none", compaction="none")


def _number(
    events: Sequence[NewEvent], known: dict[str, int], last_seq: int
) -> tuple[list[int], list[tuple[int, NewEvent]]]:
    """Seqs in request order, and the events that are new with theirs. A client id repeated in one request is one
    event."""
    seqs: list[int] = []
    new: list[tuple[int, NewEvent]] = []
    known = dict(known)
    for event in events:
        seq = known.get(event.client_id) if event.client_id else None
        if seq is None:
            seq = last_seq = last_seq + 1
            new.append((seq, event))
            if event.client_id:
                known[event.client_id] = seq
        seqs.append(seq)
    return seqs, new


def _check_client_ids(events: Sequence[NewEvent]) -> None:
    seen: dict[str, str] = {}
    for position, event in enumerate(events):
        if event.client_id and seen.setdefault(event.client_id, _content_sha(event)) != _content_sha(event):
            raise invalid(f"events[{position}].client_id", f"'{event.client_id}' names two different events")


def _content_sha(event: NewEvent) -> str:
    """What makes two events with one client id the same: type, speaker, content and data, not the time it was sent."""
    basis = [event.event_type, event.name, event.content, event.event_data]
    return hashlib.sha256(json.dumps(basis, sort_keys=True).encode()).hexdigest()
