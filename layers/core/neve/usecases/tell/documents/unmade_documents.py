"""Clears long texts of documents that were never made: their writer died before the transaction that names it, or was
refused (docs/rules/documents.md#rows)."""

from __future__ import annotations

from datetime import timedelta

from neve.domain.jobs.time_share import TimeShare
from neve.ports.engines import Ports
from neve.ports.queue import QueueName
from neve.ports.table import Delete, Item, key_of
from neve.store import rows
from neve.store.keys import UserKeys
from neve.store.partitions import due_rows
from neve.usecases.core.jobs.messages.indexing import memory_message

MADE_WITHIN = timedelta(hours=1)
"""The time after which no worker that announced a text is still about to write its document: a worker ends after 15
minutes (*limit*, Lambda)."""


def clear_unmade(ports: Ports, share: TimeShare) -> int:
    """Tell the index worker, which takes away what a deleted document leaves, of those that are not there; called by
    the sweep. Give how many texts were announced long enough ago, of those that there was time for. Raises
    StoreUnavailable."""
    cleared = 0
    for item in share.of(due_rows(ports.table, "text", until=ports.clock.now() - MADE_WITHIN)):
        _clear(ports, item)
        cleared += 1
    return cleared


def _clear(ports: Ports, item: Item) -> None:
    """Clear one. The row goes last: a worker that dies before is followed by the next sweep."""
    keys = UserKeys(item["tenant_id"], item["user_id"])
    found = ports.table.get_many([keys.head, keys.document_place(item["id"])])
    if keys.document_place(item["id"]) not in found:
        incarnation = rows.read_head(found.get(keys.head)).incarnation
        ports.queue.send(QueueName.INDEX, [memory_message(keys, incarnation, item["id"], 1, "document")])
    ports.table.write([Delete(key_of(item))])
