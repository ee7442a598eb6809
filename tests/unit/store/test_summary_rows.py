"""Summaries and documents as rows."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

from local.engine.sqlite_table import SqliteTable
from neve.domain.records.documents import Document
from neve.domain.records.epochs import Summary
from neve.store import rows
from neve.store.documents import read_document as read_document_row
from neve.store.keys import SessionKeys

KEYS = SessionKeys("acme", "ada", "s1")
SUMMARY = Summary(
    session_id="s1",
    epoch=2,
    covers_from=3,
    covers_to=40,
    verbosity="brief",
    by="model",
    tokens=120,
    created_at="2026-03-10T09:00:00.000Z",
    decisions=("Take the night train.",),
    preferences=("A window seat.",),
)
ARTIFACT = Document(
    path="/artifacts/01JAR7",
    text="line\n\n<b>é</b>",
    tokens=9,
    rev=1,
    created_at="2026-03-10T09:00:00.000Z",
    session_id="s1",
    seq=7,
)


def test_a_summary_and_an_artifact_are_read_as_they_were_written(tmp_path: Path) -> None:
    with closing(SqliteTable(tmp_path / "table.db")) as table:
        table.write([rows.put_summary(KEYS, SUMMARY), rows.put_artifact(KEYS, ARTIFACT)])
        summary = table.get(KEYS.summary(2))
        artifact = table.get(KEYS.document(ARTIFACT.path))
    assert summary is not None and artifact is not None
    assert rows.read_summary(summary) == replace(SUMMARY, version=1)
    assert read_document_row(artifact) == replace(ARTIFACT, version=1)


def test_summaries_of_one_session_lie_in_the_order_of_its_epochs() -> None:
    assert [KEYS.summary(epoch).sk for epoch in (2, 10)] == ["SUM#s1#00000002", "SUM#s1#00000010"]
