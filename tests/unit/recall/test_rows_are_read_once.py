"""A row is taken apart once and read each time: what is answered is what is stored."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from neve.domain.records.memories import Memory
from neve.domain.records.users import UserHead
from neve.ports.search import SearchFilter
from neve.store import rows
from neve.store.keys import Keys
from neve.usecases.ask.recall.recall_rows import FILTERED, NOT_YET, Hidden, RecallRow, read_row
from tests.unit.domain_rows import memory

KEYS = Keys("acme").of_user("ann")


def read(stored: Memory, gen: int = 1) -> RecallRow | Hidden:
    return read_row(rows.put_memory(KEYS, stored).item, UserHead(gen=gen), SearchFilter())


def test_a_memory_that_did_not_change_is_not_taken_apart_again() -> None:
    stored = memory("User rows a green boat.", tags=("boats",))
    first = read(stored)
    assert isinstance(first, RecallRow) and first.memory == stored
    assert read(stored) is first


def test_a_memory_that_was_only_answered_with_is_not_taken_apart_again() -> None:
    """Each answer notes when, and moves the storage version."""
    item = rows.put_memory(KEYS, memory("User rows a yellow canoe.")).item | {"version": 3}
    accessed = item | {"last_accessed_at": "2026-01-05T10:00:00.000Z", "version": 4}
    first = read_row(item, UserHead(gen=1), SearchFilter())
    assert isinstance(first, RecallRow) and read_row(accessed, UserHead(gen=1), SearchFilter()) is first


@pytest.mark.parametrize("change", [{"text": "User rows a red ship."}, {"tags": ("ships",)}, {"importance": 5}])
def test_a_memory_that_changed_is_read_as_it_is(change: dict[str, Any]) -> None:
    """Whatever its version says."""
    stored = memory("User rows a green boat.")
    read(stored)
    changed = read(replace(stored, **change))
    assert isinstance(changed, RecallRow) and changed.memory == replace(stored, **change)


def test_a_memory_is_read_as_its_generation_sees_it() -> None:
    stored = memory("User rows a green boat.", born_gen=1, died_gen=2)
    assert isinstance(read(stored), RecallRow)
    assert read(stored, gen=2) == Hidden(FILTERED)
    assert read(stored, gen=0) == Hidden(NOT_YET)
