"""The recall ledger: one row a recall, kept 90 days. The query itself is never stored, only a keyed hash of it."""

from __future__ import annotations

import hashlib
import hmac
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any

from neve.domain.records import UserHead
from neve.ports import Check, Conflict, Expect, Item, Put, Table, Version
from neve.store import rows
from neve.store.keys import Keys
from neve.usecases.recall.answer import Hit
from neve.usecases.recall.command import Asked
from neve.usecases.recall.dropped import Dropped
from neve.usecases.recall.legs import LegReport
from neve.wiring import Ports, Tenant

KEPT = timedelta(days=90)
RETURNED = "returned"
ATTEMPTS = 3
"""Writes of one row: each repetition means that the user row moved in between."""


@dataclass(frozen=True, slots=True)
class RecallRecord:
    """``hits``: every candidate, ``{id, outcome, rank?, score?, components?, found?}``; ``outcome`` is ``returned`` or
    why it was dropped. ``legs``: status, ms and depth of each."""

    id: str
    at: str
    query_hash: str
    mode: str
    scope: str
    k: int
    result_state: str
    budget_ms: int
    elapsed_ms: float
    session_id: str | None = None
    legs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    hits: Sequence[Mapping[str, Any]] = ()
    degraded: Sequence[str] = ()


def record_recall(ports: Ports, tenant: Tenant, user: str, head: UserHead | None, record: RecallRecord) -> None:
    """Raises StoreUnavailable, and Conflict when the user was erased meanwhile. ``head``: as the recall read it."""
    keys = tenant.keys
    seen = head or rows.read_head(ports.table.get(keys.head(user)))
    for _ in range(ATTEMPTS):
        guard = Check(keys.head(user), Version(seen.version) if seen.version else Expect.ABSENT)
        try:
            ports.table.write([put_record(keys, user, record, seen.incarnation), guard])
        except Conflict:
            again = rows.read_head(ports.table.get(keys.head(user)))
            if again.incarnation != seen.incarnation or again.state != "active":
                raise
            seen = again
        else:
            return
    raise Conflict


def recorded_hits(hits: Sequence[Hit], dropped: Sequence[Dropped]) -> list[dict[str, Any]]:
    returned: list[dict[str, Any]] = [
        {"id": h.id, "outcome": RETURNED, "rank": h.rank, "score": h.score, "components": dict(h.components)}
        for h in hits
    ]
    return returned + [{"id": d.id, "outcome": d.reason, "found": dict(d.found)} for d in dropped]


def recorded_legs(reports: Mapping[str, LegReport]) -> dict[str, dict[str, Any]]:
    return {
        name: {key: value for key, value in asdict(report).items() if value is not None}
        for name, report in reports.items()
    }


# --- rows ---------------------------------------------------------------------------------------

_AS_TEXT = ("legs", "hits", "degraded")


def put_record(keys: Keys, user: str, record: RecallRecord, incarnation: int) -> Put:
    """``answered``: the ids of the hits, for the consumer that notes when each row was last accessed.

    ``hits`` is compressed: some hundred candidates with their components are 19 KB of JSON, and a store that is paid by
    the KB written takes a fifth of it."""
    key = keys.recall(user, record.id)
    attributes = {name: value for name, value in asdict(record).items() if value is not None}
    attributes |= {name: json.dumps(attributes[name], separators=(",", ":")) for name in _AS_TEXT}
    attributes["hits"] = zlib.compress(attributes["hits"].encode())
    item: Item = {
        "pk": key.pk,
        "sk": key.sk,
        "type": "recall",
        "tenant_id": keys.tenant,
        "user_id": user,
        "incarnation": incarnation,
        "answered": [hit["id"] for hit in record.hits if hit["outcome"] == RETURNED],
        "expires_at": int((datetime.fromisoformat(record.at) + KEPT).timestamp()),
        **attributes,
    }
    return Put(item, Expect.ABSENT)


def read_record(item: Item) -> RecallRecord:
    given = {name: item[name] for name in RecallRecord.__dataclass_fields__ if name in item}
    texts = {name: item[name] for name in _AS_TEXT} | {"hits": zlib.decompress(item["hits"])}
    return RecallRecord(**given | {name: json.loads(text) for name, text in texts.items()})


# --- the hash -----------------------------------------------------------------------------------


class HashKeys:
    """The secret of each tenant that keys its hashes, as far as this process knows them. A secret is made once and
    never leaves the store. Equal questions of one user have equal hashes; across users and tenants nothing can be
    compared."""

    def __init__(self) -> None:
        self._ports: Ports | None = None
        self._known: dict[str, bytes] = {}

    def query_hash(self, ports: Ports, tenant: Tenant, user: str, asked: Asked) -> str:
        """Raises StoreUnavailable and Conflict, the first time."""
        if self._ports is not ports:
            self._ports, self._known = ports, {}
        secret = self._known.get(tenant.id)
        if secret is None:
            secret = _read_or_make(ports.table, tenant.keys, ports.ids.token() + ports.ids.token())
            self._known[tenant.id] = secret
        basis = json.dumps([user, asked.command.query, asked.command.question])
        return hmac.new(secret, basis.encode(), hashlib.sha256).hexdigest()


def _read_or_make(table: Table, keys: Keys, fresh: str) -> bytes:
    key = keys.ledger_secret()
    item = table.get(key)
    if item is None:
        try:
            table.write([Put({"pk": key.pk, "sk": key.sk, "type": "secret", "secret": fresh}, Expect.ABSENT)])
            return bytes.fromhex(fresh)
        except Conflict:
            item = table.get(key)
    if item is None:
        raise Conflict
    return bytes.fromhex(item["secret"])


hash_keys = HashKeys()
