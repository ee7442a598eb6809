"""What a user's memory has cost: counters on one row a user, moved inside the transactions that caused the cost."""

from __future__ import annotations

from collections.abc import Mapping

from neve.ports import Expect, Item, Put, Version
from neve.store.keys import Keys


def usage_put(keys: Keys, user: str, current: Item | None, added: Mapping[str, int]) -> Put:
    """The row with ``added`` counted in; conditional, so that two workers never lose a count. Through the index
    ``recent`` the rows of all users of a tenant are one query."""
    key = keys.usage(user)
    counters = {name: int((current or {}).get(name, 0)) + n for name, n in added.items()}
    item = {**(current or {}), "pk": key.pk, "sk": key.sk, "type": "usage", **counters}
    item |= {"recent_pk": keys.usages(), "recent_sk": user}
    return Put(item, Version(int(current["version"])) if current else Expect.ABSENT)
