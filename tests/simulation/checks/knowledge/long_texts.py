"""Texts of documents that no row holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neve.domain.records.documents import Document
from neve.store.documents import read_document
from neve.store.keys import DOCUMENT_PLACE, DOCUMENT_REV
from tests.simulation.checks.replay import Found, rows_of

if TYPE_CHECKING:
    from tests.simulation.run import Run


def no_long_text_is_left_without_its_document(run: Run) -> Found:
    """When calm, an hour after the last one was announced: each lies under the id of a document that has a place."""
    for keys in run.history.users():
        there = {keys.document_objects(item["id"]) for item in rows_of(run, keys.partition, DOCUMENT_PLACE)}
        for name in run.cloud.objects.objects:
            if name.startswith(keys.documents_prefix) and f"{name.rpartition('/')[0]}/" not in there:
                yield f"{name} is the text of no document"


def every_revision_has_its_text(run: Run) -> Found:
    for keys in run.history.users():
        for item in rows_of(run, keys.partition, DOCUMENT_REV):
            name = read_document(item).text_object
            if name is not None and name not in run.cloud.objects.objects:
                yield f"{keys.partition}/{item['sk']}: {name} is not stored"


def stored_text(run: Run, revision: Document) -> str:
    """Empty where the object is gone."""
    found = run.cloud.objects.objects.get(revision.text_object or "")
    return found.body.decode() if found else revision.text


INVARIANTS = (no_long_text_is_left_without_its_document, every_revision_has_its_text)
