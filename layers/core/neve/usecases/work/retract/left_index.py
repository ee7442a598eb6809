"""Tells whether the search index is rid of what a deletion took away (docs/rules/retract.md#erase). That is the work of
others, about which no job is told: it is read from the rows when a caller asks."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from neve.domain.records.jobs import Job
from neve.ports.table import Item, Table
from neve.scope import TenantScope
from neve.store import rows
from neve.store.keys import LEAVING, SessionKeys
from neve.store.partitions import all_rows
from neve.store.transact import batches
from neve.usecases.core.jobs.messages.compaction import RETRACT

READ_BATCH_SIZE = 500
"""Rows of 2 KB."""


def with_index(scope: TenantScope, job: Job) -> Job:
    """Give the job of a deletion with ``index`` in its receipt: ``leaving`` until the messages, and everything that was
    made of them, have left the index; ``left`` from then on. Any other job as it is. Three reads at most, and one for
    each ``READ_BATCH_SIZE`` of what the index may hold the former words of, or is leaving. Raises StoreUnavailable."""
    if job.kind != RETRACT or job.user_id is None or job.session_id is None or "erased" not in job.result:
        return job
    keys = scope.keys.of_user(job.user_id).of_session(job.session_id)
    index = "leaving" if any(_lagging(scope.ports.table, keys, job)) else "left"
    return replace(job, result={**job.result, "erased": {**job.result["erased"], "index": index}})


def _lagging(table: Table, keys: SessionKeys, job: Job) -> Iterator[bool]:
    """Look at each thing that may still be in the index, and say whether it is."""
    own, changed = keys.retraction(job.state["retraction"]), job.state.get("changed", ())
    named = [own, *map(keys.memory, job.state.get("kept", ())), *map(keys.document_place, changed)]
    for some in batches(named, most=READ_BATCH_SIZE):
        found = table.get_many(some)
        retraction = found.pop(own, None)
        yield retraction is not None and not rows.read_retraction(retraction).forgotten
        yield any(map(_lacks_words, found.values()))
        heads = [keys.document(item["path"]) for item in found.values() if "path" in item]
        yield any(map(_lacks_words, table.get_many(heads).values())) if heads else False
    yield from _leaving(table, keys, job.state["retraction"], changed)


def _leaving(table: Table, keys: SessionKeys, retraction_id: str, changed: Collection[str]) -> Iterator[bool]:
    """Say of each row that is leaving whether it is one of those: a memory whose deletion the retraction signed, or one
    of its documents."""
    for some in batches(all_rows(table, keys.partition, prefix=LEAVING), most=READ_BATCH_SIZE):
        yield any(item["id"] in changed for item in some)
        left = table.get_many([keys.deleted_memory(item["id"]) for item in some if item["kind"] == "memory"])
        yield any(item["write_id"] == retraction_id for item in left.values())


def _lacks_words(item: Item) -> bool:
    """Say whether the index may still hold the words that a memory or a document had before."""
    return "rev_at" in item and "words_at" not in item
