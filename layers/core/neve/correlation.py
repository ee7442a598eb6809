"""One id from the HTTP call to the last worker: in the logs of a call, on the rows that it writes, in the messages that
the outbox makes of those rows, and in the logs of the workers that handle them.

It is the request id that the caller was answered with (``X-Request-Id``). Work that no caller asked for (a schedule)
has none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

FIELD = "correlation_id"
"""The id's name on rows, in message bodies and in log lines."""

_current: ContextVar[str | None] = ContextVar("correlation_id", default=None)


@contextmanager
def correlated(given: Mapping[str, Any]) -> Iterator[None]:
    """Make everything within belong to the ``correlation_id`` of a row or a message; to none when it has none."""
    token = _current.set(given.get(FIELD))
    try:
        yield
    finally:
        _current.reset(token)


def carried(content: Mapping[str, Any]) -> dict[str, Any]:
    """Put the current id on a row or message body."""
    current = _current.get()
    return dict(content) if current is None else {**content, FIELD: current}
