"""Take versions of packs away for good: their objects, their manifests, and the pointers to them
(docs/rules/pack.md#purge)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal, NamedTuple

from neve.domain.records.packs import PackEntry, PackManifest
from neve.ports.table import Item
from neve.scope import SessionScope, UserScope
from neve.store import rows
from neve.store.delete_rows import delete_rows
from neve.store.keys import PACK, pack_session_of, pack_version_of
from neve.store.partitions import all_rows, object_pages, pages
from neve.store.transact import transact

PackVersion = tuple[str, int]
"""Session id and version."""
Holds = Callable[[PackEntry], bool]
Going = Callable[[Sequence[str]], None]
"""Hears which sessions serve versions that are about to go: afterwards they cannot be found."""


class PurgePlace(NamedTuple):
    """The place that a purge has reached: first it looks through the manifests, by their sort keys, then through the
    objects."""

    phase: Literal["manifests", "objects"] = "manifests"
    behind: str = ""


BEGINNING, OBJECTS = PurgePlace(), PurgePlace("objects")


@dataclass(frozen=True, slots=True)
class PurgedPage:
    """The outcome of a page. ``versions``: those that went. ``left``: how many of them were found behind that all the
    same. ``any``: whether anything went, be it an object of no version. ``place``: where a worker that goes on finds
    what is behind this page."""

    versions: Sequence[PackVersion]
    left: int
    any: bool
    place: PurgePlace


def purge_pages(
    scope: UserScope, holds: Holds, place: PurgePlace = BEGINNING, going: Going = lambda _: None
) -> Iterator[PurgedPage]:
    """Take away the versions with such an entry in any session of the user; yields behind each page that it has looked
    through, so that a worker can stop there. ``holds``: whether an entry is of what has been deleted by now. ``place``:
    where an earlier call with the same ``holds`` has stopped. ``going``: is told before they go.

    The user's row moves first, which fences every build that has read what was deleted: no such manifest comes to be
    any more, in front of a place or behind it. What objects without a manifest there are then may hold it as well, and
    go with them. May be repeated. Raises StoreUnavailable, and 409 ``conflict``."""
    known = set[PackVersion]()
    if place == BEGINNING:
        transact(scope.ports, lambda: _move_user_row(scope))
    if place.phase == BEGINNING.phase:
        yield from _purge_manifests(scope, holds, place.behind, known, going)
        place = OBJECTS
    yield from _purge_objects(scope, place.behind, known)


def packs_with(scope: UserScope, holds: Holds) -> Iterator[PackVersion | None]:
    """Look at one version after the other, and give those with such an entry; None for one without. Raises
    StoreUnavailable."""
    for item in all_rows(scope.ports.table, scope.keys.partition, prefix=PACK):
        manifest = rows.read_manifest(item)
        yield _version_of(manifest) if _holds_any(manifest, holds) else None


def serving(scope: UserScope, held: Collection[PackVersion]) -> list[str]:
    """Give the sessions that serve one of the versions. Raises StoreUnavailable."""
    epochs = {session: scope.of_session(session).keys.epoch for session, _ in sorted(held)}
    found = scope.ports.table.get_many(list(epochs.values())) if epochs else {}
    packs = {session: rows.read_epoch(found[key]).pack for session, key in epochs.items() if key in found}
    return sorted(session for session, pack in packs.items() if pack and (session, pack.pack_version) in held)


def purge_versions(scope: UserScope, session_id: str, versions: Collection[int]) -> None:
    """Take versions of one session away. When the served one is among them, the next read rebuilds the pack, with the
    trigger ``initial``; a number is never given out twice.

    The pointer goes first, which fences every build under way, the manifests last: a worker that repeats a call which
    broke off finds them again. Raises StoreUnavailable, and 409 ``conflict``."""
    session = scope.of_session(session_id)
    if transact(scope.ports, lambda: _fence_builds(session, versions)):
        for version in versions:
            scope.ports.objects.delete(session.keys.pack_object(version))
        delete_rows(scope.ports.table, [session.keys.pack(version) for version in versions])


# --- the manifests ------------------------------------------------------------------------------


def _purge_manifests(
    scope: UserScope, holds: Holds, behind: str, known: set[PackVersion], going: Going
) -> Iterator[PurgedPage]:
    """Purge the versions that have a manifest. ``known``: gets those that stay."""
    for page in pages(scope.ports.table, scope.keys.partition, between=scope.keys.packs_behind(behind)):
        manifests = [rows.read_manifest(item) for item in page]
        held = {_version_of(one) for one in manifests if _holds_any(one, holds)}
        known.update(set(map(_version_of, manifests)) - held)
        if served := serving(scope, held):
            going(served)
        for session, versions in _by_session(held):
            purge_versions(scope, session, versions)
        left = len(_manifests_of(scope, held))
        yield PurgedPage(sorted(held), left, bool(held), PurgePlace(BEGINNING.phase, page[-1]["sk"]))


# --- objects without a manifest -----------------------------------------------------------------


def _purge_objects(scope: UserScope, behind: str, known: Collection[PackVersion]) -> Iterator[PurgedPage]:
    """Purge the objects without a manifest. ``known``: some of the versions that have a manifest."""
    for names in object_pages(scope.ports.objects, scope.keys.packs_prefix, behind):
        stored = {(pack_session_of(name), pack_version_of(name)) for name in names} - set(known)
        unmade = stored - _manifests_of(scope, stored).keys()
        for session, versions in _by_session(unmade):
            _purge_unmade(scope.of_session(session), versions)
        yield PurgedPage([], 0, bool(unmade), PurgePlace(OBJECTS.phase, names[-1]))


def _purge_unmade(session: SessionScope, versions: Collection[int]) -> None:
    """Delete objects without a manifest. Behind the fence such an object belongs to no version: only a stale build
    could still point to it."""
    if transact(session.ports, lambda: _fence_builds(session, (), max(versions))):
        made = _manifests_of(session, [(session.session, version) for version in versions])
        for version in versions:
            if (session.session, version) not in made:
                session.ports.objects.delete(session.keys.pack_object(version))


# --- parts --------------------------------------------------------------------------------------


def _by_session(versions: Iterable[PackVersion]) -> Iterator[tuple[str, list[int]]]:
    for session, of_session in groupby(sorted(versions), lambda one: one[0]):
        yield session, [version for _, version in of_session]


def _manifests_of(scope: UserScope, versions: Iterable[PackVersion]) -> Mapping[PackVersion, Item]:
    """Read the manifests of those versions that there are."""
    named = {scope.of_session(session).keys.pack(version): (session, version) for session, version in sorted(versions)}
    found = scope.ports.table.get_many(list(named)) if named else {}
    return {named[key]: item for key, item in found.items()}


def _holds_any(manifest: PackManifest, holds: Holds) -> bool:
    return any(holds(entry) for entries in manifest.layers.values() for entry in entries)


def _version_of(manifest: PackManifest) -> PackVersion:
    return manifest.session_id, manifest.pack_version


def _move_user_row(scope: UserScope) -> None:
    """Move the user's row. Raises Conflict."""
    item = scope.ports.table.get(scope.keys.head)
    if item is not None:
        head = rows.read_head(item)
        scope.ports.table.write([rows.put_head(scope.keys, replace(head, purges=head.purges + 1))])


def _fence_builds(session: SessionScope, going: Collection[int], stored_to: int = 0) -> bool:
    """Move the session's epoch, so that no build that has read the session before can point to a version any more, and
    none gets a number of those that are ``going`` or stored. False when there is no such session. Raises Conflict."""
    item = session.ports.table.get(session.keys.epoch)
    if item is None:
        return False
    epoch = rows.read_epoch(item)
    current = epoch.pack.pack_version if epoch.pack else 0
    purged_to = max(epoch.purged_to, current, stored_to, *going)
    pack = None if current in going else epoch.pack
    fenced = replace(epoch, pack=pack, purged_to=purged_to)
    session.ports.table.write([rows.put_epoch(session.keys, fenced, session.ports.clock.now())])
    return True
