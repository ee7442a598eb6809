"""The data sets that there is a loader for, each in a folder of its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from evals.retrieval import beam, locomo
from evals.retrieval.chats import Chat

SETS: Mapping[str, Callable[[Path], list[Chat]]] = {"locomo": locomo.load, "beam": beam.load}
"""Another one is a module with ``load``, and a line here."""


def load_sets(data: Path, names: Sequence[str], chats: str = "") -> list[Chat]:
    """The chats of the named sets; ``chats``: a range of numbers such as ``1-5``, empty for all. Raises NoSuchData, and
    ValueError for an unknown set."""
    unknown = sorted(set(names) - set(SETS))
    if unknown:
        raise ValueError(f"no set is called {unknown[0]!r}; there are {', '.join(SETS)}")
    first, _, last = chats.partition("-")
    found = [chat for name in names for chat in SETS[name](data / name)]
    return [chat for chat in found if not chats or int(first) <= chat.number <= int(last or first)]
