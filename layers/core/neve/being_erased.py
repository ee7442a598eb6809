"""Notes that a call met a user who is being erased: what it reads is empty, and its answer says why
(docs/rules/erase.md#meanwhile)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

ERASING = "erasing"
"""The degradation that such an answer names."""

_met: ContextVar[list[str] | None] = ContextVar("erasures", default=None)


@contextmanager
def meeting_erasures() -> Iterator[list[str]]:
    """Holds ``ERASING`` once one was met within, by whatever thread works for it."""
    met: list[str] = []
    token = _met.set(met)
    try:
        yield met
    finally:
        _met.reset(token)


def met_erasure() -> bool:
    return bool(_met.get())


def note_erasure() -> None:
    if (met := _met.get()) is not None and not met:
        met.append(ERASING)
