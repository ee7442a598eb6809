"""Holds what a person decides about one thing that waits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from neve.domain.errors import NeveError, invalid
from neve.domain.records.memories import Category

Choice = Literal["approve", "reject", "edit", "supersede"]
_FIELDS = ("text", "category", "importance", "path", "target_id")


@dataclass(frozen=True, slots=True)
class Decision:
    """A person's decision. ``text``, ``category``, ``importance``, ``path``: as the person wants them; None: as they
    are. ``target_id``: the memory that a fact takes the place of; None: the one that it was said to be about.
    ``reason``: for the trace."""

    choice: Choice
    text: str | None = None
    category: Category | None = None
    importance: int | None = None
    path: str | None = None
    target_id: str | None = None
    reason: str | None = None

    def only(self, *names: str, of: str) -> None:
        """Refuse a field that says nothing about what waits. Raises 422."""
        for name in _FIELDS:
            if getattr(self, name) is not None and name not in names:
                raise invalid(name, f"is not a field of {of}")


def decided_already(as_: str) -> NeveError:
    return NeveError("conflict", f"It was decided already: {as_}.")
