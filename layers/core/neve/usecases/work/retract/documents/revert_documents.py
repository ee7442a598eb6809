"""Removes what a librarian wrote of events that are taken back; what is left of the session is filed again
(docs/rules/retract.md#documents).

What is to be done is noted before any of it is: a worker that repeats it finds documents that are right already."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import groupby
from typing import Any, TypeVar

from neve.domain.documents.change import DocumentChange
from neve.domain.errors import NeveError
from neve.domain.librarian.filing import Filing
from neve.domain.records.documents import Document
from neve.domain.records.jobs import Job
from neve.domain.records.retractions import Retraction
from neve.domain.records.sessions import Spans
from neve.domain.retract.described import Carrier, History, at_drawn_paths, carriers
from neve.domain.retract.revisions import lost_with, newest_untouched, put_back, touched_revisions
from neve.domain.times import iso
from neve.observing import SecondsLeft, for_ever
from neve.ports.table import WriteOp
from neve.scope import SessionScope
from neve.store import rows
from neve.store.documents import read_document, text_of
from neve.store.filings import put_filing, read_filing
from neve.store.incarnation import UserErased, still_there
from neve.store.keys import DOCUMENT_REV
from neve.store.partitions import all_rows
from neve.store.transact import batches, transact
from neve.store.vectors import erase_vectors
from neve.usecases.core.jobs.messages.filing import refiling_job
from neve.usecases.tell.documents.delete_document import delete_document
from neve.usecases.tell.documents.document_writes import WantedWrite, with_text, writes_of
from neve.usecases.tell.requests.retract_job import (
    AT_PATHS,
    CHANGED,
    COUNTED,
    DESCRIBED,
    EMPTIED,
    FILE_AGAIN,
    LOOKS,
    MOVED,
    REVERTED,
    REVISIONS,
    ROUND_S,
    SESSIONS,
    WAITING,
    after,
    after_pages,
    is_done,
    note,
    purging,
    purging_so_far,
    read,
    read_list,
    to_write,
    with_lists,
)
from neve.usecases.work.observe.observe_session import OutOfTime
from neve.usecases.work.retract.documents.erase_revisions import erase_revisions, texts_of_revisions
from neve.usecases.work.retract.documents.file_again import file_again
from neve.usecases.work.retract.documents.filings import Filings
from neve.usecases.work.retract.documents.forget_descriptions import ForgetDescriptions, head_by_id
from neve.usecases.work.retract.purge_packs import DerivedRows, PacksPurge

T = TypeVar("T")

MAX_NAMED = 50
"""Documents that the job's result names (*chosen*)."""
DOCUMENTS_AT_ONCE, REVISIONS_AT_ONCE = 100, 500
"""*Chosen*: each takes some 50 ms."""
SESSIONS_AT_ONCE = 50
"""*Chosen*: each takes some 40 ms, and for each part all that ever waited for a decision is read."""


def revert_documents(
    scope: SessionScope, incarnation: int, retraction: Retraction, job: Job, seconds_left: SecondsLeft = for_ever
) -> Job:
    """Revert documents, ask for sessions to be filed again, and give the ``job`` once that is done. Idempotent; nothing
    where no librarian has read the events. Raises OutOfTime behind a part of it, whenever less than ``ROUND_S`` is
    left: the next call goes on. Raises UserErased, JobEnded, StoreUnavailable."""
    if not is_done(job, REVERTED):
        vectors = int(job.state.get(COUNTED, {}).get("document_vectors", 0))
        try:
            _Reverting(scope, incarnation, retraction, job.id, seconds_left, vectors).run()
        except NeveError as error:
            if error.code != "erasing":
                raise
            raise UserErased from error
        job = read(scope, job.id)
    file_again(scope, incarnation, retraction, job, seconds_left)
    return job


@dataclass(frozen=True, slots=True)
class _Touched:
    """A document whose text in force is touched. ``left``: whether an earlier one is not."""

    id: str
    path: str
    rev: int
    left: bool


@dataclass
class _Plan:
    """The plan of one round. ``revisions``: what is to be erased, as id and rev. ``sessions``: others, whose words were
    written onto what goes. ``carriers``: documents whose other revisions say something of it. ``at_paths``: ids of
    those that stay where a librarian put them by words of it."""

    documents: list[_Touched] = field(default_factory=list)
    revisions: set[tuple[str, int]] = field(default_factory=set)
    sessions: set[str] = field(default_factory=set)
    carriers: list[Carrier] = field(default_factory=list)
    at_paths: set[str] = field(default_factory=set)

    @property
    def described(self) -> set[tuple[str, int]]:
        return {(one.id, rev) for one in self.carriers for rev in one.revs}

    @property
    def emptied(self) -> set[str]:
        return {one.id for one in self.documents if not one.left}

    def noted(self, job: Job) -> Job:
        """Note the plan in the job, with what an earlier worker has found: its part may be done. Once the step is done
        nothing is noted any more: no worker would carry out what goes with it."""
        if is_done(job, REVERTED):
            return job
        state = dict(job.state)
        if self.documents:  # of all the sessions that wrote onto them
            state |= {LOOKS: state.get(LOOKS, 0) + 1, MOVED: 0}
        state[REVISIONS] = sorted({*map(tuple, state.get(REVISIONS, ())), *self.revisions})
        state[SESSIONS] = sorted({*state.get(SESSIONS, ()), *self.sessions})
        state[EMPTIED] = sorted({*state.get(EMPTIED, ()), *self.emptied})
        if self.described:
            state[DESCRIBED] = sorted({*map(tuple, state.get(DESCRIBED, ())), *self.described})
        if self.at_paths:
            state[AT_PATHS] = sorted({*state.get(AT_PATHS, ()), *self.at_paths})
        return replace(job, status="running", state=state)


def _unread(job: Job) -> Job:
    """Note that no librarian has read the session so far, unless another worker came later and has found something."""
    return job if EMPTIED in job.state or is_done(job, REVERTED) else after(job, REVERTED)


def _named(filing: Filing) -> tuple[str | None, ...]:
    """Give the ids of the memory and the document that a librarian goes on writing."""
    return filing.memory_id, filing.document_id


def _counted(revisions: int | None, vectors: int, job: Job) -> Job:
    """Note the counts of the receipt. ``revisions`` None: they are not known yet."""
    counted = {"document_vectors": vectors} | ({} if revisions is None else {"revisions": revisions})
    return replace(job, state={**job.state, COUNTED: {**job.state.get(COUNTED, {}), **counted}})


def _parts(documents: Sequence[T], revisions_of: Callable[[T], int]) -> Iterator[list[T]]:
    """Cut the work into parts, behind each of which a worker may stop."""
    return batches(documents, revisions_of, most=DOCUMENTS_AT_ONCE, largest=REVISIONS_AT_ONCE)


@dataclass
class _Reverting:
    """The work of one worker. ``vectors``: erased, by workers before this one, too. What else is counted is this one's,
    and noted where it has no time for the rest. ``purge``: of packs, while it is under way. ``moved``: of how many
    sessions the cursor has moved back since ``looks``."""

    scope: SessionScope
    incarnation: int
    retraction: Retraction
    job_id: str
    seconds_left: SecondsLeft
    vectors: int
    replaced: int = 0
    deleted: int = 0
    erased: int = 0
    described: int = 0
    purge: PacksPurge | None = None
    looks: int = 0
    moved: int = 0

    @cached_property
    def filings(self) -> Filings:
        return Filings(self.scope, self.incarnation, self.retraction, self.job_id)

    def run(self) -> None:
        try:
            while not self._revert_once():
                pass
        except OutOfTime:
            note(self.scope, self.job_id, self._left_off)
            raise

    def _need_time(self) -> None:
        """Check that there is time for more. Raises OutOfTime."""
        if self.seconds_left() < ROUND_S:
            raise OutOfTime

    def _left_off(self, job: Job) -> Job:
        if is_done(job, REVERTED):
            return job
        before, own = job.state.get(CHANGED, {}), {"replaced": self.replaced, "deleted": self.deleted}
        own |= {"erased": self.erased, "described": self.described}
        state = {**job.state, CHANGED: {name: before.get(name, 0) + count for name, count in own.items()}}
        if state.get(LOOKS, 0) == self.looks:
            state[MOVED] = max(self.moved, state.get(MOVED, 0))
        return self._with_purge(_counted(None, self.vectors, replace(job, state=state)))

    def _revert_once(self) -> bool:
        """Do one look, and say whether all is reverted. False where another writer has written meanwhile, or more was
        taken back: then all is looked at again."""
        filing, spans = self._read()
        if filing.read_to < self.retraction.seq_from and is_done(note(self.scope, self.job_id, _unread), REVERTED):
            return True
        self._need_time()
        if not self._carry_out_plan(spans):
            return False
        job = read(self.scope, self.job_id)
        if is_done(job, REVERTED):
            return True
        return self._move_back(job, spans) and transact(self.scope.ports, partial(self._finish, spans))

    def _carry_out_plan(self, spans: Spans) -> bool:
        """Carry out one plan. False where another writer has written meanwhile; nothing is done once another worker has
        ended the step."""
        plan = self._plan(spans)
        job = note(self.scope, self.job_id, plan.noted)
        if is_done(job, REVERTED):
            return True
        if job.state.get(LOOKS, 0) != self.looks:
            self.looks, self.moved = job.state[LOOKS], 0
        if plan.carriers:
            self._forget_descriptions(plan)
            return False
        for one in plan.documents:
            if one.left:
                if not self._put_back(one, spans):
                    return False
                self._need_time()
        if not self._erase(plan, job):
            return False
        self._purge(job)
        return True

    def _move_back(self, job: Job, spans: Spans) -> bool:
        """Move back the cursors of the other sessions. False where another worker has found more: their documents may
        be touched again."""
        if job.state.get(LOOKS, 0) != self.looks:
            return False
        sessions = list(read_list(self.scope, job, SESSIONS))
        self.moved = max(self.moved, job.state.get(MOVED, 0))
        while self.moved < len(sessions):
            some = sessions[self.moved : self.moved + SESSIONS_AT_ONCE]
            self.filings.withdraw(some)
            for session in some:
                transact(self.scope.ports, partial(self.filings.move_back, session, spans))
            self.moved += len(some)
            self._need_time()
        self.filings.withdraw([self.scope.session])
        return True

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
        plan, session, histories = _Plan(), self.scope.session, list[History]()
        for revisions in self._histories():
            document_id, head = str(revisions[0].id), revisions[-1]
            touched = touched_revisions(revisions, session, spans)
            if self.retraction.erases:
                erased = touched_revisions(revisions, session, [self.retraction.span])
                plan.revisions |= {(document_id, rev) for rev in erased}
                if erased or head.supersedes:
                    histories.append(History(revisions, frozenset(erased), frozenset(touched)))
            if head.rev not in touched:
                continue
            left = newest_untouched(revisions, touched) is not None
            plan.documents.append(_Touched(document_id, head.path, head.rev, left))
            others = (one.provenance.session_id for one in lost_with(revisions, touched))
            plan.sessions |= {one for one in others if one is not None and one != session}
        plan.carriers, plan.at_paths = carriers(histories), at_drawn_paths(histories)
        return plan

    def _histories(self) -> Iterator[list[Document]]:
        """Read the revisions of each document, oldest first, without their texts."""
        items = all_rows(self.scope.ports.table, self.scope.keys.partition, prefix=DOCUMENT_REV)
        for _, of_one in groupby(items, lambda item: item["id"]):
            yield [replace(read_document(item), text="") for item in of_one]

    def _forget_descriptions(self, plan: _Plan) -> None:
        """Rename documents before what their names were drawn from is erased, by which they are known."""
        for some in _parts(plan.carriers, lambda one: len(one.revs)):
            revisions = sorted((one.id, rev) for one in some for rev in one.revs)
            self._with_their_vectors(revisions, partial(self._rename, some))
            self._need_time()

    def _rename(self, some: Sequence[Carrier]) -> bool:
        """Rename some. What is not renamed, because another writer has written meanwhile, is found again."""
        for carrier in some:
            self.described += ForgetDescriptions(self.scope, self.incarnation, carrier).run()
        return True

    def _erase(self, plan: _Plan, job: Job) -> bool:
        """Delete the documents that are left empty, and the revisions that are erased. False where another writer has
        written meanwhile."""
        erased = [(str(i), int(rev)) for i, rev in job.state[REVISIONS]]
        emptied = {one.id: one for one in plan.documents if not one.left}
        revs: dict[str, list[tuple[str, int]]] = {i: [] for i in emptied}
        for one in erased:
            revs.setdefault(one[0], []).append(one)
        for some in _parts(sorted(revs), lambda i: len(revs[i])):
            before, revisions = self.deleted + self.erased, [one for i in some for one in revs[i]]
            going = partial(self._take_away, [emptied[i] for i in some if i in emptied], revisions)
            if not self._with_their_vectors(revisions, going):
                return False
            if self.deleted + self.erased > before:
                self._need_time()
        if erased:
            note(self.scope, self.job_id, partial(_counted, len(erased), self.vectors))
        return True

    def _take_away(self, documents: Sequence[_Touched], revisions: Sequence[tuple[str, int]]) -> bool:
        if not all(map(self._delete, documents)):
            return False
        self.erased += erase_revisions(self.scope, revisions)
        return True

    def _with_their_vectors(self, revisions: Sequence[tuple[str, int]], change: Callable[[], bool]) -> bool:
        """Give what ``change`` returns, which erases these revisions, or rewrites them. Their vectors go with them:
        first, because they are found by the texts; and once more behind it, because a worker that was embedding a
        revision takes away what it has kept where it finds the revision gone."""
        texts = texts_of_revisions(self.scope, revisions)
        self.vectors += erase_vectors(self.scope.ports.table, self.scope.keys, texts)
        changed = change()
        self.vectors += erase_vectors(self.scope.ports.table, self.scope.keys, texts)
        return changed

    def _purge(self, job: Job) -> None:
        """Purge packs of what said some of it, which nothing says any more. May be repeated. Raises OutOfTime behind a
        page of them."""
        described = frozenset((str(one), int(rev)) for one, rev in job.state.get(DESCRIBED, ()))
        made = DerivedRows(frozenset(), described, frozenset())
        self.purge = PacksPurge.noted(made, self._note_served, purging_so_far(job, REVERTED))
        self.purge.run(self.scope, self.seconds_left)
        note(self.scope, self.job_id, self._with_purge)
        self.purge = None

    def _note_served(self, sessions: Sequence[str]) -> None:
        """Note the sessions whose packs are about to be purged."""
        note(self.scope, self.job_id, partial(purging, sessions))

    def _with_purge(self, job: Job) -> Job:
        """Note how far the purge is. The versions are counted with those that the erasure purges."""
        if self.purge is None or not self.purge.made.any:
            return job
        removed = job.state.get("removed", {})
        removed = {**removed, "packs": removed.get("packs", 0) + self.purge.versions}
        return after_pages(replace(job, state={**job.state, "removed": removed}), REVERTED, self.purge.state)

    def _put_back(self, seen: _Touched, spans: Spans) -> bool:
        """Put an earlier revision in force. False where the document is not what it was."""
        write_id = self.scope.ports.ids.token()
        done = transact(self.scope.ports, partial(self._put_back_once, seen, spans, write_id))
        self.replaced += int(done)
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
        try:
            delete_document(self.scope, seen.path, (seen.rev,), seen.id)
        except NeveError as error:
            if error.code in ("precondition_failed", "document_not_found"):
                return False
            raise
        self.deleted += 1
        return True

    # --- the end -----------------------------------------------------------------------------------

    def _finish(self, spans: Spans) -> bool:
        """Move the cursor of the session itself, with the note that all is done, and of the jobs that wait for it.
        False where more was taken back since: another worker of the job may have seen it, and be about to delete
        documents that the row of filings would go on to name. It has noted so by now, or notes nothing any more."""
        scope, session = self.scope, self.scope.session
        found, job = self.filings.found(session), read(self.scope, self.job_id)
        if is_done(job, REVERTED):  # our own commit, whose response was lost, or another worker's
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
        whole, result = with_lists(scope, job), dict[str, Any]()
        again = set(whole.state[SESSIONS])
        if moved is not None:
            refiling = refiling_job(scope, self.retraction.id)
            again, result = {*again, session}, {"librarian_job_id": refiling.id}
            ops.append(rows.put_queued_job(scope.keys, refiling, self.incarnation))
        before = job.state.get(CHANGED, {})
        replaced, deleted = self.replaced + before.get("replaced", 0), self.deleted + before.get("deleted", 0)
        counted = {"documents_replaced": replaced, "documents_deleted": deleted}
        result |= {name: count for name, count in counted.items() if count}
        if at_paths := whole.state.get(AT_PATHS):
            result["paths_kept"] = at_paths[:MAX_NAMED]
        flipped = bool(job.state.get("flipped") or replaced or deleted)
        lists = {FILE_AGAIN: sorted(again), WAITING: list(map(list, filing.waiting))}
        done = after(whole, REVERTED, result, flipped=flipped, **lists)
        user = rows.check_head(scope.keys, rows.read_head(found[scope.keys.head]))
        scope.ports.table.write([user, *ops, *to_write(scope, done, job)])
        return True
