"""What every Table does."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from local.engine.sqlite_table import SqliteTable
from neve.adapters.dynamodb.table import DynamoDbTable
from neve.adapters.table_cursor import query_name
from neve.caching import Caches
from neve.domain.cursors import InvalidCursor, _digest
from neve.ports.errors import Conflict, UnreadableRow
from neve.ports.table import (
    INDEX_PROJECTION,
    Check,
    Delete,
    Expect,
    Expectation,
    Index,
    Item,
    Key,
    Put,
    Table,
    Version,
    WriteOp,
)
from neve.readable_table import ReadableTable, meeting_unreadable_rows
from neve.store.partitions import readable_whole
from tests.contract.engines.endless_writer import SEEDS, killed_after_some_writes
from tests.contract.engines.registry import TABLES

ABSENT, ANY = Expect.ABSENT, Expect.ANY
K = Key("P", "A")


def row(sk: str, pk: str = "P", **attributes: Any) -> Item:
    return {"pk": pk, "sk": sk, "type": "thing", **attributes}


def ranked(sk: str, rank: str, pk: str = "P", **attributes: Any) -> Item:
    return row(sk, pk, rank_pk="R", rank_sk=rank, **attributes)


def fill(table: Table, *items: Item) -> None:
    for start in range(0, len(items), 100):
        table.write([Put(item) for item in items[start : start + 100]])


def sort_keys(table: Table, partition: str = "P", **query: Any) -> list[str]:
    """Of all pages, whatever their size."""
    query.setdefault("limit", 100)
    page = table.query(partition, **query)
    found = [item["sk"] for item in page.items]
    while page.cursor is not None:
        page = table.query(partition, **query, cursor=page.cursor)
        found += [item["sk"] for item in page.items]
    return found


# --- rows ---------------------------------------------------------------------------------------


def test_a_missing_row_is_none_and_no_key_of_get_many(table: Table) -> None:
    fill(table, row("B"))
    assert table.get(K) is None
    assert table.get_many([K, Key("P", "B"), Key("P2", "B")]).keys() == {Key("P", "B")}
    assert table.get_many([]) == {}


def test_get_many_takes_any_number_of_keys_and_duplicates(table: Table) -> None:
    fill(table, *(row(f"{n:04d}", n=n) for n in range(950)))
    keys = [Key("P", f"{n:04d}") for n in range(1000)] * 2
    found = table.get_many(keys)
    assert {key.sk: item["n"] for key, item in found.items()} == {f"{n:04d}": n for n in range(950)}


def test_an_eventual_read_gives_each_row_as_it_is_or_as_it_was(table: Table) -> None:
    fill(table, row("A", n=1), row("B", n=1))
    table.write([Put(row("A", n=2))])
    found = table.get_many([Key("P", "A"), Key("P", "B"), Key("P", "C")], eventual=True)
    assert found.keys() <= {Key("P", "A"), Key("P", "B")}
    assert all(item["n"] in (1, 2) for item in found.values())


@pytest.mark.parametrize(
    "value",
    [
        "",
        "plain",
        "naïve 日本 😀 \x00\x1f\u2028",
        0,
        -1,
        10**38 - 1,
        0.1,
        -2.5e-7,
        1.7976931348623157e125,
        True,
        False,
        b"",
        bytes(range(256)),
        [],
        {},
        [1, [b"x", {"deep": [True, "t", 1.5, b""]}], "x"],
        {"$": "not bytes", "$$": {"$": [0, 1]}, "$x": b"y", "a.b": {"c": {}}},
        {"$": [0, 3]},
    ],
    ids=repr,
)
def test_values_come_back_as_they_went_in(table: Table, value: Any) -> None:
    table.write([Put(row("A", v=value, nested=[{"v": value}])), Put(row("B", v=value, bytes=b"\x00\xff"))])
    found = table.get(K)
    assert found == {**row("A", v=value, nested=[{"v": value}]), "version": 0}
    assert table.get_many([K])[K] == found
    assert table.query("P", limit=1).items == [found]
    assert type(found["v"]) is type(value)
    assert table.get(Key("P", "B")) == {**row("B", v=value, bytes=b"\x00\xff"), "version": 0}


def test_a_put_replaces_the_whole_row(table: Table) -> None:
    fill(table, row("A", old=1, same=1))
    fill(table, row("A", same=2))
    assert table.get(K) == {**row("A", same=2), "version": 0}


def test_changing_what_was_put_or_read_changes_nothing_stored(table: Table) -> None:
    item = row("A", tags=["a"])
    table.write([Put(item)])
    item["tags"].append("b")
    found = table.get(K)
    assert found is not None
    found["tags"].append("c")
    assert table.get(K) == {**row("A", tags=["a"]), "version": 0}


# --- expectations -------------------------------------------------------------------------------


def test_versions_are_set_by_the_engine(table: Table) -> None:
    versions = []
    for expect in (ABSENT, Version(1), Version(2), ANY, Version(0)):
        table.write([Put(row("A", version=77), expect)])
        found = table.get(K)
        assert found is not None
        versions.append(found["version"])
    assert versions == [1, 2, 3, 0, 1]


def test_a_row_begins_at_the_version_that_is_said(table: Table) -> None:
    """Alone and in a transaction; what is there already goes on from the version that it has."""
    first = 2**48
    table.write([Put(row("A"), ABSENT, first=first)])
    table.write([Put(row("A"), Version(first), first=7), Put(row("B"), ABSENT, first=7), Put(row("C"), ANY, first=7)])
    assert [item["version"] for item in table.query("P", limit=3).items] == [first + 1, 7, 0]
    with pytest.raises(Conflict):
        table.write([Put(row("A"), ABSENT, first=first)])
    table.write([Delete(K, Version(first + 1)), Check(Key("P", "B"), Version(7))])
    assert table.get(K) is None


PUT, DELETE, CHECK = (
    lambda expect: Put(row("A", new=True), expect),
    lambda expect: Delete(K, expect),
    lambda expect: Check(K, expect),
)


@pytest.mark.parametrize(
    ("make", "expect", "exists", "holds"),
    [
        (make, expect, exists, holds)
        for make in (PUT, DELETE, CHECK)
        for expect, exists, holds in (
            (ABSENT, False, True),
            (ABSENT, True, False),
            (Version(1), True, True),
            (Version(2), True, False),
            (Version(0), True, False),
            (Version(1), False, False),
            (Version(0), False, False),
        )
    ]
    + [(make, ANY, exists, True) for make in (PUT, DELETE) for exists in (True, False)],
)
def test_an_expectation_holds_or_conflicts(
    table: Table, make: Callable[[Expectation], WriteOp], expect: Expectation, exists: bool, holds: bool
) -> None:
    if exists:
        table.write([Put(row("A"), ABSENT)])
    before = table.get(K)
    op = make(expect)
    if holds:
        table.write([op])
        after = table.get(K)
        assert (after or {}).get("new") == (True if isinstance(op, Put) else None)
        assert (after is None) == (isinstance(op, Delete) or (isinstance(op, Check) and not exists))
    else:
        with pytest.raises(Conflict) as conflict:
            table.write([op])
        assert conflict.value.failed == (0,)
        assert table.get(K) == before


def test_a_conflict_names_every_failed_operation_and_writes_nothing(table: Table) -> None:
    table.write([Put(row(sk), ABSENT) for sk in "AB"])
    with pytest.raises(Conflict) as conflict:
        table.write(
            [
                Put(row("new"), ABSENT),
                Put(row("A"), ABSENT),
                Delete(Key("P", "B"), Version(1)),
                Check(Key("P", "C"), Version(1)),
                Put(row("D"), ANY),
                Put(row("E"), Version(4)),
            ]
        )
    assert conflict.value.failed == (1, 3, 5)
    assert sort_keys(table) == ["A", "B"]


# --- malformed calls ----------------------------------------------------------------------------


def test_one_hundred_operations_are_one_transaction(table: Table) -> None:
    table.write([Put(row(f"{n:03d}"), ABSENT) for n in range(100)])
    with pytest.raises(Conflict) as conflict:
        table.write([Put(row(f"{n:03d}"), ABSENT) for n in range(50, 150)])
    assert conflict.value.failed == tuple(range(50))
    assert len(sort_keys(table)) == 100


@pytest.mark.parametrize(
    ("ops", "reason"),
    [
        ([], "at least one"),
        ([Put(row(f"{n:03d}")) for n in range(101)], "101 operations"),
        ([Put(row("A")), Delete(K)], "written twice"),
        ([Check(K, ABSENT), Put(row("A"))], "written twice"),
        ([Check(K, ANY)], "needs an expectation"),
        ([Put(row("A", v=None))], "v: NoneType"),
        ([Put(row("A", v=[{"w": [None]}]))], "v.w: NoneType"),
        ([Put({"pk": "P", "type": "thing"})], "sk is missing"),
        ([Put({"sk": "A", "type": "thing"})], "pk is missing"),
        ([Put(row(""))], "sk must have"),
        ([Put(row("A", pk=""))], "pk must have"),
        ([Put(row("A", pk=1))], "pk must be text"),  # type: ignore[arg-type]
        ([Put(row("s" * 1025))], "sk must have"),
        ([Put(row("A", pk="p" * 2049))], "pk must have"),
        ([Delete(Key("P", ""))], "sk must have"),
        ([Put(row("A", rank_pk="R", rank_sk=5))], "rank_sk must be text"),
        ([Put(row("A", due_pk=b"D", due_sk="1"))], "due_pk must be text"),
        ([Put(row("A", recent_pk="R", recent_sk=""))], "recent_sk must have"),
        ([Put(row("A", v={"": 1}))], "attribute name"),
        ([Put(row("A", v={1: 1}))], "attribute name"),
        ([Put(row("A", v=10**38))], "v: a number"),
        ([Put(row("A", v=float("nan")))], "v: a number"),
        ([Put(row("A", v=float("inf")))], "v: a number"),
        ([Put(row("A", v=1e-140))], "v: a number"),
        ([Put(row("A", v="\ud800"))], "surrogates"),
        ([Put(row("A", v={1, 2}))], "v: set"),
        ([Put(row("A", v=(1, 2)))], "v: tuple"),
        ([Put(row("A", v=json.loads("[" * 40 + "]" * 40)))], "nested deeper"),
        ([Put(row("A", v="x" * 410_000))], "at most 409600"),
        ([Put(row("A", v="é" * 205_000))], "at most 409600"),
        ([Put(row("A", v=b"x" * 410_000))], "at most 409600"),
        ([Put(row("A", v=[1] * 200_000))], "at most 409600"),
        ([Put(row(f"{n:02d}", v="x" * 390_000)) for n in range(11)], "at most 4194304"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_a_malformed_write_is_a_value_error_and_writes_nothing(table: Table, ops: list[WriteOp], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        table.write([Put(row("Z")), *ops] if 0 < len(ops) < 100 else ops)
    assert sort_keys(table) == []


def test_the_largest_item_and_the_largest_transaction_fit(table: Table) -> None:
    table.write([Put(row("A", v="x" * 409_000))])
    table.write([Put(row(f"{n:02d}", v=b"x" * 400_000)) for n in range(10)])
    assert len(sort_keys(table)) == 11


def test_each_row_is_written_whose_expectation_holds(table: Table) -> None:
    fill(table, row("ANY", n=0))
    table.write([Put(row("MOVED", n=0), ABSENT), Put(row("READ", n=0), ABSENT)])
    table.write([Put(row("MOVED", n=1), Version(1))])
    puts = [
        Put(row("READ", n=2), Version(1)),
        Put(row("MOVED", n=2), Version(1)),
        Put(row("ANY", n=2)),
        Put(row("GONE", n=2), Version(1)),
        Put(row("NEW", n=2), ABSENT),
        Put(row("READ", "Q", n=2), ABSENT),
    ]
    assert table.write_each(puts) == [1, 3]
    assert {item["sk"]: (item["n"], item["version"]) for item in table.query("P", limit=10).items} == {
        "ANY": (2, 0),
        "MOVED": (1, 2),
        "NEW": (2, 1),
        "READ": (2, 2),
    }
    assert table.get(Key("Q", "READ")) is not None
    assert table.write_each([]) == []


def test_rows_that_are_written_each_may_be_larger_than_a_transaction(table: Table) -> None:
    text = "x" * 390_000
    assert table.write_each([Put(row(f"{n:02d}", text=text), ABSENT) for n in range(12)]) == []
    assert len(table.get_many([Key("P", f"{n:02d}") for n in range(12)])) == 12


@pytest.mark.parametrize(
    ("puts", "reason"),
    [
        ([Put(row("A")), Put(row("A"), Version(1))], "twice"),
        ([Put(row(f"{n}")) for n in range(101)], "101"),
        ([Put(row("B")), Put(row("A", text=None))], "cannot be stored"),
    ],
)
def test_malformed_rows_are_a_value_error_and_none_is_written(table: Table, puts: list[Put], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        table.write_each(puts)
    assert table.query("P", limit=10).items == []


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ({"limit": 0}, "limit must be"),
        ({"limit": -1}, "limit must be"),
        ({"limit": 5, "prefix": "A", "between": ("A", "B")}, "a prefix or a range"),
    ],
)
def test_a_malformed_query_is_a_value_error(table: Table, query: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        table.query("P", **query)


# --- order, ranges, pages -----------------------------------------------------------------------

AWKWARD = [
    *("\x01", " ", "A", "A\x00", "AB", "B", "a", "~", "é", "\ud7ff", "\ud7ff!", "\ue000", "\uffff"),
    *("😀", "\U0010ffff"),
]
"""In UTF-8 byte order; UTF-16 order would put the last two before ``\\ue000``."""


def test_sort_keys_are_ordered_by_their_utf8_bytes(table: Table) -> None:
    assert sorted(AWKWARD, key=str.encode) == AWKWARD
    fill(table, *(row(sk) for sk in reversed(AWKWARD)), row("elsewhere", pk="P2"))
    assert sort_keys(table) == AWKWARD
    assert sort_keys(table, reverse=True) == AWKWARD[::-1]
    assert sort_keys(table, limit=2) == AWKWARD
    assert sort_keys(table, limit=4, reverse=True) == AWKWARD[::-1]


@pytest.mark.parametrize("limit", [1, 100])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("prefix", ["A", "AB", "ABC", "\ud7ff", "\ue000", "😀", "\U0010ffff", "\U0010ffff\U0010ffff"])
def test_a_prefix_selects_what_starts_with_it(table: Table, prefix: str, reverse: bool, limit: int) -> None:
    fill(table, *(row(sk) for sk in AWKWARD), row("A", pk="P2"))
    expected = [sk for sk in AWKWARD if sk.startswith(prefix)]
    found = sort_keys(table, prefix=prefix, reverse=reverse, limit=limit)
    assert found == (expected[::-1] if reverse else expected)


@pytest.mark.parametrize("limit", [1, 3, 100])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("between", [("A", "B"), ("A", "A"), (" ", "é"), ("AA", "b"), ("😀", "\U0010ffff"), ("b", "A")])
def test_a_range_includes_both_ends(table: Table, between: tuple[str, str], reverse: bool, limit: int) -> None:
    fill(table, *(row(sk) for sk in AWKWARD))
    low, high = between
    expected = [sk for sk in AWKWARD if low.encode() <= sk.encode() <= high.encode()]
    found = sort_keys(table, between=between, reverse=reverse, limit=limit)
    assert found == (expected[::-1] if reverse else expected)


def test_a_page_holds_as_many_rows_as_asked_for_and_the_cursor_goes_on(table: Table) -> None:
    fill(table, *(row(f"{n:02d}") for n in range(10)))
    first = table.query("P", limit=4)
    assert [item["sk"] for item in first.items] == ["00", "01", "02", "03"]
    rest = table.query("P", limit=20, cursor=first.cursor)
    assert [item["sk"] for item in rest.items] == [f"{n:02d}" for n in range(4, 10)]
    assert rest.cursor is None


def test_a_large_page_is_not_cut_short(table: Table) -> None:
    fill(table, *(row(f"{n}", v="x" * 300_000) for n in range(8)))
    assert len(table.query("P", limit=8).items) == 8


def test_a_cursor_survives_changes_beside_and_at_its_place(table: Table) -> None:
    fill(table, *(row(sk) for sk in "BDFH"))
    page = table.query("P", limit=2)
    table.write([Delete(Key("P", "D")), Put(row("A")), Put(row("E"))])
    assert [item["sk"] for item in table.query("P", limit=9, cursor=page.cursor).items] == ["E", "F", "H"]


def test_a_cursor_is_refused_by_any_other_query(table: Table) -> None:
    fill(table, *(ranked(sk, sk) for sk in "ABC"), *(row(sk, pk="P2") for sk in "ABC"))
    cursor = table.query("P", limit=1).cursor
    assert cursor is not None
    others: list[tuple[str, dict[str, Any]]] = [
        ("P2", {}),
        ("P", {"reverse": True}),
        ("P", {"prefix": "A"}),
        ("P", {"between": ("A", "C")}),
        ("R", {"index": Index.RANK}),
        ("P", {"index": Index.RECENT}),
    ]
    for partition, query in others:
        with pytest.raises(ValueError, match="not a cursor"):
            table.query(partition, **query, limit=1, cursor=cursor)
    for garbage in ("", "x", "é", "e30=", cursor[:-4], cursor + "AAAA", cursor.swapcase(), f" {cursor}"):
        with pytest.raises(ValueError, match="not a cursor"):
            table.query("P", limit=1, cursor=garbage)


# --- indexes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("index", "names"),
    [
        (Index.RANK, ("rank_pk", "rank_sk")),
        (Index.DUE, ("due_pk", "due_sk")),
        (Index.RECENT, ("recent_pk", "recent_sk")),
    ],
)
def test_a_row_is_in_an_index_iff_it_has_both_keys(table: Table, index: Index, names: tuple[str, str]) -> None:
    partition, sort = names
    fill(
        table,
        row("none"),
        row("only the partition", **{partition: "X"}),
        row("only the sort key", **{sort: "1"}),
        row("second", **{partition: "X", sort: "2"}),
        row("first", pk="Q", **{partition: "X", sort: "1"}),
        row("other", **{partition: "Y", sort: "1"}),
    )
    assert sort_keys(table, "X", index=index) == ["first", "second"]
    fill(table, row("second", **{partition: "X", sort: "0"}))
    assert sort_keys(table, "X", index=index) == ["second", "first"]
    fill(table, row("second", **{partition: "X"}))
    assert sort_keys(table, "X", index=index) == ["first"]
    table.write([Delete(Key("Q", "first"))])
    assert sort_keys(table, "X", index=index) == []
    assert sort_keys(table, "Y", index=index) == ["other"]


@pytest.mark.parametrize("reverse", [False, True])
def test_rows_with_one_index_key_are_paged_without_loss(table: Table, reverse: bool) -> None:
    items = [ranked(f"{n:02d}", f"{n // 5}", pk=f"P{n % 3}") for n in range(30)]
    fill(table, *items)
    found = sort_keys(table, "R", index=Index.RANK, reverse=reverse, limit=4)
    assert sorted(found) == [item["sk"] for item in items]
    ranks = [int(sk) // 5 for sk in found]
    assert ranks == sorted(ranks, reverse=reverse)


def test_an_index_takes_prefixes_and_ranges(table: Table) -> None:
    fill(table, *(ranked(f"s{rank}", rank) for rank in ("0a", "0b", "1a", "1b", "2a")))
    query: dict[str, Any] = {"index": Index.RANK, "limit": 1}
    assert sort_keys(table, "R", **query, prefix="1") == ["s1a", "s1b"]
    assert sort_keys(table, "R", **query, between=("0b", "1a"), reverse=True) == ["s1a", "s0b"]


@pytest.mark.parametrize("index", [Index.RANK, Index.DUE])
def test_an_index_hands_out_what_it_projects_and_no_more(table: Table, index: Index) -> None:
    projected = {name: f"value of {name}" for name in INDEX_PROJECTION[index]}
    keys = {f"{kind}_{part}": part for kind in ("rank", "due", "recent") for part in ("pk", "sk")}
    fill(table, {**row("A", text="long", tags=["a"]), **keys, **projected})
    own = {name: part for name, part in keys.items() if name.startswith(index)}
    assert table.query("pk", index=index, limit=1).items == [{"pk": "P", "sk": "A", **own, **projected}]


def test_recent_hands_out_the_whole_row(table: Table) -> None:
    item = row("A", text="long", vector=b"\x01", recent_pk="R", recent_sk="1")
    table.write([Put(item, ABSENT)])
    assert table.query("R", index=Index.RECENT, limit=1).items == [{**item, "version": 1}]


# --- concurrency and crashes --------------------------------------------------------------------


def test_eight_threads_incrementing_one_row_lose_nothing(table: Table) -> None:
    table.write([Put(row("A", n=0), ABSENT)])

    def increment_ten_times(thread: int) -> None:
        done = 0
        while done < 10:
            found = table.get(K)
            assert found is not None
            with suppress(Conflict):
                log = row(f"{thread}-{done}", pk="LOG")
                table.write([Put(row("A", n=found["n"] + 1), Version(found["version"])), Put(log, ABSENT)])
                done += 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(increment_ten_times, range(8)))
    assert table.get(K) == {**row("A", n=80), "version": 81}
    assert len(sort_keys(table, "LOG")) == 80


def test_one_of_eight_concurrent_creators_wins(table: Table) -> None:
    def create(thread: int) -> bool:
        with suppress(Conflict):
            table.write([Put(row("A", by=thread), ABSENT), Put(row(f"{thread}", pk="LOG"))])
            return True
        return False

    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(create, range(8)))
    assert won.count(True) == 1
    assert table.get(K) == {**row("A", by=won.index(True)), "version": 1}
    assert sort_keys(table, "LOG") == [str(won.index(True))]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_killed_writer_loses_nothing_acknowledged(table_engine: str, tmp_path: Path, seed: int) -> None:
    engine = TABLES[table_engine]
    location = engine.create(tmp_path)
    acknowledged = killed_after_some_writes("table", table_engine, location, seed)
    with engine.connect(location) as table:
        written = sort_keys(table, prefix="ROW#")
        counter = table.get(Key("P", "COUNTER"))
    assert written == [f"ROW#{n:06d}" for n in range(len(written))]
    assert acknowledged <= len(written) <= acknowledged + 1
    assert counter is not None
    assert (counter["n"], counter["version"]) == (len(written) - 1, len(written))


# --- a row that nobody can read -------------------------------------------------------------------


def damaged(table: Table, key: Key) -> None:
    """Its bytes are no row any more. Skips an engine that keeps no bytes."""
    if isinstance(table, SqliteTable):
        with table._file.writing() as connection:
            sql = "UPDATE rows SET body = CAST(x'7b227801ff1e' AS TEXT) WHERE pk = ? AND sk = ?"
            connection.execute(sql, key)
    elif isinstance(table, DynamoDbTable):
        names = {"#n": "number"}
        table._client.update_item(
            TableName=table._name,
            Key={"pk": {"S": key.pk}, "sk": {"S": key.sk}},
            UpdateExpression="SET #n = :v",
            ExpressionAttributeNames=names,
            ExpressionAttributeValues={":v": {"NULL": True}},
        )
    else:
        pytest.skip("keeps rows as they are")


def test_a_row_that_cannot_be_decoded_keeps_no_other_from_being_read(table: Table) -> None:
    fill(table, row("A", text="one"), row("B", text="two"), row("C", text="three"))
    bad = Key("P", "B")
    before = table.get(bad)
    damaged(table, bad)
    told = {"pk": "P", "sk": "B", "type": "unreadable", "version": 0}
    assert before is not None and table.get(bad) == told
    found = table.get_many([Key("P", name) for name in "ABC"])
    assert [found[Key("P", name)]["type"] for name in "ABC"] == ["thing", "unreadable", "thing"]
    assert [item["type"] for item in table.query("P", limit=10).items] == ["thing", "unreadable", "thing"]
    for reverse in (False, True):
        names = sort_keys(table, limit=1, reverse=reverse)
        assert names == sorted("ABC", reverse=reverse), "a cursor may stand at it"


def test_a_row_that_cannot_be_decoded_is_replaced_and_deleted_like_any_other(table: Table) -> None:
    fill(table, row("A", text="one"), row("B", text="two"))
    for name in "AB":
        damaged(table, Key("P", name))
    with pytest.raises(Conflict):
        table.write([Put(row("A"), ABSENT)])
    table.write([Put(row("A", text="new")), Delete(Key("P", "B"))])
    assert [(item["sk"], item.get("text")) for item in table.query("P", limit=10).items] == [("A", "new")]


def test_a_row_that_cannot_be_decoded_is_left_out_where_rows_are_read(table: Table) -> None:
    """As the product reads them: but who asks for it alone, or for a head, is refused."""
    now = datetime(2026, 3, 10, tzinfo=UTC)
    caches = Caches(lambda: now)
    readable = ReadableTable(table, caches, lambda: now)
    fill(table, row("A"), row("B"), row("HEAD"))
    damaged(table, Key("P", "B"))
    with meeting_unreadable_rows() as met:
        assert sort_keys(readable) == ["A", "HEAD"]
        assert set(readable.get_many([Key("P", "A"), Key("P", "B")])) == {Key("P", "A")}
        with pytest.raises(UnreadableRow):
            readable.get(Key("P", "B"))
        damaged(table, Key("P", "HEAD"))
        with pytest.raises(UnreadableRow):
            readable.get_many([Key("P", "A"), Key("P", "HEAD")])
    assert met == ["row", "row", "row", "HEAD"]
    assert sort_keys(readable_whole(readable)) == ["A", "B", "HEAD"]
    assert [(trouble.what, trouble.reason) for trouble in caches.troubles.active()] == [("rows", "unreadable: row")]
    fill(table, row("EVT#1", seq="one") | {"type": "event"})
    assert sort_keys(readable) == ["A"], "what is no record is not read either"


@pytest.mark.parametrize("position", [[], ["Q"], [""], ["P" * 1025], [["PA"]], [1], ["\ud800"]])
def test_a_cursor_of_a_place_outside_the_query_is_refused(table: Table, position: list[Any]) -> None:
    fill(table, row("PA"), row("PB"), row("Q"))
    query = query_name("P", Index.MAIN, "P", None, False)
    with pytest.raises(InvalidCursor):
        text = json.dumps(position).encode()
        cursor = urlsafe_b64encode(_digest(query, text) + text).decode()
        table.query("P", prefix="P", limit=1, cursor=cursor)
