"""The filter of a search, as a mask over the passages of a segment, made before any depth is counted."""

from __future__ import annotations

import json

import numpy as np

from neve.adapters.segments.segment import Mask, Snapshot
from neve.domain.times import epoch_ms
from neve.ports.search import SearchFilter


def admitted(snapshot: Snapshot, where: SearchFilter) -> Mask:
    """Say True for every live passage that a leg may return."""
    mask = snapshot.alive.copy()
    for name, values in _allowed(where).items():
        if not snapshot.has_only(name, values):
            mask &= snapshot.among(name, values)
    for name, refused in _refused(where).items():
        mask &= ~snapshot.among(name, refused)
    if where.tags:
        wanted = frozenset(where.tags)
        mask &= snapshot.where("tags", lambda tags: wanted.issubset(json.loads(tags or "[]")))
    if where.metadata:
        entries = frozenset(where.metadata)
        mask &= snapshot.where("metadata", lambda given: entries.issubset(json.loads(given or "[]")))
    mask &= snapshot.where("only_in", lambda session: session in (None, where.asked_in))
    if where.about:
        speakers = frozenset(where.about)
        mask &= snapshot.where("about", lambda about: not speakers.isdisjoint(json.loads(about or "[]")))
    if where.path_prefix is not None:
        prefix = where.path_prefix.rstrip("/")
        mask &= snapshot.where("path", lambda path: path is not None and f"{path}/".startswith(f"{prefix}/"))
    observed = snapshot.columns["observed_ms"]
    if where.after is not None:
        mask &= np.asarray(observed >= epoch_ms(where.after))
    if where.before is not None:
        mask &= np.asarray(observed < epoch_ms(where.before))
    spans = {("from_ms", "until_ms"): where.holds_at, ("created_ms", "superseded_ms"): where.in_force_at}
    for (first, end), at in spans.items():
        if at is not None:
            mask &= np.asarray(snapshot.columns[first] <= epoch_ms(at))
            mask &= np.asarray(snapshot.columns[end] > epoch_ms(at))
    return mask


def _allowed(where: SearchFilter) -> dict[str, tuple[str, ...]]:
    lists = {"source": tuple(source.value for source in where.sources), "status": where.statuses, "kind": where.kinds}
    singles = {
        "tier": where.tier,
        "category": where.category,
        "group": where.group,
        "session_id": where.session_id,
    }
    restrictions = {name: values for name, values in lists.items() if values}
    return restrictions | {name: (value,) for name, value in singles.items() if value is not None}


def _refused(where: SearchFilter) -> dict[str, tuple[str, ...]]:
    session = () if where.not_session_id is None else (where.not_session_id,)
    refused = {
        "session_id": session,
        "item_id": tuple(where.exclude_ids),
        "fingerprint": tuple(where.exclude_fingerprints),
    }
    return {name: values for name, values in refused.items() if values}
