"""Whether the search index is rid of what a deletion took away (docs/rules/retract.md#erase). That is the work of
others, about which no job is told: it is read from the rows when somebody asks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from neve.domain.records.jobs import Job
from neve.ports.table import Item
from neve.scope import TenantScope
from neve.store import rows
from neve.store.keys import LEAVING, SessionKeys
from neve.store.partitions import all_rows
from neve.usecases.jobs.messages.compaction import RETRACT


def with_index(scope: TenantScope, job: Job) -> Job:
    """The job of a deletion with ``index`` in its receipt: ``leaving`` until the messages, and everything that was made
    of them, have left the index; ``left`` from then on. Any other job as it is. Four reads at most. Raises
    StoreUnavailable."""
    if job.kind != RETRACT or "erased" not in job.result or job.user_id is None or job.session_id is None:
        return job
    keys = scope.keys.of_user(job.user_id).of_session(job.session_id)
    index = "leaving" if any(_lagging(scope, keys, job)) else "left"
    return replace(job, result={**job.result, "erased": {**job.result["erased"], "index": index}})


def _lagging(scope: TenantScope, keys: SessionKeys, job: Job) -> Iterator[bool]:
    table, state = scope.ports.table, job.state
    documents = {str(one) for one, _ in state.get("revisions", ())}
    own = keys.retraction(state["retraction"])
    found = table.get_many([own, *map(keys.memory, state.get("kept", ())), *map(keys.document_place, documents)])
    retraction = found.pop(own, None)
    yield retraction is not None and not rows.read_retraction(retraction).forgotten
    yield any(map(_lacks_words, found.values()))
    heads = [keys.document(item["path"]) for item in found.values() if "path" in item]
    yield any(map(_lacks_words, table.get_many(heads).values())) if heads else False
    gone = documents.union(state.get("touched", ()))
    yield any(item["id"] in gone for item in all_rows(table, keys.partition, prefix=LEAVING)) if gone else False


def _lacks_words(item: Item) -> bool:
    """Whether the index may still hold the words that a memory or a document had before."""
    return "rev_at" in item and "words_at" not in item
