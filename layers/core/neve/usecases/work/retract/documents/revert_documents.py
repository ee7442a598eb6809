"""Removes what a librarian wrote of events that are taken back; what is left of the session is filed again
(docs/rules/retract.md#documents).

What is to be done is noted before any of it is: a worker that repeats it finds documents that are right already. What
is erased of them goes later: by it the rest is found."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import groupby
from typing import Any

from neve.domain.documents.change import DocumentChange
from neve.domain.errors import NeveError
from neve.domain.librarian.filing import Filing
from neve.domain.records.documents import Document
from neve.domain.records.sessions import Spans
from neve.domain.retract.described import Carrier, History, at_drawn_paths, carriers
from neve.domain.retract.revisions import lost_with, newest_untouched, put_back, touched_revisions
from neve.domain.times import iso
from neve.ports.queue import QueueName
from neve.ports.table import WriteOp
from neve.scope import SessionScope
from neve.store import rows
from neve.store.documents import read_document, text_of
from neve.store.filings import put_filing, read_filing
from neve.store.incarnation import UserErased, still_there
from neve.store.keys import DOCUMENT_REV
from neve.store.partitions import all_rows
from neve.store.transact import transact
from neve.usecases.core.jobs.ask_to_file import ask_to_file
from neve.usecases.core.jobs.messages.filing import filing_message, refiling_job
from neve.usecases.tell.documents.delete_document import delete_document
from neve.usecases.tell.documents.document_writes import WantedWrite, with_text, writes_of
from neve.usecases.work.retract.documents.erase_revisions import Revision, with_their_vectors
from neve.usecases.work.retract.documents.filings import Filings
from neve.usecases.work.retract.documents.forget_descriptions import ForgetDescriptions, head_by_id
from neve.usecases.work.retract.retracting import REVERTED, Retracting

MAX_NAMED = 50
"""Documents that the job's result names (*chosen*)."""
SESSIONS_AT_ONCE = 50
"""*Chosen*: each takes some 60 ms, and for each part all that ever waited for a decision is read."""


def revert_documents(work: Retracting) -> None:
    """Revert documents, and ask for sessions to be filed again. Idempotent; nothing where no librarian has read the
    events. Raises OutOfTime behind a part of it, whenever little time is left: the next call goes on. Raises
    UserErased, JobEnded, StoreUnavailable."""
    if not work.is_done(REVERTED):
        try:
            reverting = _Reverting(work)
            while not reverting.revert_once():
                pass
        except NeveError as error:
            if error.code != "erasing":
                raise
            raise UserErased from error
    _file_again(work)


def _file_again(work: Retracting) -> None:
    """Ask for each of the sessions to be filed again. May be repeated: a librarian finds its cursor moved, and its job
    done. The rows of the jobs are their messages: nothing else would file a session that is over. Raises OutOfTime."""
    while left := work.listed("file_again"):
        for log in map(work.scope.of_session, left[:SESSIONS_AT_ONCE]):
            ask_to_file(log, work.incarnation, refiling_job(log, work.retraction.id))
        work.note(file_again=left[SESSIONS_AT_ONCE:])
        work.need_time()
    waiting = [filing_message(work.scope.keys, work.incarnation, *one) for one in work.listed("waiting")]
    if waiting:
        work.scope.ports.queue.send(QueueName.LIBRARIAN, waiting)


@dataclass(frozen=True, slots=True)
class _Touched:
    """A document whose text in force is touched. ``erased``: which of its revisions are to be erased. ``left``: whether
    an earlier one is not touched."""

    id: str
    path: str
    rev: int
    erased: frozenset[int]
    left: bool


@dataclass
class _Plan:
    """The plan of one round. ``sessions``: others, whose words were written onto what goes. ``carriers``: documents
    whose other revisions say something of it. ``at_paths``: ids of those that stay where a librarian put them by words
    of it. ``changed``: ids of those of which a deletion changes something."""

    documents: list[_Touched] = field(default_factory=list)
    sessions: set[str] = field(default_factory=set)
    carriers: list[Carrier] = field(default_factory=list)
    at_paths: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)

    def noted(self, work: Retracting) -> dict[str, Any]:
        """Give the lists of the job's state, with what earlier rounds have found: their part may be done."""
        found: dict[str, Collection[Any]] = {
            "sessions": self.sessions,
            "emptied": {one.id for one in self.documents if not one.left},
            "described": {(one.id, rev) for one in self.carriers for rev in one.revs},
            "at_paths": self.at_paths,
            "changed": self.changed,
        }
        return {name: _joined(work.listed(name), more) for name, more in found.items()}


def _joined(listed: Collection[Any], more: Collection[Any]) -> list[Any]:
    known = {tuple(one) if isinstance(one, list) else one for one in listed}
    return [*listed, *(one for one in sorted(more) if one not in known)]


def _named(filing: Filing) -> tuple[str | None, ...]:
    """Give the ids of the memory and the document that a librarian goes on writing."""
    return filing.memory_id, filing.document_id


@dataclass
class _Reverting:
    """The work of one worker."""

    work: Retracting

    def __post_init__(self) -> None:
        self.scope, self.incarnation = self.work.scope, self.work.incarnation
        self.retraction = self.work.retraction

    @cached_property
    def filings(self) -> Filings:
        return Filings(self.scope, self.incarnation, self.retraction, self.work)

    def revert_once(self) -> bool:
        """Do one look, and say whether all is reverted. False where another writer has written meanwhile, or more was
        taken back: then all is looked at again."""
        filing, spans = self._read()
        if filing.read_to < self.retraction.seq_from and "emptied" not in self.work.job.state:
            self.work.passed.append(REVERTED)
            return True
        self.work.need_time()
        plan = self._plan(spans)
        self.work.note(**plan.noted(self.work))
        if plan.carriers:
            self._forget_descriptions(plan)
            return False
        for one in plan.documents:
            if not (self._put_back(one, spans) if one.left else self._delete(one)):
                return False
            self.work.need_time()
        self._move_back(spans)
        return transact(self.scope.ports, partial(self._finish, spans))

    def _move_back(self, spans: Spans) -> None:
        """Move back the cursors of the other sessions."""
        while left := self.work.listed("sessions"):
            some = left[:SESSIONS_AT_ONCE]
            self.filings.withdraw(some)
            for session in some:
                transact(self.scope.ports, partial(self.filings.move_back, session, spans))
            again = _joined(self.work.listed("file_again"), some)
            self.work.note(sessions=left[SESSIONS_AT_ONCE:], file_again=again)
            self.work.need_time()
        self.filings.withdraw([self.scope.session])

    def _read(self) -> tuple[Filing, Spans]:
        keys = self.scope.keys
        found = self.scope.ports.table.get_many([keys.head, keys.session_head, keys.filing])
        still_there(rows.read_head(found.get(keys.head)), self.incarnation)
        if keys.session_head not in found:
            raise UserErased
        spans = rows.read_session(found[keys.session_head]).retracted
        return read_filing(self.scope.session, found.get(keys.filing)), spans

    # --- documents --------------------------------------------------------------------------------

    def _plan(self, spans: Spans) -> _Plan:
        plan, session, seen = _Plan(), self.scope.session, list[History]()
        for revisions in histories(self.scope):
            document_id, head = str(revisions[0].id), revisions[-1]
            touched, erased = touched_revisions(revisions, session, spans), frozenset[int]()
            if self.retraction.erases:
                erased = frozenset(touched_revisions(revisions, session, [self.retraction.span]))
                if erased or head.supersedes:
                    seen.append(History(revisions, erased, frozenset(touched)))
                if erased:
                    plan.changed.add(document_id)
            if head.rev not in touched:
                continue
            left = newest_untouched(revisions, touched) is not None
            plan.documents.append(_Touched(document_id, head.path, head.rev, erased, left))
            others = (one.provenance.session_id for one in lost_with(revisions, touched))
            plan.sessions |= {one for one in others if one is not None and one != session}
        plan.carriers, plan.at_paths = carriers(seen), at_drawn_paths(seen)
        plan.changed |= {one.id for one in plan.carriers}
        return plan

    def _forget_descriptions(self, plan: _Plan) -> None:
        """Rename documents before what their names were drawn from is erased, by which they are known. What is not
        renamed, because another writer has written meanwhile, is found again."""
        for carrier in plan.carriers:
            revisions = [(carrier.id, rev) for rev in sorted(carrier.revs)]
            renaming = ForgetDescriptions(self.scope, self.incarnation, carrier)
            _, vectors = with_their_vectors(self.scope, revisions, renaming.run)
            self.work.counts["document_vectors"] += vectors
            self.work.counts["renamed"] += 1
            self.work.need_time()

    def _put_back(self, seen: _Touched, spans: Spans) -> bool:
        """Put an earlier revision in force. False where the document is not what it was."""
        write_id = self.scope.ports.ids.token()
        done = transact(self.scope.ports, partial(self._put_back_once, seen, spans, write_id))
        self.work.counts["documents_replaced"] += int(done)
        return done

    def _put_back_once(self, seen: _Touched, spans: Spans, write_id: str) -> bool:
        """Try once to put it back. Raises Conflict."""
        scope, head = self.scope, head_by_id(self.scope, seen.id)
        if head is not None and head.write_id == write_id:  # our own commit, whose response was lost
            return True
        if head is None or head.rev != seen.rev:
            return False
        prefix = scope.keys.document_revs(seen.id)
        found = all_rows(scope.ports.table, scope.keys.partition, prefix=prefix)
        revisions = [read_document(item) for item in found]
        left = newest_untouched(revisions, touched_revisions(revisions, scope.session, spans))
        if left is None:
            return False
        user = rows.read_head(scope.ports.table.get(scope.keys.head))
        still_there(user, self.incarnation)
        before = with_text(scope, head)
        left = replace(left, text=text_of(scope.ports.objects, left))
        restored = put_back(before, left, iso(scope.ports.clock.now()))
        wanted = WantedWrite(head.path, DocumentChange(), (head.rev,), write_id=write_id)
        ops = writes_of(scope, wanted, before, restored).ops
        scope.ports.table.write([rows.check_head(scope.keys, user), *ops])
        return True

    def _delete(self, seen: _Touched) -> bool:
        """Delete a document. False where it is not what it was."""
        revisions = [(seen.id, rev) for rev in sorted(seen.erased)]
        deleting = partial(delete_document, self.scope, seen.path, (seen.rev,), seen.id)
        try:
            _, vectors = with_their_vectors(self.scope, revisions, deleting)
        except NeveError as error:
            if error.code in ("precondition_failed", "document_not_found"):
                return False
            raise
        self.work.counts.update(documents_deleted=1, revisions=len(revisions), document_vectors=vectors)
        return True

    # --- the end -----------------------------------------------------------------------------------

    def _finish(self, spans: Spans) -> bool:
        """Move the cursor of the session itself, with the note that all is done, and of the jobs that wait for it.
        False where more was taken back since."""
        scope, session, work = self.scope, self.scope.session, self.work
        if work.wanted is not None:
            work.read_again()
        found = self.filings.found(session)
        if work.is_done(REVERTED):  # our own commit, whose response was lost
            return True
        if self._read()[1] != spans:
            return False
        filing = read_filing(session, found.get(scope.keys.filing))
        # the retraction of another session may have moved it back meanwhile, which kept the place of a missing document
        # and of a summary that leaves with this one
        moved = self.filings.moved_back(session, spans, found)
        if moved is not None and _named(moved) == _named(filing) and not filing.holds_any(spans):
            moved = None
        freed = replace(moved or filing, waiting=())
        ops: list[WriteOp] = [] if freed == filing else [put_filing(scope.keys, freed)]
        result = dict[str, Any]()
        if moved is not None:
            refiling = refiling_job(scope, self.retraction.id)
            result = {"librarian_job_id": refiling.id}
            ops.append(rows.put_queued_job(scope.keys, refiling, self.incarnation))
        counted = {name: work.counts[name] for name in ("documents_replaced", "documents_deleted")}
        result |= {name: count for name, count in counted.items() if count}
        if at_paths := work.listed("at_paths"):
            result["paths_kept"] = sorted(at_paths)[:MAX_NAMED]
        flipped = bool(work.job.state.get("flipped") or any(counted.values()))
        noted = work.put(REVERTED, result=result, flipped=flipped, waiting=list(map(list, filing.waiting)))
        user = rows.check_head(scope.keys, rows.read_head(found[scope.keys.head]))
        scope.ports.table.write([user, *ops, noted])
        work.written()
        return True


def histories(scope: SessionScope) -> Iterator[list[Document]]:
    """Read the revisions of each document, oldest first, without their texts. Raises StoreUnavailable."""
    items = all_rows(scope.ports.table, scope.keys.partition, prefix=DOCUMENT_REV)
    for _, of_one in groupby(items, lambda item: item["id"]):
        yield [replace(read_document(item), text="") for item in of_one]


def revisions_to_erase(work: Retracting) -> list[Revision]:
    """Find the revisions that hold what is erased, the youngest of a document first: by an older one it is known that
    a younger one was written onto it. Raises StoreUnavailable."""
    if not work.listed("changed"):
        return []
    session, span = work.scope.session, work.retraction.span
    found = [(one[0].id, rev) for one in histories(work.scope) for rev in touched_revisions(one, session, [span])]
    return [(str(document_id), rev) for document_id, rev in reversed(found)]
