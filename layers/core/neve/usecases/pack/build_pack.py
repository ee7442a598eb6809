"""Rebuild a session's pack: gather, render, store one immutable object, move the pointer.

Called on exactly three triggers (engine.md §6): the first read of a session, an in-session reflection, a horizon."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from datetime import datetime

from neve.domain.errors import NeveError
from neve.domain.records import PackManifest, PackPointer, SessionEpoch, Trigger
from neve.domain.times import iso
from neve.ports import Conflict, StoreUnavailable
from neve.store import rows
from neve.usecases.pack.gather_pack import PackInputs, gather_pack
from neve.wiring import Ports, Tenant

ATTEMPTS = 8
CONTENT_TYPE = "application/json"


@dataclass(frozen=True, slots=True)
class BuiltPack:
    """A version as it is served. ``text`` is the exact text of the prompt."""

    manifest: PackManifest
    text: str

    def body(self) -> bytes:
        """The stored object."""
        return json.dumps({"manifest": rows.manifest_attributes(self.manifest), "text": self.text}).encode()


def pointer_to(manifest: PackManifest) -> PackPointer:
    """What a session's row says of the version it serves."""
    return PackPointer(
        pack_version=manifest.pack_version,
        sha256=manifest.sha256,
        trigger=manifest.trigger,
        built_at=manifest.built_at,
        tokens=manifest.tokens,
        inputs_sha=manifest.inputs_sha,
    )


def read_body(body: bytes) -> BuiltPack:
    stored = json.loads(body)
    return BuiltPack(rows.manifest_of(stored["manifest"]), stored["text"])


def known_body(body: bytes | None, sha256: str) -> BuiltPack | None:
    """The pack of an object, as long as its text is the one that the row store knows by this hash: what stands in a
    prompt must not be changed by whoever can write to the object store."""
    pack = read_body(body) if body is not None else None
    if pack is None or hashlib.sha256(pack.text.encode()).hexdigest() != sha256:
        return None
    return pack


def build_pack(ports: Ports, tenant: Tenant, user: str, session: str, trigger: Trigger) -> BuiltPack:
    """The session's pack after the rebuild: a new version, or the one there is when its text would be the same.

    Raises session_not_found, and StoreUnavailable; then the previous pack stays and ``rebuild_due`` with it."""
    try:
        for _ in range(ATTEMPTS):
            try:
                return _build_once(ports, tenant, user, session, trigger)
            except Conflict:
                continue
    except StoreUnavailable:
        _note_failure(ports, tenant, user, session, trigger)
        raise
    raise NeveError("conflict", "The pack is being rebuilt by others; try again.", retry_after_s=1)


def _build_once(ports: Ports, tenant: Tenant, user: str, session: str, trigger: Trigger) -> BuiltPack:
    inputs = gather_pack(ports, tenant, user, session)
    epoch = inputs.epoch
    if epoch is None:
        raise AssertionError("a session's pack was gathered without its session")
    now = ports.clock.now()
    built = _render(inputs, session, epoch, trigger, now)
    current = epoch.pack
    if current and current.sha256 == built.manifest.sha256:
        _settle(ports, tenant, user, epoch, now)
        return BuiltPack(
            replace(built.manifest, pack_version=current.pack_version, built_at=current.built_at), built.text
        )
    built = _store(ports, tenant, user, built)
    _point(ports, tenant, user, epoch, built.manifest, now)
    return built


def _render(inputs: PackInputs, session: str, epoch: SessionEpoch, trigger: Trigger, now: datetime) -> BuiltPack:
    text, layers = inputs.text(), inputs.layers()
    manifest = PackManifest(
        session_id=session,
        pack_version=epoch.pack.pack_version + 1 if epoch.pack else 1,
        trigger=trigger,
        built_at=iso(now),
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        tokens=sum(entry.tokens for entries in layers.values() for entry in entries),
        inputs_sha=inputs.sha(),
        layers=layers,
    )
    return BuiltPack(manifest, text)


def _store(ports: Ports, tenant: Tenant, user: str, built: BuiltPack) -> BuiltPack:
    """Write the object under the first free version. An object that is there already was written by a build that
    crashed before its pointer, or by a concurrent one: it is adopted when it was built from the same inputs."""
    while True:
        manifest = built.manifest
        key = tenant.keys.pack_object(user, manifest.session_id, manifest.pack_version)
        if ports.objects.put_new(key, built.body(), content_type=CONTENT_TYPE):
            return built
        body = ports.objects.get(key)
        if body is not None:
            existing = read_body(body)
            if existing.manifest.inputs_sha == manifest.inputs_sha and existing.text == built.text:
                return existing
        built = replace(built, manifest=replace(manifest, pack_version=manifest.pack_version + 1))


def _point(ports: Ports, tenant: Tenant, user: str, epoch: SessionEpoch, manifest: PackManifest, now: datetime) -> None:
    """Raises Conflict when the session's epoch row moved: the caller gathers again."""
    moved = replace(epoch, pack=pointer_to(manifest), rebuild_due=None, rebuild_failed_at=None)
    ports.table.write([rows.put_manifest(tenant.keys, user, manifest), rows.put_epoch(tenant.keys, user, moved, now)])


def _settle(ports: Ports, tenant: Tenant, user: str, epoch: SessionEpoch, now: datetime) -> None:
    if epoch.rebuild_due or epoch.rebuild_failed_at:
        settled = replace(epoch, rebuild_due=None, rebuild_failed_at=None)
        ports.table.write([rows.put_epoch(tenant.keys, user, settled, now)])


def _note_failure(ports: Ports, tenant: Tenant, user: str, session: str, trigger: Trigger) -> None:
    """Leave the rebuild to the sweep and let readers know. Best effort: the store that failed may be this one."""
    try:
        item = ports.table.get(tenant.keys.epoch(user, session))
        if item is None:
            return
        now = ports.clock.now()
        epoch = rows.read_epoch(item)
        if epoch.pack is None and trigger == "initial":
            return  # the next read builds it
        noted = replace(epoch, rebuild_due=epoch.rebuild_due or trigger, rebuild_failed_at=iso(now))
        ports.table.write([rows.put_epoch(tenant.keys, user, noted, now)])
    except (StoreUnavailable, Conflict):
        return
