"""The recall ledger: one row a recall, kept 90 days. The query itself is never stored, only a keyed hash of it. E12
lists it, newest first."""

from __future__ import annotations

import hashlib
import hmac
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from neve.caching import CacheSpec
from neve.domain.errors import not_found
from neve.domain.ids import is_own_memory_id
from neve.domain.records.users import UserHead
from neve.ports.search import SearchFilter
from neve.ports.table import Expect, Item, Key, Put
from neve.scope import UserScope
from neve.store import rows
from neve.store.keys import RECALL, UserKeys
from neve.store.partitions import all_rows_backwards
from neve.store.rows import COMPRESSION, json_bytes
from neve.store.transact import transact
from neve.usecases.ask.recall.answer import Hit
from neve.usecases.ask.recall.command import EVERY_SOURCE, ResolvedRequest
from neve.usecases.ask.recall.dropped import Dropped
from neve.usecases.ask.recall.stages.legs import LegReport

RETENTION = timedelta(days=90)
RETURNED = "returned"


@dataclass(frozen=True, slots=True)
class RecallRecord:
    """One recall, as the ledger keeps it. ``hits``: every candidate, ``{id, outcome, rank?, score?, components?,
    reply_to?, found?}``; ``outcome`` is ``returned`` or why it was dropped; ``reply_to``: the event that was shown with
    it. ``legs``: status, ms and depth of each. ``filters``: see ``recorded_filters``; None in rows of before."""

    id: str
    at: str
    query_hash: str
    mode: str
    scope: str
    limit: int
    result_state: str
    budget_ms: int
    elapsed_ms: float
    session_id: str | None = None
    legs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    hits: Sequence[Mapping[str, Any]] = ()
    degraded: Sequence[str] = ()
    as_of: str | None = None
    filters: Mapping[str, Any] | None = None


def record_recall(scope: UserScope, head: UserHead | None, record: RecallRecord) -> bool:
    """Write the recall, with a plain write that has no condition: the second round of an erasure removes the row of a
    recall that ran into it (docs/rules/erase.md#user). False for a user who is being erased: what came behind that
    round would stay. ``head``: as the recall read it. Raises StoreUnavailable."""
    seen = head or rows.read_head(scope.ports.table.get(scope.keys.head))
    if seen.state == "erasing":
        return False
    scope.ports.table.write([put_record(scope.keys, record, seen.incarnation)])
    return True


def recorded_hits(hits: Sequence[Hit], dropped: Sequence[Dropped]) -> list[dict[str, Any]]:
    returned: list[dict[str, Any]] = [
        {"id": h.id, "outcome": RETURNED, "rank": h.rank, "score": h.score, "components": dict(h.components)}
        | ({"reply_to": h.reply_to.id} if h.reply_to else {})
        for h in hits
    ]
    return returned + [{"id": d.id, "outcome": d.reason, "found": dict(d.found)} for d in dropped]


UNKEPT = "unkept"
_USUAL = SearchFilter(sources=EVERY_SOURCE)
_KEPT = ("sources", "statuses", "kinds", "tier", "category", "after", "before")
_WRITTEN = ("group", "tags", "metadata", "path_prefix", "about")
"""Filters whose values a caller writes as free text: nothing of such a text is kept."""


def recorded_filters(where: SearchFilter) -> dict[str, Any]:
    """Return the parts of a search's filter that are not as usual: names of a fixed list, times, and our own ids that
    were left out; of the others (``unkept``) only that they were set."""
    kept = {name: getattr(where, name) for name in _KEPT if getattr(where, name) != getattr(_USUAL, name)}
    own = sorted(filter(is_own_memory_id, where.exclude_ids))
    unkept = [name for name in _WRITTEN if getattr(where, name)]
    if len(own) < len(where.exclude_ids):
        unkept.append("exclude_ids")
    return kept | ({"exclude_ids": own} if own else {}) | ({UNKEPT: unkept} if unkept else {})


def filter_of(record: RecallRecord) -> SearchFilter:
    """Return the filter of a recall, as far as its row keeps it. Statuses are open where the row says nothing."""
    kept = dict(record.filters) if record.filters is not None else {"statuses": ()}
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in kept.items() if name in _KEPT
    }
    session = record.session_id
    return SearchFilter(
        **values,
        session_id=session if record.scope == "session" else None,
        not_session_id=session if record.scope == "global" else None,
        exclude_ids=frozenset(kept.get("exclude_ids", ())),
        holds_at=record.as_of or record.at,
        in_force_at=record.as_of,
        asked_in=session,
    )


def recorded_legs(reports: Mapping[str, LegReport]) -> dict[str, dict[str, Any]]:
    """Return the reports of the legs as a reader of the ledger sees them: without why a leg failed, which is for
    operators."""
    return {name: _given(replace(report, why=None)) for name, report in reports.items()}


# --- rows ---------------------------------------------------------------------------------------

_AS_TEXT = ("legs", "hits", "degraded", "filters")


def put_record(keys: UserKeys, record: RecallRecord, incarnation: int) -> Put:
    """Make the write of the recall's row. ``answered``: the ids of the hits, for the consumer that notes when each row
    was last accessed; none of a recall of the past.

    ``hits`` is compressed: some hundred candidates with their components are 19 KB of JSON, and a store that is paid by
    the KB written takes a fifth of it."""
    key = keys.recall(record.id)
    attributes = _given(record)
    texts = {name: json_bytes(attributes[name]) for name in _AS_TEXT if name in attributes}
    hits = zlib.compress(texts["hits"], COMPRESSION)
    attributes |= {name: text.decode() for name, text in texts.items()} | {"hits": hits}
    item: Item = {
        "pk": key.pk,
        "sk": key.sk,
        "type": "recall",
        "tenant_id": keys.tenant,
        "user_id": keys.user,
        "incarnation": incarnation,
        "answered": [hit["id"] for hit in record.hits if hit["outcome"] == RETURNED and record.as_of is None],
        "expires_at": int((datetime.fromisoformat(record.at) + RETENTION).timestamp()),
        **attributes,
    }
    return Put(item, durable=False)


def _given(record: RecallRecord | LegReport) -> dict[str, Any]:
    """Return the fields that are not None. Not ``asdict``, which copies every value of some hundred candidates."""
    named = ((one.name, getattr(record, one.name)) for one in fields(record))
    return {name: value for name, value in named if value is not None}


def read_record(item: Item) -> RecallRecord:
    given = {name: item[name] for name in RecallRecord.__dataclass_fields__ if name in item}
    texts = {name: item[name] for name in _AS_TEXT if name in item} | {"hits": zlib.decompress(item["hits"])}
    return RecallRecord(**given | {name: json.loads(text) for name, text in texts.items()})


# --- the hash -----------------------------------------------------------------------------------


HASH_KEYS: CacheSpec[str, bytes] = CacheSpec("hash keys", size=10_000)
"""The secret of each tenant that keys its hashes. A secret is made once and never leaves the store. Equal questions of
one user have equal hashes; across users and tenants nothing can be compared."""


def query_hash(scope: UserScope, request: ResolvedRequest) -> str:
    """Return the hash by which a query is kept. Raises StoreUnavailable, the first time."""
    cache = scope.ports.caches.of(HASH_KEYS)
    ids = scope.ports.ids
    secret = cache.get(scope.tenant.id)
    if secret is None:
        fresh = ids.token() + ids.token()
        made = transact(scope.ports, lambda: _read_or_make(scope, fresh))
        secret = cache.put(scope.tenant.id, made)
    basis = json.dumps([scope.user, request.command.query, request.command.question])
    return hmac.new(secret, basis.encode(), hashlib.sha256).hexdigest()


def _read_or_make(scope: UserScope, fresh: str) -> bytes:
    """Read the tenant's secret, or make it. Raises Conflict when another process made it first."""
    table, key = scope.ports.table, scope.keys.ledger_secret
    item = table.get(key)
    if item is None:
        table.write([Put({"pk": key.pk, "sk": key.sk, "type": "secret", "secret": fresh}, Expect.ABSENT)])
    return bytes.fromhex(item["secret"] if item else fresh)


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
    return recall_of(scope, recall_id, scope.ports.table.get_many([keys.head, keys.recall(recall_id)]))


def recall_of(scope: UserScope, recall_id: str, found: Mapping[Key, Item]) -> RecallRecord:
    """Read one recall of the rows that were read with the user's. Raises recall_not_found."""
    item = rows.live(found.get(scope.keys.recall(recall_id)), scope.ports.clock.now())
    if item is None or rows.hidden(rows.read_head(found.get(scope.keys.head))):
        raise not_found("recall", recall_id)
    return read_record(item)
