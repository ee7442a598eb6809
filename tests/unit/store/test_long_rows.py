"""Rows whose lists grow with a session: a row has 400 KB, and what was written is read as it was."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from ulid import ULID

from local.engine.sqlite_table import SqliteTable
from neve.adapters.table_rules import item_size
from neve.attribute_values import plain_item, typed_item
from neve.domain.records.jobs import Job
from neve.domain.records.markers import LiveRow, SessionMarker
from neve.domain.records.memories import Kind
from neve.domain.records.packs import PackEntry, PackManifest
from neve.ports.table import Expect, Item, Put, key_of
from neve.store import idempotency, rows
from neve.store.idempotency import IdempotencyKey, StoredReply
from neve.store.keys import SessionKeys

KEYS = SessionKeys("acme", "ada", "s1")
NOW = "2026-03-10T09:30:00.000Z"
AT = datetime(2026, 3, 10, 9, 30, tzinfo=UTC)
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
RANDOM = random.Random(7)


def memory_id(_: object = None) -> str:
    """Of one day: the rest of an id is drawn."""
    return "mem_01KKBH9" + "".join(RANDOM.choices(ALPHABET, k=19))


@pytest.fixture
def table(tmp_path: Path) -> Iterator[SqliteTable]:
    with closing(SqliteTable(tmp_path / "table.db")) as made:
        yield made


def stored_row(table: SqliteTable, put: Put) -> Item:
    """The row as a reader finds it, also where it went through the types of DynamoDB."""
    assert item_size(put.item) < 400 * 1024
    table.write([put])
    found = table.get(key_of(put.item))
    assert found is not None
    assert plain_item(typed_item(found)) == found
    return found


@pytest.mark.parametrize("count", [0, 3, 10, 11, 500, 12_000])
def test_a_session_that_never_ends_keeps_its_live_rows(table: SqliteTable, count: int) -> None:
    """Facts are folded into nothing: after years there are thousands of them."""
    kinds = (Kind.FACT, Kind.OBSERVATION, Kind.REFLECTION)
    live = tuple(LiveRow(memory_id(), kinds[n % 3], RANDOM.randint(5, 400)) for n in range(count))
    marker = SessionMarker("s1", observed_seq=9, live=live, version=0)
    read = rows.read_marker(stored_row(table, rows.put_marker(KEYS, marker)))
    assert (read.live, read.observed_seq, read.version) == (live, 9, 1)


@pytest.mark.parametrize(("count", "kilobytes"), [(0, 1), (10, 1), (11, 1), (25, 1), (100, 3), (500, 10)])
def test_a_marker_is_charged_for_few_bytes_of_each_live_row(count: int, kilobytes: int) -> None:
    """All the rest that passes say of a session included; its ids are of some weeks."""
    started = 0x019CDB1F0000
    ids = [f"mem_{ULID.from_bytes((started + n * 3_600_000).to_bytes(6) + RANDOM.randbytes(10))}" for n in range(count)]
    live = tuple(LiveRow(i, (Kind.FACT, Kind.OBSERVATION)[n % 2], RANDOM.randint(5, 400)) for n, i in enumerate(ids))
    marker = SessionMarker(
        "ses_01KKBH90000000000000000000",
        observed_seq=120,
        offered_seq=120,
        live=live,
        lease_token=40,
        last_pass=memory_id(),
        current_task="Plan the trip to Lyon in May",
        suggested_continuation="Ask whether the hotel near the station was booked",
        thread_title="Trip to Lyon",
    )
    size = item_size(rows.put_marker(KEYS, marker).item)
    assert math.ceil(size / 1024) == kilobytes, size


@pytest.mark.parametrize("count", [1, 6_000])
def test_the_manifest_of_a_large_pack_is_a_row(table: SqliteTable, count: int) -> None:
    entries = [
        PackEntry(memory_id(), 1, hashlib.sha256(str(n).encode()).hexdigest(), n % 300, "fact") for n in range(count)
    ]
    shown, left_out = tuple(entries[: count // 2]), tuple(entries[count // 2 :])
    layers = {"global": shown, "local": ()}
    manifest = PackManifest("s1", 1, "initial", NOW, "a" * 64, 9, "b" * 64, layers, left_out)
    assert rows.read_manifest(stored_row(table, rows.put_manifest(KEYS, manifest))) == manifest


@pytest.mark.parametrize("count", [1, 4_000])
def test_a_job_says_of_all_its_facts_what_became_of_them(table: SqliteTable, count: int) -> None:
    """A conversation of years that is brought in at once is one job."""
    criteria = {"pii": "clear", "provenance": True, "importance": True, "novelty": True, "contradiction": "new"}
    fact = {"decision": "stored", "criteria": criteria, "reason": "It is new, and important enough."}
    result = {"facts": [{**fact, "id": memory_id()} for _ in range(count)]}
    state = {"touched": [memory_id() for _ in range(count)]}
    job = Job("job_01KKBH9", "observe", "done", NOW, "ada", "s1", result=result, state=state)
    item = stored_row(table, rows.put_job(KEYS, job))
    read = rows.read_job(item)
    assert (read.result, read.state) == (result, state)
    idem = IdempotencyKey("POST /v1/x", "k1", "sha")
    stored = stored_row(table, idempotency.done(KEYS, idem, StoredReply(200, {"result": result}), AT, Expect.ABSENT))
    assert idempotency.replay(stored, idem, AT) == StoredReply(200, {"result": result})


@pytest.mark.parametrize("count", [1, 32_000])
def test_what_is_left_of_a_memory_names_all_its_passages(table: SqliteTable, count: int) -> None:
    """64,000 characters in lines of one character each: no memory has more passages."""
    texts = [hashlib.sha256(str(n).encode()).hexdigest() for n in range(count)]
    item = stored_row(table, rows.put_leaving(KEYS, "memory", memory_id(), 1, AT, texts))
    assert len(item["texts"]) == count
    assert all(text.startswith(left) for text, left in zip(sorted(texts), item["texts"], strict=True))
