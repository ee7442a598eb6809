"""Of what a deletion takes from documents no vector is left, whoever writes or embeds meanwhile
(docs/rules/retract.md#erase)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from neve.domain.indexing.document_passages import indexed_texts
from neve.domain.memories.text import fingerprint
from neve.ports.table import Put
from neve.store import rows
from neve.store.partitions import all_rows
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.tell.documents.delete_document import delete_document
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.work.librarian.file_session import file_session
from neve.usecases.work.retract.documents import revert_documents
from neve.usecases.work.retract.run_retraction import run_retraction
from tests.unit.librarian.library_world import LibraryWorld, answer, change

FIRST, SECOND = "/profile/goals", "/profile/people/sarah"


def test_somebody_who_changes_another_document_keeps_no_vector_of_a_deleted_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first is deleted while somebody embeds it, and before the second is, a person writes there: all is looked at
    again, and the first is not there any more."""
    world = LibraryWorld.at(tmp_path)
    world.open()
    world.say("We go to Oslo with Sarah.", "Noted.")
    created = [change("create", path, f"A zqmarker at {path}.", seqs=(1,)) for path in (FIRST, SECOND)]
    world.observer.filings = [answer(*created, account=None)]
    file_session(world.session, {"incarnation": 1, "job_id": "job_1", "kind": "librarian"})
    [revision], keys, deleted = world.revisions(FIRST), world.user().keys, list[str]()

    def meanwhile(scope: Any, path: str, *of: Any) -> Any:
        deleted.append(path)
        if path == SECOND:
            world.put(SECOND, "Mine.")
        else:
            for text in indexed_texts(revision):
                key = keys.vector(fingerprint(text), "fixture")
                world.table.write([Put({"pk": key.pk, "sk": key.sk, "type": "vector"})])
        return delete_document(scope, path, *of)

    monkeypatch.setattr(revert_documents, "delete_document", meanwhile)
    retraction = retract_events(world.session, Retract(1, None, "deleted"))
    message = message_of_row(world.table.get(world.tenant.keys.job(retraction.job_id)) or {}).body
    run_retraction(world.session, message)
    job = rows.read_job(world.table.get(world.tenant.keys.job(retraction.job_id)) or {})
    assert (job.status, deleted[-2:], world.text(SECOND)) == ("done", [FIRST, SECOND], "Mine.")
    assert list(all_rows(world.table, keys.vectors)) == []
