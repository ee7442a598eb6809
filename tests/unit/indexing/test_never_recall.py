"""A memory that is never recalled is no active one for any reader, and no reflection takes it along
(docs/rules/memories.md#record)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from neve.domain.indexing.memory_passages import memory_passages
from neve.domain.memories.visibility import active
from neve.domain.memories.written_memory import WrittenMemory, record_of
from neve.domain.records.memories import Kind, Memory, Provenance, Scope
from neve.store.keys import UserKeys
from neve.store.rows import put_memory, read_memory
from neve.usecases.work.reflect.note_due import candidates_of

KEYS, NOW = UserKeys("acme", "ann"), "2026-03-10T09:30:00.000Z"


@pytest.fixture
def shown() -> Memory:
    written = WrittenMemory("User is ill.", Kind.OBSERVATION, scope=Scope.GLOBAL)
    return record_of(written, "mem_01KKBH9WE0412S2WGV0VE4CJYK", Provenance("human_edit"), NOW, 0, len)


def test_no_reader_no_index_and_no_night_has_it(shown: Memory) -> None:
    hidden = replace(shown, never_recall=True)
    assert (active(shown, 0, NOW), active(hidden, 0, NOW)) == (True, False)
    assert [len(memory_passages(one)) for one in (shown, hidden)] == [1, 0]
    assert ["rank_sk" in put_memory(KEYS, one).item for one in (shown, hidden)] == [True, False]
    assert [bool(candidates_of([(KEYS, one)])) for one in (shown, hidden)] == [True, False]


def test_only_a_row_that_has_the_flag_pays_for_it(shown: Memory) -> None:
    hidden = replace(shown, never_recall=True)
    assert ["never_recall" in put_memory(KEYS, one).item for one in (shown, hidden)] == [False, True]
    assert [read_memory({**put_memory(KEYS, one).item, "version": 0}) for one in (shown, hidden)] == [shown, hidden]
