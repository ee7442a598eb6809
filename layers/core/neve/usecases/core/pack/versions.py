"""E6: the versions a session's pack has had, and what changed between two of them."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from neve.domain.errors import NeveError, not_found
from neve.domain.records.packs import PackEntry, PackManifest
from neve.ports.errors import StoreUnavailable
from neve.scope import SessionScope
from neve.store import rows
from neve.usecases.core.pack.build_pack import BuiltPack, known_body


@dataclass(frozen=True, slots=True)
class PackDiff:
    """The difference of two versions: items by layer; ``changed`` holds the entry before and after. ``unified`` is the
    text's unified diff."""

    added: list[tuple[str, PackEntry]]
    removed: list[tuple[str, PackEntry]]
    changed: list[tuple[str, PackEntry, PackEntry]]
    unified: str


def pack_versions(scope: SessionScope, limit: int, cursor: str | None) -> tuple[list[PackManifest], str | None]:
    """List the versions, newest first. Raises session_not_found, user_closed, ValueError for a foreign cursor."""
    _require_session(scope)
    keys = scope.keys
    page = scope.ports.table.query(keys.partition, prefix=keys.packs, reverse=True, limit=limit, cursor=cursor)
    return [rows.read_manifest(item) for item in page.items], page.cursor


def pack_diff(scope: SessionScope, from_version: int, to_version: int) -> PackDiff:
    """Compare two versions. Raises session_not_found, pack_version_not_found, user_closed, store_unavailable."""
    _require_session(scope)
    old = _version(scope, from_version)
    new = _version(scope, to_version)
    before, after = _by_place(old.manifest), _by_place(new.manifest)
    unified = difflib.unified_diff(
        old.text.splitlines(), new.text.splitlines(), f"version {from_version}", f"version {to_version}", lineterm=""
    )
    return PackDiff(
        added=[(layer, after[layer, i]) for layer, i in after if (layer, i) not in before],
        removed=[(layer, before[layer, i]) for layer, i in before if (layer, i) not in after],
        changed=[
            (layer, before[layer, i], entry)
            for (layer, i), entry in after.items()
            if (layer, i) in before and before[layer, i].rev != entry.rev
        ],
        unified="\n".join(unified),
    )


def _require_session(scope: SessionScope) -> None:
    keys = scope.keys
    found = scope.ports.table.get_many([keys.head, keys.epoch])
    head = rows.read_head(found.get(keys.head))
    rows.not_closed(head)
    if rows.hidden(head) or not rows.is_there(found, keys.epoch):
        raise not_found("session", scope.session)


def _version(scope: SessionScope, version: int) -> BuiltPack:
    keys = scope.keys
    item = scope.ports.table.get(keys.pack(version))
    if item is None:
        raise not_found("pack_version", str(version))
    try:
        body = scope.ports.objects.get(keys.pack_object(version))
    except StoreUnavailable:
        raise NeveError("store_unavailable", "The pack store did not answer.", retry_after_s=5) from None
    pack = known_body(body, rows.read_manifest(item).sha256)
    if pack is None:  # its row is there
        raise NeveError("store_unavailable", f"The bytes of version {version} cannot be read.")
    return pack


def _by_place(manifest: PackManifest) -> dict[tuple[str, str], PackEntry]:
    return {(layer, entry.id): entry for layer, entries in manifest.layers.items() for entry in entries}
