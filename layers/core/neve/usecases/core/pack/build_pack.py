"""Rebuild a session's pack: gather, render, store one immutable object, move the pointer.

Called on exactly three triggers (docs/rules/pack.md#rebuilds): ``initial``, the first read of a session or behind a
purge; ``reflection``, an in-session one or a retraction; ``horizon``."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from neve.domain.pack.room import LAYERS_BYTES, named, row_bytes
from neve.domain.records.epochs import SessionEpoch
from neve.domain.records.packs import PackManifest, PackPointer, Trigger
from neve.domain.records.users import UserHead
from neve.domain.times import iso
from neve.ports.errors import Conflict, StoreUnavailable
from neve.ports.table import WriteOp
from neve.scope import SessionScope, UserScope
from neve.store import rows
from neve.store.transact import transact
from neve.usecases.core.pack.gather_pack import PackInputs, gather_pack

CONTENT_TYPE = "application/json"
ONE_BY_ONE, MAX_ATTEMPTS = 8, 24
"""*Chosen*: how many versions behind a pack are tried one after the other, and how many at all. From there on each lies
twice as far as the one before: builds that never got to their pointer leave objects, and a session that has dozens of
them finds a free number all the same."""


@dataclass(frozen=True, slots=True)
class BuiltPack:
    """A version as it is served. ``text`` is the exact text of the prompt."""

    manifest: PackManifest
    text: str

    def body(self) -> bytes:
        """Give the bytes of the stored object."""
        return json.dumps({"manifest": rows.manifest_attributes(self.manifest), "text": self.text}).encode()


def pointer_to(manifest: PackManifest) -> PackPointer:
    """Make what a session's row says of the version it serves."""
    return PackPointer(
        pack_version=manifest.pack_version,
        sha256=manifest.sha256,
        trigger=manifest.trigger,
        built_at=manifest.built_at,
        tokens=manifest.tokens,
        inputs_sha=manifest.inputs_sha,
    )


def read_body(body: bytes | None) -> BuiltPack | None:
    """Read a stored object; None for one that is not there, or damaged: truncated, empty, not JSON, of another shape,
    or with a text that is none in UTF-8."""
    try:
        stored = json.loads(body or b"")
        pack = BuiltPack(rows.manifest_of(stored["manifest"]), str(stored["text"]))
        pack.text.encode()
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return pack


def known_body(body: bytes | None, sha256: str) -> BuiltPack | None:
    """Read the pack of an object, as long as its text is the one that the row store knows by this hash: what stands in
    a prompt must not be changed by a writer who can only write to the object store."""
    pack = read_body(body)
    if pack is None or hashlib.sha256(pack.text.encode()).hexdigest() != sha256:
        return None
    return pack


def build_pack(scope: SessionScope, trigger: Trigger, also: Sequence[str] = ()) -> BuiltPack:
    """Rebuild the session's pack and give it: a new version, or the one there is when its text would be the same.
    ``also``: ids of memories that were written a moment ago.

    Raises session_not_found, 409 ``conflict``, and StoreUnavailable; then the previous pack stays and ``rebuild_due``
    with it."""
    try:
        return transact(scope.ports, lambda: _build_once(scope, trigger, also))
    except StoreUnavailable:
        _note_failure(scope, trigger)
        raise


def _build_once(scope: SessionScope, trigger: Trigger, also: Sequence[str]) -> BuiltPack:
    now = scope.ports.clock.now()  # what is stated while all is read is newer than the pack
    inputs, epoch, user = gather_pack(scope, also, first=trigger == "initial")
    built = _render(inputs, epoch, trigger, now)
    current = epoch.pack
    if (
        current
        and current.sha256 == built.manifest.sha256
        and _keep_served_version(scope, user, epoch, built.manifest, now)
    ):
        return BuiltPack(
            replace(built.manifest, pack_version=current.pack_version, built_at=current.built_at), built.text
        )
    built = _store(scope, built)
    _move_pointer(scope, user, epoch, built.manifest, now)
    return built


def _render(inputs: PackInputs, epoch: SessionEpoch, trigger: Trigger, now: datetime) -> BuiltPack:
    text, layers = inputs.text(), inputs.layers()
    left_out, more = named(inputs.left_out)
    manifest = PackManifest(
        session_id=epoch.session_id,
        pack_version=max(epoch.pack.pack_version if epoch.pack else 0, epoch.purged_to) + 1,
        trigger=trigger,
        built_at=iso(now),
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        tokens=inputs.tokens(text),
        inputs_sha=inputs.sha(epoch.epoch),
        layers=layers,
        left_out=left_out,
        also_left_out=more,
    )
    return BuiltPack(manifest, text)


def _store(scope: SessionScope, built: BuiltPack) -> BuiltPack:
    """Write the object under the first free version. An object that is there already was written by a build that
    crashed before its pointer, or by a concurrent one: it is adopted when it was built from the same inputs. Raises
    Conflict when ``MAX_ATTEMPTS`` are taken."""
    for tried in range(MAX_ATTEMPTS):
        manifest = built.manifest
        key = scope.keys.pack_object(manifest.pack_version)
        if scope.ports.objects.put_new(key, built.body(), content_type=CONTENT_TYPE):
            return built
        existing = read_body(scope.ports.objects.get(key))
        if existing and existing.manifest.inputs_sha == manifest.inputs_sha and existing.text == built.text:
            return existing
        step = 2 ** max(0, tried - ONE_BY_ONE + 1)
        built = replace(built, manifest=replace(manifest, pack_version=manifest.pack_version + step))
    raise Conflict


def _move_pointer(scope: UserScope, user: UserHead, epoch: SessionEpoch, manifest: PackManifest, now: datetime) -> None:
    """Move the pointer to a version. Raises Conflict when the row of the session's epoch moved, or the user's, as with
    every deletion that purges: the caller gathers again."""
    moved = replace(epoch, pack=pointer_to(manifest), rebuild_due=None, rebuild_failed_at=None)
    ops = [rows.put_manifest(scope.keys, manifest), rows.put_epoch(scope.keys, moved, now)]
    scope.ports.table.write([rows.check_head(scope.keys, user), *ops])


def _keep_served_version(
    scope: SessionScope, user: UserHead, epoch: SessionEpoch, same: PackManifest, now: datetime
) -> bool:
    """Keep the served version, as the new pack has its bytes. ``same``: the manifest of that pack. False where the row
    of the served one has no room for what its words stand for by now: then they make a version of their own. Raises
    Conflict as ``_move_pointer`` does."""
    ops = _add_new_entries(scope, user, epoch, same)
    if ops is None:
        return False
    if ops or epoch.rebuild_due or epoch.rebuild_failed_at:
        settled = replace(epoch, rebuild_due=None, rebuild_failed_at=None)
        scope.ports.table.write([*ops, rows.put_epoch(scope.keys, settled, now)])
    return True


def _add_new_entries(
    scope: SessionScope, user: UserHead, epoch: SessionEpoch, same: PackManifest
) -> list[WriteOp] | None:
    """Add to the row of the served version what its words stand for by now, behind what they stood for: a deletion of
    that takes the version away with it. The object stays as it is. None where the row has no room for it."""
    if epoch.pack is None or epoch.pack.inputs_sha == same.inputs_sha:
        return []
    item = scope.ports.table.get(scope.keys.pack(epoch.pack.pack_version))
    if item is None:
        return []
    served = rows.read_manifest(item)
    known = {entry.id for entries in served.layers.values() for entry in entries}
    new = {
        layer: [replace(entry, tokens=0) for entry in entries if entry.id not in known]
        for layer, entries in same.layers.items()
    }
    if not any(new.values()):
        return []
    layers = {layer: (*served.layers.get(layer, ()), *entries) for layer, entries in new.items()}
    if row_bytes(entry for entries in layers.values() for entry in entries) > LAYERS_BYTES:
        return None
    return [rows.check_head(scope.keys, user), rows.put_manifest(scope.keys, replace(served, layers=layers))]


def _note_failure(scope: SessionScope, trigger: Trigger) -> None:
    """Leave the rebuild to the sweep and let readers know. Best effort: the store that failed may be this one."""
    try:
        item = scope.ports.table.get(scope.keys.epoch)
        if item is None:
            return
        now = scope.ports.clock.now()
        epoch = rows.read_epoch(item)
        if epoch.pack is None and trigger == "initial":
            return  # the next read builds it
        noted = replace(epoch, rebuild_due=epoch.rebuild_due or trigger, rebuild_failed_at=iso(now))
        scope.ports.table.write([rows.put_epoch(scope.keys, noted, now)])
    except (StoreUnavailable, Conflict):
        return
