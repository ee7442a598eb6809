"""Says who of several people in a session said something, and who may be told of it
(docs/rules/sessions.md#participants). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from neve.domain.errors import invalid
from neve.domain.records.sessions import Audience, EventType, Participant, SessionHead
from neve.domain.sessions.new_event import NewEvent

MAX_PARTICIPANTS = 50
"""People of one session (*given*)."""
SESSION_ONLY: Audience = "session"


def joined_participants(
    session: SessionHead, sent: Sequence[Participant], room: bool | None
) -> tuple[Participant, ...]:
    """Give the session's participants with those that were sent again: by id, a newcomer joins, and one who is there
    has the new name and ``share``. Nobody leaves: the log says who spoke. Raises 422."""
    if room is not None and room != session.room:
        kind = "a room" if session.room else "a person's"
        raise invalid("room", f"cannot change: the session is {kind}; open another one")
    joined = {one.id: one for one in session.participants}
    for n, one in enumerate(sent):
        before = joined.get(one.id)
        if before is not None and before.user_id not in (None, one.user_id):
            raise invalid(f"participants[{n}].user_id", f"cannot change: '{one.id}' is another user; name a new id")
        joined[one.id] = one
    if len(joined) > MAX_PARTICIPANTS:
        raise invalid("participants", f"would be {len(joined)} with those who are there; {MAX_PARTICIPANTS} are taken")
    return tuple(joined.values())


def named_participant(session: SessionHead, participant: str | None, at: str) -> Participant | None:
    """Find a participant; None where nobody is named. ``at``: the field that names one. Raises 422 for a stranger."""
    if participant is None:
        return None
    found = next((one for one in session.participants if one.id == participant), None)
    if found is None:
        known = ", ".join(one.id for one in session.participants) or "it has none"
        raise invalid(at, f"'{participant}' is no participant of the session ({known}): open it with them first")
    return found


def is_another(session: SessionHead, user: str, participant: str | None) -> bool:
    """Say whether a participant is not the user whose session it is: has another ``user_id`` or, without one, another
    id. In a room everybody speaks for it."""
    if participant is None or session.room:
        return False
    return all((one.user_id or one.id) != user for one in session.participants if one.id == participant)


def others_from(session: SessionHead, user: str, new: Iterable[tuple[int, NewEvent]]) -> int:
    """Give the seq from which others have spoken, with ``new`` events; 0 where none has."""
    said = (seq for seq, event in new if is_another(session, user, event.participant))
    return session.others_from or next(said, 0)


def heard_by(session: SessionHead, user: str, seq: int, event: NewEvent) -> Audience | None:
    """Say who may be told of a new event: nobody elsewhere of what another than the user said, nor of what assistants
    and tools said since, which may repeat it. ``session``: with its ``others_from``."""
    if event.event_type is EventType.USER_MESSAGE:
        return SESSION_ONLY if is_another(session, user, event.participant) else None
    return SESSION_ONLY if 0 < session.others_from < seq else None
