"""Moves back how far sessions are filed, when something of their documents is taken back: what waits for a decision is
withdrawn, and the cursor moves back (docs/rules/retract.md#documents)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from neve.domain.librarian.account import changed_by_people
from neve.domain.librarian.filing import Filing, Proposal
from neve.domain.memories.visibility import status_at
from neve.domain.records.memories import Memory, Status
from neve.domain.records.retractions import Retraction
from neve.domain.records.sessions import Spans
from neve.domain.retract.derived import is_touched
from neve.domain.sessions.spans import holds
from neve.ports.table import Item, Key, key_of
from neve.scope import SessionScope
from neve.store import rows
from neve.store.delete_rows import delete_rows
from neve.store.documents import read_document
from neve.store.filings import put_filing, read_filing, read_proposal
from neve.store.idempotency import answers_about
from neve.store.incarnation import still_there
from neve.store.keys import PROPOSAL
from neve.store.partitions import all_rows
from neve.usecases.work.retract.retracting import Retracting


@dataclass
class Filings:
    """The filings of sessions that a retraction moves back."""

    scope: SessionScope
    incarnation: int
    retraction: Retraction
    work: Retracting

    def withdraw(self, sessions: Collection[str]) -> None:
        """Withdraw what waits of sessions that are filed again: it is asked for again. A deletion leaves nothing either
        of what was decided about its events, nor of what those decisions were answered: a worker that repeats this
        would not know which answers those are, so the answers go with it, and behind it those that were kept
        meanwhile."""
        table, keys, gone, ids = self.scope.ports.table, self.scope.keys, list[Key](), set[str]()
        for item in all_rows(table, keys.partition, prefix=PROPOSAL):
            proposal = read_proposal(item)
            if proposal.session_id in sessions and (proposal.status == "inbox" or self._rests_on_deleted(proposal)):
                gone.append(key_of(item))
                ids.add(proposal.id)
        delete_rows(table, [*answers_about(table, keys, ids), *gone])
        delete_rows(table, list(answers_about(table, keys, ids)))

    def _rests_on_deleted(self, proposal: Proposal) -> bool:
        """Say whether a proposal rests on events that are deleted."""
        if not self.retraction.erases or proposal.session_id != self.scope.session:
            return False
        return any(holds([self.retraction.span], seq) for seq in proposal.action.seqs)

    def move_back(self, session: str, spans: Spans) -> None:
        found, keys = self.found(session), self.scope.of_session(session).keys
        moved = self.moved_back(session, spans, found)
        if moved is not None:
            user = rows.read_head(found[keys.head])
            self.scope.ports.table.write([rows.check_head(keys, user), put_filing(keys, moved)])

    def found(self, session: str) -> dict[Key, Item]:
        """Read what a session's row of filings is decided on. Raises UserErased."""
        keys = self.scope.of_session(session).keys
        found = self.scope.ports.table.get_many([keys.head, keys.filing])
        still_there(rows.read_head(found.get(keys.head)), self.incarnation)
        filing = read_filing(session, found.get(keys.filing))
        beside = [keys.memory(filing.memory_id)] if filing.memory_id else []
        beside += [keys.document_place(filing.document_id)] if filing.document_id else []
        beside += [keys.document(filing.document_path)] if filing.document_path else []
        return found | (self.scope.ports.table.get_many(beside) if beside else {})

    def moved_back(self, session: str, spans: Spans, found: dict[Key, Item]) -> Filing | None:
        """Move the cursor to the start of the session: its account is of all of it. A summary that left is rewritten;
        one that a person corrected, put away or deleted is not. None for a session that was never filed."""
        keys = self.scope.of_session(session).keys
        if keys.filing not in found:
            return None
        filing = read_filing(session, found[keys.filing])
        moved = replace(filing, filed_seq=0, account=None, left_out=(), last_filing=None, result={})
        item = found.get(keys.memory(filing.memory_id)) if filing.memory_id else None
        summary, gen = rows.read_memory(item) if item else None, rows.read_head(found.get(keys.head)).gen
        if summary is not None:
            theirs = dict.fromkeys((*filing.theirs, *changed_by_people(summary, filing.account)))
            moved = replace(moved, theirs=tuple(theirs))
        if session == self.scope.session and _left_with_retraction(
            self._find_last_successor(summary), session, spans, gen
        ):
            moved = replace(moved, memory_id=None, memory_fingerprint=None, theirs=())
        if filing.document_id is None:
            return moved
        item = found.get(keys.document(str(filing.document_path)))
        head = read_document(item) if item else None
        if head is None or head.id != filing.document_id:  # its words are not kept where nothing stands
            moved = replace(moved, document_path=None)
            gone = keys.document_place(filing.document_id) not in found and filing.document_id in self.work.listed(
                "emptied"
            )
            return replace(moved, document_id=None, document_rev=None) if gone else moved
        if head.provenance.by != "assistant":
            return moved
        return replace(moved, document_rev=head.rev)

    def _find_last_successor(self, summary: Memory | None) -> Memory | None:
        """Find what a person has put in its place, and in the place of that. Raises StoreUnavailable."""
        seen = set[str]()
        while summary is not None and summary.superseded_by is not None and summary.id not in seen:
            seen.add(summary.id)
            item = self.scope.ports.table.get(self.scope.keys.memory(summary.superseded_by))
            summary = rows.read_memory(item) if item else None
        return summary


def _left_with_retraction(summary: Memory | None, session: str, spans: Spans, gen: int) -> bool:
    """Say whether a summary left with what was taken back: nothing that a person said has taken its place."""
    if summary is None:
        return False
    gone = status_at(summary, gen) is Status.SUPERSEDED and summary.superseded_by is None
    return gone and is_touched(summary, session, spans)
