"""Tenants and their API keys. A key's text is shown once; the store holds its sha256 only."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from neve.domain.errors import TenantRemoved
from neve.domain.tenants.policy import Policy
from neve.ports.table import Item, Put
from neve.store.keys import Keys, api_key_row, tenant_row
from neve.store.rows import expectation

DEFAULT_POLICY = Policy()
POLICY_CACHE_SIZE = 64
"""The policies that a process keeps: with its static prefix and the names of its prices a policy takes up to 300 KB."""
SCOPES = ("chat", "records", "admin", "documents", "tokens")


@dataclass(frozen=True, slots=True)
class ApiKey:
    """An API key's row. ``sha256`` is of the whole key text, in hex. ``last_used_day``: ``2026-03-10``, in UTC.
    ``plan``: the tenant's, where it has one."""

    key_id: str
    tenant_id: str
    sha256: str
    scopes: tuple[str, ...]
    created_at: str
    label: str | None = None
    revoked_at: str | None = None
    last_used_day: str | None = None
    version: int = 0
    plan: str | None = None


@dataclass(frozen=True, slots=True)
class LiveKey:
    """A key that is not revoked, as the tenant's row lists it."""

    key_id: str
    scopes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KnownPrefix:
    """A static prefix that the tenant has had. ``sha256``: of the text as it is rendered, the version included."""

    version: str
    sha256: str


@dataclass(frozen=True, slots=True)
class TenantRow:
    """A tenant's row. ``policy_rev`` counts the writes of the policy, from 1 (never written). ``prefix``: of the
    highest version of the static prefix that there was, also when the policy has none now. ``closed``: it is being
    removed. ``reindex_job``: makes the vectors of the policy's ``languages``; None when they are there. ``plan``: which
    usage plan of the gateway limits its calls; None: the stage's limits alone (docs/rules/tenants.md#plans)."""

    id: str
    created_at: str
    policy: Policy = DEFAULT_POLICY
    policy_rev: int = 1
    live_keys: tuple[LiveKey, ...] = ()
    prefix: KnownPrefix | None = None
    closed: bool = False
    reindex_job: str | None = None
    version: int = 0
    plan: str | None = None


def read_tenant(item: Item) -> TenantRow:
    keys = tuple(LiveKey(key["key_id"], tuple(key["scopes"])) for key in item["live_keys"])
    policy = _decode_policy(item["policy"])
    prefix = KnownPrefix(item["prefix_version"], item["prefix_sha256"]) if "prefix_version" in item else None
    own = (item["sk"], item["created_at"], policy, item["policy_rev"], keys, prefix)
    return TenantRow(*own, item.get("closed", False), item.get("reindex_job"), item["version"], item.get("plan"))


@lru_cache(maxsize=POLICY_CACHE_SIZE)
def _decode_policy(stored: str) -> Policy:
    """Decode a stored policy, once for all calls that read the same row, such as those of an authorizer: no caller
    changes one."""
    return Policy.stored(json.loads(stored))


def existing(item: Item | None) -> TenantRow:
    """Read the caller's tenant. Raises TenantRemoved."""
    if item is None:
        raise TenantRemoved
    return read_tenant(item)


def put_tenant(row: TenantRow) -> Put:
    """Make the put of a tenant. The policy is kept as it was set: a number left out goes on following its default. Its
    text has no escapes: with six bytes for half a sign, the names that it may hold would be more than a row."""
    key = tenant_row(row.id)
    item: Item = {
        "pk": key.pk,
        "sk": key.sk,
        "type": "tenant",
        "created_at": row.created_at,
        "policy": json.dumps(set_numbers(row.policy), sort_keys=True, ensure_ascii=False),
        "policy_rev": row.policy_rev,
        "live_keys": [{"key_id": key.key_id, "scopes": list(key.scopes)} for key in row.live_keys],
    }
    if row.prefix is not None:
        item |= {"prefix_version": row.prefix.version, "prefix_sha256": row.prefix.sha256}
    if row.closed:
        item["closed"] = True
    if row.reindex_job is not None:
        item["reindex_job"] = row.reindex_job
    if row.plan is not None:
        item["plan"] = row.plan
    return Put(item, expectation(row.version))


def set_numbers(policy: Policy) -> dict[str, Any]:
    """Give what the tenant set, without defaults."""
    return policy.model_dump(mode="json", exclude_unset=True, exclude_none=True)


def read_api_key(item: Item) -> ApiKey:
    return ApiKey(
        item["key_id"],
        item["tenant_id"],
        item["sha256"],
        tuple(item["scopes"]),
        item["created_at"],
        item.get("label"),
        item.get("revoked_at"),
        item.get("last_used_day"),
        item["version"],
        item.get("plan"),
    )


def put_api_key(key: ApiKey) -> Put:
    where = api_key_row(key.key_id)
    item: Item = {
        "pk": where.pk,
        "sk": where.sk,
        "type": "api_key",
        "key_id": key.key_id,
        "tenant_id": key.tenant_id,
        "sha256": key.sha256,
        "scopes": list(key.scopes),
        "created_at": key.created_at,
        "recent_pk": Keys(key.tenant_id).api_keys,
        "recent_sk": key.key_id,
    }
    optional = ("label", "revoked_at", "last_used_day", "plan")
    item |= {name: value for name in optional if (value := getattr(key, name)) is not None}
    return Put(item, expectation(key.version))


def key_text(key_id: str, secret: str) -> str:
    return f"nv_{key_id}_{secret}"


def key_sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
