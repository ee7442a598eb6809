"""What a reflection takes over from its sources beside their words: what people filter by and rank by
(docs/rules/reflect.md#result). Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from neve.domain.observe.defaults import DEFAULT_IMPORTANCE
from neve.domain.records.memories import Memory


@dataclass(frozen=True, slots=True)
class Inherited:
    importance: int
    group: str | None
    label: str | None
    tags: tuple[str, ...]


def inherited(sources: Sequence[Memory], own_tags: Sequence[str]) -> Inherited:
    """The highest importance; group, label and tags where all of them agree, tags behind the row's own. ``sources``:
    not empty."""
    shared = frozenset(sources[0].tags).intersection(*(memory.tags for memory in sources))
    return Inherited(
        importance=max(DEFAULT_IMPORTANCE, *(memory.importance for memory in sources)),
        group=_common([memory.group for memory in sources]),
        label=_common([memory.label for memory in sources]),
        tags=tuple(dict.fromkeys([*own_tags, *(tag for tag in sources[0].tags if tag in shared)])),
    )


def _common(values: Sequence[str | None]) -> str | None:
    """What all of them have; None where they differ."""
    return values[0] if len(set(values)) == 1 else None
