"""The one place where a row that cannot be understood is met (docs/rules/degradation.md#unreadable): bytes that an
engine cannot decode, and attributes that are no record."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import datetime
from typing import Any

from neve.caching import Caches
from neve.ports.errors import Conflict, StoreUnavailable, UnreadableRow
from neve.ports.table import UNREADABLE, Index, Item, ItemPage, Key, Put, Table, WriteOp, key_of
from neve.store import rows
from neve.store.documents import HEAD, REVISION, read_document
from neve.store.filings import PROPOSED, read_filing, read_proposal
from neve.store.keys import is_head, is_session_state
from neve.store.pins import read_pin
from neve.store.sessions.prompts import read_prompt
from neve.store.tenants.leg_health import ROWS, put_leg_trouble
from neve.store.tenants.tenant_rows import read_api_key, read_tenant

ROWS_UNREADABLE = "rows:unreadable"
"""The degradation that an answer names which was made without them."""

_RECORDS: Mapping[str, Callable[[Item], object]] = {
    "user": rows.read_head,
    "session": rows.read_session,
    "marker": rows.read_marker,
    "epoch": rows.read_epoch,
    "event": rows.read_event,
    "memory": rows.read_memory,
    "summary": rows.read_summary,
    "pack": rows.read_manifest,
    "job": rows.read_job,
    rows.QUEUED_JOB: rows.read_job,
    rows.RETRACTION: rows.read_retraction,
    "recall": lambda item: (item["id"], item["at"], json.loads(zlib.decompress(item["hits"]))),
    "prompt": read_prompt,
    "filing": lambda item: read_filing(item["session_id"], item),
    "pin": read_pin,
    "tenant": read_tenant,
    "api_key": read_api_key,
    HEAD: read_document,
    REVISION: read_document,
    PROPOSED: read_proposal,
}
_IS_PREFIX = re.compile("[A-Z]{2,9}")
_NO_RECORD = (ValueError, TypeError, LookupError, AttributeError, zlib.error)
_met: ContextVar[list[str] | None] = ContextVar("unreadable_rows", default=None)


@contextmanager
def meeting_unreadable_rows() -> Iterator[list[str]]:
    """Collect the kinds of unreadable rows that are met within, by any thread that works for it."""
    met: list[str] = []
    token = _met.set(met)
    try:
        yield met
    finally:
        _met.reset(token)


class ReadableTable:
    """A table without the rows that cannot be understood. A list leaves them out; who asks for one alone, or for the
    head of a user, a session or a tenant, is refused: without it no reader knows what there is. ``whole``: with all
    of them, for a caller that deletes by keys."""

    def __init__(self, whole: Table, caches: Caches, now: Callable[[], datetime]) -> None:
        """``caches``: of the process, whose troubles hear of it."""
        self.whole = whole
        self._caches = caches
        self._now = now

    def get(self, key: Key) -> Item | None:
        """Read one row. Raises UnreadableRow."""
        item = self.whole.get(key)
        if item is None or not self._is_unreadable(item):
            return item
        raise UnreadableRow("table", "a row cannot be read")

    def get_many(self, keys: Sequence[Key], *, eventual: bool = False) -> dict[Key, Item]:
        """Read many rows. Raises UnreadableRow."""
        return {
            key_of(item): item
            for item in self._readable(self.whole.get_many(keys, eventual=eventual).values(), is_head)
        }

    def query(self, partition: str, *, index: Index = Index.MAIN, limit: int, **how: Any) -> ItemPage:
        """Read a page, which may hold fewer than ``limit``. Raises UnreadableRow."""
        page = self.whole.query(partition, index=index, limit=limit, **how)
        if index in (Index.RANK, Index.DUE):  # these indexes tell a part of each row
            return ItemPage([item for item in page.items if item.get("type") != UNREADABLE], page.cursor)
        return ItemPage(list(self._readable(page.items, is_session_state)), page.cursor)

    def write(self, ops: Sequence[WriteOp]) -> None:
        self.whole.write(ops)

    def write_each(self, puts: Sequence[Put]) -> list[int]:
        return self.whole.write_each(puts)

    def _readable(self, items: Iterable[Item], needed: Callable[[Key], bool]) -> Iterator[Item]:
        for item in items:
            if not self._is_unreadable(item):
                yield item
            elif needed(key_of(item)):
                raise UnreadableRow("table", "a row cannot be read")

    def _is_unreadable(self, item: Item) -> bool:
        kind = str(item.get("type", UNREADABLE))
        if kind != UNREADABLE and _is_record(kind, item):
            return False
        if kind == UNREADABLE:
            prefix = item["sk"].partition("#")[0]
            kind = prefix if _IS_PREFIX.fullmatch(prefix) else "row"
        if (met := _met.get()) is not None:
            met.append(kind)
        self._tell(kind)
        return True

    def _tell(self, kind: str) -> None:
        """Tell health, of this process and of others, and once in a while the log. ``kind``: its type, or what its key
        begins with; whatever stands behind that may be words of a user."""
        from neve import observability  # costs imports that a process need not make which meets none

        observability.emit_metrics(ROWS, {"RowsUnreadable": 1})
        reason = f"unreadable: {kind}"
        if self._caches.troubles.note(ROWS, "failing", reason):
            with suppress(StoreUnavailable, Conflict):
                self.whole.write([put_leg_trouble(ROWS, reason, self._now())])


def _is_record(kind: str, item: Item) -> bool:
    """Say whether a row is of the form of its type; nothing is asked of a type that has no record."""
    try:
        item["version"] + 0
        if kind in _RECORDS:
            _RECORDS[kind](item)
    except _NO_RECORD:
        return False
    return True
