"""Answers as the invariants read them, whether they came from a use case or over HTTP."""

from __future__ import annotations

from typing import NamedTuple


class SeenEvent(NamedTuple):
    seq: int
    text: str
    client_id: str | None


class SeenPack(NamedTuple):
    """``version`` None: no version was served (degraded, or a preview)."""

    version: int | None
    sha256: str | None
    text: str


class SeenMemory(NamedTuple):
    id: str
    text: str
    rev: int


class SeenJob(NamedTuple):
    id: str
    status: str
