"""Other attributes for a while. ``mock.patch`` does the same and looks at much more: thirty of them were two hundredths
of a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

Swap = tuple[Any, str, Any]
"""A module or a class, the name of its attribute, and what stands there instead."""


@contextmanager
def swapped(*swaps: Swap) -> Iterator[None]:
    """Raises KeyError for an attribute that an object does not have by itself."""
    before = [(where, name, vars(where)[name]) for where, name, _ in swaps]
    for where, name, instead in swaps:
        setattr(where, name, instead)
    try:
        yield
    finally:
        for where, name, stood in reversed(before):
            setattr(where, name, stood)
