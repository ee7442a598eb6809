"""E6: serve the frozen pack. A 304 costs one batch read, a 200 one more object, and neither when the bytes are cached.

This is on the chat path: a store that fails degrades the answer, it never becomes an error
(docs/rules/degradation.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from neve.caching import CacheSpec
from neve.domain.errors import not_found
from neve.domain.pack.render import PackLayers, render
from neve.domain.records import PackManifest, SessionEpoch
from neve.ports import Item, Key, StoreUnavailable
from neve.scope import SessionScope, UserScope
from neve.store import rows
from neve.store.keys import SessionKeys
from neve.usecases.pack.build_pack import BuiltPack, build_pack, known_body
from neve.usecases.pack.gather_pack import gather_preview
from neve.usecases.sessions.memory_lag import MemoryLag, progress_rows, read_progress, user_lag

Holds = Callable[[str], bool]

STALE, PARTIAL, UNAVAILABLE = "pack:stale", "pack:partial", "pack:unavailable"


@dataclass(frozen=True, slots=True)
class PackView:
    """``manifest`` is set iff these are the bytes of a version, which then has an ETag. ``text`` is None when there is
    nothing to send: the caller's copy is current (not_modified) or no store answered (unavailable). ``lag``: how far
    memory is behind the session, without one behind the user; None when no store says."""

    state: Literal["ready", "not_modified", "partial", "unavailable", "preview"]
    text: str | None = None
    manifest: PackManifest | None = None
    sha256: str | None = None
    degraded: tuple[str, ...] = ()
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
    """The session's current pack, built now if it has none, or an old ``version``. ``holds`` says whether the caller
    has the text of a sha256 already. Raises session_not_found, pack_version_not_found."""
    keys = scope.keys
    wanted = [keys.epoch, *progress_rows(keys)]
    if version is not None:
        wanted.append(keys.pack(version))
    try:
        found = scope.ports.table.get_many(wanted)
    except StoreUnavailable:
        return PackView("unavailable", degraded=(UNAVAILABLE,))
    if keys.epoch not in found:
        raise not_found("session", scope.session)
    view = _view(scope, found, version, holds)
    progress = read_progress(keys, found)
    return replace(view, lag=progress.lag(scope.ports.clock.now()) if progress else None)


def _view(scope: SessionScope, found: Mapping[Key, Item], version: int | None, holds: Holds) -> PackView:
    epoch = rows.read_epoch(found[scope.keys.epoch])
    if version is not None:
        row = found.get(scope.keys.pack(version))
        if row is None:
            raise not_found("pack_version", str(version))
        return _old_version(scope, rows.read_manifest(row), holds)
    if epoch.pack is None:
        return _first_read(scope)
    return _current(scope, epoch, holds)


def _current(scope: SessionScope, epoch: SessionEpoch, holds: Holds) -> PackView:
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
    if pack is None:
        return _ready(cached, (STALE,)) if cached else _partial()
    return _ready(cache.put(scope.keys, pack), degraded)


def _first_read(scope: SessionScope) -> PackView:
    try:
        pack = build_pack(scope, "initial")
    except StoreUnavailable as error:
        return _partial() if error.store == "objects" else PackView("unavailable", degraded=(UNAVAILABLE,))
    return _ready(scope.ports.caches.of(PACKS).put(scope.keys, pack), ())


def _old_version(scope: SessionScope, manifest: PackManifest, holds: Holds) -> PackView:
    if holds(manifest.sha256):
        return PackView("not_modified", sha256=manifest.sha256)
    try:
        body = scope.ports.objects.get(scope.keys.pack_object(manifest.pack_version))
    except StoreUnavailable:
        return PackView("unavailable", degraded=(UNAVAILABLE,))
    pack = known_body(body, manifest.sha256)
    if pack is None:
        raise not_found("pack_version", str(manifest.pack_version))
    return _ready(pack, ())


def preview_pack(scope: UserScope) -> PackView:
    """What a new session's pack would hold now: no version, no ETag."""
    try:
        inputs, lag = gather_preview(scope), user_lag(scope)
    except StoreUnavailable:
        return PackView("unavailable", degraded=(UNAVAILABLE,))
    return PackView("preview", text=inputs.text(), lag=lag)


def _ready(pack: BuiltPack, degraded: tuple[str, ...]) -> PackView:
    return PackView("ready", pack.text, pack.manifest, pack.manifest.sha256, degraded)


def _partial() -> PackView:
    """Only what the table itself holds whole: the always and profile layers, which are empty before documents exist."""
    return PackView("partial", text=render(PackLayers()), degraded=(PARTIAL,))
