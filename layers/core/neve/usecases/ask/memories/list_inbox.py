"""E13 GET: what waits for a person's decision, facts and changes of documents, oldest first
(docs/rules/librarian.md#inbox)."""

from __future__ import annotations

import json
from itertools import islice

from neve.domain.cursors import make_cursor, read_cursor
from neve.domain.librarian.filing import Proposal
from neve.domain.records.memories import Memory, Status
from neve.ports.table import Index, Key
from neve.scope import UserScope
from neve.store import rows
from neve.store.filings import read_proposal
from neve.store.keys import UserKeys, is_proposal
from neve.store.partitions import all_rows
from neve.usecases.ask.memories.list_memories import as_seen

Waiting = Memory | Proposal


def list_inbox(scope: UserScope, limit: int, cursor: str | None) -> tuple[list[Waiting], str | None]:
    """List what waits by a sparse index, which may be a moment behind: the rows decide. One query and one batch read. A
    page may be short; of a user who is being erased nothing is listed. Raises InvalidCursor, StoreUnavailable."""
    keys, table = scope.keys, scope.ports.table
    listed = json.dumps(["inbox", keys.partition]).encode()
    first = read_cursor(listed, cursor, 1)[0] if cursor else ""
    between = keys.inbox_behind(first)
    found = list(islice(all_rows(table, keys.inbox, index=Index.RANK, between=between, page=limit + 1), limit + 1))
    page = found[:limit]
    wanted = [_row_of(keys, str(item["id"])) for item in page]
    read = table.get_many([keys.head, *wanted])
    head = rows.read_head(read.get(keys.head))
    if rows.hidden(head):
        return [], None
    waiting: list[Waiting] = []
    for key in wanted:
        item = read.get(key)
        if item is None:
            continue
        one: Waiting = read_proposal(item) if item["type"] == "proposal" else as_seen(item, head.gen)
        if one.status == Status.INBOX:
            waiting.append(one)
    more = len(found) > limit
    return waiting, make_cursor(listed, [str(page[-1]["rank_sk"])]) if more else None


def _row_of(keys: UserKeys, identifier: str) -> Key:
    return keys.proposal(identifier) if is_proposal(identifier) else keys.memory(identifier)
