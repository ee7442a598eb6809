"""The values that a process keeps in memory between calls. One class, one behaviour, held by the object that the
composition root makes (``Ports.caches``): two processes in one interpreter share nothing."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Any, Generic, TypeVar, cast

from neve.troubles import Trouble, Troubles

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True)
class CacheSpec(Generic[K, V]):
    """Declared beside the code that uses the cache. ``size``: entries, the least recently used one goes first. ``ttl``
    None: entries never get too old (immutable values)."""

    name: str
    size: int
    ttl: timedelta | None = None


class Cache(Generic[K, V]):
    """Safe for threads. A value that is older than the spec's ``ttl`` is kept for ``stale`` until it is replaced."""

    def __init__(self, spec: CacheSpec[K, V], now: Callable[[], datetime]) -> None:
        self._spec = spec
        self._now = now
        self._lock = Lock()
        self._entries: OrderedDict[K, tuple[datetime, V]] = OrderedDict()

    def get(self, key: K) -> V | None:
        """Give the value of a key; None for one that is not here, or whose value is too old. A clock that was set back
        makes values too old as well: nothing outlives its ``ttl`` by more than that."""
        with self._lock:
            if key not in self._entries:
                return None
            self._entries.move_to_end(key)
            at, value = self._entries[key]
        return value if self._spec.ttl is None or abs(self._now() - at) < self._spec.ttl else None

    def stale(self, key: K) -> V | None:
        """Give the value, however old."""
        with self._lock:
            entry = self._entries.get(key)
        return entry[1] if entry else None

    def put(self, key: K, value: V, *, as_of: datetime | None = None) -> V:
        """Returns the value. ``as_of``: when the read began that brought it, from which its ``ttl`` counts: a process
        may be frozen between a read and this, and what it read may have changed meanwhile. None: now."""
        at = as_of or self._now()
        with self._lock:
            self._entries[key] = (at, value)
            self._entries.move_to_end(key)
            if len(self._entries) > self._spec.size:
                self._entries.popitem(last=False)
        return value

    def read(self, key: K, read: Callable[[], V]) -> V:
        """Give the value that is here, or what ``read`` brings. Two threads may read at once. Raises what it raises."""
        cached = self.get(key)
        if cached is not None:
            return cached
        began = self._now()
        return self.put(key, read(), as_of=began)

    def drop(self, key: K) -> None:
        with self._lock:
            self._entries.pop(key, None)

    def __len__(self) -> int:
        return len(self._entries)


class Caches:
    """The caches of one process by their specs, each made when it is first asked for."""

    def __init__(self, now: Callable[[], datetime], troubles: Troubles | None = None) -> None:
        """``troubles``: of the same process, where they are known already."""
        self.troubles = troubles or Troubles(now, _warn)
        self._now = now
        self._lock = Lock()
        self._made: dict[str, Cache[Any, Any]] = {}

    def of(self, spec: CacheSpec[K, V]) -> Cache[K, V]:
        with self._lock:
            if spec.name not in self._made:
                self._made[spec.name] = Cache(spec, self._now)
            return cast("Cache[K, V]", self._made[spec.name])


def _warn(trouble: Trouble) -> None:
    """Log a trouble. The logger costs imports that a process without troubles need not make."""
    from neve import observability

    observability.health_issue(trouble)
