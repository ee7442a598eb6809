"""Every request that was made to a model or an embedder, for tests to look at."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class CallLog:
    """Entries ``{n, kind: model|embed, …, outcome: ok|<exception>}`` in the order in which the calls began."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: list[dict[str, Any]] = []

    @contextmanager
    def recording(self, kind: str, **details: Any) -> Iterator[None]:
        """An entry for the call made within; its outcome is ``pending`` while it runs."""
        with self._lock:
            entry = {"n": len(self._entries) + 1, "kind": kind, **details, "outcome": "pending"}
            self._entries.append(entry)
        try:
            yield
        except Exception as error:
            entry["outcome"] = type(error).__name__
            raise
        entry["outcome"] = "ok"

    def entries(self, kind: str | None = None) -> list[dict[str, Any]]:
        with self._lock:
            return [dict(entry) for entry in self._entries if kind is None or entry["kind"] == kind]

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
