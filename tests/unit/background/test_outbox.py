"""The change stream of the embedded table."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from local.engine.sqlite_table import SqliteTable
from neve.ports.errors import Conflict, StoreUnavailable
from neve.ports.table import Check, Delete, Expect, Item, Key, Put, Version
from tests.contract.engines.endless_writer import killed_after_some_writes
from tests.contract.engines.patience import answers_at_once

A = Key("P", "A")


def row(sk: str, **attributes: Any) -> Item:
    return {"pk": "P", "sk": sk, "type": "thing", **attributes}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "table.db"


@pytest.fixture
def table(path: Path) -> Iterator[SqliteTable]:
    with closing(SqliteTable(path)) as opened:
        yield opened


def test_every_changed_row_is_told_with_both_images_in_order(table: SqliteTable) -> None:
    table.write([Put(row("A", v=b"\x00"), Expect.ABSENT), Put(row("B", v=1))])
    table.write([Put(row("A", v=[2.5]), Version(1))])
    table.write([Delete(A, Version(2)), Check(Key("P", "C"), Expect.ABSENT)])
    first, second, third, fourth = table.read_changes(0, 10)
    assert first[1:] == (A, None, {**row("A", v=b"\x00"), "version": 1})
    assert second[1:] == (Key("P", "B"), None, {**row("B", v=1), "version": 0})
    assert third[1:] == (A, {**row("A", v=b"\x00"), "version": 1}, {**row("A", v=[2.5]), "version": 2})
    assert fourth[1:] == (A, {**row("A", v=[2.5]), "version": 2}, None)
    assert first.seq < second.seq < third.seq < fourth.seq


def test_what_changes_nothing_is_not_told(table: SqliteTable) -> None:
    table.write([Put(row("A", v=1))])
    [known] = table.read_changes(0, 10)
    table.write([Put(row("A", v=1)), Delete(Key("P", "never")), Check(Key("P", "B"), Expect.ABSENT)])
    with pytest.raises(Conflict):
        table.write([Put(row("B")), Put(row("A"), Expect.ABSENT)])
    assert table.read_changes(known.seq, 10) == []


def test_changes_are_read_in_parts(table: SqliteTable) -> None:
    table.write([Put(row(f"{n}")) for n in range(5)])
    first = table.read_changes(0, 2)
    second = table.read_changes(first[-1].seq, 2)
    third = table.read_changes(second[-1].seq, 2)
    assert [change.key.sk for change in [*first, *second, *third]] == ["0", "1", "2", "3", "4"]
    assert table.read_changes(third[-1].seq, 2) == []


def test_what_was_not_discarded_is_told_again_after_a_restart(path: Path) -> None:
    with closing(SqliteTable(path)) as table:
        table.write([Put(row("A")), Put(row("B")), Put(row("C"))])
        handled, *rest = table.read_changes(0, 10)
        table.discard_changes(handled.seq)
    with closing(SqliteTable(path)) as table:
        assert table.wait_for_changes(0)
        assert table.read_changes(0, 10) == rest


def test_a_sequence_number_is_never_given_twice(path: Path) -> None:
    with closing(SqliteTable(path)) as table:
        table.write([Put(row("A"))])
        [first] = table.read_changes(0, 10)
        table.discard_changes(first.seq)
        assert table.read_changes(0, 10) == []
    with closing(SqliteTable(path)) as table:
        assert not table.wait_for_changes(0)
        table.write([Put(row("B"))])
        [second] = table.read_changes(first.seq, 10)
        assert second.key.sk == "B"


def test_discarding_keeps_what_came_later(table: SqliteTable) -> None:
    table.write([Put(row("A"))])
    [first] = table.read_changes(0, 10)
    table.write([Put(row("B"))])
    table.discard_changes(first.seq)
    table.discard_changes(first.seq)
    assert [change.key.sk for change in table.read_changes(0, 10)] == ["B"]


def test_waiting_ends_at_once_until_everything_is_discarded(table: SqliteTable) -> None:
    assert not table.wait_for_changes(0)
    table.write([Put(row("A")), Put(row("B"))])
    assert answers_at_once(lambda: table.wait_for_changes(threading.TIMEOUT_MAX))
    first, second = table.read_changes(0, 10)
    assert answers_at_once(lambda: table.wait_for_changes(threading.TIMEOUT_MAX))
    table.discard_changes(first.seq)
    assert answers_at_once(lambda: table.wait_for_changes(threading.TIMEOUT_MAX))
    table.discard_changes(second.seq)
    assert not table.wait_for_changes(0)
    assert not table.wait_for_changes(0)


def test_a_commit_wakes_the_waiter(table: SqliteTable) -> None:
    """Ends only when no commit between a read and the waiting goes unheard: each waits for the one before."""
    heard: list[int] = []

    def listen() -> None:
        after = 0
        while len(heard) < 200:
            for change in table.read_changes(after, 7):
                after = change.seq
                assert change.new is not None
                heard.append(change.new["n"])
            table.discard_changes(after)
            if len(heard) < 200:
                assert table.wait_for_changes(60)

    listener = threading.Thread(target=listen)
    listener.start()
    for n in range(200):
        table.write([Put(row("A", n=n))])
    listener.join(60)
    assert heard == list(range(200))


def test_closing_wakes_the_waiter(table: SqliteTable) -> None:
    answers: list[bool] = []
    listener = threading.Thread(target=lambda: answers.append(table.wait_for_changes(60)))
    listener.start()
    table.close()
    listener.join(60)
    assert answers == [False]


def test_a_killed_process_has_told_of_every_row_that_it_wrote(path: Path) -> None:
    acknowledged = killed_after_some_writes("table", "sqlite", str(path), seed=77)
    with closing(SqliteTable(path)) as table:
        rows = table.query("P", prefix="ROW#", limit=1000).items
        changes = table.read_changes(0, 1000)
    assert len(rows) >= acknowledged
    assert [change.new for change in changes if change.key.sk != "COUNTER"] == rows
    assert [change.new["n"] for change in changes if change.new and change.key.sk == "COUNTER"] == list(
        range(len(rows))
    )


def test_a_closed_table_is_unavailable(table: SqliteTable) -> None:
    table.close()
    table.close()
    for call in (
        lambda: table.get(A),
        lambda: table.get_many([A]),
        lambda: table.query("P", limit=1),
        lambda: table.write([Put(row("A"))]),
        lambda: table.read_changes(0, 1),
        lambda: table.discard_changes(1),
    ):
        with pytest.raises(StoreUnavailable, match="table: closed"):
            call()


def test_a_deleted_text_is_in_no_file(path: Path) -> None:
    secret = b"the name of the cat is Minka"
    with closing(SqliteTable(path)) as table:
        table.write([Put(row(f"{n}", text=secret.decode() * n, raw=secret)) for n in range(1, 300, 3)])
        table.write([Delete(Key("P", f"{n}")) for n in range(1, 300, 3)])
        table.discard_changes(table.read_changes(0, 1000)[-1].seq)
    assert path.stat().st_size > 300_000
    assert not [file.name for file in path.parent.iterdir() if secret in file.read_bytes()]


def test_expired_rows_are_removed_and_told(table: SqliteTable) -> None:
    now = datetime(2026, 3, 10, tzinfo=UTC)
    at = int(now.timestamp())
    many = [Put(row(f"old{n:03}", expires_at=at - n)) for n in range(150)]
    for start in (0, 75):
        table.write(many[start : start + 75])
    table.write([Put(row("later", expires_at=at + 1)), Put(row("forever")), Put(row("renewed", expires_at=at - 9))])
    table.write([Put(row("renewed", expires_at=at + 9))])
    seen = table.read_changes(0, 500)[-1].seq
    assert table.delete_expired(now) == 150
    assert [item["sk"] for item in table.query("P", limit=200).items] == ["forever", "later", "renewed"]
    changes = table.read_changes(seen, 500)
    assert len(changes) == 150
    assert all(change.new is None for change in changes)
    assert table.delete_expired(now) == 0
