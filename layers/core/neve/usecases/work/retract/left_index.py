"""Tells whether the search index is rid of what a deletion took away (docs/rules/retract.md#erase). That is the work of
others, about which no job is told: it is read from the rows when a caller asks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

from neve.domain.records.jobs import Job
from neve.ports.table import Item, Table
from neve.scope import TenantScope
from neve.store import rows
from neve.store.incarnation import UserErased
from neve.store.keys import LEAVING, SessionKeys
from neve.store.partitions import all_rows
from neve.store.transact import batches
from neve.usecases.core.jobs.long_lists import count, entries
from neve.usecases.core.jobs.messages.compaction import RETRACT
from neve.usecases.tell.requests.retract_job import DESCRIBED, KEPT, REVISIONS, TOUCHED, with_whole_result

READ_BATCH_SIZE = 500
"""Rows of 2 KB."""


def with_index(scope: TenantScope, job: Job) -> Job:
    """Give the job of a retraction with its whole result, that of a deletion with ``index`` in its receipt: ``leaving``
    until the messages, and everything that was made of them, have left the index; ``left`` from then on. Any other job
    as it is, and one of a user who is being erased. Three reads at most, and one for each part of a long list and for
    each ``READ_BATCH_SIZE`` of what the index may hold the former words of. Raises StoreUnavailable."""
    if job.kind != RETRACT or job.user_id is None or job.session_id is None:
        return job
    keys = scope.keys.of_user(job.user_id).of_session(job.session_id)
    try:
        job = with_whole_result(scope.ports.table, keys, job)
        if "erased" not in job.result:
            return job
        index = "leaving" if any(_lagging(scope.ports.table, keys, job)) else "left"
    except UserErased:
        return job
    return replace(job, result={**job.result, "erased": {**job.result["erased"], "index": index}})


def _lagging(table: Table, keys: SessionKeys, job: Job) -> Iterator[bool]:
    """Look at each thing that may still be in the index, and say whether it is. Raises UserErased."""
    own = keys.retraction(job.state["retraction"])
    documents = {str(one) for name in (REVISIONS, DESCRIBED) for one, _ in entries(table, keys, job, name)}
    kept = map(keys.memory, entries(table, keys, job, KEPT))
    for some in batches(chain([own], kept, map(keys.document_place, documents)), lambda _: 1, most=READ_BATCH_SIZE):
        found = table.get_many(some)
        retraction = found.pop(own, None)
        yield retraction is not None and not rows.read_retraction(retraction).forgotten
        yield any(map(_lacks_words, found.values()))
        heads = [keys.document(item["path"]) for item in found.values() if "path" in item]
        yield any(map(_lacks_words, table.get_many(heads).values())) if heads else False
    if documents or count(job, TOUCHED):
        yield any(_is_leaving(table, keys, chain(documents, entries(table, keys, job, TOUCHED))))


def _is_leaving(table: Table, keys: SessionKeys, gone: Iterable[str]) -> Iterator[bool]:
    """Say for each row that is leaving whether it is one of ``gone``: ids, which are read only where something is
    leaving."""
    leaving = all_rows(table, keys.partition, prefix=LEAVING)
    if (first := next(leaving, None)) is not None:
        ids = frozenset(gone)
        yield first["id"] in ids
        yield from (item["id"] in ids for item in leaving)


def _lacks_words(item: Item) -> bool:
    """Say whether the index may still hold the words that a memory or a document had before."""
    return "rev_at" in item and "words_at" not in item
