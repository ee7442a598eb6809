"""E1: open a session and serve its pack within the start budget."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from neve.domain.records import SessionEpoch, SessionHead, SessionMarker
from neve.domain.times import iso
from neve.ports import Conflict, DeadlineExceeded
from neve.store import rows
from neve.usecases.pack.build_pack import pointer_to
from neve.usecases.pack.read_pack import PackView, read_pack
from neve.usecases.sessions.read_sessions import SessionView, session_keys, view_of
from neve.wiring import Ports, Tenant

DEADLINE = "deadline"
NO_ENTRIES = "Loaded 0 MemoryVault always-load entries: (none)"
"""The wording that integrators of the recall loop expect (context.md §8). Documents bring the entries."""


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


def open_session(ports: Ports, tenant: Tenant, user: str, wanted: OpenSession) -> OpenedSession:
    """The session, made if its id is new, and its pack. A repeat with the same id gives the same session and the same
    pack version; a title or user_meta that was sent replaces the stored one.

    Raises erasing, user_closed, and StoreUnavailable when the session row cannot be written. A pack that cannot be
    served within the budget degrades the answer instead."""
    start = ports.clock.monotonic_ms()
    budget = wanted.budget_ms if wanted.budget_ms is not None else tenant.policy.session_start_budget_ms
    view, created = _ensure(ports, tenant, user, wanted)
    pack = _pack_within(ports, tenant, user, view.head.session_id, start, budget)
    if pack.manifest:  # this very call may have built it
        view = replace(view, epoch=replace(view.epoch, pack=pointer_to(pack.manifest)))
    degraded = list(pack.degraded)
    transparency = [NO_ENTRIES]
    if DEADLINE in degraded:
        transparency.append(f"Session start budget of {budget} ms used up: the pack was left out.")
    transparency += [f"Degraded: {what}" for what in degraded if what != DEADLINE]
    elapsed = round(ports.clock.monotonic_ms() - start)
    return OpenedSession(view, pack, transparency, degraded, created, elapsed)


def _pack_within(ports: Ports, tenant: Tenant, user: str, session: str, start: float, budget: int) -> PackView:
    if budget <= 0:
        return PackView("unavailable", degraded=(DEADLINE,))
    task = ports.tasks.start(lambda: read_pack(ports, tenant, user, session))
    try:
        return task.result(start + budget)
    except DeadlineExceeded:
        return PackView("unavailable", degraded=(DEADLINE,))


def _ensure(ports: Ports, tenant: Tenant, user: str, wanted: OpenSession) -> tuple[SessionView, bool]:
    keys = tenant.keys
    session = wanted.session_id or f"ses_{ports.ids.ulid(ports.clock.now())}"
    while True:
        now = ports.clock.now()
        found = ports.table.get_many([keys.head(user), *session_keys(keys, user, session)])
        head = rows.read_head(found.get(keys.head(user)))
        rows.writable(head)
        view = view_of(keys, user, session, found)
        guard = rows.guard_user(keys, user, head, now)
        try:
            if view is None:
                view = _new_view(session, wanted, iso(now))
                ports.table.write(
                    [
                        guard,
                        rows.put_session(keys, user, view.head),
                        rows.put_marker(keys, user, view.marker),
                        rows.put_epoch(keys, user, view.epoch, now),
                    ]
                )
                return view, True
            updated = replace(
                view.head,
                title=wanted.title or view.head.title,
                user_meta={**view.head.user_meta, **wanted.user_meta},
            )
            if updated != view.head:
                ports.table.write([guard, rows.put_session(keys, user, updated)])
            return replace(view, head=updated), False
        except Conflict:
            continue


def _new_view(session: str, wanted: OpenSession, now: str) -> SessionView:
    head = SessionHead(session, "open", started_at=now, title=wanted.title, user_meta=wanted.user_meta)
    return SessionView(head, SessionMarker(session), SessionEpoch(session), indexed_seq=0)
