"""All rows of a partition, however many pages they take."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from neve.ports.table import Expect, Index, Put
from neve.store.partitions import all_rows, all_rows_backwards, named_rows, pages
from tests.unit.world import CountedTable

ROWS = [f"{n:02}" for n in range(7)]


@pytest.fixture
def table(tmp_path: Path) -> Iterator[CountedTable]:
    table = CountedTable.at(tmp_path / "table.db")
    table.write([Put({"pk": "p", "sk": n, "due_pk": "due", "due_sk": n, "n": n}, Expect.ABSENT) for n in ROWS])
    table.calls.clear()
    yield table
    table.close()


def test_every_row_comes_once_in_its_order(table: CountedTable) -> None:
    assert [item["sk"] for item in all_rows(table, "p", page=3)] == ROWS
    assert [item["sk"] for item in all_rows_backwards(table, "p", page=3)] == ROWS[::-1]
    assert [item["sk"] for item in all_rows_backwards(table, "p", between=("01", "04"), page=3)] == ROWS[4:0:-1]


def test_a_page_is_read_when_its_first_row_is_asked_for(table: CountedTable) -> None:
    assert len(list(islice(all_rows_backwards(table, "p", page=3), 3))) == 3
    assert table.calls == {"query": 1}


def test_pages_are_as_long_as_was_asked_for_and_none_is_empty(table: CountedTable) -> None:
    assert [len(found) for found in pages(table, "p", page=3)] == [3, 3, 1]
    assert [len(found) for found in pages(table, "p", page=7)] == [7]
    assert list(pages(table, "nobody", page=3)) == []


def test_what_an_index_names_is_read_page_by_page(table: CountedTable) -> None:
    assert sorted(item["n"] for item in named_rows(table, "due", Index.DUE, page=3)) == ROWS
    assert table.calls == {"query": 3, "get_many": 3}
