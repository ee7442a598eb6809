"""Notes on which day an API key was last used, for a tenant that asks which keys could go."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from neve.caching import CacheSpec
from neve.domain.times import iso
from neve.ports.engines import Ports
from neve.ports.errors import Conflict, StoreUnavailable
from neve.store.tenants.tenant_rows import ApiKey, put_api_key

NOTED: CacheSpec[tuple[str, str], bool] = CacheSpec("key days", size=1000, ttl=timedelta(days=1))
"""The keys and days that this process has tried to note. A store that takes no writes is asked once a day for each."""


def note_use(ports: Ports, key: ApiKey) -> None:
    """Note the day (UTC) on the key's row at its first call of that day, and only if no other writer has moved the row
    since it was read; the second caller finds the day there. It refuses no call: a key that was revoked or noted
    meanwhile is left alone, and a day that the store did not take stays unknown."""
    day = iso(ports.clock.now())[:10]
    noted = ports.caches.of(NOTED)
    if key.last_used_day == day or noted.get((key.key_id, day)):
        return
    noted.put((key.key_id, day), True)
    try:
        ports.table.write([put_api_key(replace(key, last_used_day=day))])
    except (Conflict, StoreUnavailable):
        return
