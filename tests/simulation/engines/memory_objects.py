"""The ObjectStore port as a dict, with uploads to the addresses that it signs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from threading import Lock
from typing import NamedTuple

from neve.adapters.object_rules import check_content_type, check_key
from neve.ports.objects import MAX_KEYS, ObjectStart


class Stored(NamedTuple):
    body: bytes
    content_type: str


class Grant(NamedTuple):
    """What may be sent to a signed address, once."""

    key: str
    content_type: str
    size: int | None
    until_s: float


class MemoryObjects:
    def __init__(self, now_s: Callable[[], float] = lambda: 0.0) -> None:
        self.objects: dict[str, Stored] = {}
        self._now_s = now_s
        self._grants: dict[str, Grant] = {}
        self._downloads: dict[str, tuple[str, float]] = {}
        self._lock = Lock()

    def put(self, key: str, body: bytes, *, content_type: str) -> None:
        check_key(key)
        check_content_type(content_type)
        self.objects[key] = Stored(body, content_type)

    def put_new(self, key: str, body: bytes, *, content_type: str) -> bool:
        check_key(key)
        check_content_type(content_type)
        with self._lock:
            if key in self.objects:
                return False
            self.objects[key] = Stored(body, content_type)
        return True

    def get(self, key: str) -> bytes | None:
        check_key(key)
        found = self.objects.get(key)
        return found.body if found else None

    def peek(self, key: str, length: int) -> ObjectStart | None:
        check_key(key)
        found = self.objects.get(key)
        return ObjectStart(len(found.body), found.content_type, found.body[:length]) if found else None

    def tail(self, key: str, length: int) -> bytes | None:
        found = self.get(key)
        return found if found is None else found[max(0, len(found) - length) :]

    def copy(self, source: str, target: str) -> bool:
        check_key(source)
        check_key(target)
        found = self.objects.get(source)
        if found is None:
            return False
        self.objects[target] = found
        return True

    def delete(self, key: str) -> None:
        check_key(key)
        self.objects.pop(key, None)

    def list(self, prefix: str) -> list[str]:
        with self._lock:
            return sorted(key for key in self.objects if key.startswith(prefix))

    def page(self, prefix: str, behind: str = "") -> Sequence[str]:
        keys = self.list(prefix)
        return keys[bisect_right(keys, behind) :][:MAX_KEYS]

    def presign_put(self, key: str, *, content_type: str, expires_s: int, size: int | None = None) -> str:
        check_key(key)
        check_content_type(content_type)
        url = f"memory:{len(self._grants) + 1:08d}"
        self._grants[url] = Grant(key, content_type, size, self._now_s() + expires_s)
        return url

    def presign_get(self, key: str, *, expires_s: int) -> str:
        check_key(key)
        url = f"memory:get:{len(self._downloads) + 1:08d}"
        self._downloads[url] = (key, self._now_s() + expires_s)
        return url

    def download(self, url: str) -> bytes | None:
        """One HTTP GET; None when it was refused, or there is no such object."""
        key, until_s = self._downloads.get(url, ("", 0.0))
        found = self.objects.get(key)
        return None if found is None or self._now_s() > until_s else found.body

    def accept_upload(self, url: str, content_type: str, body: bytes) -> bool:
        """One HTTP PUT with ``If-None-Match: *``; False when it was refused."""
        grant = self._grants.get(url)
        if grant is None or grant.content_type != content_type or self._now_s() > grant.until_s:
            return False
        if grant.size not in (None, len(body)):
            return False
        return self.put_new(grant.key, body, content_type=content_type)
