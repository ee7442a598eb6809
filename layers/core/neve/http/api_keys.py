"""Who is calling: the API key of an Authorization header, checked against its row."""

from __future__ import annotations

import hmac
import re
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime
from threading import Lock

from neve.ports import StoreUnavailable
from neve.store.keys import api_key_row
from neve.store.tenants import key_sha256, read_api_key
from neve.wiring import Ports

_BEARER = re.compile(r"Bearer +(nv_([0-9a-zA-Z]{1,64})_[0-9a-zA-Z]{1,128})", re.IGNORECASE)
VERDICT_S = 60
"""product.md §8: an authorizer's verdict is kept for at most this long."""
VERDICTS = 1000


@dataclass(frozen=True, slots=True)
class Caller:
    tenant_id: str
    key_id: str
    scopes: tuple[str, ...]


class Callers:
    """Verdicts of the last minute. They are asked only while the row store is down, so that an outage of it degrades
    the chat path instead of closing it; while it is up a revoked key is refused at once."""

    def __init__(self) -> None:
        self._verdicts: OrderedDict[str, tuple[datetime, Caller]] = OrderedDict()
        self._lock = Lock()

    def caller(self, ports: Ports, authorization: str | None) -> Caller | None:
        """None: no key, a wrong one, or a revoked one. Raises StoreUnavailable when that cannot be known."""
        given = _BEARER.fullmatch((authorization or "").strip())
        if given is None:
            return None
        sha256, now = key_sha256(given[1]), ports.clock.now()
        try:
            item = ports.table.get(api_key_row(given[2]))
        except StoreUnavailable:
            if (known := self._recent(sha256, now)) is not None:
                return known
            raise
        key = read_api_key(item) if item else None
        if key is None or not hmac.compare_digest(key.sha256, sha256) or key.revoked_at is not None:
            self._forget(sha256)
            return None
        return self._remember(sha256, now, Caller(key.tenant_id, key.key_id, key.scopes))

    def _recent(self, sha256: str, now: datetime) -> Caller | None:
        with self._lock:
            at, caller = self._verdicts.get(sha256, (None, None))
        return caller if at is not None and abs((now - at).total_seconds()) <= VERDICT_S else None

    def _remember(self, sha256: str, now: datetime, caller: Caller) -> Caller:
        with self._lock:
            self._verdicts[sha256] = (now, caller)
            self._verdicts.move_to_end(sha256)
            if len(self._verdicts) > VERDICTS:
                self._verdicts.popitem(last=False)
        return caller

    def _forget(self, sha256: str) -> None:
        with self._lock:
            self._verdicts.pop(sha256, None)
