"""Everything that one user has, token by token, a little at a time (docs/rules/indexing.md#token-vectors).

A row says how far the user's items have been looked at; who finds no time for the rest sends the message again. Who
meets another delivery of the same message leaves the rest to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from neve.domain.ids import event_id
from neve.ports.engines import Ports
from neve.ports.errors import Conflict
from neve.ports.queue import Message
from neve.ports.table import Table
from neve.scope import UserData
from neve.store.keys import UserKeys, read_utterance_place, utterance_place
from neve.store.partitions import pages
from neve.store.session_state import state_rows
from neve.store.token_vectors import LateProgress, read_late_progress
from neve.usecases.indexing.late.encode_items import ITEMS, encode_items
from neve.usecases.jobs.messages.indexing import late_user_message
from neve.usecases.lag.indexed_row import read_indexed


def encode_user(data: UserData[Ports], ends_ms: float) -> Message | None:
    """Go on where the user's row says; what to send when there was no time for the rest. Where nothing can be encoded
    until somebody mends it, the row goes on saying that there is a rest. Raises EmbedAgain, StoreUnavailable."""
    ports, keys = data.ports, data.keys
    progress = read_late_progress(ports.table.get(keys.late_progress))
    if progress is None or progress.done:
        return None
    for ids, place in _items(ports.table, keys, progress.after):
        left = ids if ports.clock.monotonic_ms() >= ends_ms else encode_items(data, ids, None, ends_ms)
        if left is None:
            return None
        if left:
            return late_user_message(keys)
        moved = replace(progress, after=place, items=progress.items + len(ids))
        if not _note(ports.table, keys, moved):
            return None
        progress = replace(moved, version=moved.version + 1)
    _note(ports.table, keys, replace(progress, done=True))
    return None


def _note(table: Table, keys: UserKeys, progress: LateProgress) -> bool:
    """False when somebody else is at it."""
    try:
        table.write([progress.put(keys)])
    except Conflict:
        return False
    return True


def _items(table: Table, keys: UserKeys, after: str) -> Iterator[tuple[list[str], str]]:
    """Ids of a user's memories, then of what was said in its sessions, with the place of the last one: what lies behind
    ``after``. Raises StoreUnavailable."""
    place = read_utterance_place(after)
    if place is None:
        yield from _memories(table, keys, after)
    session, seq = place or ("", 0)
    for item in state_rows(table, keys, "indexed"):
        row = read_indexed(item["session_id"], item)
        if row.session < session:
            continue
        first = seq + 1 if row.session == session else 1
        for start in range(first, row.indexed_seq + 1, ITEMS):
            last = min(start + ITEMS - 1, row.indexed_seq)
            ids = [event_id(row.session, one) for one in range(start, last + 1)]
            yield ids, utterance_place(row.session, last)


def _memories(table: Table, keys: UserKeys, after: str) -> Iterator[tuple[list[str], str]]:
    for found in pages(table, keys.partition, between=keys.memories_behind(after or None), page=ITEMS):
        yield [item["id"] for item in found], found[-1]["sk"]
