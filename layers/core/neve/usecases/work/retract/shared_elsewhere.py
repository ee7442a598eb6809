"""Take back what participants shared: with a message its copy in the memory of who said it, and with an erased user
what they said in sessions of others (docs/rules/sessions.md#sharing)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from neve.domain.errors import NeveError
from neve.domain.records.retractions import RetractReason
from neve.domain.records.sessions import EventType, SessionHead, Spans
from neve.domain.sessions.spans import holds, joined
from neve.ports.table import Item
from neve.scope import SessionScope, UserScope
from neve.store import rows
from neve.store.partitions import all_rows
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.work.observe.share_said import shared_session

READ_BATCH_SIZE = 100
"""Client ids of one read, as DynamoDB takes them."""
GONE = ("erasing", "session_not_found", "user_closed")
"""Why nothing is left to take back: the session, or its user, is gone, and its words with it."""


def take_back_copies(scope: SessionScope, spans: Spans, reason: RetractReason) -> None:
    """Take back, in the memory of those who shared them, the copies of these events. May be repeated. Raises
    StoreUnavailable, and 409 ``conflict``."""
    item = scope.ports.table.get(scope.keys.session_head)
    people = rows.read_session(item).participants if item else ()
    for user in dict.fromkeys(one.user_id for one in people if one.user_id not in (None, scope.user)):
        theirs = shared_session(scope, str(user))
        _take_back(theirs, joined((seq, seq) for seq in _copies(theirs, spans)), reason)


def take_back_everywhere(scope: UserScope) -> None:
    """Delete the turns of a user who is being erased from the sessions of others with whom they shared. May be
    repeated. Raises StoreUnavailable, and 409 ``conflict``."""
    bounds = scope.keys.sessions_behind(None)
    for item in all_rows(scope.ports.table, scope.keys.partition, between=bounds):
        origin = item.get("shared_from")
        if origin is not None:
            session = scope.of_user(str(origin[0])).of_session(str(origin[1]))
            found = session.ports.table.get(session.keys.session_head)
            if found is not None:
                _take_back(session, joined(_turns_of(session, rows.read_session(found), scope.user)), "deleted")


def _copies(theirs: SessionScope, spans: Spans) -> Iterator[int]:
    """Find the seqs of the copies of events, by the client ids that they were given."""
    seqs = [seq for first, last in spans for seq in range(first, last + 1)]
    for start in range(0, len(seqs), READ_BATCH_SIZE):
        wanted = [theirs.keys.client_id(str(seq)) for seq in seqs[start : start + READ_BATCH_SIZE]]
        yield from sorted(int(row["seq"]) for row in theirs.ports.table.get_many(wanted).values())


def _turns_of(scope: SessionScope, session: SessionHead, user: str) -> Iterator[tuple[int, int]]:
    """Find the turns of a user in a session of another, what they were answered included: it may repeat them."""
    own: set[object] = {one.id for one in session.participants if one.user_id == user}
    speaks = False
    for item in all_rows(scope.ports.table, scope.keys.log, between=scope.keys.events(1)):
        speaks = _goes_on(item, own, speaks=speaks)
        if speaks and not holds(session.erased, item["seq"]):
            yield item["seq"], item["seq"]


def _goes_on(item: Item, own: Collection[object], *, speaks: bool) -> bool:
    if item["event_type"] != EventType.USER_MESSAGE:
        return speaks
    return item.get("participant") in own


def _take_back(scope: SessionScope, spans: Sequence[tuple[int, int]], reason: RetractReason) -> None:
    for first, last in spans:
        try:
            retract_events(scope, Retract(first, last, reason))
        except NeveError as error:
            if error.code not in GONE:
                raise
            return
