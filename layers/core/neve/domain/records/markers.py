"""The marker of how far a session is observed."""

from __future__ import annotations

from dataclasses import dataclass

from neve.domain.records.memories import Kind
from neve.domain.records.sessions import Spans


@dataclass(frozen=True, slots=True)
class LiveRow:
    """One of the session's live rows, in the order they were written."""

    id: str
    kind: Kind
    tokens: int


@dataclass(frozen=True, slots=True)
class RefusedEvent:
    """An event that the observer refused to read although it stood alone. ``unusable``: it has answered, more than
    once, and nothing of its answers could be used, which may be no fault of the event."""

    seq: int
    reason: str
    unusable: bool = False


@dataclass(frozen=True, slots=True)
class Scene:
    """One that is being played. ``at``: when it was last spoken in, in stored form. ``both``: the user has a part in
    it, too."""

    at: str
    both: bool


@dataclass(frozen=True, slots=True)
class SessionMarker:
    """Marker, lease and live rows of a session (row ``SESS#s#M``): only passes and session-scoped writes move it.
    ``lease_token`` is the fencing token: it grows by one with every lease taken. ``last_pass``: the id that the last
    committed pass gave itself, by which it recognises its own write. ``pass_limit``: how many events a pass may hold up
    to ``limit_to``, because the observer refused more of them at once, or gave no answer in time. ``refused``: the
    events directly behind the marker that were refused alone and that no commit has noted yet. ``unusable``: seq of
    the event behind those, and how many answers about it alone could not be used. ``retold``: facts that other logs had
    stated first and this one said again, which are older than the session as a rule (``MAX_REPEATED_FACTS`` of
    ``fact_statements.py``). ``model_failed_at``: when the language model last gave a pass no answer; None once it
    has; ``reflection_failed_at``: when it last gave a reflection none that could be used. ``scene``: as the observer
    left it at ``observed_seq``."""

    session_id: str
    observed_seq: int = 0
    offered_seq: int = 0
    empty_offers: int = 0
    live: tuple[LiveRow, ...] = ()
    lease_token: int = 0
    lease_until: str | None = None
    last_pass: str | None = None
    current_task: str | None = None
    suggested_continuation: str | None = None
    thread_title: str | None = None
    pass_limit: int | None = None
    limit_to: int | None = None
    refused: tuple[RefusedEvent, ...] = ()
    unusable: tuple[int, int] | None = None
    retracted: Spans = ()
    retold: tuple[str, ...] = ()
    model_failed_at: str | None = None
    reflection_failed_at: str | None = None
    scene: Scene | None = None
    deleted: bool = False
    version: int = 0
