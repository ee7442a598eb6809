"""Tells what a session's served pack holds, so that recall does not repeat it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from neve.caching import CacheSpec
from neve.domain.ids import event_place
from neve.domain.records.packs import PackEntry, PackManifest, PackPointer
from neve.domain.tails.told import UTTERED
from neve.store.keys import SessionKeys

EXCERPT = "excerpt"
"""The kind of an entry whose document is shown in part: recall may still find it."""


@dataclass(frozen=True, slots=True)
class Uttered:
    """The utterances that a pack shows of other conversations: entries by session and seq."""

    seqs: Mapping[str, Mapping[int, PackEntry]] = field(default_factory=dict)

    @classmethod
    def of(cls, manifest: PackManifest) -> Uttered:
        seqs: dict[str, dict[int, PackEntry]] = {}
        for entry in manifest.layers.get("global", ()):
            if entry.kind == UTTERED and (place := event_place(entry.id)):
                seqs.setdefault(place[0], {})[place[1]] = entry
        return cls(seqs)

    def shows(self, session: str | None, first: int | None, last: int | None) -> bool:
        """Say whether every event of a range is shown: what was made of them says nothing else."""
        seqs = self.seqs.get(session or "", {})
        if first is None or last is None or last - first >= len(seqs):
            return False
        return all(n in seqs for n in range(first, last + 1))


@dataclass(frozen=True, slots=True)
class PackContents:
    """The ids and text fingerprints of one pack version. ``documents``: the revs of those that it shows whole, by id. A
    later rev may be found: ``<neve-updates>`` shows no more than the beginning of it. ``memories``: the revs of the
    others. ``sessions``: those whose summary it shows. ``uttered``: what it shows as it was said."""

    version: int
    sha256: str
    ids: frozenset[str]
    fingerprints: frozenset[str]
    documents: Mapping[str, int] = field(default_factory=dict)
    memories: Mapping[str, int] = field(default_factory=dict)
    sessions: frozenset[str] = frozenset()
    uttered: Uttered = field(default_factory=Uttered)

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
        Uttered.of(manifest),
    )


PACK_CONTENTS: CacheSpec[SessionKeys, PackContents] = CacheSpec("pack contents", size=200)
"""The contents last seen of each session, which may be out of date: check ``served_by``. At most some 60 KB each: a
global layer holds up to 300 rows."""
