"""E2: append events to a session's log. One batch read and one transaction, whatever the number of events."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from neve.domain.errors import NeveError, invalid, not_found
from neve.domain.records import Event, EventType, SessionHead
from neve.domain.sessions.transcript import completes_turn
from neve.domain.times import iso
from neve.domain.tokens import counter, event_tokens
from neve.ports import Conflict, Expect, Item, Key, Put, WriteOp
from neve.store import idempotency, rows
from neve.store.idempotency import IdempotencyKey, StoredReply
from neve.wiring import Ports, Tenant

Queued = Literal["queued", "none"]

ATTEMPTS = 50
"""Optimistic retries of one append. A retry happens only when another append of the same session won the row, so this
is how many writers of one session can be ahead of us before the caller is told 409."""


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
    ports: Ports,
    tenant: Tenant,
    user: str,
    session: str,
    events: Sequence[NewEvent],
    idempotency_key: IdempotencyKey | None = None,
) -> Appended:
    """All of ``events`` or none. Raises NeveError: session_not_found, client_id_conflict, idempotency_mismatch,
    erasing, user_closed, upload_not_found, conflict. Raises StoreUnavailable; the caller may then repeat the call
    safely if it sent client ids or an idempotency key."""
    _check_client_ids(events)
    stored = [replace(e, content=_store_images(ports, tenant, user, e.content)) for e in events]
    append = _Append(ports, tenant, user, session, stored, idempotency_key, ports.ids.token())
    for _ in range(ATTEMPTS):
        try:
            return append.attempt()
        except Conflict:
            continue
    raise NeveError("conflict", "Too many writers are appending to this session; try again.", retry_after_s=1)


@dataclass
class _Append:
    ports: Ports
    tenant: Tenant
    user: str
    session: str
    events: list[NewEvent]
    idempotency_key: IdempotencyKey | None
    write_id: str
    tried: Key | None = None

    def attempt(self) -> Appended:
        """One read and at most one transaction. Raises Conflict when another writer won."""
        found = self.ports.table.get_many(self._keys_to_read())
        keys, now = self.tenant.keys, self.ports.clock.now()
        if self.idempotency_key:
            earlier = idempotency.replay(
                found.get(idempotency.row_key(keys, self.idempotency_key)), self.idempotency_key, now
            )
            if earlier:
                return Appended(**earlier.body)
        head = rows.read_head(found.get(keys.head(self.user)))
        rows.writable(head)
        row = found.get(keys.session(self.user, self.session))
        if row is None:
            raise not_found("session", self.session)
        if self.tried and found.get(self.tried, {}).get("write_id") == self.write_id:
            # the response of our own commit was lost: the rows are there
            return self._answer_of(rows.read_session(row), int(self.tried.sk.removeprefix("EVT#")), found)
        return self._commit(
            found, rows.read_session(row), rows.guard_user(keys, self.user, head, now), now, head.incarnation
        )

    def _keys_to_read(self) -> list[Key]:
        keys = self.tenant.keys
        wanted = [keys.head(self.user), keys.session(self.user, self.session)]
        if self.idempotency_key:
            wanted.append(idempotency.row_key(keys, self.idempotency_key))
        if self.tried:
            wanted.append(self.tried)
        ids = dict.fromkeys(e.client_id for e in self.events if e.client_id)
        return wanted + [keys.client_id(self.user, self.session, c) for c in ids]

    def _known_seqs(self, found: dict[Key, Item]) -> dict[str, int]:
        """client id -> seq of an earlier append. Raises client_id_conflict when its content was another."""
        known: dict[str, int] = {}
        for position, event in enumerate(self.events):
            row = event.client_id and found.get(self.tenant.keys.client_id(self.user, self.session, event.client_id))
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

    def _commit(
        self, found: dict[Key, Item], head: SessionHead, guard: WriteOp, now: datetime, incarnation: int
    ) -> Appended:
        keys = self.tenant.keys
        known = self._known_seqs(found)
        seqs, new = _number(self.events, known, head.last_seq)
        queued: Queued = "none"
        ops: list[WriteOp] = [guard]
        total = 0
        for seq, event in new:
            record = _to_event(event, seq, iso(now), self.tenant.policy.token_counter)
            total += record.original_tokens
            put = rows.put_event(keys, self.user, self.session, record, incarnation)
            ops.append(Put(put.item | {"write_id": self.write_id}, Expect.ABSENT))
            if event.client_id:
                ops.append(self._client_id_row(event.client_id, seq, event))
        if new:
            if completes_turn([e.event_type for _, e in new], head.last_event_type):
                queued = "queued"
            ops.append(rows.put_session(keys, self.user, self._advanced(head, new, total, now)))
            self.tried = keys.event(self.user, self.session, new[0][0])
        answer = Appended(seqs=seqs, observation=queued, compaction="none")
        if self.idempotency_key:
            reply = StoredReply(status=201, body=asdict(answer))
            ops.append(idempotency.done(keys, self.idempotency_key, reply, now))
        if len(ops) > 1:
            self.ports.table.write(ops)
        return answer

    def _advanced(self, head: SessionHead, new: list[tuple[int, NewEvent]], tokens: int, now: datetime) -> SessionHead:
        return replace(
            head,
            status="open",
            last_seq=new[-1][0],
            last_event_at=iso(now),
            last_event_type=new[-1][1].event_type,
            total_tokens=head.total_tokens + tokens,
            write_id=self.write_id,
        )

    def _client_id_row(self, client_id: str, seq: int, event: NewEvent) -> Put:
        key = self.tenant.keys.client_id(self.user, self.session, client_id)
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


def _to_event(event: NewEvent, seq: int, now: str, counter_name: Literal["estimate", "o200k_base"]) -> Event:
    return Event(
        seq=seq,
        event_type=event.event_type,
        content=event.content,
        original_tokens=event_tokens(event.content, event.event_data, count=counter(counter_name)),
        created_at=event.created_at or now,
        client_id=event.client_id,
        name=event.name,
        event_data=event.event_data,
    )


def _store_images(
    ports: Ports, tenant: Tenant, user: str, content: str | list[dict[str, Any]]
) -> str | list[dict[str, Any]]:
    """Image bytes become objects, named by their content, before the row that points to them is written."""
    if isinstance(content, str):
        return content
    return [_store_image(ports, tenant, user, block) if block["type"] == "image" else block for block in content]


def _store_image(ports: Ports, tenant: Tenant, user: str, block: dict[str, Any]) -> dict[str, Any]:
    kept = {"type": "image", "media_type": block["media_type"]}
    if "url" in block:
        return kept | {"url": block["url"]}
    if "upload_id" in block:
        name = tenant.keys.image_object(user, block["upload_id"])
        if not ports.objects.list(name):
            raise not_found("upload", block["upload_id"])
        return kept | {"object": name}
    try:
        data = base64.b64decode(block["data"], validate=True)
    except (binascii.Error, ValueError):
        raise invalid("events.content.data", "is not base64") from None
    name = tenant.keys.image_object(user, hashlib.sha256(data).hexdigest())
    ports.objects.put(name, data, content_type=block["media_type"])
    return kept | {"object": name}
