"""Purges packs that hold what was made of deleted events (docs/rules/retract.md#erase)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from neve.domain.ids import event_place
from neve.domain.records.packs import PackEntry
from neve.usecases.core.pack.purge_versions import BEGINNING, OBJECTS, PurgePlace, purge_pages
from neve.usecases.work.observe.observe_session import OutOfTime
from neve.usecases.work.retract.deleted_before import deleted_before
from neve.usecases.work.retract.documents.revert_documents import revisions_to_erase
from neve.usecases.work.retract.find_derived import weigh
from neve.usecases.work.retract.retracting import ROUND_S, Retracting


@dataclass(frozen=True)
class DerivedRows:
    """The rows whose packs are to go, none of which readers see any more. ``touched``: ids of the memories that may
    hold words of it, or did before; ``revisions``: of documents, by id and rev; ``gone``: memories and documents that
    were deleted before, with the last rev of each. ``uttered``: the session, the first and the last seq of the events
    themselves, which a pack may show as they were said."""

    touched: frozenset[str]
    revisions: frozenset[tuple[str, int]]
    gone: Mapping[str, int]
    uttered: tuple[str, int, int]

    def is_in(self, entry: PackEntry) -> bool:
        if entry.id in self.touched or (entry.id, entry.rev) in self.revisions:
            return True
        if place := event_place(entry.id):
            session, first, last = self.uttered
            return place[0] == session and first <= place[1] <= last
        return entry.rev <= self.gone.get(entry.id, 0)


def purge_packs(work: Retracting) -> DerivedRows:
    """Purge page by page, and give what is purged. To be done when readers see nothing of it any more, and before any
    of it is erased, by which it is found. May be repeated. Raises OutOfTime behind a page, StoreUnavailable, and 409
    ``conflict``."""
    work.need_time()
    made, place = _derived_rows(work), PurgePlace(*work.job.state.get("purge", BEGINNING))

    def going(sessions: Sequence[str]) -> None:
        """Note them before the packs are purged: afterwards the sessions cannot be found."""
        work.note(purged=list(dict.fromkeys([*work.listed("purged"), *sessions])))

    for page in purge_pages(work.scope, made.is_in, place, going):
        work.counts.update(packs=len(page.versions), left=page.left)
        if work.seconds_left() < ROUND_S:
            work.note(purge=list(page.place))
            raise OutOfTime
    return made


def purge_unmade(work: Retracting) -> None:
    """Purge what builds have stored meanwhile that had read the deleted: none of them can point to it any more. Raises
    OutOfTime behind a page, StoreUnavailable."""
    for page in purge_pages(work.scope, lambda _: False, PurgePlace(*work.job.state.get("unmade", OBJECTS))):
        if work.seconds_left() < ROUND_S:
            work.note(unmade=list(page.place))
            raise OutOfTime


def _derived_rows(work: Retracting) -> DerivedRows:
    """Find what packs may hold. What others delete from here on is known to it already."""
    touched, span = work.touched if work.touched is not None else weigh(work).touched, work.retraction.span
    revisions = [*revisions_to_erase(work), *((str(one), int(rev)) for one, rev in work.listed("described"))]
    gone = deleted_before(work.scope, work.retraction, work.since)
    return DerivedRows(touched.union(work.listed("kept")), frozenset(revisions), gone, (work.scope.session, *span))
