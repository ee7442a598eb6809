"""E1: open a session and serve its pack within the start budget."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from neve.domain.records import SessionEpoch, SessionHead, SessionMarker
from neve.domain.times import iso
from neve.ports import DeadlineExceeded
from neve.scope import SessionScope, UserScope
from neve.store import rows
from neve.store.transact import transact
from neve.usecases.pack.build_pack import pointer_to
from neve.usecases.pack.read_pack import PackView, read_pack
from neve.usecases.sessions.memory_lag import MemoryLag
from neve.usecases.sessions.read_sessions import SessionView, session_rows, view_of

DEADLINE = "deadline"
NO_ENTRIES = "Loaded 0 MemoryVault always-load entries: (none)"
"""The wording that integrators of the recall loop expect (docs/rules/sessions.md#open). Documents bring the entries."""


@dataclass(frozen=True, slots=True)
class OpenSession:
    """``session_id`` None: a new one is made. ``user_meta``: name, stage, timezone. ``budget_ms`` None: the
    policy's."""

    session_id: str | None = None
    title: str | None = None
    user_meta: dict[str, str] = field(default_factory=dict)
    budget_ms: int | None = None


@dataclass(frozen=True, slots=True)
class OpenedSession:
    view: SessionView
    pack: PackView
    transparency: list[str]
    degraded: list[str]
    created: bool
    elapsed_ms: int


def open_session(scope: UserScope, wanted: OpenSession) -> OpenedSession:
    """The session, made if its id is new, and its pack. A repeat with the same id gives the same session and the same
    pack version; a title or user_meta that was sent replaces the stored one.

    Raises erasing, user_closed, and StoreUnavailable when the session row cannot be written. A pack that cannot be
    served within the budget degrades the answer instead."""
    start = scope.ports.clock.monotonic_ms()
    budget = wanted.budget_ms if wanted.budget_ms is not None else scope.policy.session_start_budget_ms
    view, created = _ensure(scope, wanted)
    pack = _pack_within(scope.of_session(view.head.session_id), start, budget)
    if pack.manifest:  # this very call may have built it
        view = replace(view, epoch=replace(view.epoch, pack=pointer_to(pack.manifest)))
    degraded = list(pack.degraded)
    transparency = [NO_ENTRIES]
    if DEADLINE in degraded:
        transparency.append(f"Session start budget of {budget} ms used up: the pack was left out.")
    transparency += [f"Degraded: {what}" for what in degraded if what != DEADLINE]
    elapsed = round(scope.ports.clock.monotonic_ms() - start)
    return OpenedSession(view, pack, transparency, degraded, created, elapsed)


def _pack_within(scope: SessionScope, start: float, budget: int) -> PackView:
    if budget <= 0:
        return PackView("unavailable", degraded=(DEADLINE,))
    task = scope.ports.tasks.start(lambda: read_pack(scope))
    try:
        return task.result(start + budget)
    except DeadlineExceeded:
        return PackView("unavailable", degraded=(DEADLINE,))


def _ensure(scope: UserScope, wanted: OpenSession) -> tuple[SessionView, bool]:
    """The session, and whether this call made it."""
    ports = scope.ports
    session = wanted.session_id or f"ses_{ports.ids.ulid(ports.clock.now())}"
    keys = scope.keys.of_session(session)

    def attempt() -> tuple[SessionView, bool]:
        now = ports.clock.now()
        found = ports.table.get_many([keys.head, *session_rows(keys)])
        head = rows.read_head(found.get(keys.head))
        rows.writable(head)
        view = view_of(keys, found, now)
        guard = rows.guard_user(keys, head, now)
        if view is None:
            view = _new_view(session, wanted, iso(now))
            marker, epoch = rows.put_marker(keys, view.marker), rows.put_epoch(keys, view.epoch, now)
            ports.table.write([guard, rows.put_session(keys, view.head), marker, epoch])
            return view, True
        updated = replace(
            view.head,
            title=wanted.title or view.head.title,
            user_meta={**view.head.user_meta, **wanted.user_meta},
        )
        if updated != view.head:
            ports.table.write([guard, rows.put_session(keys, updated)])
        return replace(view, head=updated), False

    return transact(ports, attempt)


def _new_view(session: str, wanted: OpenSession, now: str) -> SessionView:
    head = SessionHead(session, "open", started_at=now, title=wanted.title, user_meta=wanted.user_meta)
    return SessionView(head, SessionMarker(session), SessionEpoch(session), indexed_seq=0, lag=MemoryLag())
