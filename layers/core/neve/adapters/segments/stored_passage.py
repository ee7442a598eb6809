"""Gives a passage the form in which the engines keep it that search in memory."""

from __future__ import annotations

import json
from typing import Final, NamedTuple

from neve.adapters.segments.analysis import Analysed
from neve.domain.indexing.passage import Passage
from neve.domain.times import epoch_ms

ALWAYS: Final = -(1 << 62)
NEVER: Final = 1 << 62
"""The times in ms before and behind every other one."""


class StoredPassage(NamedTuple):
    """A passage as it is kept, in the order of its columns, without the texts. ``row`` rises and is never given
    twice; ``tags``, ``metadata`` and ``about`` are JSON arrays; ``vector`` is normalised; ``terms`` are packed
    WEIGHTED_TERMS; ``length`` are the index terms of the passage's message; a time that is not given is ``ALWAYS`` or
    ``NEVER``."""

    row: int
    item_id: str
    n: int
    version: int
    length: int
    source: str
    kind: str
    status: str
    tier: str
    category: str | None
    group: str | None
    session_id: str | None
    path: str | None
    tags: str
    metadata: str
    about: str
    only_in: str | None
    fingerprint: str
    observed_ms: int
    from_ms: int
    until_ms: int
    created_ms: int
    superseded_ms: int
    vector: bytes | None
    terms: bytes


def stored_passage(row: int, passage: Passage, analysed: Analysed) -> StoredPassage:
    """Give a passage as the engines keep it."""
    return StoredPassage(
        row=row,
        item_id=passage.item_id,
        n=passage.n,
        version=passage.document_version,
        length=analysed.length,
        source=passage.source.value,
        kind=passage.kind,
        status=passage.status,
        tier=passage.tier,
        category=passage.category,
        group=passage.group,
        session_id=passage.session_id,
        path=passage.path,
        tags=json.dumps(sorted(passage.tags)),
        metadata=json.dumps(passage.metadata, ensure_ascii=False),
        about=json.dumps(passage.about, ensure_ascii=False),
        only_in=passage.only_in,
        fingerprint=passage.fingerprint,
        observed_ms=epoch_ms(passage.observed_at),
        from_ms=_ms(passage.valid_from, ALWAYS),
        until_ms=_ms(passage.valid_until, NEVER),
        created_ms=epoch_ms(passage.created_at or passage.observed_at),
        superseded_ms=_ms(passage.superseded_at, NEVER),
        vector=passage.vector,
        terms=analysed.terms,
    )


def _ms(at: str | None, unsaid: int) -> int:
    return unsaid if at is None else epoch_ms(at)
