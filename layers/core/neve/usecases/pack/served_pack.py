"""What a session's served pack holds, so that recall does not repeat it."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

from neve.domain.records import PackManifest, PackPointer

REMEMBERED = 200
"""Sessions whose pack contents a process keeps: at most some 60 KB each: a global layer holds up to 300 rows."""


@dataclass(frozen=True, slots=True)
class PackContents:
    """The ids and text fingerprints of one pack version."""

    version: int
    sha256: str
    ids: frozenset[str]
    fingerprints: frozenset[str]

    def served_by(self, pointer: PackPointer | None) -> bool:
        return pointer is not None and (pointer.pack_version, pointer.sha256) == (self.version, self.sha256)


def contents_of(manifest: PackManifest) -> PackContents:
    entries = [entry for layer in manifest.layers.values() for entry in layer]
    return PackContents(
        manifest.pack_version,
        manifest.sha256,
        frozenset(entry.id for entry in entries),
        frozenset(entry.fingerprint for entry in entries),
    )


class ServedPacks:
    """The contents last seen of each session, which may be out of date: check ``served_by``."""

    def __init__(self, size: int = REMEMBERED) -> None:
        self._size = size
        self._lock = Lock()
        self._packs: OrderedDict[tuple[str, str, str], PackContents] = OrderedDict()

    def get(self, tenant: str, user: str, session: str) -> PackContents | None:
        with self._lock:
            return self._packs.get((tenant, user, session))

    def keep(self, tenant: str, user: str, session: str, contents: PackContents) -> None:
        with self._lock:
            self._packs[tenant, user, session] = contents
            self._packs.move_to_end((tenant, user, session))
            if len(self._packs) > self._size:
                self._packs.popitem(last=False)


served_packs = ServedPacks()
