"""Answers as the invariants read them, whether they came from a use case or over HTTP."""

from __future__ import annotations

from typing import Any, NamedTuple


class SeenEvent(NamedTuple):
    seq: int
    text: str
    client_id: str | None


class SeenPack(NamedTuple):
    """``version`` None: no version was served (degraded, or a preview)."""

    version: int | None
    sha256: str | None
    text: str


class SeenPrompt(NamedTuple):
    """``request``: what the provider is sent. ``epoch`` None: nobody could say, or one
    long message left this prompt less than its epoch has."""

    epoch: int | None
    pack_version: int | None
    degraded: tuple[str, ...]
    request: dict[str, Any]


class SeenMemory(NamedTuple):
    id: str
    text: str
    rev: int


class SeenList(NamedTuple):
    """What would be forgotten: ``memories`` as they were listed."""

    confirm: str
    memories: tuple[tuple[str, int], ...]


class SeenRecall(NamedTuple):
    hits: tuple[SeenMemory, ...]
    degraded: tuple[str, ...]


class SeenJob(NamedTuple):
    id: str
    status: str


class SeenPart(NamedTuple):
    bytes: int
    url: str


class SeenExport(NamedTuple):
    status: str
    parts: tuple[SeenPart, ...]


class SeenUpload(NamedTuple):
    id: str
    url: str


class SeenRetraction(NamedTuple):
    """``id``: of its job."""

    id: str
    from_seq: int
    to_seq: int
    epoch: int
