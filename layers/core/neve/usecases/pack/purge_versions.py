"""Take versions of a session's pack away for good: their objects, their manifests, and the pointer to them
(docs/rules/pack.md#purge)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from neve.domain.records.packs import PackEntry, PackManifest
from neve.ports.table import key_of
from neve.scope import SessionScope, UserScope
from neve.store import rows
from neve.store.delete_rows import delete_rows
from neve.store.keys import PACK, pack_session_of, pack_version_of
from neve.store.partitions import all_rows
from neve.store.transact import transact

PackVersion = tuple[str, int]
"""Session id and version."""
Holds = Callable[[PackEntry], bool]
Purged = Callable[[int], None]
"""How many versions of a session."""


def purge_packs_with(scope: UserScope, holds: Holds, purged: Purged = lambda _: None) -> list[PackVersion]:
    """What there was of them in any session of the user; nobody serves another one. ``holds``: whether an entry is of
    what has been deleted by now. ``purged``: is told of each session; what it raises ends the call, and whoever calls
    again goes on with the others.

    The user's row moves first, which fences every build that has read what was deleted. What objects without a manifest
    there are then may hold it as well, and go with them. May be repeated. Raises StoreUnavailable, and 409
    ``conflict``."""
    transact(scope.ports, lambda: _move_user(scope))
    names = scope.ports.objects.list(scope.keys.packs_prefix)
    left = {(pack_session_of(name), pack_version_of(name)) for name in names}
    held: list[PackVersion] = []
    by_session: dict[str, list[int]] = {}
    for manifest in _manifests(scope):
        session, version = _version_of(manifest)
        left.discard((session, version))
        if _holds_any(manifest, holds):
            held.append((session, version))
            by_session.setdefault(session, []).append(version)
    for session, _ in sorted(left):
        by_session.setdefault(session, [])
    for session, versions in by_session.items():
        purged(purge_versions(scope, session, versions))
    return held


def packs_with(scope: UserScope, holds: Holds) -> list[PackVersion]:
    """Raises StoreUnavailable."""
    return [_version_of(one) for one in _manifests(scope) if _holds_any(one, holds)]


def purge_versions(scope: UserScope, session_id: str, versions: Collection[int]) -> int:
    """How many of ``versions`` there were. When the served one is among them, the next read rebuilds the pack, with
    the trigger ``initial``; a number is never given out twice. What a build has left that crashed or lost before its
    pointer goes too.

    The pointer goes first, which fences every build under way, the manifests last: whoever repeats a call that broke
    off finds them again. Raises StoreUnavailable, and 409 ``conflict``."""
    session = scope.of_session(session_id)
    stored = _stored_objects(session)
    purged_to = transact(scope.ports, lambda: _fence(session, versions, max(stored, default=0)))
    if purged_to is None:
        return 0
    manifests = {
        rows.read_manifest(item).pack_version: key_of(item)
        for item in all_rows(scope.ports.table, session.keys.partition, prefix=session.keys.packs)
    }
    wanted = manifests.keys() & set(versions)
    for version, name in stored.items():
        # up to the fence an object without a manifest is nobody's: only a stale build could still point to it
        if version in versions or (version <= purged_to and version not in manifests):
            scope.ports.objects.delete(name)
    delete_rows(scope.ports.table, [manifests[version] for version in wanted])
    return len(wanted)


def _holds_any(manifest: PackManifest, holds: Holds) -> bool:
    return any(holds(entry) for entries in manifest.layers.values() for entry in entries)


def _version_of(manifest: PackManifest) -> PackVersion:
    return manifest.session_id, manifest.pack_version


def _manifests(scope: UserScope) -> Iterator[PackManifest]:
    return map(rows.read_manifest, all_rows(scope.ports.table, scope.keys.partition, prefix=PACK))


def _move_user(scope: UserScope) -> None:
    """Raises Conflict."""
    item = scope.ports.table.get(scope.keys.head)
    if item is not None:
        head = rows.read_head(item)
        scope.ports.table.write([rows.put_head(scope.keys, replace(head, purges=head.purges + 1))])


def _stored_objects(session: SessionScope) -> dict[int, str]:
    return {pack_version_of(name): name for name in session.ports.objects.list(session.keys.session_packs_prefix)}


def _fence(session: SessionScope, versions: Collection[int], stored_to: int) -> int | None:
    """No build that has read the session before can point to a version any more. Up to which number versions may have
    been given out; None when there is no such session. Raises Conflict."""
    item = session.ports.table.get(session.keys.epoch)
    if item is None:
        return None
    epoch = rows.read_epoch(item)
    current = epoch.pack.pack_version if epoch.pack else 0
    purged_to = max(epoch.purged_to, current, stored_to)
    pack = None if current in versions else epoch.pack
    fenced = replace(epoch, pack=pack, purged_to=purged_to)
    session.ports.table.write([rows.put_epoch(session.keys, fenced, session.ports.clock.now())])
    return purged_to
