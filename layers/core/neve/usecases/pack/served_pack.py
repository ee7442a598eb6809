"""What a session's served pack holds, so that recall does not repeat it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from neve.caching import CacheSpec
from neve.domain.records.packs import PackManifest, PackPointer
from neve.store.keys import SessionKeys

EXCERPT = "excerpt"
"""The kind of an entry whose document is shown in part: recall may still find it."""


@dataclass(frozen=True, slots=True)
class PackContents:
    """The ids and text fingerprints of one pack version. ``documents``: the revs of those that it shows whole, by id. A
    later rev may be found: ``<neve-updates>`` shows no more than the beginning of it. ``memories``: the revs of the
    others. ``sessions``: those whose summary it shows."""

    version: int
    sha256: str
    ids: frozenset[str]
    fingerprints: frozenset[str]
    documents: Mapping[str, int] = field(default_factory=dict)
    memories: Mapping[str, int] = field(default_factory=dict)
    sessions: frozenset[str] = frozenset()

    def served_by(self, pointer: PackPointer | None) -> bool:
        return pointer is not None and (pointer.pack_version, pointer.sha256) == (self.version, self.sha256)


def contents_of(manifest: PackManifest) -> PackContents:
    entries = [entry for layer in manifest.layers.values() for entry in layer if entry.kind != EXCERPT]
    return PackContents(
        manifest.pack_version,
        manifest.sha256,
        frozenset(entry.id for entry in entries),
        frozenset(entry.fingerprint for entry in entries),
        {entry.id: entry.rev for entry in entries if entry.path is not None},
        {entry.id: entry.rev for entry in entries if entry.path is None},
        frozenset(entry.session_id for entry in entries if entry.session_id is not None),
    )


PACK_CONTENTS: CacheSpec[SessionKeys, PackContents] = CacheSpec("pack contents", size=200)
"""The contents last seen of each session, which may be out of date: check ``served_by``. At most some 60 KB each: a
global layer holds up to 300 rows."""
