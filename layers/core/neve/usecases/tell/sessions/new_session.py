"""Makes the first rows of a session that is not there yet."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from neve.domain.metadata import Metadata
from neve.domain.privacy.structured import Walk
from neve.domain.records.sessions import Participant, SessionHead
from neve.ports.table import Item
from neve.scope import UserScope
from neve.store import rows


@dataclass(frozen=True, slots=True)
class OpenSession:
    """A caller's wish to open a session. ``session_id`` None: a new one is made. ``user_meta``: name, stage, timezone.
    ``metadata``, ``room`` None: as it is. ``budget_ms`` None: the policy's. ``shared_from``: see ``SessionHead``."""

    session_id: str | None = None
    title: str | None = None
    user_meta: dict[str, str] = field(default_factory=dict)
    budget_ms: int | None = None
    metadata: Metadata | None = None
    participants: tuple[Participant, ...] = ()
    room: bool | None = None
    shared_from: tuple[str, str] | None = None


def screened_opening(scope: UserScope, wanted: OpenSession) -> OpenSession:
    """Remove from an opening what the policy takes out (docs/rules/privacy.md#events)."""
    walk = Walk(scope.policy.pii.actions)
    title = walk.text(wanted.title) if wanted.title else wanted.title
    metadata = walk.labels(wanted.metadata) if wanted.metadata else wanted.metadata
    people = tuple(replace(one, name=walk.text(one.name)) for one in wanted.participants)
    meta = walk.value(wanted.user_meta)
    return replace(wanted, title=title, user_meta=meta, metadata=metadata, participants=people)


def ended_at(scope: UserScope, newest: Item | None) -> str | None:
    """Give the time when the session that was opened before had its last event, or else began; one more read, for a new
    session only."""
    row = scope.ports.table.get(scope.keys.of_session(newest["session_id"]).session_head) if newest else None
    if row is None:
        return None
    before = rows.read_session(row)
    return before.last_event_at or before.started_at


def first_head(session: str, wanted: OpenSession, now: str, previous_at: str | None) -> SessionHead:
    """Make the first row of a session. ``previous_at``: when the user's session before it ended."""
    return SessionHead(
        session,
        "open",
        started_at=now,
        title=wanted.title,
        user_meta=wanted.user_meta,
        metadata=wanted.metadata or {},
        participants=wanted.participants,
        room=bool(wanted.room),
        shared_from=wanted.shared_from,
        previous_at=previous_at,
        unwatched=True,
    )
