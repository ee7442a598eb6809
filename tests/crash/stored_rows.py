"""What must be true in the rows themselves once the queues are empty; read from the files of a dead server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from local.backend import TABLE
from local.bootstrap import TENANT
from local.engine.sqlite_table import SqliteTable
from neve.domain.records.epochs import SessionEpoch
from neve.domain.records.markers import SessionMarker
from neve.domain.records.memories import EmbeddingState, Kind, Memory, Scope, Status
from neve.domain.records.sessions import Event, EventType
from neve.ports.table import Item
from neve.store import rows
from neve.store.documents import read_document as read_document_row
from neve.store.keys import Keys, SessionKeys
from tests.crash.writer import output_of

KEYS = Keys(TENANT)
DONE = {EmbeddingState.READY, EmbeddingState.SKIPPED}
"""Of a superseded row, which may have been embedded before or not."""


def check_rows(data: Path, user: str) -> None:
    table = SqliteTable(data / TABLE)
    try:
        memories = [rows.read_memory(item) for item in _rows(table, KEYS.of_user(user).partition, "MEM#")]
        for item in _rows(table, KEYS.of_user(user).partition, "SES#"):
            session = rows.read_session(item)
            of_session = [memory for memory in memories if memory.session_id == session.session_id]
            log = [
                rows.read_event(event)
                for event in _rows(table, KEYS.of_user(user).of_session(session.session_id).log, "EVT#")
            ]
            found = table.get_many(
                [
                    KEYS.of_user(user).of_session(session.session_id).marker,
                    KEYS.of_user(user).of_session(session.session_id).epoch,
                ]
            )
            marker = rows.read_marker(found[KEYS.of_user(user).of_session(session.session_id).marker])
            epoch = rows.read_epoch(found[KEYS.of_user(user).of_session(session.session_id).epoch])
            where = f"{user}/{session.session_id}"
            assert [event.seq for event in log] == list(range(1, session.last_seq + 1)), f"{where}: gaps"
            assert (epoch.covers_to or 0) <= marker.observed_seq <= session.last_seq, (
                f"{where}: covers to {epoch.covers_to}, marker {marker.observed_seq}, last seq {session.last_seq}"
            )
            assert epoch.rebuild_due is None, f"{where}: a pack is still to be built: {epoch.rebuild_due}"
            _check_compactions(table, KEYS.of_user(user).of_session(session.session_id), epoch, log)
            _check_live_list(where, marker, of_session)
            _check_observations(where, marker, log, of_session)
        for memory in memories:
            what = f"{user}: {memory.id} is {memory.status}, {memory.embedding_state}, rev_at {memory.rev_at}"
            embedded = {EmbeddingState.READY} if memory.status is Status.ACTIVE else DONE
            assert memory.embedding_state in embedded and memory.rev_at is None, what
    finally:
        table.close()


def _check_compactions(table: SqliteTable, keys: SessionKeys, epoch: SessionEpoch, log: list[Event]) -> None:
    """The summary of an epoch is of what it covers, and every result that left the log is in its document."""
    item = table.get(keys.summary(epoch.epoch))
    summary = rows.read_summary(item) if item else None
    covers = (summary.covers_from, summary.covers_to) if summary else (None, None)
    assert covers == (epoch.covers_from, epoch.covers_to), f"{keys.session}: {covers}, {epoch}"
    for event in (one for one in log if one.pruned):
        document = table.get(keys.document(str(event.artifact_path)))
        assert document is not None, f"{keys.session}: nothing under {event.artifact_path}"
        assert read_document_row(document).text == output_of(event.event_data["tool_use_id"]), event.artifact_path
        assert event.content == f"[Tool output saved to {event.artifact_path}]"


def _check_live_list(where: str, marker: SessionMarker, memories: list[Memory]) -> None:
    """It names the session's rows, each once, but those that were superseded: a fact that waits stays in its place."""
    times = Counter(row.id for row in marker.live)
    assert max(times.values(), default=1) == 1, f"{where}: twice in the live list: {times}"
    live = {m.id: m.status for m in memories if m.status is not Status.SUPERSEDED and m.scope is Scope.SESSION}
    assert set(times) == set(live), f"{where}: live list {sorted(times)}, rows {sorted(live.items())}"


def _check_observations(where: str, marker: SessionMarker, log: list[Event], memories: list[Memory]) -> None:
    """Ranges up to the marker, one behind the other; no event in two of them; no user message in none."""
    observations = [m for m in memories if m.kind is Kind.OBSERVATION]
    spans = sorted((m.provenance.seq_from or 0, m.provenance.seq_to or 0) for m in observations)
    covered = Counter(seq for first, last in spans for seq in range(first, last + 1))
    assert not covered or max(covered.values()) == 1, f"{where}: observed twice: {spans}"
    assert all(1 <= seq <= marker.observed_seq for seq in covered), f"{where}: {spans}, marker {marker.observed_seq}"
    user_seqs = {event.seq for event in log if event.event_type is EventType.USER_MESSAGE}
    missed = {seq for seq in user_seqs if seq <= marker.observed_seq} - set(covered)
    assert not missed, f"{where}: behind the marker {marker.observed_seq}, but in no observation: {missed} of {spans}"
    answered = max((e.seq for e in log if e.event_type is EventType.ASSISTANT_RESPONSE), default=0)
    assert max(marker.observed_seq, marker.offered_seq) >= answered, (
        f"{where}: the turn that ends at {answered} was forgotten; marker {marker.observed_seq}"
    )


def _rows(table: SqliteTable, partition: str, prefix: str) -> Iterator[Item]:
    cursor = None
    while True:
        page = table.query(partition, prefix=prefix, limit=500, cursor=cursor)
        yield from page.items
        cursor = page.cursor
        if cursor is None:
            return
