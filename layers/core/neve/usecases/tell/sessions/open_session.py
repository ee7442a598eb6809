"""E1: open a session and serve its pack within the start budget."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from neve.domain.records.epochs import SessionEpoch
from neve.domain.records.markers import SessionMarker
from neve.domain.records.packs import PackEntry
from neve.domain.records.sessions import SessionHead
from neve.domain.sessions.participants import joined_participants
from neve.domain.times import iso
from neve.ports.errors import DeadlineExceeded
from neve.scope import SessionScope, UserScope
from neve.store import rows
from neve.store.sessions.state import read_state
from neve.store.transact import transact
from neve.usecases.ask.pack.read_pack import PackView, pack_of
from neve.usecases.ask.sessions.elsewhere import look_elsewhere
from neve.usecases.ask.sessions.read_sessions import SessionView, view_of
from neve.usecases.core.lag.memory_lag import MemoryLag
from neve.usecases.core.lag.model_down import queued
from neve.usecases.core.pack.build_pack import pointer_to
from neve.usecases.tell.sessions.new_session import OpenSession as OpenSession
from neve.usecases.tell.sessions.new_session import ended_at, first_head, screened_opening

DEADLINE = "deadline"


@dataclass(frozen=True, slots=True)
class OpenedSession:
    """The answer of the call. The ``lag`` of the view is the user's."""

    view: SessionView
    pack: PackView
    transparency: list[str]
    degraded: list[str]
    created: bool
    elapsed_ms: int


def open_session(scope: UserScope, wanted: OpenSession) -> OpenedSession:
    """Open the session, made if its id is new, and serve its pack. A repeat with the same id gives the same session and
    the same pack version; a title or user_meta that was sent replaces the stored one, participants join.

    Raises 422 for participants that cannot join, erasing, user_closed, session_deleted, and StoreUnavailable when the
    session row cannot be written. A pack that cannot be served within the budget degrades the answer instead."""
    start = scope.ports.clock.monotonic_ms()
    wanted = screened_opening(scope, wanted)
    budget = wanted.budget_ms if wanted.budget_ms is not None else scope.policy.session_start_budget_ms
    elsewhere = look_elsewhere(scope)
    view, created, incarnation = _ensure(scope, wanted)
    session = view.head.session_id
    asked = elsewhere.ask_for_passes(session, incarnation)
    pack = _pack_within(scope.of_session(session), view.epoch, start, budget)
    view = replace(view, lag=elsewhere.lag(session, view.lag, asked, start + budget))
    if pack.manifest:  # this very call may have built it
        view = replace(view, epoch=replace(view.epoch, pack=pointer_to(pack.manifest)))
    degraded = [*pack.degraded, *queued(view.marker, view.head.complete_seq)]
    transparency = _loaded(pack)
    if DEADLINE in degraded:
        transparency.append(f"Session start budget of {budget} ms used up: the pack was left out.")
    transparency += [f"Degraded: {what}" for what in degraded if what != DEADLINE]
    elapsed = round(scope.ports.clock.monotonic_ms() - start)
    return OpenedSession(view, pack, transparency, degraded, created, elapsed)


def _loaded(pack: PackView) -> list[str]:
    """Say what the session was started with, in lines for the person at the screen (docs/rules/sessions.md#open)."""
    lines = [f"Loaded {len(pack.always)} always-load entries: {_slugs(pack.always)}"]
    if pack.left_out:
        more = f", and {pack.also_left_out} more" if pack.also_left_out else ""
        lines.append(f"Left out for want of room: {_slugs(pack.left_out)}{more}")
    return lines


def _slugs(entries: Iterable[PackEntry]) -> str:
    """Name entries by the last segment of their paths."""
    return ", ".join((entry.path or entry.id).rpartition("/")[2] for entry in entries) or "(none)"


def _pack_within(scope: SessionScope, epoch: SessionEpoch, start: float, budget: int) -> PackView:
    if budget <= 0:
        return PackView("unavailable", degraded=(DEADLINE,))
    task = scope.ports.tasks.start(lambda: pack_of(scope, epoch))
    try:
        return task.result(start + budget)
    except DeadlineExceeded:
        return PackView("unavailable", degraded=(DEADLINE,))


def _ensure(scope: UserScope, wanted: OpenSession) -> tuple[SessionView, bool, int]:
    """Make or update the session; give it, whether this call made it, and the user's incarnation."""
    ports = scope.ports
    session = wanted.session_id or f"ses_{ports.ids.ulid(ports.clock.now())}"
    keys = scope.keys.of_session(session)

    def attempt() -> tuple[SessionView, bool, int]:
        now = ports.clock.now()
        state = ports.tasks.start_read(lambda: read_state(ports.table, keys))
        found = {**ports.table.get_many([keys.head, keys.session_head, keys.newest_session]), **state.result()}
        head = rows.read_head(found.get(keys.head))
        rows.writable(head)
        view = view_of(keys, found, now)
        guard = rows.guard_user(keys, head, now)
        if view is None:
            newest = found.get(keys.newest_session)
            view = _new_view(first_head(session, wanted, iso(now), ended_at(scope, newest)))
            marker, epoch = rows.put_marker(keys, view.marker), rows.put_epoch(keys, view.epoch, now)
            last = rows.put_newest_session(keys, session, newest)
            ports.table.write([guard, rows.put_session(keys, view.head), marker, epoch, last])
            return view, True, head.incarnation
        rows.not_deleted(view.head)
        updated = replace(
            view.head,
            title=wanted.title or view.head.title,
            user_meta={**view.head.user_meta, **wanted.user_meta},
            metadata=view.head.metadata if wanted.metadata is None else wanted.metadata,
            participants=joined_participants(view.head, wanted.participants, wanted.room),
        )
        if updated != view.head:
            ports.table.write([guard, rows.put_session(keys, updated)])
        return replace(view, head=updated), False, head.incarnation

    return transact(ports, attempt)


def _new_view(head: SessionHead) -> SessionView:
    session = head.session_id
    return SessionView(head, SessionMarker(session), SessionEpoch(session), indexed_seq=0, lag=MemoryLag())
