"""Pack versions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Trigger = Literal["initial", "reflection", "horizon"]


@dataclass(frozen=True, slots=True)
class PackPointer:
    """The pack version that a session serves. ``sha256`` is the text's; ``inputs_sha`` names what it was built from."""

    pack_version: int
    sha256: str
    trigger: Trigger
    built_at: str
    tokens: int
    inputs_sha: str


@dataclass(frozen=True, slots=True)
class PackEntry:
    """One item as a pack version holds it. ``tokens``: 0 where another line says what it says. ``path``: of a
    document. ``session_id``: of a session's summary. ``valid_until``: of a memory that ends."""

    id: str
    rev: int
    fingerprint: str
    tokens: int
    kind: str
    path: str | None = None
    session_id: str | None = None
    valid_until: str | None = None


@dataclass(frozen=True, slots=True)
class PackManifest:
    """The contents of one immutable pack version. ``layers``: always, profile, global, local, each in rendered order.
    ``left_out``: what had no room: documents of the first two, observations and reflections of the session, and any row
    where the pack would be too large for an answer or for its row; ``also_left_out``: how many more there are whose
    names have no room."""

    session_id: str
    pack_version: int
    trigger: Trigger
    built_at: str
    sha256: str
    tokens: int
    inputs_sha: str
    layers: dict[str, tuple[PackEntry, ...]]
    left_out: tuple[PackEntry, ...] = ()
    also_left_out: int = 0
