"""A process that dies at one of its writes: the store has taken it, and nobody hears of it."""

from __future__ import annotations

from typing import Any

import pytest


class Dead(Exception):
    """The process is gone."""


def die_behind(writes: int, monkeypatch: pytest.MonkeyPatch, *ways: tuple[Any, str]) -> None:
    """Raise Dead behind that write. ``ways``: engines, each with the name of a method that writes."""
    left = [writes]
    for engine, name in ways:
        real = getattr(engine, name)

        def dying(*args: Any, real: Any = real, **kwargs: Any) -> Any:
            left[0] -= 1
            done = real(*args, **kwargs)
            if left[0] == 0:
                raise Dead
            return done

        monkeypatch.setattr(engine, name, dying)
