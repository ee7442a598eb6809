"""E6: serve the frozen pack. A 304 costs one batch read, a 200 one more object, and neither when the bytes are cached.

This is on the chat path: a store that fails degrades the answer, it never becomes an error (product.md §5, §6)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Literal

from neve.domain.errors import not_found
from neve.domain.pack.render import PackLayers, render
from neve.domain.records import PackManifest, SessionEpoch
from neve.ports import StoreUnavailable
from neve.store import rows
from neve.usecases.pack.build_pack import BuiltPack, build_pack, known_body
from neve.usecases.pack.gather_pack import gather_pack
from neve.wiring import Ports, Tenant

Holds = Callable[[str], bool]

STALE, PARTIAL, UNAVAILABLE = "pack:stale", "pack:partial", "pack:unavailable"


@dataclass(frozen=True, slots=True)
class PackView:
    """``manifest`` is set iff these are the bytes of a version, which then has an ETag. ``text`` is None when there is
    nothing to send: the caller's copy is current (not_modified) or no store answered (unavailable)."""

    state: Literal["ready", "not_modified", "partial", "unavailable", "preview"]
    text: str | None = None
    manifest: PackManifest | None = None
    sha256: str | None = None
    degraded: tuple[str, ...] = ()


class PackCache:
    """The last pack of each session that this process served; immutable versions need no invalidation."""

    def __init__(self, sessions: int = 512) -> None:
        self._sessions = sessions
        self._packs: OrderedDict[tuple[str, str, str], BuiltPack] = OrderedDict()
        self._lock = Lock()

    def get(self, tenant: str, user: str, session: str) -> BuiltPack | None:
        with self._lock:
            pack = self._packs.get((tenant, user, session))
            if pack:
                self._packs.move_to_end((tenant, user, session))
            return pack

    def keep(self, tenant: str, user: str, session: str, pack: BuiltPack) -> None:
        with self._lock:
            self._packs[tenant, user, session] = pack
            self._packs.move_to_end((tenant, user, session))
            if len(self._packs) > self._sessions:
                self._packs.popitem(last=False)


_cache = PackCache()


def _holds_nothing(_: str) -> bool:
    return False


def read_pack(
    ports: Ports,
    tenant: Tenant,
    user: str,
    session: str,
    *,
    version: int | None = None,
    holds: Holds = _holds_nothing,
) -> PackView:
    """The session's current pack, built now if it has none, or an old ``version``. ``holds`` says whether the caller
    has the text of a sha256 already. Raises session_not_found, pack_version_not_found."""
    keys = tenant.keys
    wanted = [keys.epoch(user, session)]
    if version is not None:
        wanted.append(keys.pack(user, session, version))
    try:
        found = ports.table.get_many(wanted)
    except StoreUnavailable:
        return PackView("unavailable", degraded=(UNAVAILABLE,))
    if keys.epoch(user, session) not in found:
        raise not_found("session", session)
    epoch = rows.read_epoch(found[keys.epoch(user, session)])
    if version is not None:
        row = found.get(keys.pack(user, session, version))
        if row is None:
            raise not_found("pack_version", str(version))
        return _old_version(ports, tenant, user, rows.read_manifest(row), holds)
    if epoch.pack is None:
        return _first_read(ports, tenant, user, session)
    return _current(ports, tenant, user, epoch, holds)


def _current(ports: Ports, tenant: Tenant, user: str, epoch: SessionEpoch, holds: Holds) -> PackView:
    pointer, session = epoch.pack, epoch.session_id
    if pointer is None:
        raise AssertionError("no pack to serve")
    degraded = (STALE,) if epoch.rebuild_failed_at else ()
    if holds(pointer.sha256):
        return PackView("not_modified", sha256=pointer.sha256, degraded=degraded)
    cached = _cache.get(tenant.id, user, session)
    if cached and cached.manifest.pack_version == pointer.pack_version and cached.manifest.sha256 == pointer.sha256:
        return _ready(cached, degraded)
    try:
        body = ports.objects.get(tenant.keys.pack_object(user, session, pointer.pack_version))
    except StoreUnavailable:
        body = None
    pack = known_body(body, pointer.sha256)
    if pack is None:
        return _ready(cached, (STALE,)) if cached else _partial()
    _cache.keep(tenant.id, user, session, pack)
    return _ready(pack, degraded)


def _first_read(ports: Ports, tenant: Tenant, user: str, session: str) -> PackView:
    try:
        pack = build_pack(ports, tenant, user, session, "initial")
    except StoreUnavailable as error:
        return _partial() if error.store == "objects" else PackView("unavailable", degraded=(UNAVAILABLE,))
    _cache.keep(tenant.id, user, session, pack)
    return _ready(pack, ())


def _old_version(ports: Ports, tenant: Tenant, user: str, manifest: PackManifest, holds: Holds) -> PackView:
    if holds(manifest.sha256):
        return PackView("not_modified", sha256=manifest.sha256)
    try:
        body = ports.objects.get(tenant.keys.pack_object(user, manifest.session_id, manifest.pack_version))
    except StoreUnavailable:
        return PackView("unavailable", degraded=(UNAVAILABLE,))
    pack = known_body(body, manifest.sha256)
    if pack is None:
        raise not_found("pack_version", str(manifest.pack_version))
    return _ready(pack, ())


def preview_pack(ports: Ports, tenant: Tenant, user: str) -> PackView:
    """What a new session's pack would hold now: no version, no ETag."""
    try:
        inputs = gather_pack(ports, tenant, user, None)
    except StoreUnavailable:
        return PackView("unavailable", degraded=(UNAVAILABLE,))
    return PackView("preview", text=inputs.text())


def _ready(pack: BuiltPack, degraded: tuple[str, ...]) -> PackView:
    return PackView("ready", pack.text, pack.manifest, pack.manifest.sha256, degraded)


def _partial() -> PackView:
    """Only what the table itself holds whole: the always and profile layers, which are empty before documents exist."""
    return PackView("partial", text=render(PackLayers()), degraded=(PARTIAL,))
