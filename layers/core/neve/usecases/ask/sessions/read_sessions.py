"""E1 GET: the sessions of a user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from neve.domain.errors import not_found
from neve.domain.metadata import has_all
from neve.domain.records.epochs import SessionEpoch
from neve.domain.records.markers import SessionMarker
from neve.domain.records.sessions import SessionHead
from neve.domain.tenants.prompt_cache import SessionPrompts
from neve.ports.table import Item, Key
from neve.scope import SessionScope, UserScope
from neve.store import rows
from neve.store.keys import SESSION, SessionKeys
from neve.store.tenants.prompt_usage import read_session_prompts
from neve.usecases.core.lag.memory_lag import MemoryLag, progress_rows, read_progress

PAGES_READ = 20
"""*Chosen*: pages of sessions that are not listed, read by one call."""
_ANY: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class SessionView:
    """A session from its rows. ``indexed_seq``: utterances up to here are in the search index. ``prompts``: None when
    nothing was reported of its prompts, and where that was not read."""

    head: SessionHead
    marker: SessionMarker
    epoch: SessionEpoch
    indexed_seq: int
    lag: MemoryLag
    prompts: SessionPrompts | None = None


def session_rows(keys: SessionKeys) -> list[Key]:
    return [*progress_rows(keys), keys.epoch]


def view_of(keys: SessionKeys, found: dict[Key, Item], now: datetime) -> SessionView | None:
    """Make the view of a session from its rows; None when there is no such session."""
    progress, epoch = read_progress(keys, found), found.get(keys.epoch)
    if progress is None or epoch is None:
        return None
    reported = found.get(keys.session_prompts)
    return SessionView(
        progress.head,
        progress.marker,
        rows.read_epoch(epoch),
        progress.indexed.indexed_seq,
        progress.lag(now),
        read_session_prompts(reported) if reported else None,
    )


def get_session(scope: SessionScope) -> SessionView:
    """Read one session. Raises session_not_found."""
    wanted = [scope.keys.head, *session_rows(scope.keys), scope.keys.session_prompts]
    found = scope.ports.table.get_many(wanted)
    view = view_of(scope.keys, found, scope.ports.clock.now())
    if rows.hidden(rows.read_head(found.get(scope.keys.head))) or view is None or view.head.deleted:
        raise not_found("session", scope.session)
    return view


def list_sessions(
    scope: UserScope, limit: int, cursor: str | None, metadata: Mapping[str, str] = _ANY
) -> tuple[list[SessionView], str | None]:
    """List sessions by session id, ascending, those that have this ``metadata`` and were not deleted: of a user with
    many others a page may be short or empty, and its cursor goes on. Raises ValueError for a cursor that is not one of
    ours."""
    for _ in range(PAGES_READ):
        page = scope.ports.table.query(scope.keys.partition, prefix=SESSION, limit=limit, cursor=cursor)
        items = [item for item in page.items if not item.get("deleted") and has_all(item.get("metadata", {}), metadata)]
        cursor = page.cursor
        if items or cursor is None:
            break
    sessions = [scope.keys.of_session(str(item["session_id"])) for item in items]
    wanted = [key for keys in sessions for key in (*session_rows(keys), keys.session_prompts)]
    found = scope.ports.table.get_many([scope.keys.head, *wanted])
    if rows.hidden(rows.read_head(found.get(scope.keys.head))):
        return [], None
    now = scope.ports.clock.now()
    views = [view_of(keys, found, now) for keys in sessions]
    return [view for view in views if view is not None and not view.head.deleted], cursor
