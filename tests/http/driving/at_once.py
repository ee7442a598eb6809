"""Calls that run beside each other, each in a thread and over a connection of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

from local.api_client import ApiClient
from tests.patience import PATIENCE_S

T = TypeVar("T")


class Beside:
    """Runs ``work`` beside the body of a ``with``; at its end waits for it and raises what it raised."""

    def __init__(self, work: Callable[[], Any], *clients: ApiClient) -> None:
        """``clients``: whose connections of the new thread are closed in the end."""
        self._work = work
        self._clients = clients
        self._error: BaseException | None = None
        self.result: Any = None
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Beside:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.join(PATIENCE_S)
        if error is None:
            assert not self._thread.is_alive(), f"not finished after {PATIENCE_S:.0f} s"
            if self._error is not None:
                raise self._error

    def _run(self) -> None:
        try:
            self.result = self._work()
        except BaseException as error:
            self._error = error
        finally:
            for client in self._clients:
                client.close()


def at_once(client: ApiClient, work: Callable[[int], T], count: int) -> list[T]:
    """The results of ``work(0)`` … ``work(count - 1)``, all begun at the same moment."""
    start = threading.Barrier(count)

    def begin(n: int) -> T:
        start.wait(PATIENCE_S)
        return work(n)

    running = [Beside(lambda n=n: begin(n), client) for n in range(count)]  # type: ignore[misc]
    for one in running:
        one.__enter__()
    for one in running:
        one.__exit__(None, None, None)
    return [one.result for one in running]
