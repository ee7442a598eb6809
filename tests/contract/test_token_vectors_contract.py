"""Token vectors as rows, on every Table."""

from __future__ import annotations

import random

import pytest

from neve.ports.errors import Conflict
from neve.ports.table import Check, Delete, Expect, Put, Table, Version
from neve.store.keys import UserKeys
from neve.store.token_vectors import TokenVectors, read_token_vectors
from neve.usecases.indexing.late.encode_items import ITEMS, MAX_PASSAGES

KEYS = UserKeys("acme", "ann")
MAX_BYTES = 512 * 16
"""Bytes of a passage: an encoder reads at most 512 tokens."""


def vectors(item_id: str, *sizes: int) -> TokenVectors:
    drawn = random.Random(item_id)
    return TokenVectors(item_id, "f" * 64, "model", tuple(drawn.randbytes(size) for size in sizes))


def test_those_of_a_hundred_candidates_are_one_read(table: Table) -> None:
    given = [vectors(f"evt:s1:{n}", 640 if n % 2 else 3_920) for n in range(100)]
    for start in range(0, 100, 20):
        table.write([one.put(KEYS) for one in given[start : start + 20]])
    found = table.get_many([KEYS.tokens_of(one.item_id) for one in given] + [KEYS.tokens_of("mem_nobody")])
    assert {read_token_vectors(item) for item in found.values()} == set(given)


def test_those_of_the_longest_text_fit_a_row(table: Table) -> None:
    given = vectors("mem_long", *[MAX_BYTES] * MAX_PASSAGES)
    table.write([given.put(KEYS)])
    item = table.get(KEYS.tokens_of("mem_long"))
    assert item is not None and read_token_vectors(item) == given


def test_those_of_the_longest_items_of_a_message_fit_a_transaction(table: Table) -> None:
    given = [vectors(f"mem_{n}", *[MAX_BYTES] * MAX_PASSAGES) for n in range(ITEMS)]
    table.write([one.put(KEYS) for one in given])
    assert len(table.get_many([KEYS.tokens_of(one.item_id) for one in given])) == ITEMS


def test_they_go_with_their_memory_or_not_at_all(table: Table) -> None:
    memory = KEYS.memory("mem_1")
    table.write([Put({"pk": memory.pk, "sk": memory.sk, "type": "memory"}, Expect.ABSENT)])
    table.write([vectors("mem_1", 64).put(KEYS), Check(memory, Version(1))])
    with pytest.raises(Conflict):
        table.write([Delete(memory, Version(7)), Delete(KEYS.tokens_of("mem_1"))])
    assert table.get(KEYS.tokens_of("mem_1")) is not None
    table.write([Delete(memory, Version(1)), Delete(KEYS.tokens_of("mem_1"))])
    assert table.get(KEYS.tokens_of("mem_1")) is None
    with pytest.raises(Conflict):
        table.write([vectors("mem_1", 64).put(KEYS), Check(memory, Version(1))])
    assert table.get(KEYS.tokens_of("mem_1")) is None
