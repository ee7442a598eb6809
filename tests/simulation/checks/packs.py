"""Frozen packs."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING

from neve.store import rows
from neve.store.keys import PACK, SessionKeys
from tests.simulation.checks.replay import Found, before_erasure, of_kind, row, rows_of

if TYPE_CHECKING:
    from tests.simulation.run import Run


def a_version_has_one_hash_for_ever(run: Run) -> Found:
    """Whoever reads it, and whatever is stored of it."""
    hashes: dict[tuple[SessionKeys, int], str] = {}
    for did in run.history.of("open", "read_pack"):
        if did.ok and did.value.version is not None and not before_erasure(run, did.keys, did.began_s):
            own = sha256(did.value.text.encode()).hexdigest()
            known = hashes.setdefault((did.keys, did.value.version), own)
            if known != own or did.value.sha256 != own:
                yield f"{did.keys.log} version {did.value.version}: {known[:8]}, then {own[:8]}"
    for keys in run.history.sessions():
        for item in rows_of(run, keys.partition, keys.packs):
            known = hashes.setdefault((keys, item["pack_version"]), item["sha256"])
            if known != item["sha256"]:
                yield f"{keys.log} version {item['pack_version']}: served {known[:8]}, noted {item['sha256'][:8]}"


def what_a_pointer_names_is_stored(run: Run) -> Found:
    """The object, with the text of that hash, and the manifest."""
    for keys in run.history.sessions():
        item = row(run, keys, "epoch")
        pointer = rows.read_epoch(item).pack if item else None
        if pointer is None:
            continue
        stored = run.cloud.objects.objects.get(keys.pack_object(pointer.pack_version))
        text = json.loads(stored.body)["text"] if stored else ""
        noted = [one["pack_version"] for one in rows_of(run, keys.partition, PACK)]
        if sha256(text.encode()).hexdigest() != pointer.sha256 or pointer.pack_version not in noted:
            yield f"{keys.log}: the pointer names {pointer.pack_version}, which is not stored"


def a_pointer_never_goes_back(run: Run) -> Found:
    """Nor does it stay where the text is another."""
    for old, new in of_kind(run, "epoch"):
        before = rows.read_epoch(old).pack if old else None
        after = rows.read_epoch(new).pack
        if before is not None and after is None and rows.read_epoch(new).purged_to < before.pack_version:
            yield f"{new['pk']} {new['sk']}: {before.pack_version} is gone, and was not purged"
        if before is not None and after is not None and after.pack_version < before.pack_version:
            yield f"{new['pk']} {new['sk']}: from {before.pack_version} to {after and after.pack_version}"
        if before and after and before.pack_version == after.pack_version and before.sha256 != after.sha256:
            yield f"{new['pk']} {new['sk']}: another text of version {after.pack_version}"


INVARIANTS = (a_version_has_one_hash_for_ever, what_a_pointer_names_is_stored, a_pointer_never_goes_back)
