"""Append providers' messages: translated, known again by what they say, and stored as ``append_events`` stores events
(docs/rules/messages.md#forms)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Literal

from neve.domain.errors import invalid
from neve.domain.messages.heard import NO_NAME, Heard
from neve.domain.messages.known import Occurrence, Sent, Session, known
from neve.domain.records.epochs import SessionEpoch
from neve.domain.records.markers import SessionMarker
from neve.domain.records.sessions import EventType, SessionHead
from neve.domain.records.users import UserHead
from neve.domain.sessions.new_event import NewEvent
from neve.domain.times import iso
from neve.ports.table import Item, Key, WriteOp
from neve.scope import SessionScope
from neve.store import rows
from neve.store.idempotency import IdempotencyKey
from neve.store.sessions.messages import digest_rows, put_seen, read_seen
from neve.usecases.core.jobs.messages.compaction import new_job_id
from neve.usecases.core.privacy.screen_event import screen_event
from neve.usecases.tell.sessions.append_events import Append, Appended, Numbered, append_screened
from neve.usecases.tell.sessions.new_session import OpenSession, ended_at, first_head, screened_opening

MAX_NEW, MAX_NEW_IMAGES = 48, 48
"""Events and images of one append (docs/rules/sessions.md#log)."""
UNNAMED = "tool"
"""The name of a tool whose call is not here."""

State = Literal["appended", "known", "dropped"]


@dataclass(frozen=True, slots=True)
class AppendedMessage:
    """The outcome for one message. ``dropped``: it says nothing that a log has a place for. ``id``: its own, else made
    of what it says and how often that was said before."""

    id: str
    state: State
    seqs: Sequence[int]


@dataclass(frozen=True, slots=True)
class AppendedMessages:
    """The answer of a call. ``events``: what appending their events was answered."""

    events: Appended
    messages: Sequence[AppendedMessage]

    @property
    def any_new(self) -> bool:
        return self.events.created or any(one.state == "appended" for one in self.messages)


def append_messages(
    scope: SessionScope,
    messages: Sequence[Heard],
    opening: OpenSession | None = None,
    idempotency_key: IdempotencyKey | None = None,
) -> AppendedMessages:
    """Append all that is new of ``messages`` or none; ``opening``: of the session, where it is new, in the same
    transaction. Raises what ``append_events`` raises, but for session_not_found where there is an ``opening``; and 422
    for more than ``MAX_NEW`` new events."""
    screened = [[screen_event(event, scope.policy.pii.actions) for event in one.events] for one in messages]
    append = _AppendMessages(
        scope, [], {}, idempotency_key, scope.ports.ids.token(), new_job_id(scope.ports), messages=messages
    )
    append.opening = screened_opening(scope, opening) if opening else None
    fields = [f"messages[{one.index}].content" for one in messages for _ in one.events]
    appended = append_screened(append, [pair for pairs in screened for pair in pairs], fields)
    return AppendedMessages(appended, append.told(appended))


@dataclass
class _AppendMessages(Append):
    messages: Sequence[Heard] = ()
    opening: OpenSession | None = None
    before: list[int] = field(default_factory=list)

    @cached_property
    def sent(self) -> list[Sent]:
        """Give the messages as they are compared: without what was thought, and what a tool is called, which not every
        form says."""
        found, left = list[Sent](), iter(self.events)
        for one in self.messages:
            events = [next(left) for _ in one.events]
            # in each session another value: no digest tells that two users have said the same
            basis = [_basis(event) for event in events]
            text = json.dumps([self.scope.keys.log, basis], sort_keys=True, ensure_ascii=False)
            digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
            found.append(Sent(digest, one.own_id, one.is_silent, one.of_user, one.distinctive))
        return found

    def _id_keys(self) -> list[Key]:
        keys = self.scope.keys
        own = dict.fromkeys(one.own_id for one in self.messages if one.own_id and one.events)
        return [*digest_rows(keys, (one.digest for one in self.sent)), *map(keys.client_id, own)]

    def _numbered(self, found: dict[Key, Item], head: SessionHead) -> tuple[list[int], list[Numbered]]:
        """Give the seq of each event, and those that are new. Raises ``event_too_large``."""
        session = Session(
            read_seen(self.scope.keys, found, {one.digest for one in self.sent}),
            head.said_first,
            head.said_last,
            head.retracted,
            head.erased,
        )
        seqs, new = list[int](), list[Numbered]()
        last, at = head.last_seq, 0
        calls = dict(head.open_calls)
        places = self._places(found, session)
        for one, place in zip(self.messages, places, strict=True):
            for n, event in enumerate(self.events[at : at + len(one.events)]):
                named = _named(event, calls)
                if place is not None:
                    seqs.append(min(place.seq + n, place.last))
                    continue
                last += 1
                seqs.append(last)
                new.append((at + n, last, replace(named, client_id=one.own_id)))
            at += len(one.events)
        _check_size([event for _, _, event in new])
        self.before = _said_before(self.sent, places, session)
        return seqs, new

    def _places(self, found: dict[Key, Item], session: Session) -> list[Occurrence | None]:
        """Find where the messages are in the log, also those that were appended as an event under the same id."""
        places = known(self.sent, session)
        for n, one in enumerate(self.messages):
            row = found.get(self.scope.keys.client_id(one.own_id)) if one.own_id else None
            if places[n] is None and row is not None:
                places[n] = Occurrence(int(row["seq"]), 1, one.own_id)
        return places

    def _id_rows(self, found: dict[Key, Item], new: Sequence[Numbered]) -> list[WriteOp]:
        seq_at = {position: seq for position, seq, _ in new}
        seen: dict[str, list[Occurrence]] = {}
        at = 0
        for one, sent in zip(self.messages, self.sent, strict=True):
            if at in seq_at and one.events:
                place = Occurrence(seq_at[at], len(one.events), one.own_id)
                seen.setdefault(sent.digest, []).append(place)
            at += len(one.events)
        return [*put_seen(self.scope.keys, found, seen)]

    def _writable(self, found: dict[Key, Item]) -> tuple[UserHead, SessionHead]:
        if self.opening is None or found.get(self.scope.keys.session_head) is not None:
            return super()._writable(found)
        user = rows.read_head(found.get(self.scope.keys.head))
        rows.writable(user)
        return user, SessionHead(self.scope.session, "open", started_at=iso(self.scope.ports.clock.now()))

    def _begun(self, head: SessionHead, now: datetime) -> tuple[SessionHead, list[WriteOp]]:
        if self.opening is None or head.version:
            return head, []
        keys = self.scope.keys
        newest = self.scope.ports.table.get(keys.newest_session)
        begun = first_head(keys.session, self.opening, iso(now), ended_at(self.scope, newest))
        return begun, [
            rows.put_marker(keys, SessionMarker(keys.session)),
            rows.put_epoch(keys, SessionEpoch(keys.session), now),
            rows.put_newest_session(keys, keys.session, newest),
        ]

    def _answer(self, head: SessionHead, seqs: list[int], new: Sequence[Numbered]) -> Appended:
        return replace(super()._answer(head, seqs, new), new=[n for n, _, _ in new], before=self.before)

    def told(self, answer: Appended) -> list[AppendedMessage]:
        told, at, new = list[AppendedMessage](), 0, set(answer.new)
        for one, sent, before in zip(self.messages, self.sent, answer.before, strict=True):
            seqs = answer.seqs[at : at + len(one.events)]
            state: State = "dropped" if not seqs else "appended" if at in new else "known"
            told.append(AppendedMessage(one.own_id or f"{sent.digest[:32]}-{before}", state, seqs))
            at += len(one.events)
        return told


def _basis(event: NewEvent) -> list[Any]:
    said_by = [event.participant] if event.participant else []
    return [event.event_type, event.name, event.content, _compared(event), *said_by]


def _compared(event: NewEvent) -> Mapping[str, Any]:
    of_result = event.event_type is EventType.TOOL_RESULT
    return {name: value for name, value in event.event_data.items() if not (of_result and name == "name")}


def _named(event: NewEvent, calls: dict[str, str]) -> NewEvent:
    """Give a tool's result the name of the tool that was called. ``calls``: of this log; the event is added."""
    data = event.event_data
    if event.event_type is EventType.TOOL_CALL:
        calls[str(data["tool_use_id"])] = str(data["name"])
    if event.event_type is not EventType.TOOL_RESULT or data["name"] != NO_NAME:
        return event
    return replace(event, event_data=data | {"name": calls.get(str(data["tool_use_id"]), UNNAMED)})


def _said_before(sent: Sequence[Sent], places: Sequence[Occurrence | None], session: Session) -> list[int]:
    """Count how often each message was said before."""
    counted: dict[str, int] = {digest: len(there) for digest, there in session.seen.items()}
    before = list[int]()
    for one, place in zip(sent, places, strict=True):
        if place is None:
            before.append(counted.get(one.digest, 0))
            counted[one.digest] = before[-1] + 1
        else:
            before.append(sum(other.seq < place.seq for other in session.seen.get(one.digest, ())))
    return before


def _check_size(new: Sequence[NewEvent]) -> None:
    """Refuse more new events, or images of them, than one append takes. Raises NeveError: 422."""
    images = sum(block["type"] == "image" for event in new for block in event.content if isinstance(block, dict))
    for count, most, what in ((len(new), MAX_NEW, "events"), (images, MAX_NEW_IMAGES, "images")):
        if count > most:
            why = f"holds {count} new {what}; one call takes {most}: part the list, and send its beginning first"
            raise invalid("messages", why)
