"""E6: serve the frozen pack. A 304 costs one batch read beside one query, a 200 one more object unless the bytes are
cached.

This is on the chat path: a store that fails degrades the answer, it never becomes an error
(docs/rules/degradation.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from neve.being_erased import ERASING
from neve.caching import CacheSpec
from neve.domain.errors import NeveError, not_found
from neve.domain.pack.render import render
from neve.domain.pack.room import named, served
from neve.domain.records.epochs import SessionEpoch
from neve.domain.records.packs import PackEntry, PackManifest
from neve.ports.errors import StoreUnavailable
from neve.ports.table import Item, Key
from neve.scope import SessionScope, UserScope
from neve.store import rows
from neve.store.keys import SessionKeys
from neve.store.sessions.state import read_state
from neve.usecases.core.lag.memory_lag import MemoryLag, read_progress, user_lag
from neve.usecases.core.pack.build_pack import BuiltPack, build_pack, known_body
from neve.usecases.core.pack.gather_pack import gather_documents, gather_pack, gather_preview

Holds = Callable[[str], bool]

STALE, PARTIAL, UNAVAILABLE, UNREADABLE = "pack:stale", "pack:partial", "pack:unavailable", "pack:unreadable"


@dataclass(frozen=True, slots=True)
class PackView:
    """A pack as it is served. ``manifest`` is set iff these are the bytes of a version, which then has an ETag.
    ``text`` is None when there is nothing to send: the caller's copy is current (not_modified) or no store answered
    (unavailable). ``always``: documents of the text; ``left_out``: documents and rows that had no room in it,
    ``also_left_out``: how many more there are. ``lag``: how far memory is behind the session, without one behind the
    user; None when no store says, or it was not asked for."""

    state: Literal["ready", "not_modified", "partial", "unavailable", "preview"]
    text: str | None = None
    manifest: PackManifest | None = None
    sha256: str | None = None
    degraded: tuple[str, ...] = ()
    always: tuple[PackEntry, ...] = ()
    left_out: tuple[PackEntry, ...] = ()
    also_left_out: int = 0
    lag: MemoryLag | None = None


PACKS: CacheSpec[SessionKeys, BuiltPack] = CacheSpec("packs", size=512)
"""The last pack of each session that this process served; immutable versions need no invalidation."""


def _holds_nothing(_: str) -> bool:
    return False


def read_pack(
    scope: SessionScope,
    *,
    version: int | None = None,
    holds: Holds = _holds_nothing,
) -> PackView:
    """Serve the session's current pack, built now if it has none, or an old ``version``, and how far memory is behind.
    ``holds`` says whether the caller has the text of a sha256 already. Raises session_not_found,
    pack_version_not_found, user_closed."""
    keys, table = scope.keys, scope.ports.table
    wanted = [keys.head, keys.session_head]
    if version is not None:
        wanted.append(keys.pack(version))
    state = scope.ports.tasks.start_read(lambda: read_state(table, keys))
    try:
        found = {**table.get_many(wanted), **state.result()}
    except StoreUnavailable:
        return PackView("unavailable", degraded=(UNAVAILABLE,))
    view = _view(scope, found, version, holds)
    progress = read_progress(keys, found) if view.degraded != (ERASING,) else None
    return replace(view, lag=progress.lag(scope.ports.clock.now()) if progress else None)


def _view(scope: SessionScope, found: Mapping[Key, Item], version: int | None, holds: Holds) -> PackView:
    """Make the view from the rows. Raises session_not_found, pack_version_not_found, user_closed."""
    keys = scope.keys
    head = rows.read_head(found.get(keys.head))
    rows.not_closed(head)
    if rows.hidden(head):
        return PackView("unavailable", degraded=(ERASING,))
    if not rows.is_there(found, keys.epoch):
        raise not_found("session", scope.session)
    epoch = rows.read_epoch(found[keys.epoch])
    if version is not None:
        row = found.get(keys.pack(version))
        if row is None:
            raise not_found("pack_version", str(version))
        return _serve_old_version(scope, rows.read_manifest(row), holds)
    if epoch.pack is None:
        return _build_first(scope)
    return _serve_current(scope, epoch, holds)


def pack_of(scope: SessionScope, epoch: SessionEpoch) -> PackView:
    """Serve the pack that the session's row names, built now if it names none. Raises session_not_found."""
    return _build_first(scope) if epoch.pack is None else _serve_current(scope, epoch, _holds_nothing)


def _serve_current(scope: SessionScope, epoch: SessionEpoch, holds: Holds) -> PackView:
    pointer, cache = epoch.pack, scope.ports.caches.of(PACKS)
    if pointer is None:
        raise AssertionError("no pack to serve")
    degraded = (STALE,) if epoch.rebuild_failed_at else ()
    if holds(pointer.sha256):
        return PackView("not_modified", sha256=pointer.sha256, degraded=degraded)
    cached = cache.get(scope.keys)
    if cached and cached.manifest.pack_version == pointer.pack_version and cached.manifest.sha256 == pointer.sha256:
        return _ready(cached, degraded)
    try:
        body = scope.ports.objects.get(scope.keys.pack_object(pointer.pack_version))
    except StoreUnavailable:
        body = None
    pack = known_body(body, pointer.sha256)
    if pack is not None and not served(pack.text):  # of a time without that bound: no reader has ever seen it
        return _build_first(scope)
    if pack is not None:
        return _ready(cache.put(scope.keys, pack), degraded)
    if cached is None:
        return _partial(scope)
    try:
        return _ready(cached, (STALE,)) if _version_is_there(scope, cached) else _partial(scope)
    except StoreUnavailable:
        return PackView("unavailable", degraded=(UNAVAILABLE,))


def _version_is_there(scope: SessionScope, cached: BuiltPack) -> bool:
    """Say whether the session still has this version. It may have been taken away, because it holds words that were
    deleted, or be of a user who was erased, by another process than this one. Raises StoreUnavailable."""
    row = scope.ports.table.get(scope.keys.pack(cached.manifest.pack_version))
    if row is not None and rows.read_manifest(row).sha256 == cached.manifest.sha256:
        return True
    scope.ports.caches.of(PACKS).drop(scope.keys)
    return False


def _build_first(scope: SessionScope) -> PackView:
    try:
        pack = build_pack(scope, "initial")
    except StoreUnavailable as error:
        return _partial(scope) if error.store == "objects" else PackView("unavailable", degraded=(UNAVAILABLE,))
    except NeveError as refused:
        return _partial_where_lost(scope, refused)
    return _ready(scope.ports.caches.of(PACKS).put(scope.keys, pack), ())


def _serve_old_version(scope: SessionScope, manifest: PackManifest, holds: Holds) -> PackView:
    if holds(manifest.sha256):
        return PackView("not_modified", sha256=manifest.sha256)
    try:
        body = scope.ports.objects.get(scope.keys.pack_object(manifest.pack_version))
    except StoreUnavailable:
        return PackView("unavailable", degraded=(UNAVAILABLE,))
    pack = known_body(body, manifest.sha256)
    if pack is None:  # its row is there, so it is no version that there never was
        return PackView("unavailable", degraded=(UNREADABLE,))
    if not served(pack.text):
        return PackView("unavailable", degraded=(UNAVAILABLE,))
    return _ready(pack, ())


def preview_pack(scope: UserScope) -> PackView:
    """Show what a new session's pack would hold now: no version, no ETag. Raises user_closed."""
    try:
        inputs, lag = gather_preview(scope), user_lag(scope)
    except StoreUnavailable:
        return PackView("unavailable", degraded=(UNAVAILABLE,))
    except NeveError as refused:
        return _partial_where_lost(scope, refused)
    documents = inputs.documents
    entries = documents.layers()["always"]
    left_out, more = named(inputs.left_out)
    return PackView("preview", text=inputs.text(), always=entries, left_out=left_out, also_left_out=more, lag=lag)


def preview_of_session(scope: SessionScope) -> PackView:
    """Show what the session's first pack would hold now. Raises session_not_found, StoreUnavailable."""
    try:
        inputs, _, _ = gather_pack(scope)
    except NeveError as refused:
        return _partial_where_lost(scope, refused)
    return PackView("preview", text=inputs.text())


def _ready(pack: BuiltPack, degraded: tuple[str, ...]) -> PackView:
    manifest = pack.manifest
    always = tuple(manifest.layers.get("always", ()))
    left_out, more = manifest.left_out, manifest.also_left_out
    return PackView("ready", pack.text, manifest, manifest.sha256, degraded, always, left_out, more)


def _partial_where_lost(scope: UserScope, refused: NeveError) -> PackView:
    """Serve a partial pack where other writers won every round: a prompt needs a pack, and does not ask again. Raises
    what else was refused."""
    if refused.code != "conflict":
        raise refused
    return _partial(scope)


def _partial(scope: UserScope) -> PackView:
    """Serve only what the table itself holds whole: the always and profile layers."""
    try:
        documents = gather_documents(scope)
    except StoreUnavailable:
        return PackView("unavailable", degraded=(UNAVAILABLE,))
    text, always = render(documents.rendered), documents.layers()["always"]
    left_out, more = named(documents.left_out)
    return PackView("partial", text=text, degraded=(PARTIAL,), always=always, left_out=left_out, also_left_out=more)
