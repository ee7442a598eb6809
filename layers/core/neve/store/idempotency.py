"""Idempotency records: the first answer of a write, kept 24 h per method and concrete path.

A use case that commits in one transaction makes ``done`` part of it, by itself or as ``Beside``: then the record exists
iff the work does. Others run inside ``usecases/core/jobs/run_once.py``, which claims the key first; a claim
outlives a crashed call by at most ``CLAIM_S``."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar

from neve.domain.errors import NeveError
from neve.domain.times import iso, parse
from neve.ports.table import Expect, Expectation, Item, Key, Put, Table, Version, WriteOp, key_of
from neve.store.keys import Keys, UserKeys
from neve.store.partitions import all_rows
from neve.store.rows import live, loaded_json, stored_json, version_of

RETENTION_S = 24 * 3600
CLAIM_S = 60
_ABOUT = (("PATCH", "memories/"), ("POST", "memories/"), ("POST", "inbox/"))
_END_OF_ID = re.compile("[/#]")

T_contra = TypeVar("T_contra", contravariant=True)
Beside = Callable[[T_contra], Sequence[WriteOp]]
"""The operations that a transaction writes beside the work that leaves this: the record of the caller's key, where
there is one."""


def nothing_beside(_result: object) -> Sequence[WriteOp]:
    """Give the operations beside a call without a key: none."""
    return ()


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """The caller's key with what it is compared by. ``route`` is ``<METHOD> <path>`` with the ids in place,
    ``body_sha`` the sha256 of the canonical body and of the parameters."""

    route: str
    key: str
    body_sha: str


@dataclass(frozen=True, slots=True)
class StoredReply:
    """The first answer of a call: ``body`` is the JSON that was answered."""

    status: int
    body: dict[str, Any] = field(default_factory=dict)


def row_key(keys: Keys, idem: IdempotencyKey) -> Key:
    return keys.idempotency(idem.route, idem.key)


def replay(item: Item | None, idem: IdempotencyKey, now: datetime) -> StoredReply | None:
    """Give the first answer, or None when the work is to be done (no record, an expired one, or a claim that was
    abandoned).

    Raises 422 ``idempotency_mismatch`` for another body and 409 ``idempotency_in_progress`` for a claim still held."""
    row = live(item, now)
    if row is None:
        return None
    if row["body_sha"] != idem.body_sha:
        raise NeveError(
            "idempotency_mismatch", "This Idempotency-Key came with another body or other parameters before."
        )
    if "reply" in row:
        return StoredReply(row["status"], loaded_json(row["reply"]))
    left = (parse(row["claimed_until"]) - now).total_seconds()
    if left > 0:
        detail = "The first call with this Idempotency-Key has not been answered yet."
        raise NeveError("idempotency_in_progress", detail, retry_after_s=min(CLAIM_S, int(left) + 1))
    return None


def taken_over(item: Item | None) -> Expectation:
    """Give what a write expects of the row that ``replay`` had no answer in: that there is none, or that it is still
    this one. The store removes an expired record late, and a claim that was abandoned stays."""
    return Version(item["version"]) if item else Expect.ABSENT


def claim(keys: Keys, idem: IdempotencyKey, now: datetime, expect: Expectation) -> Put:
    """Make the put that claims the work of a call. ``expect``: as ``taken_over`` says. A deletion takes claims away,
    too, and a repeated call makes another: the holder of the one before does not end that."""
    until = iso(now + timedelta(seconds=CLAIM_S))
    return Put(_row(keys, idem, now) | {"claimed_until": until}, expect, first=version_of(idem.key, until))


def done(keys: Keys, idem: IdempotencyKey, reply: StoredReply, now: datetime, expect: Expectation) -> Put:
    """Make the put of the record with its answer. An operation of the transaction that does the work, or the end of a
    claim."""
    stored = {"status": reply.status, "reply": stored_json(reply.body)}
    return Put(_row(keys, idem, now) | stored, expect)


def _row(keys: Keys, idem: IdempotencyKey, now: datetime) -> Item:
    key = row_key(keys, idem)
    expires = int(now.timestamp()) + RETENTION_S
    return {"pk": key.pk, "sk": key.sk, "type": "idempotency", "body_sha": idem.body_sha, "expires_at": expires}


def answers_about(table: Table, keys: UserKeys, ids: Collection[str]) -> Iterator[Key]:
    """Find the answers to calls about memories or proposals: each holds what those said, and is kept for a day. For one
    id only its own are read; for several all that the user has, once: there may be many ids. Raises
    StoreUnavailable."""
    only = next(iter(ids)) if len(ids) == 1 else ""
    for method, path in _ABOUT if ids else ():
        start = keys.answers_below(method, path)
        for item in all_rows(table, keys.answers, prefix=start + only):
            if _END_OF_ID.split(item["sk"].removeprefix(start), 1)[0] in ids:
                yield key_of(item)


def answers_with_paths(table: Table, keys: UserKeys) -> Iterator[Key]:
    """Find the answers that name documents by their paths: where else something stands, and what was deleted. Raises
    StoreUnavailable."""
    for item in all_rows(table, keys.answers, prefix=keys.answers_below("DELETE", "documents")):
        yield key_of(item)
    for method in ("DELETE", "PATCH"):
        for item in all_rows(table, keys.answers, prefix=keys.answers_below(method, "memories/")):
            copies = loaded_json(item["reply"]).get("also_in", ()) if "reply" in item else ()
            if any("path" in copy for copy in copies):
                yield key_of(item)
