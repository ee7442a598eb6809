"""Loading the files of an optional model when the first call needs it, and again when they could not be had."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Generic, TypeVar

from neve.ports.errors import EmbeddingUnavailable, ModelMissing, StoreUnavailable

T = TypeVar("T")
ASKED_AGAIN_S = 60.0
"""*Chosen*: who puts the files there need not start anything anew, and a stage without them, or whose bucket does not
answer, asks for them this often."""


class LoadOnce(Generic[T]):
    """Holds what ``load`` returns. Nothing is fetched or read before it is asked for; two threads may ask at once."""

    def __init__(self, load: Callable[[], T], monotonic: Callable[[], float] = monotonic) -> None:
        self._load = load
        self._monotonic = monotonic
        self._loading = Lock()
        self._loaded: T | None = None
        self._failed: tuple[float, Exception] | None = None

    @property
    def is_loaded(self) -> bool:
        return self._loaded is not None

    def get(self) -> T:
        """Load once. A load that has failed fails again for a while without another look: no caller waits for it twice.
        Raises EmbeddingUnavailable, ModelMissing, StoreUnavailable."""
        with self._loading:
            if self._loaded is not None:
                return self._loaded
            if self._failed and self._monotonic() - self._failed[0] < ASKED_AGAIN_S:
                raise self._failed[1].with_traceback(None)
            try:
                self._loaded = self._load()
            except (EmbeddingUnavailable, ModelMissing, StoreUnavailable) as error:
                self._failed = self._monotonic(), error
                raise
            return self._loaded
