"""E12: the recall ledger, newest first."""

from __future__ import annotations

from itertools import islice

from neve.domain.errors import not_found
from neve.scope import UserScope
from neve.store import rows
from neve.store.keys import RECALL
from neve.store.partitions import all_rows_backwards
from neve.usecases.ask.recall.record_recall import RecallRecord, read_record


def list_recalls(scope: UserScope, limit: int, cursor: str | None) -> tuple[list[RecallRecord], str | None]:
    """List the user's recalls, with the cursor of the next page. Rows whose 90 days are over are left out, so a page
    may hold fewer than ``limit``. Raises InvalidCursor, StoreUnavailable."""
    if rows.hidden(rows.read_head(scope.ports.table.get(scope.keys.head))):
        return [], None
    page = scope.ports.table.query(scope.keys.ledger, prefix=RECALL, reverse=True, limit=limit, cursor=cursor)
    now = scope.ports.clock.now()
    return [read_record(item) for item in page.items if rows.live(item, now)], page.cursor


def last_recalls(scope: UserScope, most: int) -> list[RecallRecord]:
    """Return at most ``most`` recalls of a user who is there, newest first. Raises StoreUnavailable."""
    found = all_rows_backwards(scope.ports.table, scope.keys.ledger, prefix=RECALL, page=most)
    now = scope.ports.clock.now()
    return [read_record(item) for item in islice((one for one in found if rows.live(one, now)), most)]


def get_recall(scope: UserScope, recall_id: str) -> RecallRecord:
    """Read one recall. Raises recall_not_found, StoreUnavailable."""
    keys = scope.keys
    found = scope.ports.table.get_many([keys.head, keys.recall(recall_id)])
    item = rows.live(found.get(keys.recall(recall_id)), scope.ports.clock.now())
    if item is None or rows.hidden(rows.read_head(found.get(keys.head))):
        raise not_found("recall", recall_id)
    return read_record(item)
