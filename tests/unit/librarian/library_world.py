"""A world with a session that has ended, and a search that finds what a test says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from neve.domain.documents.change import DocumentChange
from neve.domain.indexing.passage import Source
from neve.domain.librarian.filing import Account, Action, Filed, Proposal
from neve.domain.recall.query import TextQuery
from neve.domain.records.documents import Document
from neve.domain.records.jobs import Job
from neve.ports.queue import QueueName
from neve.ports.search import Candidate, FoundByWords, Owner, SearchFilter
from neve.store.documents import read_document
from neve.store.filings import read_proposal
from neve.store.partitions import all_rows
from neve.usecases.ask.documents.get_document import find_document
from neve.usecases.core.jobs.read_jobs import get_job
from neve.usecases.tell.documents.write_document import write_document
from neve.usecases.tell.requests.end_session import end_session
from neve.usecases.work.compact.compact_session import compact_session
from neve.usecases.work.librarian.file_session import FilingReport, file_session
from tests.unit.world import World

ACCOUNT = Account("A trip to Oslo", "SUCCESS", "pleased", ("oslo",))


@dataclass
class FoundDocuments:
    """``ports.search.SearchIndex``, as far as a librarian asks it."""

    ids: list[str] = field(default_factory=list)
    asked: list[SearchFilter] = field(default_factory=list)

    def search_text(self, _: Owner, __: TextQuery, where: SearchFilter, depth: int) -> FoundByWords:
        self.asked.append(where)
        found = [Candidate(i, 0, 1.0, 1, "", Source.DOCUMENT, 1) for i in self.ids[:depth]]
        return FoundByWords(found, len(self.ids))


class LibraryWorld(World):
    found: FoundDocuments

    def __post_init__(self) -> None:
        super().__post_init__()
        self.found = FoundDocuments()

    @classmethod
    def at(cls, folder: Path) -> LibraryWorld:
        made = cls.make(folder)
        assert isinstance(made, cls)
        return made

    def meanwhile(self, work: Callable[[], object]) -> None:
        """Once, while the librarian thinks."""

        def once() -> None:
            work()

        self.observer.meanwhile = once

    @property
    def search(self) -> Any:
        return self.found

    @property
    def session(self) -> Any:
        return self.user().of_session("s1")

    def put(self, path: str, text: str, **more: Any) -> Document:
        return write_document(self.user(), path, DocumentChange(text=text), **more).document

    def text(self, path: str) -> str | None:
        found = find_document(self.user(), path)
        return found.text if found else None

    def rev(self, path: str) -> int:
        found = find_document(self.user(), path)
        return found.rev if found else 0

    def revisions(self, path: str) -> list[Document]:
        """Oldest first, each with what its row holds; none of a document that is not there."""
        keys, head = self.user().keys, find_document(self.user(), path)
        prefix = keys.document_revs(str(head.id)) if head else None
        return [read_document(item) for item in all_rows(self.table, keys.partition, prefix=prefix)] if prefix else []

    def end(self, **more: Any) -> Job:
        """Up to where the librarian has been told."""
        job = end_session(self.session, **more)
        body = {
            "job_id": job.id,
            "incarnation": 1,
            "reason": "end",
            "tenant": "acme",
            "user": "ann",
            "session": "s1",
        }
        compact_session(self.session, body)
        return get_job(self.user(), job.id)

    def last_message(self) -> dict[str, Any]:
        """The last message of the librarian queue."""
        return [message.body for queue, message in self.queue.sent if queue is QueueName.LIBRARIAN][-1]

    def file(self, **more: Any) -> FilingReport | None:
        return file_session(self.session, self.last_message(), **more)


def answer(*actions: Action, account: Account | None = ACCOUNT, **more: Any) -> Filed:
    return Filed(actions, account, "scripted", "1", **more)


def change(verb: Any, path: str, text: str, base_rev: int | None = None, **more: Any) -> Action:
    return Action(verb, path, text, base_rev, **({"certainty": "high", "seqs": (1,)} | more))


def paths(world: LibraryWorld, result: dict[str, Any]) -> Sequence[str]:
    """Where the documents stand by now that a job's result names."""
    places = map(world.user().keys.document_place, (one["id"] for one in result["documents"]))
    return [str(item["path"]) for item in map(world.table.get, places) if item is not None]


def proposals(world: LibraryWorld) -> list[Proposal]:
    return [read_proposal(item) for item in all_rows(world.table, world.user().keys.partition, prefix="PRP#")]
