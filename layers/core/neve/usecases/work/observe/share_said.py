"""Write what participants share into their own memory, before a pass reads it (docs/rules/sessions.md#sharing).

Their statements become messages of a session of theirs, which is observed, recalled, exported and erased like any
other. The seq of a message is its client id there, so that a repeated pass writes nothing twice."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from neve.domain.errors import NeveError
from neve.domain.records.sessions import Event, EventType, SessionHead
from neve.domain.sessions.new_event import NewEvent
from neve.domain.sessions.transcript import event_text
from neve.ports.queue import QueueName
from neve.scope import SessionScope
from neve.store import rows
from neve.usecases.core.jobs.messages.observation import observation_message
from neve.usecases.tell.sessions.append_events import append_events
from neve.usecases.tell.sessions.open_session import OpenSession, open_session

NOT_TAKEN = ("client_id_conflict", "erasing", "retracted", "session_deleted", "user_closed")
"""Why somebody's memory does not take what they share: it was there, and they, or the words, are gone since."""


def shared_session(scope: SessionScope, user: str) -> SessionScope:
    """Give the session of ``user`` that holds what they shared in this one."""
    place = hashlib.sha256("\0".join((scope.user, scope.session)).encode()).hexdigest()[:32]
    return scope.of_user(user).of_session(f"shared_{place}")


def share_said(scope: SessionScope, session: SessionHead, events: Sequence[Event]) -> None:
    """Append the messages of those who share to sessions of theirs, and ask for a pass over each. ``events``: of one
    pass, without what Neve renders. Raises StoreUnavailable, and 409 ``conflict``; a repeat goes on."""
    for one in session.participants:
        said = [event for event in events if event.participant == one.id and _says_something(event)]
        if one.share and one.user_id not in (None, scope.user) and said:
            _share(scope, session, shared_session(scope, str(one.user_id)), said)


def _says_something(event: Event) -> bool:
    return event.event_type is EventType.USER_MESSAGE and event_text(event).strip() != ""


def _share(scope: SessionScope, session: SessionHead, theirs: SessionScope, said: Sequence[Event]) -> None:
    last_seq = 0
    for event in said:
        text = event_text(event)
        message = NewEvent(EventType.USER_MESSAGE, text, client_id=str(event.seq), created_at=event.created_at)
        last_seq = max(last_seq, _append(scope, session, theirs, message))
    if last_seq:
        head = rows.read_head(scope.ports.table.get(theirs.keys.head))
        asked = observation_message(theirs.keys, head.incarnation, last_seq)
        scope.ports.queue.send(QueueName.COMPACT, [asked])


def _append(scope: SessionScope, session: SessionHead, theirs: SessionScope, message: NewEvent) -> int:
    """Append a message to the session of who said it, which is opened with the first; give its last seq, 0 where their
    memory does not take it."""
    try:
        try:
            return append_events(theirs, [message]).last_seq
        except NeveError as error:
            if error.code != "session_not_found":
                raise
        meta = {"timezone": session.timezone}
        wanted = OpenSession(theirs.session, None, meta, 0, shared_from=(scope.user, scope.session))
        open_session(scope.of_user(theirs.user), wanted)
        return append_events(theirs, [message]).last_seq
    except NeveError as error:
        if error.code not in NOT_TAKEN:
            raise
        return 0
