"""The operator's call: a tenant and everything that is kept for it is removed. No API key can do this.

In two steps, because authorizers and functions remember a key and a policy for up to a minute: ``close_tenant``, then,
``SETTLE_S`` later, ``erase_tenant``. Both can be repeated, also after a crash in the middle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from neve.ports import MAX_WRITE_OPS, Delete, Expect, Index, Item, Key, Owner
from neve.store.keys import SESSION, Keys, tenant_row
from neve.usecases.directory import users_of
from neve.wiring import Ports

SETTLE_S = 150
"""An authorizer's verdict (60 s), a policy (60 s) and a request under way (29 s)."""
PAGE = 100


class NoSuchTenant(LookupError):
    """The message is its id."""


@dataclass(frozen=True, slots=True)
class Removed:
    """What was removed by one call; all zeros says that nothing was left."""

    users: int = 0
    rows: int = 0
    objects: int = 0
    passages: int = 0


def close_tenant(ports: Ports, tenant_id: str) -> int:
    """Delete its keys, so that nothing new is asked or written; how many. Raises NoSuchTenant,
    StoreUnavailable."""
    if ports.table.get(tenant_row(tenant_id)) is None:
        raise NoSuchTenant(tenant_id)
    return _delete(ports, _rows(ports, Keys(tenant_id).api_keys(), Index.RECENT))


def erase_tenant(ports: Ports, tenant_id: str) -> Removed:
    """Everything of a closed tenant, its own row last. Raises StoreUnavailable."""
    keys = Keys(tenant_id)
    parts = [erase_user_data(ports, keys, user) for user in users_of(ports, tenant_id)]
    own = [keys.jobs(), keys.answers(), keys.secrets()]
    others = sum(_delete(ports, _rows(ports, partition)) for partition in own)
    others += _delete(ports, [tenant_row(tenant_id)])
    return Removed(
        users=len(parts),
        rows=others + sum(part.rows for part in parts),
        objects=sum(part.objects for part in parts),
        passages=sum(part.passages for part in parts),
    )


def erase_user_data(ports: Ports, keys: Keys, user: str) -> Removed:
    """Everything of one user: passages, objects, rows; the head last, for it is how the user is found again. Raises
    StoreUnavailable."""
    passages = ports.search.erase(Owner(keys.tenant, user))
    objects = [name for prefix in keys.objects_of(user) for name in ports.objects.list(prefix)]
    for name in objects:
        ports.objects.delete(name)
    own, head = _rows(ports, keys.user(user)), keys.head(user)
    sessions = [key.sk.removeprefix(SESSION) for key in own if key.sk.startswith(SESSION)]
    beside = [*(keys.log(user, session) for session in sessions), keys.ledger(user), keys.vectors(user)]
    deleted = sum(_delete(ports, _rows(ports, partition)) for partition in beside)
    deleted += _delete(ports, [key for key in own if key != head]) + _delete(ports, [head])
    return Removed(1, deleted, len(objects), passages)


def _rows(ports: Ports, partition: str, index: Index = Index.MAIN) -> list[Key]:
    """Those of the whole partition."""
    found: list[Item] = []
    cursor: str | None = None
    while True:
        page = ports.table.query(partition, index=index, limit=PAGE, cursor=cursor)
        found += page.items
        cursor = page.cursor
        if cursor is None:
            return [Key(item["pk"], item["sk"]) for item in found]


def _delete(ports: Ports, keys: Sequence[Key]) -> int:
    """In transactions of at most 100; how many keys."""
    for start in range(0, len(keys), MAX_WRITE_OPS):
        ports.table.write([Delete(key, Expect.ANY) for key in keys[start : start + MAX_WRITE_OPS]])
    return len(keys)
