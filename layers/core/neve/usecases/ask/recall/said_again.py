"""Find when else a hit was said or noted word by word. Of rows with the same text one is a hit, whichever is placed
best; "when did I last take it?" and "how often?" are answered by the others' days."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from neve.usecases.ask.recall.dropped import REPEATS, Dropped
from neve.usecases.ask.recall.recall_rows import Hidden, RecallRow

MAX_TIMES = 20
"""The most times told of a hit (*chosen*)."""


def said_again(
    hits: Iterable[RecallRow], dropped: Iterable[Dropped], rows: Mapping[str, RecallRow | Hidden]
) -> dict[str, tuple[str, ...]]:
    """Return the times (ISO, UTC) of the rows that were dropped because they repeat a hit's text, by the id of the hit,
    newest first, at most ``MAX_TIMES``. A hit without any has no entry. ``rows`` by id."""
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for one in dropped:
        row = rows.get(one.id)
        if one.reason == REPEATS and isinstance(row, RecallRow):
            found[row.fingerprint].add((row.passages[0].observed_at, row.id))
    told: dict[str, tuple[str, ...]] = {}
    for hit in hits:
        others = sorted(place for place in found.get(hit.fingerprint, ()) if place[1] != hit.id)
        if others:
            told[hit.id] = tuple(at for at, _ in reversed(others))[:MAX_TIMES]
    return told
