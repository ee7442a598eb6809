"""The fates of a worker: it dies behind an effect, meets another, hears no answer, has no time left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from local.limits.mortal_ports import Killed
from neve.observing import SecondsLeft
from neve.ports.errors import Conflict
from neve.ports.table import Expect

EFFECTS = {"write", "write_each", "put", "put_new", "copy", "delete", "upsert", "trim", "erase", "send"}


@dataclass(frozen=True)
class Fate:
    """The fate of one worker: ``what`` becomes of it behind its ``n``-th effect."""

    what: str
    n: int


FATES = st.builds(
    Fate,
    st.sampled_from(
        ["dies", "has no time left", "hears no answer", "meets another", "is taken for dead", "is repeated"]
    ),
    st.integers(1, 30),
)


Behind = Callable[[Sequence[Any]], None]
"""Told of an effect, with the operations where it is a transaction."""


class Telling:
    """A port that tells of each effect once it is there."""

    def __init__(self, inner: Any, behind: Behind) -> None:
        self._inner, self._behind = inner, behind

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name not in EFFECTS:
            return found

        def told(*given: Any, **more: Any) -> Any:
            answer = found(*given, **more)
            self._behind(given[0] if name == "write" else ())
            return answer

        return told


class Ports:
    def __init__(self, world: Any, behind: Behind) -> None:
        self._world, self._behind = world, behind

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._world, name)
        return Telling(found, self._behind) if name in ("table", "objects", "search", "queue") else found


def meet(
    world: Any,
    fate: Fate,
    first: Callable[[Any, SecondsLeft], object],
    another: Callable[[], object],
    *,
    dead_after_s: float,
) -> None:
    """Have the ``first`` worker, of the ports and the time that it is given, meet its fate. ``another``: a whole run of
    the next one; ``dead_after_s``: seconds after which the first is taken for dead."""
    effects, seconds = 0, 900.0

    def behind(written: Sequence[Any]) -> None:
        nonlocal effects, seconds
        effects += 1
        if effects != fate.n:
            return
        if fate.what == "dies":
            raise Killed
        if fate.what == "has no time left":
            seconds = 0.0
        if fate.what == "hears no answer" and any(op.expect is not Expect.ANY for op in written):
            raise Conflict  # what an adapter does, which sends the same transaction again
        if fate.what == "is taken for dead":
            world.clock.move(seconds=dead_after_s)
        if fate.what in ("meets another", "is taken for dead"):
            another()

    with suppress(Killed):
        first(Ports(world, behind), lambda: seconds)
