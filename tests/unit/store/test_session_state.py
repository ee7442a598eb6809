"""The rows of a session that are read together."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from neve.domain.records.epochs import SessionEpoch
from neve.domain.records.markers import SessionMarker
from neve.domain.records.sessions import SessionHead
from neve.ports.table import Item, Key
from neve.store import rows
from neve.store.keys import SessionKeys, UserKeys
from neve.store.sessions.state import read_state, state_rows
from neve.usecases.core.lag.indexed_row import IndexedRow
from tests.unit.world import CountedTable

ANN = UserKeys("t1", "ann")
IDS = ("s1", "s", "s1-b", "s1.x", "s1:2", "S1", "s10")
"""The id of one begins that of another, with every sign that an id may hold behind it."""
NOW = datetime(2026, 3, 10, tzinfo=UTC)


@pytest.fixture
def table(tmp_path: Path) -> Iterator[CountedTable]:
    made = CountedTable.at(tmp_path / "table.db")
    for session in IDS:
        keys = ANN.of_session(session)
        made.write(
            [
                rows.put_session(keys, SessionHead(session, "open", started_at="")),
                rows.put_marker(keys, SessionMarker(session)),
                rows.put_epoch(keys, SessionEpoch(session), NOW),
            ]
        )
        if session != "s10":
            made.write([IndexedRow(session, 3).put(keys, NOW)])
    made.calls.clear()
    yield made
    made.close()


def whose(found: dict[Key, Item]) -> list[tuple[str, str]]:
    return sorted((item["type"], item["session_id"]) for item in found.values())


@pytest.mark.parametrize("session", IDS)
def test_one_query_reads_the_state_of_one_session(table: CountedTable, session: str) -> None:
    keys = ANN.of_session(session)
    found = read_state(table, keys)
    kinds = ["epoch", "indexed", "marker"] if session != "s10" else ["epoch", "marker"]
    assert whose(found) == [(kind, session) for kind in kinds]
    assert set(found) <= {keys.epoch, keys.marker, keys.indexed}
    assert dict(table.calls) == {"query": 1}


def test_a_session_that_is_not_there_has_no_state(table: CountedTable) -> None:
    assert read_state(table, ANN.of_session("s1-")) == {}
    assert read_state(table, UserKeys("t1", "an").of_session("s1")) == {}
    assert read_state(table, SessionKeys("t", "ann", "s1")) == {}


def test_one_kind_of_all_sessions_is_read_in_the_order_of_their_ids(table: CountedTable) -> None:
    assert [item["session_id"] for item in state_rows(table, ANN, "marker")] == sorted(IDS)
    assert [item["session_id"] for item in state_rows(table, ANN, "indexed")] == sorted({*IDS} - {"s10"})
