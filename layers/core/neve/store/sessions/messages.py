"""Keeps the digests of the messages that a session has seen in 32 rows, by how they begin: a whole chat is looked up
in a read of at most as many."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from neve.domain.messages.known import Occurrence
from neve.domain.records.sessions import Spans
from neve.domain.sessions.spans import holds
from neve.ports.table import Item, Key, Put, Table
from neve.store.keys import MESSAGES, SessionKeys
from neve.store.partitions import all_rows
from neve.store.rows import expectation, loaded_json, stored_json

PARTS = "0123456789abcdefghijklmnopqrstuv"
DELETED = ""
"""The attribute where what was deleted stands without its digest: the part alone tells 5 bits of it, and no words."""
Seen = Mapping[str, Sequence[Occurrence]]


def digest_part(digest: str) -> str:
    """Name the row that holds a digest. ``digest``: hexadecimal."""
    return PARTS[int(digest[:2], 16) % len(PARTS)]


def digest_rows(keys: SessionKeys, digests: Iterable[str]) -> list[Key]:
    return [keys.messages(part) for part in sorted(set(map(digest_part, digests)))]


def read_seen(keys: SessionKeys, found: Mapping[Key, Item], digests: Collection[str]) -> dict[str, list[Occurrence]]:
    """Give those of the digests that the rows have, each with what was deleted of its part."""
    seen: dict[str, list[Occurrence]] = {}
    for digest in digests:
        item = found.get(keys.messages(digest_part(digest)))
        if item is not None:
            parts = _loaded(item)
            seen[digest] = sorted([*parts.get(digest, ()), *parts.get(DELETED, ())], key=lambda one: one.seq)
    return seen


def put_seen(keys: SessionKeys, found: Mapping[Key, Item], new: Mapping[str, Sequence[Occurrence]]) -> list[Put]:
    """Make the puts of the rows with what is ``new``. ``found``: the rows as they were read."""
    puts = []
    for key in digest_rows(keys, new):
        item = found.get(key)
        parts = _loaded(item) if item else {}
        for digest, places in new.items():
            if keys.messages(digest_part(digest)) == key:
                parts[digest] = [*parts.get(digest, ()), *places]
        puts.append(_put(key, parts, item))
    return puts


def forgotten(table: Table, keys: SessionKeys, deleted: Spans) -> list[Put]:
    """Make the puts of the rows that say less when the digests of what was deleted are left out. One query. Raises
    StoreUnavailable."""
    puts = []
    for item in all_rows(table, keys.log, prefix=MESSAGES):
        parts = _loaded(item)
        left: dict[str, list[Occurrence]] = {DELETED: list(parts.pop(DELETED, ()))}
        for digest, places in parts.items():
            left[digest] = [one for one in places if not holds(deleted, one.seq)]
            left[DELETED] += [one for one in places if holds(deleted, one.seq)]
        if len(left[DELETED]) > len(_loaded(item).get(DELETED, ())):
            puts.append(_put(Key(item["pk"], item["sk"]), left, item))
    return puts


def _loaded(item: Item) -> dict[str, list[Occurrence]]:
    stored: dict[str, list[list[int | str]]] = loaded_json(item["seen"])
    return {digest: [_occurrence(one) for one in places] for digest, places in stored.items()}


def _occurrence(stored: Sequence[int | str]) -> Occurrence:
    own = stored[2] if len(stored) > 2 else None
    return Occurrence(int(stored[0]), int(stored[1]), str(own) if own is not None else None)


def _put(key: Key, parts: Mapping[str, Sequence[Occurrence]], item: Item | None) -> Put:
    stored = {
        digest: [[one.seq, one.events, *([one.own_id] if one.own_id else [])] for one in places]
        for digest, places in parts.items()
        if places
    }
    row: Item = {"pk": key.pk, "sk": key.sk, "type": "messages", "seen": stored_json(stored)}
    return Put(row, expectation(item["version"] if item else 0))
