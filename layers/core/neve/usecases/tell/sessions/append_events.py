"""E2: append events to a session's log. One batch read and one transaction, whatever the number of events."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal

from neve.domain.compact.due import after_horizon, boundary_reason, outgrows
from neve.domain.compact.stale import artifact_path
from neve.domain.errors import FieldError, NeveError, invalid, not_found
from neve.domain.languages import is_known
from neve.domain.records.epochs import SessionEpoch
from neve.domain.records.jobs import Job
from neve.domain.records.sessions import SILENT, Event, EventType, SessionHead
from neve.domain.records.users import UserHead
from neve.domain.sessions.checkpoints import appended
from neve.domain.sessions.new_event import NewEvent as NewEvent
from neve.domain.sessions.participants import heard_by, named_participant, others_from
from neve.domain.sessions.spans import holds
from neve.domain.sessions.transcript import completed_to, completes_turn, event_text, last_of_turn
from neve.domain.tenants.observe_after import passes_after
from neve.domain.times import iso
from neve.domain.tokens import event_tokens
from neve.ports.table import MAX_WRITE_OPS, Delete, Expect, Item, Key, Put, WriteOp
from neve.scope import SessionScope
from neve.store import idempotency, rows
from neve.store.idempotency import IdempotencyKey, StoredReply
from neve.store.keys import SessionKeys
from neve.store.sessions.thinking import put_thinking
from neve.store.transact import transact
from neve.usecases.core.images.event_images import NewObject, Shape, StoredImages, name_images, shaped, store_images
from neve.usecases.core.images.uploaded_texts import NewText, TextShape, artifact_of, uploaded_text, with_notes
from neve.usecases.core.jobs.messages.compaction import Reason, compaction_job, new_job_id
from neve.usecases.core.privacy.screen_event import screen_event
from neve.usecases.tell.sessions.note_open import REOPENS

BESIDE_THE_EVENTS = 3
"""Writes of an append behind those of its events: the session's row, a compaction's job, an idempotency record."""
MAX_OPEN_CALLS = 48
"""Open calls that a session's row keeps, the newest (*chosen*: as many as one append may hold)."""
Numbered = tuple[int, int, NewEvent]
"""A new event: its position in the call, its seq, and itself."""
Queued = Literal["queued", "none"]
Observation = Literal["queued", "waiting", "none"]
OBSERVES = "observes"
"""Marks the row of an event with which an append asks for a pass; the outbox sends it."""
AHEAD = timedelta(days=1)
"""*Chosen*: a local time that is sent as UTC is 14 h ahead at most."""


@dataclass(frozen=True, slots=True)
class Appended:
    """The answer of an append. ``seqs`` in the order of the request; ``observation`` says whether a pass over them is
    under way, or waits, ``compaction`` whether these events have queued one, with its job. ``redacted``: how many of
    each class of personal data were taken out of them. ``other_language``: how many of the user's messages are not
    observed, because the observer does not know their language. ``retracted``: those of the seqs that were taken back
    since an earlier append of the same events. ``last_seq``: of the session; ``created``: by this call. Of messages:
    ``new`` are the positions of the events that were not there, ``before`` says how often each message had been
    said."""

    seqs: list[int]
    observation: Observation
    compaction: Queued
    compaction_job_id: str | None = None
    redacted: dict[str, int] = field(default_factory=dict)
    other_language: int = 0
    retracted: list[int] = field(default_factory=list)
    new: list[int] = field(default_factory=list)
    last_seq: int = 0
    created: bool = False
    before: list[int] = field(default_factory=list)


def append_events(
    scope: SessionScope, events: Sequence[NewEvent], idempotency_key: IdempotencyKey | None = None
) -> Appended:
    """Append all of ``events`` or none, without what the policy takes out of them (docs/rules/privacy.md#events).
    Raises NeveError: session_not_found, session_deleted, client_id_conflict, retracted, idempotency_mismatch, erasing,
    user_closed, conflict, and what ``name_images`` and ``store_images`` raise. Raises StoreUnavailable; the caller may
    then repeat the call safely if it sent client ids or an idempotency key.

    Images are stored when a look at the rows says that the append will be taken, and only those of events that are new:
    what was deleted or retained away does not come back with a repeat (docs/rules/sessions.md#images)."""
    screened = [screen_event(event, scope.policy.pii.actions) for event in events]
    _check_client_ids([event for event, _ in screened])
    append = Append(scope, [], {}, idempotency_key, scope.ports.ids.token(), new_job_id(scope.ports))
    return append_screened(append, screened, [f"events[{n}].content" for n in range(len(events))])


def append_screened(
    append: Append, screened: Sequence[tuple[NewEvent, Counter[str]]], fields: Sequence[str]
) -> Appended:
    """Append screened events. ``append``: without its events yet. ``fields``: where the content of each stands."""
    named = [name_images(append.scope, event.content, at) for (event, _), at in zip(screened, fields, strict=True)]
    append.events = [replace(event, content=content) for (event, _), (content, _) in zip(screened, named, strict=True)]
    append.redacted, append.fields = dict(sum((found for _, found in screened), Counter())), fields
    images = [images for _, images in named]
    return _with_images(append, images) if any(images) else transact(append.scope.ports, append.attempt)


def _with_images(append: Append, images: Sequence[Sequence[NewObject]]) -> Appended:
    """Store the images, then append. ``images``: of each event. A commit whose outcome is unknown keeps what it stored:
    the events may be there. A repeat looks for those of the events that are there, which its caller may not have been
    answered about."""
    looked = append.look()
    new = [] if isinstance(looked, Appended) else looked
    repeated = StoredImages(append.scope, [], [image for n, of in enumerate(images) if n not in new for image in of])
    repeated.keep_repeated()
    if isinstance(looked, Appended):
        return looked
    objects = [image for n in looked for image in images[n]]
    stored = store_images(append.scope, objects)
    append.shapes = stored.shapes
    in_texts = (text.found for text in objects if isinstance(text, NewText))
    append.redacted = dict(sum(in_texts, Counter(append.redacted)))
    try:
        answer = transact(append.scope.ports, append.attempt)
    except NeveError:
        stored.take_away()
        raise
    stored.keep()
    return answer


@dataclass
class Append:
    """One append call. ``redacted``: of what was taken out of the events. ``write_id`` names this call on the rows it
    writes, ``job_id`` the compaction that it may queue. ``tried``: the first event's row of its last attempt, and what
    that would have been answered. ``shapes``: of stored images, which are no part of what makes two events the same: of
    an upload they are known when it was looked at. ``fields``: as in ``append_screened``."""

    scope: SessionScope
    events: list[NewEvent]
    redacted: dict[str, int]
    idempotency_key: IdempotencyKey | None
    write_id: str
    job_id: str
    tried: tuple[Key, Appended] | None = None
    shapes: Mapping[str, Shape | TextShape] = field(default_factory=dict)
    fields: Sequence[str] = ()

    def look(self) -> Appended | list[int]:
        """Find the answer of an earlier call with this idempotency key, or the positions of the events that are new.
        One read. Raises what refuses the append."""
        found = self.scope.ports.table.get_many(self._keys_to_read())
        answered = self._replayed(found, self.scope.ports.clock.now())
        if answered:
            return answered
        _, head = self._writable(found)
        return [n for n, _, _ in self._numbered(found, head)[1]]

    def attempt(self) -> Appended:
        """Make one read and at most one transaction. Raises Conflict when another writer won."""
        found, now = self.scope.ports.table.get_many(self._keys_to_read()), self.scope.ports.clock.now()
        answered = self._replayed(found, now)
        if answered:
            return answered
        user, head = self._writable(found)
        if self.tried and found.get(self.tried[0], {}).get("write_id") == self.write_id:
            return self._answer_of(self.tried[1])
        return self._commit(found, head, user, now)

    def _replayed(self, found: dict[Key, Item], now: datetime) -> Appended | None:
        if self.idempotency_key is None:
            return None
        row = found.get(idempotency.row_key(self.scope.keys, self.idempotency_key))
        earlier = idempotency.replay(row, self.idempotency_key, now)
        return Appended(**earlier.body) if earlier else None

    def _writable(self, found: dict[Key, Item]) -> tuple[UserHead, SessionHead]:
        """Give the user's row and the session's, if both may be written. Raises erasing, user_closed,
        session_not_found, session_deleted."""
        user = rows.read_head(found.get(self.scope.keys.head))
        rows.writable(user)
        row = found.get(self.scope.keys.session_head)
        if row is None:
            raise not_found("session", self.scope.session)
        head = rows.read_session(row)
        rows.not_deleted(head)
        return user, head

    def _keys_to_read(self) -> list[Key]:
        keys = self.scope.keys
        wanted = [keys.head, keys.session_head, keys.epoch]
        if self.idempotency_key:
            wanted.append(idempotency.row_key(keys, self.idempotency_key))
        if self.tried:
            wanted.append(self.tried[0])
        return wanted + self._id_keys()

    def _id_keys(self) -> list[Key]:
        """List the rows that say which of the events are there already."""
        return [self.scope.keys.client_id(c) for c in dict.fromkeys(e.client_id for e in self.events if e.client_id)]

    def _numbered(self, found: dict[Key, Item], head: SessionHead) -> tuple[list[int], list[Numbered]]:
        """Give the seq of each event, and those that are new: position, seq, event."""
        return _number(self.events, self._known_seqs(found, head), head.last_seq)

    def _id_rows(self, found: dict[Key, Item], new: Sequence[Numbered]) -> list[WriteOp]:  # noqa: ARG002
        """Make the rows by which the new events are known from now on."""
        return [self._client_id_row(event.client_id, seq, event) for _, seq, event in new if event.client_id]

    def _known_seqs(self, found: dict[Key, Item], head: SessionHead) -> dict[str, int]:
        """Map each client id to its seq of an earlier append. Raises client_id_conflict when its content was another,
        and retracted when it was deleted: it is not known any more what it was."""
        known: dict[str, int] = {}
        for position, event in enumerate(self.events):
            row = event.client_id and found.get(self.scope.keys.client_id(event.client_id))
            if not row or not event.client_id:
                continue
            if "sha" not in row or holds(head.erased, int(row["seq"])):  # the head of the same read may be older
                raise _refused("retracted", position, f"'{event.client_id}' belongs to a deleted event")
            if row["sha"] != _content_sha(event):
                message = f"'{event.client_id}' was used before for another event (seq {row['seq']})"
                raise _refused("client_id_conflict", position, message)
            known[event.client_id] = int(row["seq"])
        return known

    def _commit(self, found: dict[Key, Item], head: SessionHead, user: UserHead, now: datetime) -> Appended:
        keys = self.scope.keys
        head, begun = self._begun(head, now)
        seqs, numbered = self._numbered(found, head)
        new = [(seq, event) for _, seq, event in numbered]
        ops: list[WriteOp] = [rows.guard_user(keys, user, now), *begun]
        self._check_participants(head)
        head = replace(head, others_from=others_from(head, self.scope.user, new))
        records = [self._to_event(head, event, seq, now, user.incarnation) for seq, event in new]
        waiting = _waiting_tokens(head) + sum(record.original_tokens for record in records)
        observation = self._observation(head, [event.event_type for _, event in new], waiting)
        for record in records:
            put = rows.put_event(keys, record, user.incarnation)
            of_append: Item = {"write_id": self.write_id}
            of_append |= {REOPENS: True} if record.seq == head.last_seq + 1 and head.status != "open" else {}
            of_append |= {OBSERVES: True} if observation == "queued" and record is records[-1] else {}
            ops.append(Put(put.item | of_append, Expect.ABSENT))
            if record.artifact_path is not None:
                artifact = artifact_of(record, record.artifact_path, self.scope.session, iso(now))
                ops.append(rows.put_artifact(keys, artifact))
        ops += self._id_rows(found, numbered)
        answer = replace(self._answer(head, seqs, numbered), observation=observation)
        if new or not head.version:
            advanced = self._advanced(head, new, sum(record.original_tokens for record in records), now)
            advanced = replace(advanced, waiting_tokens=waiting)
            if observation == "queued":
                asked = (advanced.last_seq, int(now.timestamp()))
                advanced = replace(advanced, waiting_tokens=0, pass_asked=asked)
            answer = replace(answer, other_language=self._other_language(records))
            advanced = replace(advanced, other_language=head.other_language + answer.other_language)
            job = self._compaction(head, advanced, self._epoch(found), records)
            advanced, thinking = keep_thinking(keys, advanced, new, MAX_WRITE_OPS - len(ops) - BESIDE_THE_EVENTS)
            ops += [rows.put_session(keys, advanced), *thinking]
            ops += [rows.put_queued_job(keys, job, user.incarnation)] if job else []
            answer = replace(
                answer, compaction="queued" if job else "none", compaction_job_id=self.job_id if job else None
            )
            self.tried = (keys.event(new[0][0]), answer) if new else None
        if self.idempotency_key:
            reply = StoredReply(status=201, body=asdict(answer))
            used_up = found.get(idempotency.row_key(keys, self.idempotency_key))
            ops.append(idempotency.done(keys, self.idempotency_key, reply, now, idempotency.taken_over(used_up)))
        if len(ops) > 1:
            self.scope.ports.table.write(ops)
        return answer

    def _observation(self, head: SessionHead, new: Sequence[EventType], waiting_tokens: int) -> Observation:
        """Say whether a pass is asked for: where these events complete a turn, and as many tokens wait as the policy
        says. What somebody shares is handed on by the pass, and does not wait (docs/rules/observe.md#when)."""
        if not completes_turn(new, head.last_event_type):
            return "none"
        after = passes_after(self.scope.policy.observe_after, self.scope.ports.observer_languages)
        at_once = any(one.share for one in head.participants)
        return "queued" if at_once or waiting_tokens >= after.tokens else "waiting"

    def _answer(self, head: SessionHead, seqs: list[int], new: Sequence[Numbered]) -> Appended:
        return Appended(
            seqs=seqs,
            observation="none",
            compaction="none",
            redacted=self.redacted,
            retracted=[seq for seq in seqs if holds(head.retracted, seq)],
            last_seq=new[-1][1] if new else head.last_seq,
            created=not head.version,
        )

    def _other_language(self, new: Sequence[Event]) -> int:
        """Count the user's messages in languages that the observer does not know."""
        languages = self.scope.ports.observer_languages
        said = (event_text(one) for one in new if one.event_type is EventType.USER_MESSAGE)
        return sum(not is_known(text, languages) for text in said)

    def _answer_of(self, tried: Appended) -> Appended:
        """Give the answer of our own commit, whose response was lost: the rows are there."""
        return tried

    def _begun(self, head: SessionHead, now: datetime) -> tuple[SessionHead, list[WriteOp]]:  # noqa: ARG002
        """Give the session, and the rows that begin it where this call does."""
        return head, []

    def _epoch(self, found: dict[Key, Item]) -> SessionEpoch:
        item = found.get(self.scope.keys.epoch)
        return rows.read_epoch(item) if item else SessionEpoch(self.scope.session)

    def _compaction(
        self, before: SessionHead, after: SessionHead, epoch: SessionEpoch, appended: Sequence[Event]
    ) -> Job | None:
        """Make the job that these events are a reason for; its row is its message (docs/rules/compact.md#triggers)."""
        reason: Reason | None = boundary_reason(appended)
        trigger = self.scope.policy.compaction_at
        if reason is None and outgrows(after_horizon(before, epoch), after_horizon(after, epoch), trigger):
            reason = "tokens"
        return compaction_job(self.scope, reason, None, self.job_id) if reason else None

    def _check_participants(self, head: SessionHead) -> None:
        """Refuse what a stranger said. Raises 422, which names the field."""
        for event, field_ in zip(self.events, self.fields, strict=True):
            named_participant(head, event.participant, f"{field_.rpartition('.')[0]}.participant")

    def _to_event(self, head: SessionHead, event: NewEvent, seq: int, now: datetime, incarnation: int) -> Event:
        content, path = shaped(event.content, self.shapes), None
        if uploaded_text(content):
            scope = self.scope
            path = artifact_path(scope.tenant.id, scope.user, scope.session, incarnation, seq)
            content = with_notes(content, event.event_type, path)
        speaker = named_participant(head, event.participant, "participant")
        return Event(
            seq=seq,
            event_type=event.event_type,
            content=content,
            original_tokens=0
            if event.event_type is EventType.NEUTRAL
            else event_tokens(content, event.event_data, count=self.scope.count),
            artifact_path=path,
            created_at=_said_at(event.created_at, now),
            client_id=event.client_id,
            name=event.name or (speaker.name if speaker else None),
            event_data=event.event_data,
            metadata=event.metadata,
            participant=event.participant,
            audience=heard_by(head, self.scope.user, seq, event),
        )

    def _advanced(self, head: SessionHead, new: list[tuple[int, NewEvent]], tokens: int, now: datetime) -> SessionHead:
        return replace(
            head,
            status="open",
            unwatched=head.unwatched or head.status != "open",
            outcome=None,
            last_seq=new[-1][0] if new else head.last_seq,
            last_event_at=iso(now) if new else head.last_event_at,
            last_event_type=last_of_turn([event.event_type for _, event in new], head.last_event_type),
            complete_seq=completed_to(head.complete_seq, [(seq, event.event_type) for seq, event in new]),
            behind=appended(head, new[-1][0], now) if new else head.behind,
            said_first=_said_first(head, new),
            said_last=next((seq for seq, event in reversed(new) if event.event_type not in SILENT), head.said_last),
            open_calls=_open_calls(head, new),
            total_tokens=head.total_tokens + tokens,
            write_id=self.write_id,
        )

    def _client_id_row(self, client_id: str, seq: int, event: NewEvent) -> Put:
        key = self.scope.keys.client_id(client_id)
        item = {"pk": key.pk, "sk": key.sk, "type": "client_id", "seq": seq, "sha": _content_sha(event)}
        return Put(item, Expect.ABSENT)


def _waiting_tokens(head: SessionHead) -> int:
    """Give the tokens that no append has asked a pass for. A session of which nothing is behind has been observed,
    whoever asked for it."""
    return head.waiting_tokens if head.behind else 0


def _said_at(sent: str | None, now: datetime) -> str:
    """Give the time when an event was said, which is not in the days to come: such a time would keep retention from all
    that was said behind it, and no correction would be newer."""
    return sent if sent is not None and sent <= iso(now + AHEAD) else iso(now)


def _said_first(head: SessionHead, new: Sequence[tuple[int, NewEvent]]) -> int:
    """Give the seq of the first event that was said; where that was taken back, the first of what is said instead."""
    if head.said_first and not (holds(head.retracted, head.said_first) and not holds(head.erased, head.said_first)):
        return head.said_first
    return next((seq for seq, event in new if event.event_type not in SILENT), head.said_first)


def _open_calls(head: SessionHead, new: Sequence[tuple[int, NewEvent]]) -> dict[str, str]:
    """Give the newest ``MAX_OPEN_CALLS`` calls that have no result yet."""
    calls = dict(head.open_calls)
    for _, event in new:
        identifier = str(event.event_data.get("tool_use_id", ""))
        calls.pop(identifier, None)
        if event.event_type is EventType.TOOL_CALL and identifier:
            calls[identifier] = str(event.event_data.get("name", ""))
    return dict(list(calls.items())[-MAX_OPEN_CALLS:])


def _number(events: Sequence[NewEvent], known: dict[str, int], last_seq: int) -> tuple[list[int], list[Numbered]]:
    """Give seqs in request order, and the events that are new with theirs. A client id repeated in one request is one
    event."""
    seqs: list[int] = []
    new: list[Numbered] = []
    known = dict(known)
    for n, event in enumerate(events):
        seq = known.get(event.client_id) if event.client_id else None
        if seq is None:
            seq = last_seq = last_seq + 1
            new.append((n, seq, event))
            if event.client_id:
                known[event.client_id] = seq
        seqs.append(seq)
    return seqs, new


def _refused(code: str, position: int, message: str) -> NeveError:
    field = f"events[{position}].client_id"
    return NeveError(code, f"{field}: {message}.", errors=[FieldError(field, message)])


def _check_client_ids(events: Sequence[NewEvent]) -> None:
    seen: dict[str, str] = {}
    for position, event in enumerate(events):
        if event.client_id and seen.setdefault(event.client_id, _content_sha(event)) != _content_sha(event):
            raise invalid(f"events[{position}].client_id", f"'{event.client_id}' is used for two different events")


def _content_sha(event: NewEvent) -> str:
    """Hash what makes two events with one client id the same: type, speaker, content and data, not the time it was
    sent."""
    basis = [event.event_type, event.name, event.content, event.event_data]
    basis += [event.participant] if event.participant else []
    return hashlib.sha256(json.dumps(basis, sort_keys=True).encode()).hexdigest()


def keep_thinking(
    keys: SessionKeys, head: SessionHead, new: Sequence[tuple[int, NewEvent]], room: int
) -> tuple[SessionHead, list[WriteOp]]:
    """Give the head with what it says of thinking behind these new events, and the writes that make it true: at most
    ``room``. What has no room to be deleted is shown to no reader, and goes with the next append."""
    asked = max([head.asked_seq, *(seq for seq, event in new if event.event_type is EventType.USER_MESSAGE)])
    thought = [(seq, event.thinking) for seq, event in new if event.thinking and seq > asked]
    puts = thought[max(0, len(thought) - room) :]
    over = [seq for seq in head.thinking if seq <= asked]
    gone = over[: room - len(puts)]
    left = [seq for seq in head.thinking if seq not in gone]
    ops: list[WriteOp] = [put_thinking(keys, seq, blocks) for seq, blocks in puts]
    ops += [Delete(keys.thinking(seq)) for seq in gone]
    return replace(head, asked_seq=asked, thinking=(*left, *(seq for seq, _ in puts))), ops
